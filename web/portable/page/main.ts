// The page of one model: inputs to move, what it says of them at once, slices through its surroundings, tables in and out.
import { showClasses, showNumber } from "./answer";
import { batch } from "./batch";
import { drawCurve } from "./curve";
import { get, make } from "./dom";
import { start, type Model } from "./engine";
import { form, type Form, type Value } from "./form";
import { axes, drawMap, type Axis } from "./map";
import { short } from "./numbers";
import { rowsAlong } from "./slice";

/** Calls `work` soon after it was asked for; while it is under way, once more at the end of it however often it was asked. */
function soon(work: () => Promise<void>, failed: (error: unknown) => void): () => void {
  let [isWanted, isBusy] = [false, false];
  const run = async () => {
    isBusy = true;
    while (isWanted) {
      isWanted = false;
      await work().catch(failed);
      await new Promise(requestAnimationFrame);
    }
    isBusy = false;
  };
  return () => {
    isWanted = true;
    if (!isBusy) void run();
  };
}

function failed(place: string): (error: unknown) => void {
  return (error) => { get(place).textContent = error instanceof Error ? error.message : String(error); };
}

async function answer(model: Model, values: Value[], outside: string[]): Promise<void> {
  const rows = rowsAlong(values, new Map([[0, one(values[0])]]));
  const place = get("answer");
  if (model.info.classes.length > 0) showClasses(place, model.info, await model.probabilities(rows));
  else showNumber(place, await model.predict(rows));
  get("outside").textContent = outside.length > 0 ? `Outside the training range: ${outside.join(", ")}` : "";
  get("error").textContent = "";
}

const one = (value: Value | undefined): number[] | string[] => (typeof value === "string" ? [value] : [value ?? 0]);

function describe({ info }: Model): void {
  const { target, inputs, classes, parameters } = info;
  document.title = `${target} – a model`;
  get("target").textContent = target;
  const what = classes.length > 0 ? `one of ${classes.length} classes` : "a number";
  get("about").textContent = `${what} from ${inputs.length} ${inputs.length === 1 ? "input" : "inputs"}, ${parameters.toLocaleString("en")} parameters`;
}

function options(select: HTMLSelectElement, named: { name: string; at: number }[], chosen: number): void {
  select.replaceChildren(...named.map(({ name, at }) => make("option", { value: String(at), textContent: name })));
  select.selectedIndex = Math.min(chosen, named.length - 1);
}

/** The line along one input, redrawn when anything it depends on changes. */
function curve(model: Model, inputs: Form): () => void {
  const column = get<HTMLSelectElement>("along");
  const svg = document.querySelector<SVGSVGElement>("#curve");
  options(column, model.info.inputs.map(({ name }, at) => ({ name, at })), 0);
  const draw = soon(async () => {
    if (!svg) return;
    const words = await drawCurve(svg, get("curve-legend"), model, inputs.values(), Number(column.value));
    svg.setAttribute("aria-label", words);
    get("curve-words").textContent = words;
  }, failed("error"));
  column.addEventListener("change", draw);
  return draw;
}

/** The map over two inputs; a click on it moves both. */
function map(model: Model, inputs: Form): () => void {
  const named = axes(model.info);
  if (named.length < 2) return () => {};
  get("map-card").hidden = false;
  const [x, y] = [get<HTMLSelectElement>("map-x"), get<HTMLSelectElement>("map-y")];
  options(x, named, 0);
  options(y, named, 1);
  const canvas = get<HTMLCanvasElement>("map");
  const chosen = (select: HTMLSelectElement): Axis | undefined => named.find(({ at }) => at === Number(select.value));
  const draw = soon(async () => {
    const [across, up] = [chosen(x), chosen(y)];
    if (!across || !up) return;
    const words = await drawMap(canvas, get("legend"), model, inputs.values(), across, up);
    canvas.setAttribute("aria-label", words);
    for (const [id, { name, min, max }] of [["axis-x", across], ["axis-y", up]] as const) labelAxis(id, name, min, max);
  }, failed("error"));
  const apart = (kept: HTMLSelectElement, other: HTMLSelectElement) => () => {
    if (kept.value === other.value) other.value = String(named.find(({ at }) => String(at) !== kept.value)?.at);
    draw();
  };
  x.addEventListener("change", apart(x, y));
  y.addEventListener("change", apart(y, x));
  canvas.addEventListener("click", ({ offsetX, offsetY }) => {
    const [across, up] = [chosen(x), chosen(y)];
    if (!across || !up) return;
    inputs.set(across.at, across.min + (across.max - across.min) * (offsetX / canvas.clientWidth));
    inputs.set(up.at, up.max - (up.max - up.min) * (offsetY / canvas.clientHeight));
  });
  return draw;
}

function labelAxis(id: string, name: string, min: number, max: number): void {
  const place = get(id);
  const ends = [min, max].map((value) => make("span", { textContent: short(value, 3) }));
  const [low, high] = ends;
  if (low && high) place.replaceChildren(low, make("b", { textContent: name }), high);
}

async function main(): Promise<void> {
  const model = await start();
  describe(model);
  let changed = () => {};
  const inputs = form(model.info.inputs, get("inputs"), () => changed());
  const parts = [
    soon(() => answer(model, inputs.values(), inputs.outside()), failed("error")),
    curve(model, inputs),
    map(model, inputs),
  ];
  changed = () => parts.forEach((part) => part());
  get("reset").addEventListener("click", inputs.reset);
  batch(model, failed("batch-error"));
  new ResizeObserver(changed).observe(get("curve-card"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  get("main").hidden = false;
  get("loading").hidden = true;
  changed();
  document.documentElement.dataset.ready = "";
}

main().catch((error: unknown) => {
  get("loading").textContent = `This model cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
});
