// The messages between a page and its engine: calls on numbered objects, and their answers.
import type { SerializedError } from "./errors.js";
import type {
  Description,
  DeviceInfo,
  EndEvent,
  EpochEvent,
  Evaluation,
  LabelType,
  ModelInfo,
  Prediction,
  ReadingOptions,
  StartEvent,
  StepProfile,
} from "./types.js";

/** A table or arrays, and their name for messages. The engine checks the type of `data`. */
export interface Parcel {
  data: unknown;
  source: string;
  /** How a table of text is written. */
  reading?: ReadingOptions | undefined;
  /** The types of columns whose cells are all of one type other than text. */
  labels?: Map<string, LabelType> | undefined;
}

/** Options of a prediction, for the engine to check. */
export interface Predicting {
  masks?: unknown;
  precision?: unknown;
  unknown?: unknown;
  interval?: unknown;
}

/** A prediction as it is sent: notes and probabilities as plain arrays. */
export interface RemotePrediction
  extends Omit<Prediction<Uint8Array | Uint32Array>, "notes" | "probabilities" | "value"> {
  /** Numbers, or the names of classes. */
  value: Float64Array | (string | null)[];
  /** [rows, classes] */
  probabilities?: Float64Array;
  noteRows: Uint32Array;
  noteColumns: Uint32Array;
  /** 0: outside the training range, 1: unseen, 2: unusable, 3: filled in. */
  noteKinds: Uint8Array;
  /** The reasons of those of kind 2. */
  noteTexts: string[];
}

/** A model at the other end of the port. */
export interface RemoteModel {
  id: number;
  info: ModelInfo;
}

export type WireEvent = StartEvent | EpochEvent | (Omit<EndEvent, "model"> & { model: RemoteModel });

/** The calls of the engine itself. */
export interface EngineCalls {
  /** `threads`: the number of engines that compute each training step together, including this one. */
  open(device: unknown, threads: number): DeviceInfo;
  describe(parcel: Parcel): Description;
  load(parcel: Parcel): RemoteModel;
  /** Returns the number of the run. */
  train(parcel: Parcel, options: unknown, keep: unknown): number;
  continue(parcel: Parcel, checkpoint: unknown, keep: unknown): number;
  continueKept(name: unknown): number;
  /** `sizes` are `steps` and `windows`; `id` is for `stopProfile`. */
  profile(parcel: Parcel, options: unknown, sizes: unknown, id: number): StepProfile;
  stopProfile(id: number): void;
}

/** What is needed to start a run from the current state of another one. */
export interface State {
  parcel: Parcel;
  checkpoint: Uint8Array;
}

/** The calls of a run. */
export interface RunCalls {
  /** Undefined after the end event. */
  next(): WireEvent | undefined;
  pause(): void;
  resume(): void;
  stop(): void;
  checkpoint(): Uint8Array<ArrayBuffer>;
  /** The description of the model that is trained. */
  about(): ModelInfo;
  /** Only for a run that is stored. */
  state(): State;
  /**
   * Makes this run the leader of `workers` runs and returns the memory they share. Undefined if its steps cannot be
   * shared.
   */
  share(workers: number): SharedArrayBuffer | undefined;
  /** Follows the leader as worker `index` until the leader ends or leaves. The run is then disposed of. */
  follow(memory: SharedArrayBuffer, index: number): void;
  /** Says that the caller has received the end event. */
  ended(): void;
}

/** The calls of a model. A run has `predict` too, with its current weights. */
export interface ModelCalls {
  predict(parcel: Parcel, options: Predicting): RemotePrediction;
  evaluate(parcel: Parcel): Evaluation;
  save(): Uint8Array<ArrayBuffer>;
}

/** Rows of a memory: x [classes, inputs], and the place of each row's class in `names`. */
export interface LabelledRows {
  x: Float32Array<ArrayBuffer>;
  inputs: number;
  classes: Uint32Array<ArrayBuffer>;
  names: string[];
  isNumeric: boolean;
}

/** A learned map as it is sent. */
export interface RemoteMap {
  matrix: Float32Array;
  shift: Float32Array;
  weights: Float32Array;
  angles: Float32Array;
  /** [angles, 2] */
  planes: Uint32Array;
}

/** An epoch of a run that learns a memory. */
export interface RemoteEpoch {
  epoch: number;
  epochs: number;
  loss: number;
  lr: number;
  accuracy: number | null;
  map: RemoteMap;
}

/** What a memory says of itself. */
export interface RemoteMemory {
  classes: string[];
  isNumeric: boolean;
  columns: string[];
  target: string;
  /** The class of each row. */
  rows: Uint32Array;
  reach: number;
  sharpness: number;
  map: RemoteMap;
}

/** What is found for some queries: their neighbours one after another, and for each query the other two. */
export interface RemoteFound {
  rows: Uint32Array;
  distances: Float32Array;
  weights: Float32Array;
  known: Uint32Array;
  classes: Uint32Array;
}

/** The calls of a memory, which has a worker of its own. */
export interface MemoryCalls {
  learn(rows: LabelledRows, options: unknown): void;
  /** Undefined once the run is over. The event has its fields if it `isWatched`. */
  learnEpoch(isWatched: boolean): RemoteEpoch | undefined;
  /** The memory of the run, which is over. */
  learned(): RemoteMemory;
  loadMemory(bytes: Uint8Array): RemoteMemory;
  find(x: Float32Array, count: number): RemoteFound;
}

export interface Calls extends EngineCalls, RunCalls, ModelCalls, MemoryCalls {
  dispose(): void;
}

/** The number of the engine itself. */
export const ENGINE = 0;

export interface Call {
  id: number;
  on: number;
  call: keyof Calls;
  args: unknown[];
}

/** The answer to a call; or, without a number, the error that ended the engine. */
export type Answer =
  | { id: number; value: unknown }
  | { id: number; error: SerializedError }
  | { crash: SerializedError };

/** A port. In Node, `ref` and `unref` say whether it keeps the process alive. */
export type Port = MessagePort & { ref?(): void; unref?(): void };
