// The public types: options, events, results. Those of data and predictions are in data.ts.
import type { LabelType, ReadingOptions, Task } from "./data.js";
import type { Metrics } from "./metrics.js";
import type { Model } from "./model.js";
import type { EngineOptions } from "./train-options.js";

export type * from "./data.js";
export type * from "./profile.js";
export type { EngineOptions, Metrics };

/**
 * The device to open. `auto` chooses a hardware GPU, otherwise the CPU. A software adapter is used only with `webgpu`.
 */
export type DeviceName = "auto" | "webgpu" | "cpu";

/** Where the engine runs, and where its WebAssembly comes from. */
export interface RuntimeOptions {
  /**
   * false: run in the calling thread, for use inside your own worker; in a service worker, only with `meromorph/inline`
   * or the classic script. Default true: run in a worker, so that the page stays responsive.
   */
  worker?: boolean;
  /** The engine's WebAssembly, if you host it elsewhere. Default: the file in the package. */
  wasm?: string | URL | Response | BufferSource | WebAssembly.Module;
  /** If it aborts, opening is rejected with its reason. */
  signal?: AbortSignal | undefined;
}

/** Options of `describe`. */
export interface DescribeOptions extends RuntimeOptions, ReadingOptions {}

export interface OpenOptions extends RuntimeOptions {
  device?: DeviceName;
  /**
   * CPU threads that compute each training step together, 1 to 16, default 1. Two threads give the same weights as one,
   * bit for bit; more may differ by rounding. Each additional thread is a worker with its own copy of the data. A page
   * must be cross-origin isolated.
   */
  threads?: number;
}

/** The device in use. */
export interface DeviceInfo {
  device: "webgpu" | "cpu";
  /** The processor, or the adapter as the browser names it, such as "nvidia ampere". */
  name: string;
  driver: string;
  /** Whether the GPU is emulated in software. */
  isSoftware: boolean;
  /** The subgroup size: lanes that exchange values without a barrier. 1 if subgroups are not used. */
  subgroup: number;
  features: string[];
}

/** Options of a training run. */
export interface TrainOptions extends EngineOptions, ReadingOptions {
  /**
   * Aborted before the first epoch was completed: the run fails with the signal's reason. Aborted later: it ends early,
   * and its end event still brings the best model.
   */
  signal?: AbortSignal | undefined;
  /**
   * Stores data and checkpoints under this name in the browser's storage during the run, so that {@link
   * Engine.resumeKept} can resume it after the tab was closed. The first checkpoint is stored before the first epoch
   * event, the next ones every second, or less often if storing takes more than a fiftieth of the time. They are
   * deleted once the end event was read; a run that is left early stays stored. Another run with the same name, in any
   * tab, is an error while this one lasts. If the storage fails, the run fails with its reason; its checkpoint can
   * still be read.
   */
  keep?: string | undefined;
}

/** Options of {@link Engine.fit}. */
export interface FitOptions<T extends Task = Task> extends TrainOptions {
  task?: T;
  /** Called once before the first epoch. */
  onStart?: ((event: StartEvent) => void) | undefined;
  /** Called after every epoch. */
  onEpoch?: ((event: EpochEvent) => void) | undefined;
}

/** The result of {@link Engine.fit}: the model, its quality, and how the run went. */
export interface Fit<T extends Task = Task>
  extends Omit<EndEvent<T>, "event">,
    Omit<StartEvent, "event" | "epochs" | "task"> {
  task: T;
}

/** The first event: what the run will do. */
export interface StartEvent {
  event: "start";
  step: "fused" | "recorded";
  /** The maximum number of epochs. */
  epochs: number;
  /** Epochs that the resumed run had already done; 0 for a new run. */
  epochsDone: number;
  stepsPerEpoch: number;
  trainRows: number;
  valRows: number;
  testRows: number;
  task: Task;
  /** Why this task was chosen. */
  reason: string;
  /** What was done with rows that have missing cells, as a sentence; empty if there are none. */
  gaps: string;
  /** Columns that were read with doubts. */
  warnings: Warning[];
}

/** Something about a column that a person should know, though it is no error. */
export interface Warning {
  /** The target, if it is about a run of {@link Engine.fit} that diverged. */
  column: string;
  /** What it is, and the remedy. */
  message: string;
  /** Some of the cells it is about. */
  cells: string[];
}

/** One epoch. Losses are in scaled units. */
export interface EpochEvent {
  event: "epoch";
  epoch: number;
  trainLoss: number;
  valLoss: number | null;
  lr: number;
  isBest: boolean;
  /** For a model with poles, the share of validation rows with a predicted value; otherwise null. */
  coverage: number | null;
  /** Present if gradients are limited, may be left out, or the loss is scaled; otherwise null. */
  gradients: GradientFigures | null;
}

