// What goes into the package and what comes out of it: options, data, events, predictions.
import type { Model } from "./model.js";
import type { EngineOptions } from "./train-options.js";

export type { EngineOptions };

/** What `open` can be asked for. `auto` takes a hardware GPU, else the cpu; a software adapter only by the name `webgpu`. */
export type DeviceName = "auto" | "webgpu" | "cpu";

/** Where the engine is to run, and where its WebAssembly comes from. */
export interface PlaceOptions {
  /** false: in the caller's own thread, for use inside a worker of one's own. Else in a worker, and the page never waits. */
  worker?: boolean;
  /** The WebAssembly, for those who host it elsewhere; found beside the package's own files if not given. */
  wasm?: string | URL | Response | BufferSource | WebAssembly.Module;
  /** Aborted: opening is rejected with its reason. */
  signal?: AbortSignal | undefined;
}

export interface OpenOptions extends PlaceOptions {
  device?: DeviceName;
  /**
   * So many cores of the cpu make each training step together, 1 if not given, at most 16. Up to 2 come to the same weights bit for
   * bit, more to others that differ by rounding. Each beyond the first is a worker with data of its own; a page has to be cross-origin isolated.
   */
  threads?: number;
}

/** The device in use. */
export interface DeviceInfo {
  device: "webgpu" | "cpu";
  /** The processor, or what the browser tells of the adapter, like "nvidia ampere". */
  name: string;
  driver: string;
  /** Whether it is a program that pretends to be a GPU. */
  isSoftware: boolean;
  /** Lanes of a workgroup that exchange values without a barrier; 1 where subgroups are not used. */
  subgroup: number;
  features: string[];
}

/** A table file's bytes (CSV, TSV, NPY) or text. */
export type Table = Uint8Array | ArrayBuffer | Blob | string;

/** Numbers, row after row: `Float32Array`, `Float64Array`, `Float16Array` where the runtime has it, or a plain array. */
export type Numbers = Float32Array | Float64Array | HalfArray | readonly number[];

/** A `Float16Array`, told apart by its name: not every runtime has it, nor every TypeScript. */
export interface HalfArray extends ArrayLike<number> {
  readonly [Symbol.toStringTag]: "Float16Array";
}

/** `x` holds `y.length` rows; its columns are called x0, x1, … and the target y. None of the arrays is changed or taken away. */
export interface Arrays {
  /** [rows, columns] */
  x: Numbers;
  /** [rows] */
  y: Numbers;
  /**
   * Rows whose target has no value, whatever y says there; only a head with poles can learn that. A byte per row, not 0 where
   * there is none, or words: bit i of word w is row 32·w + i.
   */
  bottom?: Uint8Array | Uint32Array;
}

/** Options of a training run. */
export interface TrainOptions extends EngineOptions {
  /**
   * Aborted before the run begins: the run fails with the signal's reason. Aborted later: it ends early, and its end event
   * still brings the best model.
   */
  signal?: AbortSignal | undefined;
  /**
   * Mirrors data and checkpoints under this name in the browser's storage while the run lasts, so that it can be taken up by
   * {@link Engine.resumeKept} after the tab was closed: stored before the first epoch is told, then at intervals of a second, or of
   * fifty times what storing takes. Forgotten once the end event is taken; a run that is left stays kept. The name is the
   * run's own while it lasts: another one of that name, in any tab, is refused. Where the storage refuses, the run fails with its
   * reason; its checkpoint can still be had.
   */
  keep?: string | undefined;
}

/** The first event: what will be done. */
export interface StartEvent {
  event: "start";
  step: "fused" | "recorded";
  /** At most so many. */
  epochs: number;
  /** Epochs that were done before, by the run that this one takes up; else 0. */
  epochsDone: number;
  stepsPerEpoch: number;
  trainRows: number;
  valRows: number;
  testRows: number;
  task: "regression" | "classification";
  /** Why the task is this one. */
  reason: string;
  /** What became of rows with empty cells, in words; empty if there were none. */
  gaps: string;
}

/** One epoch. Losses are in scaled units. */
export interface EpochEvent {
  event: "epoch";
  epoch: number;
  trainLoss: number;
  valLoss: number | null;
  lr: number;
  isBest: boolean;
  /** The share of validation rows that get a value, of a model with poles; else null. */
  coverage: number | null;
}

