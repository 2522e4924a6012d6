// Draws the output along one input: ⊥ is a gap in the line, and values near a pole are shaded.
import { around, type DateInput, labels } from "./dates";
import { shape } from "./dom";
import type { Info, Input, Model } from "./engine";
import type { Value } from "./form";
import { extent, type Scale, scale, short, ticks } from "./numbers";
import { classKeys, key } from "./palette";
import { at, type Point, runs, sampled } from "./slice";

const HEIGHT = 300;
const EDGE = { left: 62, right: 14, top: 24, bottom: 46 };
/** How far the curve extends beyond the training range, as a fraction of it. */
const BEYOND = 0.08;
/** Neighbouring points near a pole that differ by more than this fraction of the height are on opposite sides of it. */
const BREAK = 0.5;
/** The maximum number of curves (one per class) that can be distinguished. */
const MAX_LINES = 8;
/** The maximum number of levels of a category that can be distinguished. */
const MAX_LEVELS = 60;
/** The maximum number of letters of a level below its point. */
const MAX_LABEL = 16;
/** Points in time along a column of dates. */
const DATES = 48;

interface Frame {
  svg: SVGSVGElement;
  x: Scale;
  y: Scale;
  /** The values at the lower and upper edge. */
  reach: [number, number];
  width: number;
}

/** Draws the curve and its legend. Returns a description. */
export async function drawCurve(
  svg: SVGSVGElement,
  legend: HTMLElement,
  model: Model,
  values: Value[],
  column: number,
): Promise<string> {
  const input = model.info.inputs[column];
  if (!input) return "";
  const { classes } = model.info;
  legend.replaceChildren(...classKeys(classes, classes.slice(0, MAX_LINES)));
  if ("levels" in input) return drawLevels(svg, model, values, column, some(input.levels, values[column]));
  if ("from" in input) return drawDates(svg, model, values, column, input);
  const { from, to } = range(input, values[column]);
  const points = await sampled(model, values, column, from, to);
  const seen = points.filter(({ bottom }) => !bottom);
  const frame = framed(svg, [from, to], extent(seen.flatMap(({ y }) => y.slice(0, MAX_LINES))), model.info);
  shadeOutside(frame, input, [from, to]);
  axes(frame, ticks(from, to, frame.width / 90), input.name, model.info);
  const near = runs(points, ({ gap, bottom }) => gap || bottom);
  for (const run of near) shade(frame, run, "near");
  const poles = runs(points, ({ bottom }) => bottom);
  legend.append(key("outside", "outside the training range"));
  if (near.length > 0) legend.append(key("near", "near a pole"));
  if (poles.length > 0) legend.append(key("bottom", "⊥ no value"));
  for (const run of poles) shade(frame, run, "bottom");
  const height = frame.reach[1] - frame.reach[0];
  for (const run of runs(points, ({ bottom }) => !bottom).flatMap((run) => split(run, height))) lines(frame, run);
  mark(frame, points, Number(values[column]));
  return description(model.info, input.name, seen, poles);
}

function range({ min, max }: Extract<Input, { min: number }>, value: Value | undefined): { from: number; to: number } {
  const margin = (max - min) * BEYOND || 0.5;
  const now = Number(value);
  return { from: Math.min(min - margin, now), to: Math.max(max + margin, now) };
}

/** The levels to draw: all of them, or the current one and the first others. */
function some(levels: string[], value: Value | undefined): string[] {
  if (levels.length <= MAX_LEVELS) return levels;
  return levels.filter((level, at) => at < MAX_LEVELS - 1 || level === value);
}

function drawDates(
  svg: SVGSVGElement,
  model: Model,
  values: Value[],
  column: number,
  input: DateInput,
): Promise<string> {
  const points = around(input, String(values[column]), DATES);
  return drawLevels(svg, model, values, column, points, labels(points));
}

async function drawLevels(
  svg: SVGSVGElement,
  model: Model,
  values: Value[],
  column: number,
  levels: string[],
  texts = levels,
): Promise<string> {
  const points = await at(model, values, column, levels);
  const seen = points.filter(({ bottom }) => !bottom);
  const frame = framed(
    svg,
    [-0.5, levels.length - 0.5],
    extent(seen.flatMap(({ y }) => y.slice(0, MAX_LINES))),
    model.info,
  );
  const input = model.info.inputs[column];
  const left =
    input && "levels" in input && input.levels.length > levels.length
      ? ` (${levels.length} of ${input.levels.length})`
      : "";
  const name = `${input?.name ?? ""}${left}`;
  axes(frame, [], name, model.info);
  const longest = Math.max(...texts.map(({ length }) => Math.min(length, MAX_LABEL)));
  const room = frame.width - EDGE.left - EDGE.right;
  const each = Math.max(1, Math.ceil((levels.length * Math.max(60, 8 * longest)) / room));
  for (const [i, point] of points.entries()) {
    const label = (texts[i] ?? "").slice(0, MAX_LABEL);
    if (i % each === 0)
      frame.svg.append(shape("text", { x: frame.x(i), y: HEIGHT - 26, "text-anchor": "middle" }, label));
    if (point.bottom)
      frame.svg.append(shape("text", { x: frame.x(i), y: HEIGHT / 2, "text-anchor": "middle", class: "pole" }, "⊥"));
    const isNow = levels[i] === values[column];
    for (const [line, y] of (point.bottom ? [] : point.y.slice(0, MAX_LINES)).entries()) {
      const style = `dot line-${line}${isNow ? " now" : ""}${point.gap ? " doubtful" : ""}`;
      frame.svg.append(shape("circle", { cx: frame.x(i), cy: frame.y(y), r: isNow ? 6 : 4, class: style }));
    }
  }
  return description(
    model.info,
    name,
    seen,
    runs(points, ({ bottom }) => bottom),
  );
}

