// The output over two inputs as a heat map: ⊥ is hatched, what is near a pole is paler.
import type { Info, Input, Model } from "./engine";
import { make } from "./dom";
import type { Value } from "./form";
import { extent, short } from "./numbers";
import { classColour, classKeys, css, key, mixed, ramp, type Colour } from "./palette";
import { rowsAlong } from "./slice";

/** Cells to a side, and pixels to a cell. */
const CELLS = 96;
const PIXELS = 6;
const HATCH = 12;

interface Cell {
  colour: Colour;
  isBottom: boolean;
}

export type Axis = Extract<Input, { min: number }> & { at: number };

/** The inputs that can be an axis. */
export function axes({ inputs }: Info): Axis[] {
  return inputs.flatMap((input, at) => ("levels" in input || input.min === input.max ? [] : [{ ...input, at }]));
}

/** Draws the map and its legend and says in words what they show. */
export async function drawMap(canvas: HTMLCanvasElement, legend: HTMLElement, model: Model, values: Value[], x: Axis, y: Axis): Promise<string> {
  const along = ({ min, max }: Axis, step: number) => min + ((max - min) * (step + 0.5)) / CELLS;
  const steps = Array.from({ length: CELLS * CELLS }, (_, i) => i);
  const xs = steps.map((i) => along(x, i % CELLS));
  const ys = steps.map((i) => along(y, CELLS - 1 - Math.floor(i / CELLS)));
  const rows = rowsAlong(values, new Map([[x.at, xs], [y.at, ys]]));
  const ground = colourOf(canvas, "--card");
  const { cells, words } = model.info.classes.length > 0
    ? await classCells(model, rows, ground, legend)
    : await numberCells(model, rows, ground, legend);
  paint(canvas, cells, ground, colourOf(canvas, "--soft"));
  cross(canvas, [place(x, values), 1 - place(y, values)], css(colourOf(canvas, "--ink")), css(ground));
  return `${model.info.target} over ${x.name} and ${y.name}: ${words}`;
}

const place = ({ min, max, at }: Axis, values: Value[]): number => (Number(values[at]) - min) / (max - min);

async function numberCells(model: Model, rows: (number[] | string[])[], ground: Colour, legend: HTMLElement) {
  const { value, bottom, gap } = await model.predict(rows);
  const numbers = [...value].map(Number);
  const [low, high] = extent(numbers.filter((_, i) => !bottom?.[i]));
  const cells = numbers.map((number, i): Cell => {
    const colour = ramp((number - low) / (high - low || 1));
    return { colour: gap?.[i] ? mixed(colour, ground, 0.55) : colour, isBottom: bottom?.[i] === 1 };
  });
  const none = bottom?.reduce((sum, flag) => sum + flag, 0) ?? 0;
  const near = gap?.reduce((sum, flag) => sum + flag, 0) ?? 0;
  const scale = make("div", { className: "scale" }, make("span", { textContent: short(low, 4) }), make("i", { className: "ramp" }), make("span", { textContent: short(high, 4) }));
  const keys = [none > 0 && key("hatched", "⊥ no value"), near > 0 && key("pale", "near a pole")].filter((one) => one !== false);
  legend.replaceChildren(make("span", { textContent: model.info.target, className: "name" }), scale, ...keys);
  const poles = none > 0 ? `, no value in ${((100 * none) / numbers.length).toFixed(1)} % of the area` : "";
  return { cells, words: `from ${short(low)} to ${short(high)}${poles}` };
}

async function classCells(model: Model, rows: (number[] | string[])[], ground: Colour, legend: HTMLElement) {
  const { classes } = model.info;
  const { value, probability } = await model.predict(rows);
  const order = new Map(classes.map((name, at) => [name, at]));
  const names = [...value].map(String);
  const cells = names.map((name, i): Cell => {
    const share = probability?.[i] ?? 1;
    return { colour: mixed(ground, classColour(order.get(name) ?? 0), 0.25 + 0.75 * share), isBottom: false };
  });
  const seen = classes.filter((name) => names.includes(name));
  legend.replaceChildren(...classKeys(classes, seen.slice(0, 8)));
  return { cells, words: `the likeliest is ${seen.join(", ")}` };
}

function paint(canvas: HTMLCanvasElement, cells: Cell[], ground: Colour, line: Colour): void {
  const size = CELLS * PIXELS;
  canvas.width = canvas.height = size;
  const image = new ImageData(size, size);
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const cell = cells[Math.floor(row / PIXELS) * CELLS + Math.floor(column / PIXELS)];
      const hatched = (row + column) % HATCH < 2 ? line : ground;
      const [r, g, b] = cell?.isBottom ? hatched : cell?.colour ?? ground;
      image.data.set([r, g, b, 255], 4 * (row * size + column));
    }
  }
  canvas.getContext("2d")?.putImageData(image, 0, 0);
}

function cross(canvas: HTMLCanvasElement, [x, y]: [number, number], ink: string, halo: string): void {
  const context = canvas.getContext("2d");
  if (!context || x < 0 || x > 1 || y < 0 || y > 1) return;
  for (const [colour, width] of [[halo, 7], [ink, 3]] as const) {
    context.beginPath();
    context.arc(x * canvas.width, y * canvas.height, 11, 0, 2 * Math.PI);
    Object.assign(context, { strokeStyle: colour, lineWidth: width });
    context.stroke();
  }
}

/** What a custom property of the style comes to, through a probe that the browser computes. */
function colourOf(element: HTMLElement, name: string): Colour {
  const probe = make("i");
  probe.style.color = `var(${name})`;
  element.after(probe);
  const [r = 0, g = 0, b = 0] = (getComputedStyle(probe).color.match(/[\d.]+/g) ?? []).map(Number);
  probe.remove();
  return [r, g, b];
}
