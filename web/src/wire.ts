// What crosses between a page and its engine: calls on numbered objects and their answers.
import type { PackedError } from "./errors.js";
import type { Description, DeviceInfo, EndEvent, EpochEvent, ModelInfo, Prediction, StartEvent } from "./types.js";

/** A table or arrays on their way, and the name to use in messages. What has the wrong type is the engine's to refuse. */
export interface Parcel {
  data: unknown;
  source: string;
}

/** A model that lives at the other end. */
export interface Distant {
  id: number;
  info: ModelInfo;
}

export type WireEvent = StartEvent | EpochEvent | (Omit<EndEvent, "model"> & { model: Distant });

/** What the first object, the engine itself, does. */
export interface EngineCalls {
  /** `threads`: the engines that may make each step of a run together, this one among them. */
  open(device: unknown, threads: number): DeviceInfo;
  describe(parcel: Parcel): Description;
  load(parcel: Parcel): Distant;
  /** The number of the run. */
  train(parcel: Parcel, options: unknown, keep: unknown): number;
  continue(parcel: Parcel, checkpoint: unknown, keep: unknown): number;
  continueKept(name: unknown): number;
}

/** All it takes to begin a run where another one stands. */
export interface State {
  parcel: Parcel;
  checkpoint: Uint8Array;
}

/** What a run does. */
export interface RunCalls {
  /** Nothing once the end was told. */
  next(): WireEvent | undefined;
  pause(): void;
  resume(): void;
  stop(): void;
  checkpoint(): Uint8Array<ArrayBuffer>;
  /** Of a run that is kept. */
  state(): State;
  /** Memory in which so many runs can make their steps together; this one leads. Nothing if they cannot be shared. */
  share(members: number): SharedArrayBuffer | undefined;
  /** Follows the leader as member `own`, until that ends or leaves; the run is then gone. */
  follow(memory: SharedArrayBuffer, own: number): void;
  /** The end is in its owner's hands. */
  taken(): void;
}

/** What a model does, and a run with the weights of now. */
export interface ModelCalls {
  predict(parcel: Parcel, masks: unknown, precision: unknown): Prediction<Uint8Array | Uint32Array>;
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

/** An answer; or, without a number, the last words of an engine. */
export type Answer = { id: number; value: unknown } | { id: number; error: PackedError } | { died: PackedError };

/** A port that, in Node, says whether the process waits for it. */
export type Port = MessagePort & { ref?(): void; unref?(): void };