function framed(svg: SVGSVGElement, x: [number, number], seen: [number, number], { classes }: Info): Frame {
  const width = svg.clientWidth || 600;
  const [low, high] = classes.length > 0 ? [0, 1] : seen;
  const margin = (high - low) * 0.06 || 0.5;
  const reach: [number, number] = classes.length > 0 ? [0, 1] : [low - margin, high + margin];
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  svg.replaceChildren(hatching());
  return {
    svg,
    width,
    reach,
    x: scale(x, [EDGE.left, width - EDGE.right]),
    y: scale(reach, [HEIGHT - EDGE.bottom, EDGE.top]),
  };
}

function hatching(): SVGElement {
  const pattern = shape("pattern", {
    id: "hatch",
    width: 7,
    height: 7,
    patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(45)",
  });
  pattern.append(shape("line", { x1: 0, y1: 0, x2: 0, y2: 7, class: "hatch" }));
  const definitions = shape("defs", {});
  definitions.append(pattern);
  return definitions;
}

function axes({ svg, x, y, reach, width }: Frame, along: number[], name: string, { target, classes }: Info): void {
  const [left, right, floor] = [EDGE.left, width - EDGE.right, HEIGHT - EDGE.bottom];
  for (const value of ticks(...reach, 5)) {
    svg.append(shape("line", { x1: left, x2: right, y1: y(value), y2: y(value), class: "rule" }));
    svg.append(shape("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, short(value)));
  }
  for (const value of along)
    svg.append(shape("text", { x: x(value), y: floor + 18, "text-anchor": "middle" }, short(value)));
  svg.append(
    shape(
      "text",
      { x: (left + right) / 2, y: HEIGHT - 6, "text-anchor": "middle", class: "title" },
      cut(name, width / 9),
    ),
  );
  const upright = `translate(12 ${(EDGE.top + floor) / 2}) rotate(-90)`;
  const title = classes.length > 0 ? "probability" : target;
  svg.append(shape("text", { transform: upright, "text-anchor": "middle", class: "title" }, cut(title, 28)));
}

const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

function shadeOutside(
  { svg, x }: Frame,
  { min, max }: Extract<Input, { min: number }>,
  [from, to]: [number, number],
): void {
  for (const [a, b] of [
    [from, min],
    [max, to],
  ] as const) {
    if (b > a)
      svg.append(
        shape("rect", {
          x: x(a),
          width: x(b) - x(a),
          y: EDGE.top,
          height: HEIGHT - EDGE.top - EDGE.bottom,
          class: "outside",
        }),
      );
  }
}

function shade({ svg, x }: Frame, run: Point[], kind: string): void {
  const [first, last] = [run[0], run.at(-1)];
  if (!first || !last) return;
  const width = Math.max(x(last.x) - x(first.x), 2);
  svg.append(
    shape("rect", { x: x(first.x), width, y: EDGE.top, height: HEIGHT - EDGE.top - EDGE.bottom, class: kind }),
  );
  if (kind === "bottom")
    svg.append(
      shape("text", { x: x(first.x) + width / 2, y: EDGE.top - 8, "text-anchor": "middle", class: "pole" }, "⊥"),
    );
}

/** Splits a run of points where it jumps from one side of a pole to the other. */
function split(run: Point[], height: number): Point[][] {
  const parts: Point[][] = [[]];
  for (const [i, point] of run.entries()) {
    const before = run[i - 1];
    const jump = Math.abs((point.y[0] ?? 0) - (before?.y[0] ?? point.y[0] ?? 0));
    if (before?.gap && point.gap && jump > BREAK * height) parts.push([]);
    parts.at(-1)?.push(point);
  }
  return parts;
}

function lines({ svg, x, y }: Frame, run: Point[]): void {
  const count = Math.min(run[0]?.y.length ?? 0, MAX_LINES);
  for (let line = 0; line < count; line++) {
    const points = run.map((point) => `${x(point.x).toFixed(1)},${y(point.y[line] ?? 0).toFixed(1)}`).join(" ");
    svg.append(shape("polyline", { points, class: `curve line-${line}` }));
  }
}

function mark({ svg, x, y }: Frame, points: Point[], now: number): void {
  svg.append(shape("line", { x1: x(now), x2: x(now), y1: EDGE.top, y2: HEIGHT - EDGE.bottom, class: "now" }));
  const nearest = points.reduce<Point | undefined>(
    (best, point) => (best && Math.abs(best.x - now) <= Math.abs(point.x - now) ? best : point),
    undefined,
  );
  if (!nearest || nearest.bottom) return;
  for (const [line, value] of nearest.y.slice(0, MAX_LINES).entries()) {
    svg.append(shape("circle", { cx: x(now), cy: y(value), r: 5, class: `dot now line-${line}` }));
  }
}

function description({ target, classes }: Info, name: string, seen: Point[], poles: Point[][]): string {
  if (classes.length > 0) return `Probabilities of ${classes.slice(0, MAX_LINES).join(", ")} along ${name}`;
  const [low, high] = extent(seen.map(({ y }) => y[0] ?? 0));
  const at = poles.map((run) => `${short(((run[0]?.x ?? 0) + (run.at(-1)?.x ?? 0)) / 2, 3)}`);
  const none = poles.length > 0 ? `; no value near ${name} = ${at.join(", ")}` : "";
  return `${target} along ${name}: from ${short(low)} to ${short(high)}${none}`;
}
