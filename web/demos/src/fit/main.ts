// Fit: paste data, type a formula, drag start values; the curve, its bands and the table of parameters follow.
import { type CurveFit, type CurveFitOptions, type FittedParameter, load, models, fit as solve } from "meromorph/fit";
import { places, short, whole } from "../numbers.js";
import { element, figures, get, ready, shown } from "../page.js";
import { type Data, parse } from "./data.js";
import { EXAMPLES, text } from "./examples.js";
import { Picture } from "./picture.js";
import type { SearchRequest, SearchResult } from "./search.js";
import { Starts } from "./starts.js";

const HINT = "Names that are no columns are parameters.";
const field = (id: string) => get<HTMLInputElement>(id).value;
const state = { data: undefined as Data | undefined, fit: undefined as CurveFit | undefined, isWaiting: false };
const picture = new Picture();
const starts = new Starts(get("starts"), () => soon());

/** The options that do not depend on the parameters. */
function options(): CurveFitOptions {
  const loss = field("loss") as NonNullable<CurveFitOptions["loss"]>;
  const scale = loss === "linear" ? {} : { lossScale: get<HTMLInputElement>("scale").valueAsNumber };
  return { y: field("target"), level: Number(field("level")), missing: "drop", loss, ...scale };
}

/** Fits from the start values, and shows the result. */
async function refit(): Promise<void> {
  const { data } = state;
  if (!data) return;
  const { values, fixed } = starts;
  const some = (isFixed: boolean) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => fixed.includes(name) === isFixed));
  const began = performance.now();
  const fit = await solve(data.columns, field("formula"), { ...options(), p0: some(false), fix: some(true) });
  const refitMs = performance.now() - began;
  await show(data, fit, values);
  const drawnMs = performance.now() - began;
  state.fit = fit;
  facts(fit, refitMs, drawnMs);
}

/** Draws a fit, with the curve of its start values. */
async function show({ columns }: Data, fit: CurveFit, values: Record<string, number>): Promise<void> {
  // The checksum is that of the fit's own values.
  const { checksum: _, ...file } = fit.toJSON();
  const parameters = Object.entries(file.parameters as Record<string, object>).map(([name, one]) => [
    name,
    { ...one, ...(name in values && { value: values[name] }) },
  ]);
  const start = await load({ ...file, parameters: Object.fromEntries(parameters) });
  const used = [...fit.columns, fit.target].map((name) => columns[name] as Float64Array);
  const kept = Array.from(used[0]!.keys()).filter((row) => used.every((column) => !Number.isNaN(column[row])));
  const [y, ...x] = [used.at(-1)!, ...used.slice(0, -1)].map((column) =>
    Float64Array.from(kept, (row) => column[row]!),
  );
  picture.draw({
    fit,
    start,
    columns: Object.fromEntries(fit.columns.map((name, at) => [name, x[at]!])),
    y: y!,
    level: Number(field("level")),
  });
}

const STOPS: Partial<Record<CurveFit["stop"], string>> = {
  evaluations: "Not converged: the evaluations are used up. Start nearer to the answer.",
  stuck: "Not converged: no step lowers the cost. Start elsewhere.",
};

/** The status, the parameters and the measures of the fit. */
function facts(fit: CurveFit, refitMs: number, drawnMs: number): void {
  const hints = [
    ...fit.undetermined.map((what) => `The data do not determine ${what}.`),
    ...fit.cautions.map((what) => `${what.charAt(0).toUpperCase()}${what.slice(1)}.`),
    ...strong(fit).map(([one, other, value]) => `${one} and ${other} are strongly correlated (${short(value, 3)}).`),
  ];
  get("status").textContent = [STOPS[fit.stop] ?? `Converged in ${fit.evaluations} evaluations.`, ...hints].join(" ");
  get("status").classList.toggle("wrong", !fit.isConverged);
  const percent = `${Number((100 * fit.level).toPrecision(4))} %`;
  for (const one of document.querySelectorAll(".percent")) one.textContent = percent;
  get("parameters").replaceChildren(
    ...Object.entries(fit.parameters).map(([name, one]) => {
      const row = element("tr");
      row.append(...cells(name, one).map((cell) => element("td", cell)));
      return row;
    }),
  );
  // It is the text of an earlier fit.
  get("copied").hidden = true;
  get("copy-status").textContent = "";
  const measure = (name: string, value: number, more?: string): [string, string, string?][] =>
    Number.isNaN(value) ? [] : [[name, short(value, 4), more]];
  figures(get("figures"), [
    ...measure("R²", fit.rSquared),
    ...measure("RMS residual", fit.rmse),
    ["Rows", whole(fit.rows), `${whole(fit.dof)} degrees of freedom`],
    ["Refit", `${refitMs.toFixed(1)} ms`, `${drawnMs.toFixed(1)} ms with bands and charts`],
  ]);
}

