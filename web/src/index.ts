// The typed face of the engine: opens a device, trains from a table or arrays, predicts, saves and loads model files.

import init, * as wasm from "../pkg/meromorph.js";

/** What `open` can be asked for. `auto` takes a hardware GPU, else the cpu; a software adapter only by the name `webgpu`. */
export type DeviceName = "auto" | "webgpu" | "cpu";

/** The device in use. */
export interface DeviceInfo {
  device: "webgpu" | "cpu";
  /** The adapter or processor. */
  name: string;
  driver: string;
  /** Whether it is a program that pretends to be a GPU. */
  isSoftware: boolean;
  features: string[];
}

/** A table file's bytes (CSV, TSV, NPY) or text. */
export type Table = Uint8Array | ArrayBuffer | Blob | string;

/** Numbers, row after row. */
export type Numbers = Float32Array | Float64Array | number[];

/** `x` holds `y.length` rows; its columns are called x0, x1, … and the target y. */
export interface Arrays {
  x: Numbers;
  y: Numbers;
}

export interface TrainOptions {
  /** The column to learn; "y" for arrays. */
  target?: string;
  task?: "regression" | "classification";
  /** Columns to learn from; all but the target if not given. */
  features?: string[];
  ignore?: string[];
  /** Columns of numbers to take as categories. */
  categorical?: string[];
  /** Columns that must be numbers. */
  numeric?: string[];
  /** What becomes of rows with empty cells. */
  missing?: "drop" | "impute";
  /** Part of the rows to stop by, 0.15 if not given. */
  validation?: number;
  /** Part of the rows to report on, 0.15 if not given. */
  test?: number;
  /** Widths of the hidden layers, [64, 64, 64] if not given. */
  hidden?: number[];
  activation?:
    | "identity" | "relu" | "leaky_relu" | "elu" | "gelu" | "sigmoid" | "silu" | "softplus" | "tanh";
  dropout?: number;
  loss?: "mse" | "mae" | "huber" | "cross-entropy" | "bce";
  /** Where huber turns from square to linear. */
  delta?: number;
  smoothing?: number;
  classWeights?: "balanced";
  epochs?: number;
  batch?: number;
  lr?: number;
  weightDecay?: number;
  /** Epochs without improvement before stopping; 0 = never. */
  patience?: number;
  seed?: number;
  optimizer?: "adamw" | "adam" | "sgd";
  schedule?: "constant" | "cosine" | "plateau";
  /** Steps over which the learning rate rises. */
  warmup?: number;
  step?: "fused" | "recorded";
  /** What makes the prediction; all but linear can have poles, and say so instead of giving a number there. */
  head?: "linear" | "rational" | "projective" | "angular";
  /** Nearer to a pole than this there is no value; where values pass the largest training target if not given. */
  tauInfer?: number;
  /** Nearer than this a value is marked as a gap; three times tauInfer if not given. */
  tauTrain?: number;
  /** Aborting ends the run early; its end event still brings the best model. */
  signal?: AbortSignal;
}

/** The first event: what will be done. */
export interface StartEvent {
  event: "start";
  step: "fused" | "recorded";
  epochs: number;
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
  loss: number;
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
  stop: "epochs" | "patience" | "coverage" | "asked" | "diverged";
  bestEpoch: number | null;
  epochs: number;
  steps: number;
  validation: Metrics;
  test: Metrics;
  model: Model;
}

export type TrainEvent = StartEvent | EpochEvent | EndEvent;

/** One entry per row: numbers, classes with their probabilities, or of a model with poles numbers and what is known of them. */
export interface Prediction {
  value: Float64Array | string[];
  probability?: Float64Array;
  /** 1 where there is no value; it then stands as 0. */
  bottom?: Uint8Array;
  /** 1 where a value is near a pole. */
  gap?: Uint8Array;
  /** 1 where there is no value because something went wrong, not because of a pole. */
  fault?: Uint8Array;
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
}

/** What a table holds. */
export interface Description {
  rows: number;
  columns: { name: string; isNumeric: boolean }[];
}

let dead: Promise<never>;
let ready: Promise<unknown> | undefined;

function start(): Promise<unknown> {
  return (ready ??= init().then(() => {
    dead = new Promise((_, reject) => wasm.on_panic((message: string) => reject(new Error(message))));
    dead.catch(() => {});
  }));
}

/** The result of `work`, or the engine's last words: after a panic its promises would stay pending. */
function alive<T>(work: Promise<T>): Promise<T> {
  return Promise.race([work, dead]);
}

/** Bytes and the name to use in messages; anything that is no Blob goes to the engine, which checks it. */
async function named(data: unknown, name: string): Promise<[unknown, string]> {
  if (!(data instanceof Blob)) return [data, name];
  return [new Uint8Array(await data.arrayBuffer()), data instanceof File ? data.name : name];
}

/** Opens a device. */
export async function open({ device = "auto" }: { device?: DeviceName } = {}): Promise<Engine> {
  await start();
  return new Engine(await alive(wasm.open(device)));
}

/** Reads a table only far enough to say what it holds. */
export async function describe(data: Table): Promise<Description> {
  await start();
  return wasm.describe(...(await named(data, "table")));
}

/** An open device. */
export class Engine {
  readonly info: DeviceInfo;
  #engine: wasm.Engine;

  /** @internal */
  constructor(engine: wasm.Engine) {
    this.#engine = engine;
    this.info = engine.info();
  }

  /**
   * Trains a model: events, the last with the model. The run goes on only as fast as events are taken, one epoch each, and
   * ends without one where the loop is left.
   */
  async *train(data: Table | Arrays, options: TrainOptions = {}): AsyncGenerator<TrainEvent, void> {
    const { signal, ...rest } = options ?? {};
    const run = this.#engine.train(...(await named(data, "data")), typeof options === "object" ? rest : options);
    const stop = () => run.stop();
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) stop();
    try {
      yield run.start_event();
      for (;;) {
        const event: TrainEvent = await alive(run.next());
        if (event.event === "end") event.model = new Model(await alive(run.model()));
        yield event;
        if (event.event === "end") return;
      }
    } finally {
      signal?.removeEventListener("abort", stop);
      run.free();
    }
  }

  /** Reads a model file, written by a browser or by the `mero` binary. */
  async load(data: Uint8Array | ArrayBuffer | Blob): Promise<Model> {
    return new Model(this.#engine.load(...(await named(data, "model"))));
  }

  [Symbol.dispose](): void {
    this.#engine.free();
  }
}

/** A trained model. */
export class Model {
  readonly info: ModelInfo;
  #model: wasm.Model;

  /** @internal */
  constructor(model: wasm.Model) {
    this.#model = model;
    this.info = model.info();
  }

  /** Predicts a table, whose columns are found by name, or rows of numbers in the order of `info.columns`. */
  async predict(x: Table | Numbers): Promise<Prediction> {
    return alive(this.#model.predict(...(await named(x, "table"))));
  }

  /** The bytes of the model's file. */
  save(): Uint8Array {
    return this.#model.save();
  }

  [Symbol.dispose](): void {
    this.#model.free();
  }
}