/** What happened to the gradients of an epoch. */
export interface GradientFigures {
  /** Updates that were made. */
  updates: number;
  /** Updates that were left out because a gradient was not finite. */
  skipped: number;
  /** Updates whose gradient was shortened. */
  limited: number;
  /** Largest norm of a gradient before it was shortened. */
  largestNorm: number;
  /** With `precision: "f16"` the factor of the loss after the epoch; otherwise null. */
  lossScale: number | null;
}

/** The quality of a model on a table. */
export interface Evaluation extends Metrics {
  /** The metrics of a prediction that ignores the inputs; null for a model with poles. */
  baseline: Metrics | null;
  /** The number of rows that were left out, because they have no target or lack an input. */
  dropped: number;
}

/** The last event: the results of the run, and the model with the weights of its best epoch. */
export interface EndEvent<T extends Task = Task> {
  event: "end";
  /**
   * Why the run ended: all epochs were done (`epochs`), the validation loss stopped improving (`patience`), too few
   * rows had a value (`coverage`), the caller stopped it (`stopped`), or the loss became NaN, infinite or huge
   * (`diverged`). {@link Engine.fit} rejects if a run diverged before an epoch was completed, and otherwise adds a
   * warning; the end event of {@link Engine.train} comes in both cases.
   */
  stop: "epochs" | "patience" | "coverage" | "stopped" | "diverged";
  /** Counted from 0; null if no epoch was completed. The model then has its initial weights. */
  bestEpoch: number | null;
  epochs: number;
  steps: number;
  validation: Metrics;
  test: Metrics;
  /** What a person should know about the model, such as a class that it never predicts. */
  warnings: Warning[];
  model: Model<T>;
}

export type TrainEvent<T extends Task = Task> = StartEvent | EpochEvent | EndEvent<T>;

/** The description of a model. */
export interface ModelInfo<T extends Task = Task> {
  task: T;
  target: string;
  /** The input columns, in order. */
  columns: string[];
  /** The names of the classes, also where the labels are numbers or booleans; empty for regression. */
  classes: string[];
  /** The type of the labels that predictions give, see {@link Label}; absent if they are texts. */
  labels?: LabelType;
  /** Models that were trained at once; predictions are the mean of theirs. */
  members: number;
  /** Values of the parameters of all of them. */
  parameters: number;
  /**
   * How the table was written that the model learnt from. New tables are read in the same way, except in what the
   * options of a call say.
   */
  reading: ReadingOptions;
  /** The values of each column in the training rows, in the order of `columns`. */
  inputs: (NumberInput | CategoryInput | DateInput)[];
}

/** A column of numbers: range and mean over the training rows. */
export interface NumberInput {
  name: string;
  min: number;
  max: number;
  mean: number;
}

/** A column of categories. */
export interface CategoryInput {
  name: string;
  /** The texts of training, or one of them if `isOpen`. */
  levels: string[];
  /** Whether any text is as good as those of training, as with `encode: { name: "hashed" }`. */
  isOpen?: boolean;
}

/**
 * A column of dates or times: the first and the last one of the training rows, such as `2026-11-23`, `2026-11-23T12:30`
 * or `12:30`.
 */
export interface DateInput {
  name: string;
  from: string;
  to: string;
}

export interface ResumeOptions {
  /** See {@link TrainOptions}. */
  signal?: AbortSignal | undefined;
  /** See {@link TrainOptions}. */
  keep?: string | undefined;
}

/**
 * A model file: its bytes, a `File`, a `Response`, or its URL (also as a string, by the rule of {@link Remote}; outside
 * a page also a path).
 */
export type ModelSource = Uint8Array | ArrayBuffer | Blob | Response | URL | string;

export interface LoadOptions {
  /** If it aborts, the download ends and the promise is rejected with its reason. */
  signal?: AbortSignal | undefined;
  /** Called as bytes arrive. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** The bytes loaded so far, and the total if the server reports it. */
export interface Progress {
  loaded: number;
  total?: number;
}

/** A stored run. */
export interface Kept {
  name: string;
  /** Epochs done. */
  epoch: number;
  /** The maximum number of epochs. */
  epochs: number;
  /** When the checkpoint was written. */
  savedAt: Date;
  /** The size of data and checkpoint. */
  sizeBytes: number;
  /** Whether the run is active, here or in another tab. It can then be neither resumed nor deleted. */
  isRunning: boolean;
}
