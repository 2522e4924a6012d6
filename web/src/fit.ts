/**
 * Curve fitting: the parameters of a formula from data, with standard errors and bands, in double precision. A module
 * of its own, because it fetches a WebAssembly of its own. `instanceof` recognises its errors with the classes of the
 * package `meromorph` too.
 * @module
 */
import {
  fit as fitted,
  fit_many as fittedMany,
  initSync,
  models as listed,
  on_panic,
  Saved,
} from "../pkg/fit/meromorph.js";
import type { Columns } from "./data.js";
import { InputError, serializeError, shown, tagOf } from "./errors.js";
import { SOLVER_OPTIONS, type SolverOptions } from "./fit-options.js";
import { fetched } from "./inlined.js";
import { taken } from "./options.js";
import { deserializeError } from "./received.js";

export type { Cell, Columns, HalfArray, Integers, Numbers } from "./data.js";
export { DeviceError, type ErrorKind, InputError, InternalError, LoadError, MeromorphError } from "./errors.js";
export type { SolverOptions } from "./fit-options.js";

/** Options of a fit. */
export interface CurveFitOptions extends SolverOptions {
  /**
   * Where the minimum is searched. `webgpu` searches in single precision if the data allow it, and is worth it from
   * about a million rows on; the last digits are found in double precision on the CPU. It fetches a WebAssembly of its
   * own. By default `cpu`.
   */
  device?: "cpu" | "webgpu" | undefined;
}

/** Options of many fits: those of {@link CurveFitOptions} that each fit can have, and the observed values. */
export type ManyFitOptions = Omit<
  CurveFitOptions,
  "tie" | "global" | "sigmaX" | "profile" | "bootstrap" | "resample" | "sample" | "derive" | "where" | "device"
> & { y: string };

/** A parameter's value and how well the data determine it. */
export interface FittedParameter {
  value: number;
  /** Its standard error; null if it is fixed or the data do not determine it. */
  stderr: number | null;
  /** The interval of the fit's level; null as for `stderr`. */
  interval: [number, number] | null;
  /** The interval from the profile of the cost, an open end null; null without the option `profile`. */
  profileInterval: [number | null, number | null] | null;
  /** The interval from fits of drawn data; null without the option `bootstrap`. */
  bootstrapInterval: [number, number] | null;
  isFixed: boolean;
  /** Whether it is at one of its bounds; its standard error then takes no account of the bound. */
  isAtBound: boolean;
}

/** A value that is computed from parameters, by the option `derive`. */
export type DerivedValue = Pick<FittedParameter, "value" | "stderr" | "interval">;

/** What draws of the posterior say of a parameter. */
export interface PosteriorParameter {
  mean: number;
  deviation: number;
  /** At 2.5, 16, 50, 84 and 97.5 %. */
  quantiles: [number, number, number, number, number];
  /** Near 1 if the walk was long enough. */
  rHat: number;
  /** As many independent draws would say as much. */
  effective: number;
}

/** Predicted rows, one number per row. */
export interface CurvePrediction {
  /** The model's values. */
  values: Float64Array;
  /** Half widths of the confidence band, which holds the model's true value. NaN where they are not known. */
  confidence: Float64Array;
  /**
   * Half widths of the prediction band, which holds a new observation. Absent if rows were weighted by sigma or the
   * loss was robust.
   */
  prediction?: Float64Array;
}

/** A model with a name. */
export interface NamedModel {
  name: string;
  /** What it describes. */
  summary: string;
  /** Its formula over x. */
  formula: string;
  parameters: string[];
}

/** The report of a fit as a file has it: the fields of {@link CurveFit} with names such as `r_squared`. */
export type CurveFitFile = Readonly<Record<string, unknown>>;