/** Pairs of parameters with a correlation above 0.95. */
const strong = ({ free, correlation }: CurveFit): [string, string, number][] =>
  free
    .flatMap((name, i) =>
      free.slice(0, i).map((other, j): [string, string, number] => [other, name, correlation[i]![j]!]),
    )
    .filter(([, , value]) => Math.abs(value) > 0.95);

function cells(name: string, { value, stderr, interval, isFixed, isAtBound }: Readonly<FittedParameter>): string[] {
  const note = isFixed ? "fixed" : isAtBound ? "at a bound" : stderr === null ? "not determined" : "";
  const written = (number: number) => precise(number, stderr);
  return [
    name,
    written(value),
    stderr === null ? "–" : written(stderr),
    interval ? interval.map(written).join(" to ") : "–",
    note,
  ];
}

/** A number with as many decimals as two digits of a standard error have. */
function precise(number: number, stderr: number | null): string {
  const decimals = stderr ? 1 - Math.floor(Math.log10(stderr)) : NaN;
  const isPlain = decimals >= 0 && decimals <= 9 && Math.abs(number) < 1e7;
  return isPlain ? places(number, decimals) : short(number, 6);
}

/** Refits before the next frame, once for all changes until then. */
function soon(): void {
  if (state.isWaiting) return;
  state.isWaiting = true;
  requestAnimationFrame(() => {
    state.isWaiting = false;
    shown(refit);
  });
}

const worker = new Worker(new URL("./search.ts", import.meta.url), { type: "module" });
let searches = 0;

/** Looks for starts in the worker, then refits. A later search replaces an earlier one. */
async function search(): Promise<void> {
  const { data } = state;
  if (!data) return;
  const id = ++searches;
  get("status").textContent = "Looking for starts …";
  const request: SearchRequest = { id, columns: data.columns, model: field("formula"), options: options() };
  const result = await new Promise<SearchResult>((resolve) => {
    const answered = ({ data }: MessageEvent<SearchResult>) => {
      if (data.id !== id) return;
      worker.removeEventListener("message", answered);
      resolve(data);
    };
    worker.addEventListener("message", answered);
    worker.postMessage(request);
  });
  if (id !== searches) return;
  if (result.error !== undefined) {
    get("status").textContent = "No fit: the chart shows the previous one.";
    throw new Error(result.error);
  }
  const found = await load(result.file!);
  const tied = found.ties.map(({ name }) => name);
  starts.set(
    Object.fromEntries(
      Object.entries(found.parameters)
        .filter(([name]) => !tied.includes(name))
        .map(([name, { value }]) => [name, value]),
    ),
  );
  await refit();
}

/** Takes the columns of a text. */
function use(content: string): void {
  const data = parse(content);
  state.data = data;
  get("data-size").textContent = `${whole(data.rows)} rows, ${data.names.length} columns`;
  const chosen = field("target");
  get("target").replaceChildren(...data.names.map((name) => new Option(name)));
  get<HTMLSelectElement>("target").value = data.names.includes(chosen) ? chosen : data.names.at(-1)!;
}

async function example(): Promise<void> {
  const one = EXAMPLES[field("example")];
  if (!one) return;
  searches++;
  const content = text(one);
  get<HTMLTextAreaElement>("data").value = content;
  setFormula(one.formula);
  get("about").textContent = `${one.about} ${HINT}`;
  use(content);
  get<HTMLSelectElement>("target").value = one.names[1];
  starts.set(one.starts);
  await refit();
}

