// The engine of the page. The wasm and the model are decoded from text blocks of the page; nothing is fetched.
import init, { load, on_panic, preview as previewed } from "../../pkg/portable/meromorph.js";

/** A column: of numbers, of categories, or of dates or times. */
export type Input =
  | { name: string; min: number; max: number; mean: number }
  | { name: string; levels: string[]; isOpen?: boolean }
  | { name: string; from: string; to: string };

export interface Info {
  task: "regression" | "classification";
  target: string;
  classes: string[];
  inputs: Input[];
  parameters: number;
  /** How the table was written that the model learnt from. */
  reading: Reading;
  /** How good the model is on rows that it was not trained on, if its file says so. */
  quality?: Quality;
}

/** Metrics over so many rows; those that do not apply are absent. */
export interface Quality {
  rows: number;
  mae?: number;
  r2?: number;
  accuracy?: number;
}

/**
 * One entry per row: numbers, or classes with probabilities; for a model with poles also flags, 0 or 1. A row without a
 * prediction has NaN or null.
 */
export interface Prediction {
  value: Float64Array | (string | null)[];
  /** The standard deviation of numbers, if the model predicts it. */
  deviation?: Float64Array;
  probability?: Float64Array;
  /** The probability of every class, [rows, classes]. */
  probabilities?: Float64Array;
  bottom?: Uint8Array;
  gap?: Uint8Array;
  fault?: Uint8Array;
  /**
   * What was noticed about cells: rows, columns and kinds (0: outside the training range, 1: unseen, 2: unusable, 3:
   * filled in), and the reasons of kind 2.
   */
  noteRows: Uint32Array;
  noteColumns: Uint32Array;
  noteKinds: Uint8Array;
  noteTexts: string[];
}

/**
 * What happens to a row with a cell that the model cannot use: it is an error, or, with `other`, it has no prediction.
 */
export type Unknown = "refuse" | "other";

/** How the numbers of a table are written. */
export interface Reading {
  decimal: string;
  thousands?: string;
}

/** The cells of a column. A single cell applies to every row. */
export type Column = Float64Array | string[];

/** A file, or columns in the order of the inputs. */
export type Rows = File | Column[];

export interface Preview {
  rows: number;
  columns: string[];
  cells: string[][];
}

export interface Model {
  info: Info;
  predict(rows: Rows, unknown?: Unknown, reading?: Reading): Promise<Prediction>;
  /** The first rows of a table as written in its file, and the number of all rows. */
  preview(file: File, count: number, reading: Reading): Promise<Preview>;
}

/** Decodes a text block of the page from base64. */
function block(id: string): Uint8Array<ArrayBuffer> {
  const text = atob(document.getElementById(id)?.textContent?.trim() ?? "");
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function inflated(packed: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}

/** The metrics in the header of a model file. */
function qualityOf(file: Uint8Array<ArrayBuffer>): Quality | undefined {
  const length = Number(new DataView(file.buffer).getBigUint64(0, true));
  const { __metadata__: texts } = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length)));
  const text = texts?.["meromorph.quality"];
  return text && JSON.parse(text);
}

async function named(rows: Rows): Promise<[unknown, string]> {
  return rows instanceof File ? [new Uint8Array(await rows.arrayBuffer()), rows.name] : [rows, "the inputs"];
}

/** Starts the engine and reads the model. */
export async function start(): Promise<Model> {
  await init({ module_or_path: await inflated(block("engine")) });
  const crashed = new Promise<never>((_, reject) => on_panic((message: string) => reject(new Error(message))));
  crashed.catch(() => {});
  const file = block("model");
  const model = load(file, "the model");
  const quality = qualityOf(file);
  return {
    info: { ...model.info(), ...(quality && { quality }) },
    predict: async (rows, unknown = "refuse", reading) =>
      Promise.race([model.predict(...(await named(rows)), { how: { unknown }, reading }), crashed]),
    preview: async (file, count, reading) => previewed(model, ...(await named(file)), count, reading),
  };
}