/** A solved fit. `JSON.stringify(fit)` is the file that {@link load} and `mero predict` read. */
export class CurveFit {
  /** The formula as it was given. */
  declare readonly model: string;
  /** What was fitted: a column or a formula over columns. */
  declare readonly target: string;
  /** The columns that the formula uses. */
  declare readonly columns: readonly string[];
  /** The columns for each of whose levels a parameter has a value. */
  declare readonly levelColumns: readonly string[];
  /** Parameters that are computed from others. */
  declare readonly ties: readonly { readonly name: string; readonly formula: string }[];
  /** The parameters by name, in the formula's order, then those tied to them. */
  declare readonly parameters: Readonly<Record<string, Readonly<FittedParameter>>>;
  /** Values that are computed from parameters, by name. */
  declare readonly derived: Readonly<Record<string, DerivedValue>>;
  /** Fits of drawn data and those that did not converge; null without the option `bootstrap`. */
  declare readonly bootstrap: { readonly fits: number; readonly failed: number } | null;
  /** The posterior; null without the option `sample`. */
  declare readonly posterior: {
    readonly draws: number;
    /** The share of moves that were taken. */
    readonly acceptance: number;
    readonly parameters: Readonly<Record<string, PosteriorParameter>>;
  } | null;
  /** Names of the free parameters, in the order of the covariance. */
  declare readonly free: readonly string[];
  /** The covariance of the free parameters [free, free]; infinite along directions that the data do not determine. */
  declare readonly covariance: readonly (readonly number[])[];
  /** The correlations of the free parameters [free, free]; NaN where a variance is infinite or 0. */
  declare readonly correlation: readonly (readonly number[])[];
  /** What the data do not determine: a parameter, or several "separately". */
  declare readonly undetermined: readonly string[];
  /** What else to know: a model that explains little, a lower minimum elsewhere, frequencies at which it is the same. */
  declare readonly cautions: readonly string[];
  /** Derivatives of the model that were not finite at the solution; they count as 0. */
  declare readonly flatDerivatives: number;
  /** Half the sum of the losses; with the linear loss half the weighted sum of squares. */
  declare readonly cost: number;
  /** Number of rows. */
  declare readonly rows: number;
  /** Degrees of freedom: rows less free parameters. */
  declare readonly dof: number;
  /** Probability of the intervals. */
  declare readonly level: number;
  /** Whether rows were weighted by sigma. */
  declare readonly isWeighted: boolean;
  /** Whether sigma was taken as it is. */
  declare readonly isAbsolute: boolean;
  declare readonly loss: NonNullable<CurveFitOptions["loss"]>;
  declare readonly lossScale: number;
  /** 1 − Σ r² / Σ (y − mean)². NaN if it is not defined, as are the next four. */
  declare readonly rSquared: number;
  /** √(Σ r² / rows). */
  declare readonly rmse: number;
  /** Σ r² / degrees of freedom. */
  declare readonly reducedChiSquare: number;
  declare readonly aic: number;
  declare readonly bic: number;
  /**
   * Why the search ended: the parameters would move less than 1e-5 standard errors (`shift`), the cost, the step or the
   * gradient is small enough, the cost rises to both sides of a parameter, such as the place of a bend (`corner`), the
   * evaluations are used up, or no step lowers the cost although the parameters would move (`stuck`). The last two are
   * not converged.
   */
  declare readonly stop: "shift" | "cost" | "step" | "gradient" | "corner" | "evaluations" | "stuck";
  declare readonly isConverged: boolean;
  /** Whether the minimum was compared with others: not if the search began at given starts alone. */
  declare readonly isCompared: boolean;
  /** What was tried after a search that got stuck, in this order. */
  declare readonly recovery: readonly string[];
  /** Evaluations of the model over all rows in double precision. */
  declare readonly evaluations: number;
  /** The device that searched. */
  declare readonly device: "cpu" | "webgpu";
  /** The precision of the search, and of the last digits if it is another. */
  declare readonly precision: "f64" | "f32, then f64";
  /** Why in this precision. */
  declare readonly precisionReason: string;
  /** Evaluations of the model over all rows in single precision on the device. */
  declare readonly deviceEvaluations: number;
  /** The cost at the start and after each step of the search. */
  declare readonly history: readonly number[];
  /** How far the parameters would move in one more step, in standard errors; null if that is not determined. */
  declare readonly expectedShiftInSigma: number | null;
  /** Duration of the search. */
  declare readonly seconds: number;

