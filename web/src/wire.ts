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

export interface Calls extends EngineCalls, RunCalls, ModelCalls {
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