function setFormula(text: string): void {
  get<HTMLTextAreaElement>("formula").value = text;
}

/** A button for each named model, which fits it to the first column. */
async function offerModels(): Promise<void> {
  get("models").append(
    ...(await models()).map(({ name, summary }) => {
      const button = element("button", name);
      Object.assign(button, { type: "button", title: summary });
      button.addEventListener("click", () => {
        const first = state.data?.names.find((column) => column !== field("target")) ?? "x";
        setFormula(`${name}(${first})`);
        shown(search);
      });
      return button;
    }),
  );
}

/** Own data: the formula stays if it has a column of theirs, otherwise it becomes a line over their first column. */
async function own(content: string): Promise<void> {
  use(content);
  get<HTMLSelectElement>("example").value = "own";
  get("about").textContent = HINT;
  const { names } = state.data!;
  const words: string[] = field("formula").match(/[\p{L}_][\p{L}\d_]*/gu) ?? [];
  if (!words.some((word) => names.includes(word) && word !== field("target"))) {
    const first = names.find((name) => name !== field("target"))!;
    setFormula(`line(${first})`);
  }
  await search();
}

/** Copies to the clipboard. If the browser forbids that, selects the text in the field. */
async function copy(language: "latex" | "python" | "rust"): Promise<void> {
  const box = get<HTMLTextAreaElement>("copied");
  try {
    box.value = state.fit?.code(language) ?? "";
  } catch (error) {
    // The language lacks a function of the formula.
    box.hidden = true;
    get("copy-status").textContent = (error as Error).message;
    return;
  }
  box.hidden = false;
  try {
    await navigator.clipboard.writeText(box.value);
    get("copy-status").textContent = "Copied to the clipboard.";
  } catch {
    box.select();
    get("copy-status").textContent = "The browser does not allow access to the clipboard. Please copy the text below.";
  }
}

function save(): void {
  const href = URL.createObjectURL(new Blob([`${JSON.stringify(state.fit)}\n`], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href, download: "fit.json" }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

/** Waits until typing pauses. */
function later(work: () => unknown): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => shown(work), 300);
  };
}

for (const kind of ["dragover", "dragleave", "drop"] as const) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    get("drop").classList.toggle("over", kind === "dragover");
    const one = kind === "drop" ? event.dataTransfer?.files[0] : undefined;
    if (one) shown(() => file(one));
  });
}

async function file(one: File): Promise<void> {
  const content = await one.text();
  // A long text would make the field slow.
  get<HTMLTextAreaElement>("data").value = content.length < 200_000 ? content : "";
  await own(content);
}

get("file").addEventListener("change", () => {
  const input = get<HTMLInputElement>("file");
  const one = input.files?.[0];
  if (one)
    shown(() => file(one)).finally(() => {
      input.value = "";
    });
});
get("data").addEventListener(
  "input",
  later(() => own(field("data"))),
);
get("formula").addEventListener("input", later(search));
get("formula").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  shown(search);
});
get("form").addEventListener("submit", (event) => {
  event.preventDefault();
  shown(search);
});
get("search").addEventListener("click", () => shown(search));
get("example").addEventListener("change", () => shown(example));
get("target").addEventListener("change", () => shown(search));
for (const id of ["level", "scale"]) get(id).addEventListener("input", soon);
get("loss").addEventListener("input", () => {
  get("scale-box").hidden = field("loss") === "linear";
  soon();
});
for (const language of ["latex", "python", "rust"] as const)
  get(language).addEventListener("click", () => shown(() => copy(language)));
get("save").addEventListener("click", save);

get<HTMLSelectElement>("example").append(
  ...Object.entries(EXAMPLES).map(([key, { title }]) => new Option(title, key)),
  new Option("Your own data", "own"),
);
await shown(async () => {
  await offerModels();
  await example();
  // The first fit includes the compilation of the code.
  await refit();
});
ready();