  readonly #file: CurveFitFile;
  readonly #saved: Saved;

  /** @internal */
  constructor(text: string, source: string) {
    this.#saved = judged(() => Saved.parse(text, source));
    this.#file = JSON.parse(text.replace(/^\uFEFF/, "")) as CurveFitFile;
    Object.assign(this, fields(this.#file));
  }

  /**
   * Values of the model and half widths of its bands. `columns` has the columns that the formula uses; a row with a
   * missing cell has NaN. The columns in `levelColumns` have only levels of the fit. `level` is the probability of the
   * bands, by default that of the fit.
   */
  predict(columns: Columns, options: { level?: number | undefined } = {}): CurvePrediction {
    const { level } = taken("predict", options, ["level"]);
    return judged(() => this.#saved.predict(numeric("predict", columns), level)) as CurvePrediction;
  }

  /**
   * The fitted formula for other places: LaTeX with a line for each parameter, a Python function (NumPy, SciPy) or a
   * Rust function. An error if the language's libraries lack a function of the formula.
   */
  code(language: "latex" | "python" | "rust"): string {
    return judged(() => this.#saved.code(language));
  }

  /** The content of a file, for `JSON.stringify`. */
  toJSON(): CurveFitFile {
    return this.#file;
  }
}

/**
 * Fits a model to columns. The model is a formula, in which names that are not columns are parameters, or named models
 * ({@link models}) such as `gaussian(x) + line(x)`; a named model alone, `gaussian`, is one over the first column that
 * is not y. The search runs in the calling thread: many rows (from about 100,000 on) should be fitted in a worker.
 *
 * @example
 * ```js
 * import { fit } from "meromorph/fit";
 *
 * const x = Float64Array.from({ length: 50 }, (_, row) => row / 10);
 * const y = x.map((x) => 3 * Math.exp(-1.2 * x) + 0.5 + 0.01 * Math.sin(40 * x));
 * const decay = await fit({ x, y }, "a*exp(-b*x) + c", { p0: { a: 1, b: 1 }, bounds: { b: [0, 10] } });
 * const { value, stderr } = decay.parameters.b;
 * console.log(`b = ${value.toFixed(3)} ± ${stderr.toFixed(3)}, R² ${decay.rSquared.toFixed(4)}`);
 * const { values, confidence } = decay.predict({ x: [6, 8] }, { level: 0.99 });
 * console.log(`at 6: ${values[0].toFixed(3)} ± ${confidence[0].toFixed(3)}`);
 * ```
 */
export async function fit(data: Columns, model: string, options: CurveFitOptions = {}): Promise<CurveFit> {
  const { device = "cpu", ...rest } = taken("fit", options, [...SOLVER_OPTIONS, "device"]);
  if (typeof model !== "string")
    throw new InputError(`fit: model is ${shown(model)}, expected a formula or the name of a model`, "usage");
  if (!DEVICES.includes(device))
    throw new InputError(`fit: device is ${shown(device)}, expected one of "cpu", "webgpu"`, "usage");
  const columns = numeric("fit", data);
  await ready();
  return new CurveFit(
    device === "webgpu" ? await searched(columns, model, rest) : judged(() => fitted(columns, model, rest)),
    "fit",
  );
}

const DEVICES: readonly unknown[] = ["cpu", "webgpu"] satisfies CurveFitOptions["device"][];

/** The report of a fit that searches on WebGPU. */
async function searched(columns: object, model: string, options: object): Promise<string> {
  const { search } = await import("./fit-webgpu.js");
  return search(columns, model, options).catch((error) =>
    judged(() => {
      throw error;
    }),
  );
}

/** Many fits of one model. A fit without an answer has NaN everywhere. */
export interface ManyFits {
  /** Number of fits. */
  readonly count: number;
  /** The values of each parameter, one per fit. */
  readonly parameters: Readonly<Record<string, Float64Array>>;
  /**
   * The standard errors of each free parameter, one per fit; infinite where the data do not determine it, NaN where it
   * is fixed.
   */
  readonly stderrs: Readonly<Record<string, Float64Array>>;
  /** The root mean square of each fit's residuals, with sigma of the weighted ones. */
  readonly rms: Float64Array;
  /** 1 for each fit that converged, 0 for the others. */
  readonly converged: Float64Array;
  /** The fits without an answer, and why. */
  readonly failures: readonly { readonly fit: number; readonly message: string }[];
}

/**
 * Some of the fits, one after another. Their arrays begin with the fit number `first`; the numbers in `failures` are
 * among all fits.
 */
export interface FitsPart extends ManyFits {
  readonly first: number;
}

/**
 * Many fits that are being solved: `await` gives all of them, `for await` the parts as they are solved. Leaving the
 * loop ends the work.
 */
export class FitsRun implements PromiseLike<ManyFits>, AsyncIterable<FitsPart> {
  readonly #parts: () => AsyncGenerator<FitsPart, void>;
  #whole: Promise<ManyFits> | undefined;

  /** @internal */
  constructor(parts: () => AsyncGenerator<FitsPart, void>) {
    this.#parts = parts;
  }

  [Symbol.asyncIterator](): AsyncGenerator<FitsPart, void> {
    return this.#parts();
  }

  then<T = ManyFits, F = never>(
    done?: ((fits: ManyFits) => T | PromiseLike<T>) | null,
    failed?: ((error: unknown) => F | PromiseLike<F>) | null,
  ): Promise<T | F> {
    return (this.#whole ??= joined(this)).then(done, failed);
  }

  catch<F = never>(failed?: ((error: unknown) => F | PromiseLike<F>) | null): Promise<ManyFits | F> {
    return this.then(undefined, failed);
  }
}

/** All parts in one. */
async function joined(parts: AsyncIterable<FitsPart>): Promise<ManyFits> {
  const all: FitsPart[] = [];
  for await (const part of parts) all.push(part);
  const count = all.reduce((sum, part) => sum + part.count, 0);
  const arrays = (pick: (part: FitsPart) => Float64Array) => {
    const whole = new Float64Array(count);
    for (const part of all) whole.set(pick(part), part.first);
    return whole;
  };
  const named = (field: "parameters" | "stderrs") =>
    Object.fromEntries(Object.keys(all[0]![field]).map((name) => [name, arrays((part) => part[field][name]!)]));
  return {
    count,
    parameters: named("parameters"),
    stderrs: named("stderrs"),
    rms: arrays(({ rms }) => rms),
    converged: arrays(({ converged }) => converged),
    failures: all.flatMap(({ failures }) => failures),
  };
}

/** The column that numbers the fits: no formula can name it. */
const EACH = "number of the fit";

/** Rows of a part, at most: less than a second of work. */
const PART_ROWS = 500_000;

/**
 * Fits a model to each of many sets of observed values: the pixels of a stack of images, the wells of a plate. The
 * observed values of all fits stand one after another in one column, fit by fit; the other columns have the rows of one
 * fit, which all share, or are as long as the observed values. The options are those of {@link fit}, without `tie`,
 * `where`, `global`, `device` and those of further figures; `p0`, `bounds` and `fix` hold for every fit. The fits run in the calling thread, in
 * parts, between which a page can draw: `for await` gives each part when it is solved.
 *
 * @example
 * ```js
 * import { fitMany } from "meromorph/fit";
 *
 * const t = Float64Array.from({ length: 20 }, (_, row) => row / 4);
 * const rows = Array.from({ length: 1000 }, (_, fit) => Array.from(t, (t) => (1 + fit / 1000) * Math.exp(-0.7 * t)));
 * const data = { t, signal: Float64Array.from(rows.flat()) };
 * const { count, parameters, stderrs } = await fitMany(data, "a*exp(-b*t)", { y: "signal", p0: { a: 1, b: 1 } });
 * const [a, stderr] = [parameters.a[999], stderrs.a[999]];
 * console.log(`${count} fits; the last a is ${a.toFixed(3)} ± ${stderr.toExponential(0)}`);
 * ```
 */
export function fitMany(data: Columns, model: string, options: ManyFitOptions): FitsRun {
  return new FitsRun(() => parts(data, model, options));
}

async function* parts(data: Columns, model: string, options: CurveFitOptions): AsyncGenerator<FitsPart, void> {
  const rest = taken("fitMany", options, MANY_OPTIONS);
  if (typeof model !== "string")
    throw new InputError(`fitMany: model is ${shown(model)}, expected a formula or the name of a model`, "usage");
  const columns = numeric("fitMany", data);
  const observed = typeof options.y === "string" ? columns[options.y] : undefined;
  if (!isNumbers(observed)) {
    throw new InputError(
      `fitMany: y is ${shown(options.y)}, expected the column of the observed values of all fits, numbers one fit after another`,
      "usage",
    );
  }
  const lengths = Object.entries(columns)
    .filter(([name]) => name !== options.y)
    .map(([name, column]) => [name, (column as ArrayLike<unknown>).length] as const);
  const rows = Math.min(...lengths.map(([, length]) => length));
  const count = observed.length / rows;
  const wrong = lengths.find(([, length]) => length !== rows && length !== observed.length);
  if (!(Number.isInteger(count) && count > 1) || wrong) {
    const [name, length] = wrong ?? lengths[0] ?? ["", 0];
    throw new InputError(
      `fitMany: column "${options.y}" has ${observed.length} values and column "${name}" has ${length}, expected the rows of one fit in it, and as many for each of two or more fits in "${options.y}"`,
    );
  }
  await ready();
  const size = Math.ceil(count / Math.ceil(observed.length / PART_ROWS));
  for (let first = 0; first < count; first += size) {
    // A page draws in between.
    if (first > 0) await new Promise((resolve) => setTimeout(resolve));
    const number = Math.min(size, count - first);
    const own = Object.entries(columns).map(([name, column]) => {
      if (!isNumbers(column)) return [name, column];
      return [
        name,
        column.length === rows ? repeated(column, number) : column.subarray(first * rows, (first + number) * rows),
      ];
    });
    const numbers = Float64Array.from({ length: number * rows }, (_, at) => Math.floor(at / rows));
    const fits = judged(() =>
      fittedMany({ ...Object.fromEntries(own), [EACH]: numbers }, model, rest, EACH, number),
    ) as Omit<ManyFits, "count">;
    yield {
      ...fits,
      first,
      count: number,
      failures: fits.failures.map(({ fit, message }) => ({ fit: fit + first, message })),
    };
  }
}

type FloatNumbers = Float64Array | Float32Array;

const isNumbers = (column: unknown): column is FloatNumbers =>
  column instanceof Float64Array || column instanceof Float32Array;

/** Numbers, so many times one after another. */
function repeated(column: FloatNumbers, times: number): Float64Array {
  const whole = new Float64Array(column.length * times);
  for (let at = 0; at < times; at++) whole.set(column, at * column.length);
  return whole;
}

/**
 * A fit from the content of a file that `mero fit --out` or `JSON.stringify(fit)` wrote, as text, bytes, or the parsed
 * object.
 */
export async function load(file: string | Uint8Array | ArrayBuffer | CurveFitFile): Promise<CurveFit> {
  await ready();
  const isBytes = file instanceof ArrayBuffer || ArrayBuffer.isView(file);
  const text = String(
    isBytes ? new TextDecoder().decode(file) : typeof file === "string" ? file : JSON.stringify(file),
  );
  if (!hasKind(text))
    throw new InputError(
      `load: got ${shown(text.slice(0, 80))}, expected the content of a file that mero fit --out or JSON.stringify of a fit wrote`,
    );
  return new CurveFit(text, "load");
}

/** Whether a text is a JSON object that says what it is, as the file of a fit does. */
function hasKind(text: string): boolean {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, "")).kind !== undefined;
  } catch {
    return false;
  }
}

/** Every model with a name. In a formula there is `polynomial(x, degree)` too. */
export async function models(): Promise<NamedModel[]> {
  await ready();
  return judged(() => listed() as NamedModel[]);
}

/** Options that many fits do not have. */
const FOR_ONE_FIT: readonly Exclude<keyof CurveFitOptions, keyof ManyFitOptions>[] = [
  "tie",
  "global",
  "sigmaX",
  "profile",
  "bootstrap",
  "resample",
  "sample",
  "derive",
  "where",
  "device",
];

/** Those that they have. */
const MANY_OPTIONS = SOLVER_OPTIONS.filter((name) => !(FOR_ONE_FIT as readonly string[]).includes(name));

/** Resolves when the WebAssembly is there. */
const ready = fetched(
  "fit",
  () => import("./fit-wasm.js"),
  (module) => {
    initSync({ module });
    // Without a listener, a defect would have no message.
    on_panic(() => {});
  },
);

/** Runs `work`, with its error as one of the package. */
function judged<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw deserializeError(serializeError(error));
  }
}

