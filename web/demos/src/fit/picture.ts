// The charts of a fit: data, curve and bands over the one column of the model, or observed over fitted values;
// residuals below.
import type { CurveFit, CurvePrediction } from "meromorph/fit";
import { Chart, type Rows } from "../chart.js";
import { get } from "../page.js";

const CURVE_POINTS = 300;
/** More points make the chart slow and show nothing more. */
const MOST_DRAWN = 2000;

export interface Shown {
  fit: CurveFit;
  /** The same with start values instead of fitted ones. */
  start: CurveFit;
  /** The columns of the formula and the observed values, without rows that have a missing cell. */
  columns: Record<string, Float64Array>;
  y: Float64Array;
  level: number;
}

export class Picture {
  #curve = new Chart(get("curve"), {
    x: { label: "x" },
    y: { label: "y" },
    series: [
      { label: "new data, to", colour: "--model", kind: "edge" },
      { label: "new data, from", colour: "--model", kind: "edge" },
      { label: "curve, to", colour: "--model", kind: "edge" },
      { label: "curve, from", colour: "--model", kind: "edge" },
      { label: "start", colour: "--plain", kind: "dash", width: 1.5 },
      { label: "data", colour: "--edge", kind: "dots" },
      { label: "fit", colour: "--model", width: 2.5 },
    ],
    fills: [
      { high: 0, low: 1, colour: "--wide-band" },
      { high: 2, low: 3, colour: "--narrow-band" },
    ],
  });
  #residuals = new Chart(get("residuals"), {
    x: { label: "x" },
    y: { label: "residual" },
    series: [
      { label: "zero", colour: "--truth", width: 1.5 },
      { label: "residual", colour: "--edge", kind: "dots" },
    ],
    isSmall: true,
  });
  #labels = "";

  draw({ fit, start, columns, y, level }: Shown): void {
    const [name, ...others] = fit.columns;
    const isCurve = others.length === 0;
    const fitted = fit.predict(columns, { level }).values;
    const residuals = y.map((value, row) => value - fitted[row]!);
    const x = isCurve ? columns[name!]! : fitted;
    const labels: [string, string] = [
      isCurve ? name! : "fitted value",
      isCurve ? fit.target : `observed ${fit.target}`,
    ];
    if (labels.join() !== this.#labels) {
      this.#labels = labels.join();
      this.#curve.axes({ label: labels[0] }, { label: labels[1] });
      this.#residuals.axes({ label: labels[0] }, { label: "residual" });
    }
    for (const id of ["key-curve", "key-start"]) get(id).hidden = !isCurve;
    get("key-new").hidden = !isCurve || fit.isWeighted || fit.loss !== "linear";
    const order = sample(x);
    this.#curve.set(isCurve ? curve(fit, start, x, y, order, level) : diagonal(x, y, order));
    this.#residuals.set([order.map((row) => x[row]!), order.map(() => 0), order.map((row) => residuals[row]!)]);
    this.#curve.describe(`${y.length} rows and the fit of ${fit.model}`);
    this.#residuals.describe(`${y.length} residuals`);
  }
}

/** Rows in the order of x, at most as many as are drawn. */
function sample(x: Float64Array): number[] {
  const order = Array.from(x.keys()).sort((a, b) => x[a]! - x[b]!);
  const step = Math.max(1, order.length / MOST_DRAWN);
  return Array.from({ length: Math.min(order.length, MOST_DRAWN) }, (_, at) => order[Math.floor(at * step)]!);
}

/**
 * Data and model over x. All series have the same x: the model's evenly spaced places and those of the data, where the
 * model has no value.
 */
function curve(fit: CurveFit, start: CurveFit, x: Float64Array, y: Float64Array, order: number[], level: number): Rows {
  const [low, high] = [x[order[0]!]!, x[order.at(-1)!]!];
  const places = Float64Array.from({ length: CURVE_POINTS }, (_, at) => low + ((high - low) * at) / (CURVE_POINTS - 1));
  const columns = { [fit.columns[0]!]: places };
  const { values, confidence, prediction }: CurvePrediction = fit.predict(columns, { level });
  const grid = [
    ...order.map((row) => ({ x: x[row]!, row, at: -1 })),
    ...Array.from(places, (x, at) => ({ x, row: -1, at })),
  ].sort((a, b) => a.x - b.x);
  const over = (value: (at: number) => number) => grid.map(({ at }) => (at < 0 ? undefined : drawable(value(at))));
  const edge = (widths: Float64Array | undefined, sign: number) =>
    widths ? over((at) => values[at]! + sign * widths[at]!) : grid.map(() => null);
  const first = start.predict(columns).values;
  return [
    grid.map(({ x }) => x),
    edge(prediction, 1),
    edge(prediction, -1),
    edge(confidence, 1),
    edge(confidence, -1),
    over((at) => first[at]!),
    grid.map(({ row }) => (row < 0 ? undefined : y[row]!)),
    over((at) => values[at]!),
  ];
}

/** Observed over fitted values, and the line on which they would be equal. */
function diagonal(x: Float64Array, y: Float64Array, order: number[]): Rows {
  const grid = order.map((row) => x[row]!);
  const none = grid.map(() => null);
  return [grid, none, none, none, none, none, order.map((row) => y[row]!), grid];
}

const drawable = (value: number): number | null => (Number.isFinite(value) ? value : null);
