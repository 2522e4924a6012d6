// The engine of the page. The wasm and the model are decoded from text blocks of the page; nothing is fetched.
import init, { load, on_panic, preview as previewed } from "../../pkg/portable/meromorph.js";

/** A column: of numbers, of categories, or of dates or times. */
export type Input = { name: string; min: number; max: number; mean: number } | { name: string; levels: string[] } | { name: string; from: string; to: string };

export interface Info {
  task: "regression" | "classification";
  target: string;
  classes: string[];
  inputs: Input[];
  parameters: number;
  /** How the table was written that the model learnt from. */
  reading: Reading;
}

/** One entry per row: numbers, or classes with probabilities; for a model with poles also flags, 0 or 1. A row without a prediction has NaN or null. */
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
  /** What was noticed about cells: rows, columns and kinds (0: outside the training range, 1: unseen, 2: unusable, 3: filled in), and the reasons of kind 2. */
  noteRows: Uint32Array;
  noteColumns: Uint32Array;
  noteKinds: Uint8Array;
  noteTexts: string[];
}

/** What happens to a row with a cell that the model cannot use: it is an error, or, with `other`, it has no prediction. */
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

async function named(rows: Rows): Promise<[unknown, string]> {
  return rows instanceof File ? [new Uint8Array(await rows.arrayBuffer()), rows.name] : [rows, "the inputs"];
}

/** Starts the engine and reads the model. */
export async function start(): Promise<Model> {
  await init({ module_or_path: await inflated(block("engine")) });
  const crashed = new Promise<never>((_, reject) => on_panic((message: string) => reject(new Error(message))));
  crashed.catch(() => {});
  const model = load(block("model"), "the model");
  return {
    info: model.info(),
    predict: async (rows, unknown = "refuse", reading) => Promise.race([model.predict(...(await named(rows)), { unknown, reading }), crashed]),
    preview: async (file, count, reading) => previewed(model, ...(await named(file)), count, reading),
  };
}
