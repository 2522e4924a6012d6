// Many fits: a stack of images becomes maps of parameters; the pixel that is pointed at shows its data and its curve.
import { fit, fitMany, type ManyFits } from "meromorph/fit";
import { Chart } from "../chart.js";
import { short, spread, whole } from "../numbers.js";
import { figures, get, ready, shown } from "../page.js";
import { PixelMap } from "./map.js";
import { EXAMPLES, fromNpy, type Stack } from "./stacks.js";

const field = (id: string) => get<HTMLInputElement>(id).value;
const state = {
  stack: undefined as Stack | undefined,
  fits: undefined as ManyFits | undefined,
  chosen: 0,
  own: undefined as Stack | undefined,
};
let maps: PixelMap[] = [];
const chart = new Chart(get("curve"), {
  x: { label: "x" },
  y: { label: "brightness" },
  series: [
    { label: "data", colour: "--edge", kind: "dots" },
    { label: "fit", colour: "--model", width: 2.5 },
  ],
});

/** The options of the example; none for another formula. */
function options(): { p0?: Record<string, number>; bounds?: Record<string, [number | null, number | null]> } {
  const example = EXAMPLES[field("example")];
  if (!example || field("formula").trim() !== example.formula) return {};
  return { bounds: example.bounds, ...(example.p0 && { p0: example.p0 }) };
}

/** Fits every pixel and draws the maps. */
async function refit(): Promise<void> {
  const { stack } = state;
  if (!stack) return;
  get("status").textContent = `Fitting ${whole(stack.width * stack.height)} pixels …`;
  // The text is drawn before the fits keep the tab busy.
  await new Promise((resolve) => setTimeout(resolve, 20));
  const began = performance.now();
  const fits = await fitMany({ [stack.x]: stack.values, brightness: stack.y }, field("formula"), {
    y: "brightness",
    missing: "drop",
    ...options(),
  }).catch((error) => {
    state.fits = undefined;
    get("status").textContent = "Not fitted: the maps show the previous fits.";
    throw error;
  });
  const seconds = (performance.now() - began) / 1e3;
  state.fits = fits;
  const converged = fits.converged.reduce((sum, one) => sum + (one || 0), 0);
  const failed = fits.failures.length ? `, ${whole(fits.failures.length)} without an answer` : "";
  get("status").textContent =
    `${whole(fits.count)} fits in ${short(seconds, 2)} s, ${whole(fits.count / seconds)} a second; ${whole(converged)} converged${failed}`;
  rebuild();
  await choose(state.chosen);
}

/** Maps for the parameters that there are now. */
function rebuild(): void {
  const titles = ["image", ...names()];
  const point = (column: number, row: number) => {
    void shown(() => choose(row * state.stack!.width + column));
  };
  maps = titles.map((title) => new PixelMap(title, point));
  get("maps").replaceChildren(...maps.map(({ figure }) => figure));
}

const names = () => Object.keys(state.fits![field("shown") as "parameters" | "stderrs"]);

function draw(): void {
  const { stack, fits, chosen } = state;
  if (!stack || !fits) return;
  const [images, image] = [stack.values.length, Number(field("image"))];
  get("image-at").textContent = `${stack.x} = ${short(stack.values[image]!, 3)}`;
  const picture = Float64Array.from(
    { length: stack.width * stack.height },
    (_, pixel) => stack.y[pixel * images + image]!,
  );
  const all = [picture, ...Object.values(fits[field("shown") as "parameters" | "stderrs"])];
  maps.forEach((map, at) => map.draw(stack.width, stack.height, all[at]!, chosen));
}

/** Shows the data and the curve of a pixel. */
async function choose(pixel: number): Promise<void> {
  const { stack, fits } = state;
  if (!stack || !fits) return;
  state.chosen = pixel;
  draw();
  const images = stack.values.length;
  const y = stack.y.slice(pixel * images, (pixel + 1) * images);
  get("pixel").textContent = `Pixel ${(pixel % stack.width) + 1}, ${Math.floor(pixel / stack.width) + 1}`;
  const entries = Object.entries(fits.parameters).map(([name, values]) => [name, values[pixel]!] as const);
  const error = (name: string) => fits.stderrs[name]?.[pixel] ?? NaN;
  figures(
    get("figures"),
    entries.map(([name, value]) => [
      name,
      short(value, 4),
      Number.isFinite(error(name)) ? `± ${short(error(name), 2)}` : "not determined",
    ]),
  );
  const measured = new Map(Array.from(stack.values, (x, at) => [x, y[at]!]));
  const x = [...new Set([...stack.values, ...spread(stack.values[0]!, stack.values.at(-1)!, 200)])].sort(
    (one, other) => one - other,
  );
  let curve: ArrayLike<number> = [];
  if (entries.every(([, value]) => Number.isFinite(value))) {
    const one = await fit({ [stack.x]: stack.values, brightness: y }, field("formula"), {
      y: "brightness",
      missing: "drop",
      ...options(),
      p0: Object.fromEntries(entries),
    });
    curve = one.predict({ [stack.x]: x }).values;
  }
  // Another pixel may have been chosen meanwhile.
  if (state.chosen !== pixel) return;
  chart.set([x, x.map((x) => measured.get(x) ?? null), curve]);
  chart.describe(`${images} values of a pixel and their fit`);
}

/** Takes a stack, and fits it. */
async function take(stack: Stack): Promise<void> {
  state.stack = stack;
  state.chosen = Math.floor(stack.height / 2) * stack.width + Math.floor(stack.width / 2);
  const image = get<HTMLInputElement>("image");
  image.max = String(stack.values.length - 1);
  image.value = String(Math.floor(stack.values.length / 3));
  chart.axes({ label: stack.x }, { label: "brightness" });
  get("hint").textContent = `${stack.x} is the column; all other names are parameters.`;
  await refit();
}

async function example(): Promise<void> {
  const known = EXAMPLES[field("example")];
  get<HTMLInputElement>("noise").disabled = !known;
  get("about").textContent = known?.about ?? "Images are numbered by i, from 0.";
  if (!known) return state.own && take(state.own);
  get<HTMLInputElement>("formula").value = known.formula;
  await noisy();
}

async function noisy(): Promise<void> {
  const share = Number(field("noise")) / 100;
  get("noise-size").textContent = String(share);
  const known = EXAMPLES[field("example")];
  if (known) await take(known.stack(share));
}

async function file(): Promise<void> {
  const one = get<HTMLInputElement>("file").files?.[0];
  if (!one) return;
  state.own = fromNpy(await one.arrayBuffer());
  const select = get<HTMLSelectElement>("example");
  if (!select.querySelector("[value=own]")) select.append(new Option("Your own stack", "own"));
  select.value = "own";
  get<HTMLInputElement>("formula").value = "a*exp(-b*i) + c";
  await example();
}

/** A function that does `work` once typing or dragging stops. */
function later(work: () => Promise<unknown>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => shown(work), 300);
  };
}

get<HTMLSelectElement>("example").append(...Object.entries(EXAMPLES).map(([key, { title }]) => new Option(title, key)));
get("example").addEventListener("change", () => shown(example));
get("noise").addEventListener("input", later(noisy));
get("formula").addEventListener("input", later(refit));
get("file").addEventListener("change", () => shown(file));
get("image").addEventListener("input", draw);
get("shown").addEventListener("change", () => {
  if (state.fits) rebuild();
  draw();
});
get("form").addEventListener("submit", (event) => event.preventDefault());
await shown(example);
ready();
