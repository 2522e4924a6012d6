// Draws the output over two inputs as a heat map: ⊥ is hatched, and values near a pole are paler.

import { make } from "./dom";
import type { Column, Info, Input, Model } from "./engine";
import type { Value } from "./form";
import { extent, short } from "./numbers";
import { type Colour, classColour, classKeys, css, key, mixed, ramp } from "./palette";
import { rowsAlong } from "./slice";

/** Pixels per side. */
const SIZE = 576;
const HATCH = 12;

interface Cell {
  colour: Colour;
  isBottom: boolean;
}

export type Axis = Extract<Input, { min: number }> & { at: number };

/** The inputs that can be an axis: numeric and not constant. */
export function axes({ inputs }: Info): Axis[] {
  return inputs.flatMap((input, at) => ("min" in input && input.min !== input.max ? [{ ...input, at }] : []));
}

/** Draws the map with `side` × `side` cells, and its legend. Returns a description. */
export async function drawMap(
  canvas: HTMLCanvasElement,
  legend: HTMLElement,
  model: Model,
  values: Value[],
  x: Axis,
  y: Axis,
  side: number,
): Promise<string> {
  const along = ({ min, max }: Axis, step: number) => min + ((max - min) * (step + 0.5)) / side;
  const xs = Float64Array.from({ length: side * side }, (_, i) => along(x, i % side));
  const ys = Float64Array.from({ length: side * side }, (_, i) => along(y, side - 1 - Math.floor(i / side)));
  const rows = rowsAlong(
    values,
    new Map([
      [x.at, xs],
      [y.at, ys],
    ]),
  );
  const background = colourOf(canvas, "--card");
  const { cells, text } =
    model.info.classes.length > 0
      ? await classCells(model, rows, background, legend)
      : await numberCells(model, rows, background, legend);
  paint(canvas, cells, side, background, colourOf(canvas, "--soft"));
  cross(canvas, [place(x, values), 1 - place(y, values)], css(colourOf(canvas, "--ink")), css(background));
  return `${model.info.target} over ${x.name} and ${y.name}: ${text}`;
}

const place = ({ min, max, at }: Axis, values: Value[]): number => (Number(values[at]) - min) / (max - min);

async function numberCells(model: Model, rows: Column[], background: Colour, legend: HTMLElement) {
  const { value, bottom, gap } = await model.predict(rows);
  const numbers = [...value].map(Number);
  const [low, high] = extent(numbers.filter((_, i) => !bottom?.[i]));
  const cells = numbers.map((number, i): Cell => {
    const colour = ramp((number - low) / (high - low || 1));
    return { colour: gap?.[i] ? mixed(colour, background, 0.55) : colour, isBottom: bottom?.[i] === 1 };
  });
  const none = bottom?.reduce((sum, flag) => sum + flag, 0) ?? 0;
  const near = gap?.reduce((sum, flag) => sum + flag, 0) ?? 0;
  const scale = make(
    "div",
    { className: "scale" },
    make("span", { textContent: short(low, 4) }),
    make("i", { className: "ramp" }),
    make("span", { textContent: short(high, 4) }),
  );
  const keys = [none > 0 && key("hatched", "⊥ no value"), near > 0 && key("pale", "near a pole")].filter(
    (one) => one !== false,
  );
  legend.replaceChildren(make("span", { textContent: model.info.target, className: "name" }), scale, ...keys);
  const poles = none > 0 ? `, no value in ${((100 * none) / numbers.length).toFixed(1)} % of the area` : "";
  return { cells, text: `from ${short(low)} to ${short(high)}${poles}` };
}

async function classCells(model: Model, rows: Column[], background: Colour, legend: HTMLElement) {
  const { classes } = model.info;
  const { value, probability } = await model.predict(rows);
  const order = new Map(classes.map((name, at) => [name, at]));
  const names = [...value].map(String);
  const cells = names.map((name, i): Cell => {
    const share = probability?.[i] ?? 1;
    return { colour: mixed(background, classColour(order.get(name) ?? 0), 0.25 + 0.75 * share), isBottom: false };
  });
  const seen = classes.filter((name) => names.includes(name));
  legend.replaceChildren(...classKeys(classes, seen.slice(0, 8)));
  return { cells, text: `the most likely classes are ${seen.join(", ")}` };
}

function paint(canvas: HTMLCanvasElement, cells: Cell[], side: number, background: Colour, line: Colour): void {
  canvas.width = canvas.height = SIZE;
  const image = new ImageData(SIZE, SIZE);
  const pixels = new Uint32Array(image.data.buffer);
  const [colours, plain, hatch] = [cells.map(({ colour }) => word(colour)), word(background), word(line)];
  const cell = SIZE / side;
  for (let row = 0; row < SIZE; row++) {
    for (let column = 0; column < SIZE; column++) {
      const at = Math.floor(row / cell) * side + Math.floor(column / cell);
      const hatched = (row + column) % HATCH < 2 ? hatch : plain;
      pixels[row * SIZE + column] = cells[at]?.isBottom ? hatched : (colours[at] ?? plain);
    }
  }
  canvas.getContext("2d")?.putImageData(image, 0, 0);
}

/** A colour as a pixel of an image. All machines that run browsers are little-endian. */
const word = ([r, g, b]: Colour): number => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

function cross(canvas: HTMLCanvasElement, [x, y]: [number, number], ink: string, halo: string): void {
  const context = canvas.getContext("2d");
  if (!context || x < 0 || x > 1 || y < 0 || y > 1) return;
  for (const [colour, width] of [
    [halo, 7],
    [ink, 3],
  ] as const) {
    context.beginPath();
    context.arc(x * canvas.width, y * canvas.height, 11, 0, 2 * Math.PI);
    Object.assign(context, { strokeStyle: colour, lineWidth: width });
    context.stroke();
  }
}

/** The colour of a custom CSS property, computed by the browser on a temporary element. */
function colourOf(element: HTMLElement, name: string): Colour {
  const probe = make("i");
  probe.style.color = `var(${name})`;
  element.after(probe);
  const [r = 0, g = 0, b = 0] = (getComputedStyle(probe).color.match(/[\d.]+/g) ?? []).map(Number);
  probe.remove();
  return [r, g, b];
}
