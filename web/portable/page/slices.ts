// The two slices through the surroundings of the inputs: which inputs run, when to draw again, what a click does.
import { drawCurve } from "./curve";
import { get, make } from "./dom";
import type { Model } from "./engine";
import type { Form } from "./form";
import { axes, drawMap, type Axis } from "./map";
import { short } from "./numbers";
import { failed, soon } from "./soon";

function options(select: HTMLSelectElement, named: { name: string; at: number }[], chosen: number): void {
  select.replaceChildren(...named.map(({ name, at }) => make("option", { value: String(at), textContent: name })));
  select.selectedIndex = Math.min(chosen, named.length - 1);
}

/** Why nothing is drawn of the inputs as they are, if so: an old drawing must not stand beside new inputs. */
function undrawn(inputs: Form): string | undefined {
  const wanting = inputs.wanting();
  return wanting.length > 0 ? `Nothing to draw until there is a number in: ${wanting.join(", ")}` : undefined;
}

/** Shows a drawing of these parts with words for it, or the words alone: the room stays. */
function shower(parts: Element[], tell: (words: string) => void) {
  const show = (words: string, isBlank = false) => {
    for (const part of parts) part.classList.toggle("blank", isBlank);
    tell(words);
  };
  const fail = (error: unknown) => {
    show("Nothing could be drawn.", true);
    failed("error")(error);
  };
  return { show, fail };
}

/** The line along one input, redrawn when anything it depends on changes. */
export function alongOne(model: Model, inputs: Form): () => void {
  const column = get<HTMLSelectElement>("along");
  const svg = document.querySelector<SVGSVGElement>("#curve");
  options(column, model.info.inputs.map(({ name }, at) => ({ name, at })), 0);
  if (!svg) return () => {};
  const { show, fail } = shower([svg, get("curve-legend")], (words) => {
    svg.setAttribute("aria-label", words);
    get("curve-words").textContent = words;
  });
  const draw = soon(async () => {
    const none = undrawn(inputs);
    if (none) return show(none, true);
    show(await drawCurve(svg, get("curve-legend"), model, inputs.values(), Number(column.value)));
  }, fail);
  column.addEventListener("change", draw);
  return draw;
}

/** Cells to a side of the map: at rest, and while inputs move if the model takes its time. */
const FINE = 96;
const ROUGH = 24;
const SLOW_MS = 25;
const REST_MS = 250;

/** `fine` work, or where that takes long `rough` work at once and the fine at rest. */
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

/** The map over two inputs; a click on it moves both. */
export function overTwo(model: Model, inputs: Form): () => void {
  const named = axes(model.info);
  if (named.length < 2) return () => {};
  get("map-card").hidden = false;
  const [x, y] = [get<HTMLSelectElement>("map-x"), get<HTMLSelectElement>("map-y")];
  options(x, named, 0);
  options(y, named, 1);
  const canvas = get<HTMLCanvasElement>("map");
  const chosen = (select: HTMLSelectElement): Axis | undefined => named.find(({ at }) => at === Number(select.value));
  const { show, fail } = shower([canvas, get("legend")], (words) => canvas.setAttribute("aria-label", words));
  const drawn = (cells: number) => async () => {
    const [across, up, none] = [chosen(x), chosen(y), undrawn(inputs)];
    if (none) return show(none, true);
    if (!across || !up) return;
    show(await drawMap(canvas, get("legend"), model, inputs.values(), across, up, cells));
    for (const [id, { name, min, max }] of [["axis-x", across], ["axis-y", up]] as const) labelAxis(id, name, min, max);
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
