// Predictions along one input, with the other inputs fixed.
import type { Column, Model } from "./engine";
import type { Value } from "./form";

export interface Point {
  x: number;
  /** A number for each curve; without meaning if `bottom` is set. */
  y: number[];
  bottom: boolean;
  gap: boolean;
}

const POINTS = 241;
const ROUNDS = 3;
const BETWEEN = 8;
/** Neighbouring points that differ by more than this fraction of the height get more points between them. */
const JUMP = 0.15;

/** Rows in which some columns vary and the others keep their value, passed as a single cell. */
export function rowsAlong(values: Value[], runs: Map<number, Column>): Column[] {
  return values.map((value, at) => runs.get(at) ?? (typeof value === "string" ? [value] : Float64Array.of(value)));
}

/** The prediction at each of `xs`. */
export async function at(model: Model, values: Value[], column: number, xs: number[] | string[]): Promise<Point[]> {
  const isText = (cells: number[] | string[]): cells is string[] => typeof cells[0] === "string";
  const rows = rowsAlong(values, new Map([[column, isText(xs) ? xs : Float64Array.from(xs)]]));
  const { classes } = model.info;
  const { value, probabilities: shares, bottom, gap } = await model.predict(rows);
  if (shares) {
    const of = (row: number) => [...shares.subarray(row * classes.length, (row + 1) * classes.length)];
    return xs.map((x, row) => ({ x: typeof x === "number" ? x : row, y: of(row), bottom: false, gap: false }));
  }
  return xs.map((x, row) => {
    const flags = { bottom: bottom?.[row] === 1, gap: gap?.[row] === 1 };
    return { x: typeof x === "number" ? x : row, y: [Number(value[row])], ...flags };
  });
}

/** Points from `from` to `to`, denser where the curve becomes ⊥ or jumps, so that a narrow pole is not missed. */
export async function sampled(
  model: Model,
  values: Value[],
  column: number,
  from: number,
  to: number,
): Promise<Point[]> {
  const xs = Array.from({ length: POINTS }, (_, i) => from + ((to - from) * i) / (POINTS - 1));
  let points = await at(model, values, column, xs);
  if (model.info.classes.length > 0) return points;
  for (let round = 0; round < ROUNDS; round++) {
    const between = steep(points);
    if (between.length === 0) return points;
    points = [...points, ...(await at(model, values, column, between))].sort((a, b) => a.x - b.x);
  }
  return points;
}

function steep(points: Point[]): number[] {
  const height = span(points);
  const xs: number[] = [];
  for (const [i, b] of points.entries()) {
    const a = points[i - 1];
    if (!a || (a.bottom && b.bottom)) continue;
    const isSteep = a.bottom !== b.bottom || Math.abs((b.y[0] ?? 0) - (a.y[0] ?? 0)) > JUMP * height;
    if (isSteep) for (let j = 1; j < BETWEEN; j++) xs.push(a.x + ((b.x - a.x) * j) / BETWEEN);
  }
  return xs.length > 4 * POINTS ? [] : xs;
}

function span(points: Point[]): number {
  const values = points.filter(({ bottom }) => !bottom).map(({ y }) => y[0] ?? 0);
  return (
    values.reduce((high, value) => Math.max(high, value), -Infinity) -
    values.reduce((low, value) => Math.min(low, value), Infinity)
  );
}

/** Runs of consecutive points for which `is` is true. */
export function runs(points: Point[], is: (point: Point) => boolean): Point[][] {
  const all: Point[][] = [];
  let open: Point[] | undefined;
  for (const point of points) {
    if (!is(point)) open = undefined;
    else if (open) open.push(point);
    else all.push((open = [point]));
  }
  return all;
}
