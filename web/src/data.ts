// The public types of data and of predictions.
import type { PredictingOptions } from "./predict-options.js";
import type { ReadingOptions } from "./train-options.js";

export type { PredictingOptions, ReadingOptions };

/** What a model predicts: a number, or a class. */
export type Task = "regression" | "classification";

/**
 * A table file (CSV, TSV, JSON, NPY) as bytes or text. A text that clearly is an address is fetched, see {@link
 * Remote}; any other text is data.
 */
export type Table = Uint8Array | ArrayBuffer | Blob | string;

/**
 * Numbers in row-major order: a typed array, `Float16Array` if the runtime has it, or a plain array. A `Uint8Array`
 * alone is the bytes of a file.
 */
export type Numbers = Float32Array | Float64Array | HalfArray | Integers | readonly number[];

/** Whole numbers. Those of 64 bits are rounded to 53. */
export type Integers =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

/** A `Float16Array`, recognised by its tag: not every runtime and not every version of TypeScript has the type. */
export interface HalfArray extends ArrayLike<number> {
  readonly [Symbol.toStringTag]: "Float16Array";
}

/**
 * A cell of a table. Null, undefined, NaN and "" are missing values; a Date is a text such as 2026-11-23T00:00:00.000Z.
 */
export type Cell = number | bigint | string | boolean | Date | null | undefined;

/** One row: its cells by the names of their columns. */
export type Row = Readonly<Record<string, Cell>>;

/** An object whose fields are all cells: unlike {@link Row}, also one of an interface. */
export type RowOf<R> = { readonly [Name in keyof R]: Cell };

/**
 * Rows as objects, or as arrays of cells in the order of the columns, or below a first row with the names of the
 * columns.
 */
export type Rows = readonly object[];

/** Columns of equal length by their names. */
export type Columns = Readonly<Record<string, Numbers | readonly Cell[]>>;

/**
 * What is fetched: a URL, a `Response`, or a stream of bytes. In a page a string is an address if it has at most 2,048
 * letters, no white space, brackets, commas, semicolons or quotes, and begins with `https://`, `http://`, `blob:`, `/`,
 * `./` or `../` or is the name of a file such as `data/houses.csv`; so is a `data:` URL. Any other string is data,
 * which is sent nowhere.
 */
export type Remote = URL | Response | ReadableStream<Uint8Array>;

/** A table in any form. */
export type TableSource = Table | Rows | Columns | Remote;

/**
 * `x` holds `y.length` rows. Its columns are named x0, x1, … and the target y. The arrays are copied, never changed or
 * transferred.
 */
export interface Arrays {
  /** Row-major [rows, columns], or one array for each row. */
  x: Numbers | readonly (readonly Cell[])[];
  /** Numbers, or the names of classes: [rows]. */
  y: Numbers | readonly Cell[];
  /**
   * Marks rows whose target has no value; their y is ignored. Only a head with poles can learn such rows. Either one
   * byte per row, nonzero if there is no value, or packed words: bit i of word w is row 32·w + i.
   */
  bottom?: Uint8Array | Uint32Array;
}

/**
 * A class as it was given: a number, `true` or `false` where the target's cells in the rows, columns or arrays of the
 * training were all numbers or all booleans; otherwise a text, as always for a model trained on a file. A model file
 * says which: a model that was saved by this package and loaded gives the same labels. One written by the `mero` binary
 * gives texts.
 */
export type Label = string | number | bigint | boolean;

/** The type of labels that are no texts. */
export type LabelType = "number" | "bigint" | "boolean";

/** Numbers in the target's units, or classes. A row without a prediction has NaN or null. */
export type Values<T extends Task> = T extends "regression" ? Float64Array : (Label | null)[];

/** One entry per row: numbers, or classes with probabilities, or, for a model with poles, numbers with flags. */
export interface Prediction<Flags extends Uint8Array | Uint32Array = Uint8Array, T extends Task = Task> {
  value: Values<T>;
  /**
   * The standard deviation of the target around `value`, in its units, of models trained with loss `gaussian_nll`;
   * otherwise of the predictions of several `members`.
   */
  deviation?: Float64Array;
  /** The ends of the interval around `value` with the option `interval`; NaN without a prediction. */
  lower?: Float64Array;
  upper?: Float64Array;
  /** The probability of the predicted class, 0 to 1. Only for classes, as is the next one. */
  probability?: Float64Array;
  /** The probabilities of every class by its name. */
  probabilities?: Record<string, Float64Array>;
  /**
   * Set where there is no value (⊥); `value` is then 0, or NaN if a cell of the row cannot be used. Only for models
   * with poles, as are the next two.
   */
  bottom?: Flags;
  /** Set where the value is near a pole. */
  gap?: Flags;
  /**
   * Set where there is no value because of a numerical fault (such as an overflow) or an unusable cell, not because of
   * a pole.
   */
  fault?: Flags;
  /** What was noticed about single cells, in order of the columns, then of the rows. */
  notes: Note[];
}

/** Something about one cell of the predicted rows. */
export interface Note {
  /** Counted from 0. */
  row: number;
  column: string;
  /**
   * The number is outside the training range by more than a tenth of it; the category was not in the training rows; the
   * cell is missing, which no training cell was, and the mean or most frequent category is filled in; or it cannot be
   * used.
   */
  kind: "outside" | "unseen" | "filled" | "unusable";
  /**
   * `outside the training range`, `not seen in training`, or why the cell cannot be used: its row then has no
   * prediction.
   */
  message: string;
}

/** The prediction for one row. */
export interface RowPrediction<T extends Task = Task> {
  /** A number in the target's units or a class, see {@link Label}; null if there is no prediction, or no value (⊥). */
  value: (T extends "regression" ? number : Label) | null;
  /**
   * The standard deviation of the target around `value`, of models trained with loss `gaussian_nll`; otherwise of the
   * predictions of several `members`.
   */
  deviation?: number;
  /** The ends of the interval around `value` with the option `interval`. */
  lower?: number;
  upper?: number;
  /** The probability of the predicted class. */
  probability?: number;
  /** The probabilities of every class by its name. */
  probabilities?: Record<string, number>;
  /** The columns whose numbers are outside the training range. */
  outside: string[];
  /** All that was noticed, as in the column `note` of `mero predict`; empty if nothing was. */
  note: string;
  /** Whether there is no value. Only for models with poles, as are the next two. */
  bottom?: boolean;
  /** Whether the value is near a pole. */
  gap?: boolean;
  /** Whether there is no value because of a numerical fault or an unusable cell. */
  fault?: boolean;
}

/** Options of a prediction. Those of {@link ReadingOptions} say how a table of text is written. */
export interface PredictOptions extends ReadingOptions, PredictingOptions {
  /**
   * `bytes` (default): one flag per row, 0 or 1. `words`: packed; bit i of word w is the flag of row 32·w + i. For the
   * result of rows it changes nothing.
   */
  masks?: "bytes" | "words" | undefined;
  /** If it aborts, the promise is rejected with its reason. */
  signal?: AbortSignal | undefined;
}

/** Options of an evaluation. Those of {@link ReadingOptions} say how a table of text is written. */
export interface EvaluateOptions extends ReadingOptions {
  /** If it aborts, the promise is rejected with its reason. */
  signal?: AbortSignal | undefined;
}

/** The description of a table. */
export interface Description {
  rows: number;
  columns: { name: string; isNumeric: boolean }[];
}
