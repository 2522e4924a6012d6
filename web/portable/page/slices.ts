// The two charts, along one input and over two inputs: choosing the inputs, redrawing, and clicks.
import { drawCurve } from "./curve";
import { get, make } from "./dom";
import type { Model } from "./engine";
import type { Form } from "./form";
import { type Axis, axes, drawMap } from "./map";
import { short } from "./numbers";
import { failed, soon } from "./soon";

function options(select: HTMLSelectElement, named: { name: string; at: number }[], chosen: number): void {
  select.replaceChildren(...named.map(({ name, at }) => make("option", { value: String(at), textContent: name })));
  select.selectedIndex = Math.min(chosen, named.length - 1);
}

/** The reason why the current inputs cannot be drawn, if there is one. The old chart would not match them. */
function obstacle(inputs: Form): string | undefined {
  const invalid = inputs.invalid();
  return invalid.length > 0 ? `No chart until there is a number for: ${invalid.join(", ")}` : undefined;
}

/** Returns functions that show a chart with its description, or the description alone. The chart keeps its space. */
function display(parts: Element[], describe: (text: string) => void) {
  const show = (text: string, isBlank = false) => {
    for (const part of parts) part.classList.toggle("blank", isBlank);
    describe(text);
  };
  const fail = (error: unknown) => {
    show("The chart could not be drawn.", true);
    failed("error")(error);
  };
  return { show, fail };
}

/** The chart along one input. It is redrawn when anything it depends on changes. */
export function alongOne(model: Model, inputs: Form): () => void {
  const column = get<HTMLSelectElement>("along");
  const svg = document.querySelector<SVGSVGElement>("#curve");
  // The first number or date: a curve along it says more than the points of a category, of which there may be hundreds.
  const first = model.info.inputs.findIndex((input) => !("levels" in input));
  options(
    column,
    model.info.inputs.map(({ name }, at) => ({ name, at })),
    Math.max(first, 0),
  );
  if (!svg) return () => {};
  const { show, fail } = display([svg, get("curve-legend")], (text) => {
    svg.setAttribute("aria-label", text);
    get("curve-text").textContent = text;
  });
  const draw = soon(async () => {
    const none = obstacle(inputs);
    if (none) return show(none, true);
    show(await drawCurve(svg, get("curve-legend"), model, inputs.values(), Number(column.value)));
  }, fail);
  column.addEventListener("change", draw);
  return draw;
}

/** Cells per side of the map: at rest, and while inputs move if the model is slow. */
const FINE = 96;
const ROUGH = 24;
const SLOW_MS = 25;
const REST_MS = 250;

/** Runs `fine`; if it is slow, runs `rough` at once and `fine` when the inputs no longer move. */
function paced(fine: () => Promise<void>, rough: () => Promise<void>, failed: (error: unknown) => void): () => void {
  let [isSlow, rest] = [false, 0];
  const measured = async () => {
    const began = performance.now();
    await fine();
    isSlow = performance.now() - began > SLOW_MS;
  };
  const [whole, part] = [soon(measured, failed), soon(rough, failed)];
  return () => {
    if (!isSlow) return whole();
    part();
    clearTimeout(rest);
    rest = setTimeout(whole, REST_MS);
  };
}

/** The map over two inputs. A click on it sets both. */
export function overTwo(model: Model, inputs: Form): () => void {
  const named = axes(model.info);
  if (named.length < 2) return () => {};
  get("map-card").hidden = false;
  const [x, y] = [get<HTMLSelectElement>("map-x"), get<HTMLSelectElement>("map-y")];
  options(x, named, 0);
  options(y, named, 1);
  const canvas = get<HTMLCanvasElement>("map");
  const chosen = (select: HTMLSelectElement): Axis | undefined => named.find(({ at }) => at === Number(select.value));
  const { show, fail } = display([canvas, get("legend")], (text) => canvas.setAttribute("aria-label", text));
  const drawn = (cells: number) => async () => {
    const [across, up, none] = [chosen(x), chosen(y), obstacle(inputs)];
    if (none) return show(none, true);
    if (!across || !up) return;
    show(await drawMap(canvas, get("legend"), model, inputs.values(), across, up, cells));
    for (const [id, { name, min, max }] of [
      ["axis-x", across],
      ["axis-y", up],
    ] as const)
      labelAxis(id, name, min, max);
  };
  const draw = paced(drawn(FINE), drawn(ROUGH), fail);
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