/**
 * Columns as the engine reads them: numbers in double precision, NaN where a cell is missing. Another column stays as
 * it is and is an error if it is used.
 */
function numeric(call: string, data: Columns): Record<string, unknown> {
  if (tagOf(data) !== "Object")
    throw new InputError(`${call}: data is ${shown(data)}, expected an object of arrays by the names of their columns`);
  return Object.fromEntries(Object.entries(data).map(([name, column]) => [name, doubles(column)]));
}

function doubles(column: unknown): unknown {
  if (isNumbers(column)) return column;
  if (ArrayBuffer.isView(column) && !(column instanceof DataView))
    return Float64Array.from(column as unknown as ArrayLike<number>, Number);
  const isNumeric =
    Array.isArray(column) &&
    column.every((cell) => cell === null || cell === undefined || typeof cell === "number" || typeof cell === "bigint");
  return isNumeric ? Float64Array.from(column, (cell) => Number(cell ?? NaN)) : column;
}

const camelCase = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Measures that are null in a file if they are not defined. */
const MEASURES = ["r_squared", "rmse", "reduced_chi_square", "aic", "bic"];

/** The fields of a fit, from those of its file. */
function fields(file: CurveFitFile): object {
  const { event: _event, kind: _kind, format: _format, grids: _grids, strategy: _strategy, parameters, ...rest } = file;
  const renamed = (all: object) =>
    Object.fromEntries(Object.entries(all).map(([name, value]) => [camelCase(name), value]));
  const filled = (matrix: unknown, none: number) =>
    (matrix as (number | null)[][]).map((row) => row.map((entry) => entry ?? none));
  const known = Object.entries(rest).map(([name, value]) => [name, MEASURES.includes(name) ? (value ?? NaN) : value]);
  const eachRenamed = (all: unknown) =>
    Object.fromEntries(
      Object.entries((all ?? {}) as Record<string, object>).map(([name, value]) => [name, renamed(value)]),
    );
  const posterior = rest.posterior as { parameters: object } | null | undefined;
  return {
    ...renamed(Object.fromEntries(known)),
    parameters: eachRenamed(parameters),
    derived: rest.derived ?? {},
    bootstrap: rest.bootstrap ?? null,
    posterior: posterior ? { ...posterior, parameters: eachRenamed(posterior.parameters) } : null,
    covariance: filled(file.covariance, Infinity),
    correlation: filled(file.correlation ?? [], NaN),
  };
}