/** How good predictions are, in the target's units; what does not apply is null. */
export interface Metrics {
  rows: number;
  loss: number | null;
  mse: number | null;
  mae: number | null;
  r2: number | null;
  accuracy: number | null;
  /** Median absolute error of a model with poles. */
  median: number | null;
  /** The share of rows that get a value; the errors are over these. */
  coverage: number | null;
  /** The share of values given that are near a pole. */
  gap: number | null;
  /** The share of rows with a number that got none. */
  refused: number | null;
  /** The share of poles that were told. */
  found: number | null;
}

/** The last event: what the run amounted to, and the model with the weights of its best epoch. */
export interface EndEvent {
  event: "end";
  /** Why it ended: all epochs were done, validation got no better, rows got no values, it was told to stop, or a loss was no number any more. */
  stop: "epochs" | "patience" | "coverage" | "asked" | "diverged";
  /** Counted from 0; null where no epoch came to its end: the model's weights are then those that the run began with. */
  bestEpoch: number | null;
  epochs: number;
  steps: number;
  validation: Metrics;
  test: Metrics;
  model: Model;
}

export type TrainEvent = StartEvent | EpochEvent | EndEvent;

/** One entry per row: numbers, classes with their probabilities, or of a model with poles numbers and what is known of them. */
export interface Prediction<Flags extends Uint8Array | Uint32Array = Uint8Array> {
  /** Numbers in the target's unit, or names of classes. */
  value: Float64Array | string[];
  /** Of the class told, 0 to 1. */
  probability?: Float64Array;
  /** Set where there is no value; it then stands as 0. Only of a model with poles, as are the next two. */
  bottom?: Flags;
  /** Set where a value is near a pole. */
  gap?: Flags;
  /** Set where there is no value because something went wrong, not because of a pole. */
  fault?: Flags;
}

export interface PredictOptions {
  /** `bytes`: flags are 0 or 1, one per row. `words`: bit i of word w is the flag of row 32·w + i. */
  masks?: "bytes" | "words" | undefined;
  /**
   * What a GPU keeps inputs, activations and outputs in. `f16` takes half the memory: predictions differ by some 0.1 % of their usual
   * size, and rows that go beyond ±65,504 are refused. Weights and sums stay f32, as does all that the CPU does. For plain perceptrons
   * of up to 16 layers, 128 wide; refused for others, because what is ⊥ is decided in f32.
   */
  precision?: "f32" | "f16" | undefined;
  /** Aborted: the answer is rejected with its reason. */
  signal?: AbortSignal | undefined;
}

/** What a model is. */
export interface ModelInfo {
  task: "regression" | "classification";
  target: string;
  /** The columns it reads, in order. */
  columns: string[];
  /** Its classes; none for a number. */
  classes: string[];
  parameters: number;
  /** What each column held in training, in the order of `columns`. */
  inputs: (NumberInput | CategoryInput)[];
}

/** A column of numbers: the range and mean of its training rows. */
export interface NumberInput {
  name: string;
  min: number;
  max: number;
  mean: number;
}

/** A column of categories, by name. */
export interface CategoryInput {
  name: string;
  levels: string[];
}

export interface ResumeOptions {
  /** As in {@link TrainOptions}. */
  signal?: AbortSignal | undefined;
  /** As in {@link TrainOptions}. */
  keep?: string | undefined;
}

/** A model file: its bytes, a file, an answer of `fetch`, or where to fetch it from (a string is a URL, too). */
export type ModelSource = Uint8Array | ArrayBuffer | Blob | Response | URL | string;

export interface LoadOptions {
  /** Aborted: the answer is rejected with its reason, and nothing more is fetched. */
  signal?: AbortSignal | undefined;
  /** Called as bytes arrive. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** Bytes so far, and of how many where the server says so. */
export interface Progress {
  loaded: number;
  total?: number;
}

/** A run that can be taken up. */
export interface Kept {
  name: string;
  /** Epochs done, of at most so many. */
  epoch: number;
  epochs: number;
  /** When the checkpoint was written. */
  savedAt: Date;
  /** What data and checkpoint take. */
  sizeBytes: number;
  /** Whether the run is under way, here or in another tab: it can then be neither taken up nor forgotten. */
  isRunning: boolean;
}

/** What a table holds. */
export interface Description {
  rows: number;
  columns: { name: string; isNumeric: boolean }[];
}
