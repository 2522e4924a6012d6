// A model on a device: predicts, and moves to another device if its own is lost.
import * as wasm from "../../pkg/meromorph.js";
import { InputError, shown } from "../errors.js";
import type { Evaluation, ModelInfo } from "../types.js";
import type { Parcel, Predicting, RemotePrediction } from "../wire.js";
import { type Device, isDeviceLoss } from "./device.js";
import { plain, table } from "./parcel.js";

/** The description of a model, with the type of its labels. */
export function described(model: wasm.Model, columns: Parcel["labels"]): ModelInfo {
  const info = model.info() as ModelInfo;
  const labels = info.task === "classification" ? columns?.get(info.target) : undefined;
  return labels ? { ...info, labels } : info;
}

export class ServedModel {
  readonly info: ModelInfo;
  #device: Device;
  /** The engine that holds the model. */
  #engine: wasm.Engine;
  #model: wasm.Model;
  /** Active predictions: the bindings cannot free a model in use. */
  #uses = 0;
  #isDisposed = false;

  /** `labels` are the types of the columns of the training, unless the model's file says which its labels have. */
  constructor(device: Device, model: wasm.Model, labels?: Parcel["labels"]) {
    this.#device = device;
    this.#engine = device.engine;
    this.#model = model;
    this.info = described(model, labels);
    if (labels && this.info.labels) model.set_labels(this.info.labels);
  }

  async predict(parcel: Parcel, { masks, ...how }: Predicting): Promise<RemotePrediction> {
    const { data, source, reading } = plain(parcel);
    return flagged(
      await this.#used((model) => model.predict(data, source, { how, reading }) as Promise<RemotePrediction>),
      masks,
    );
  }

  /** The metrics on a table, or on arrays `{ x, y }` with x in the order of the model's columns. */
  async evaluate(parcel: Parcel): Promise<Evaluation> {
    const { data, source, reading } = plain(parcel);
    const whole = table("evaluate", data, [...this.info.columns, this.info.target]);
    return this.#used((model) => wasm.evaluate(model, whole, source, reading) as Promise<Evaluation>);
  }

  /** Runs `work`. The model is freed after it if it was disposed of meanwhile. */
  async #used<T>(work: (model: wasm.Model) => Promise<T>): Promise<T> {
    if (this.#isDisposed) throw new InputError("model: was disposed of", "usage");
    this.#uses++;
    try {
      return await this.#withRecovery(work);
    } finally {
      if (--this.#uses === 0 && this.#isDisposed) this.#model.free();
    }
  }

  save(): Uint8Array {
    return this.#model.save();
  }

  dispose(): void {
    this.#isDisposed = true;
    if (this.#uses === 0) this.#model.free();
  }

  /** Runs `work`; if the device is lost, runs it again on another device. */
  async #withRecovery<T>(work: (model: wasm.Model) => Promise<T>): Promise<T> {
    const engine = this.#engine;
    try {
      return await work(this.#model);
    } catch (error) {
      if (!isDeviceLoss(error)) throw error;
      await this.#moveFrom(engine);
      return work(this.#model);
    }
  }

  async #moveFrom(lost: wasm.Engine): Promise<void> {
    const engine = await this.#device.replace(lost);
    if (this.#engine === engine) return;
    this.#model = engine.load(this.#model.save(), "model");
    this.#engine = engine;
  }
}

/** A prediction with its flags in the requested format. */
export function flagged(prediction: RemotePrediction, format: unknown): RemotePrediction {
  const masks = format ?? "bytes";
  if (masks !== "bytes" && masks !== "words")
    throw new InputError(`predict: masks is ${shown(masks)}, expected one of "bytes", "words"`, "usage");
  const { bottom, gap, fault } = prediction;
  if (masks === "bytes" || !bottom || !gap || !fault) return prediction;
  return {
    ...prediction,
    bottom: packedFlags(bottom as Uint8Array),
    gap: packedFlags(gap as Uint8Array),
    fault: packedFlags(fault as Uint8Array),
  };
}

/** Bit i of word w is flag 32·w + i. */
function packedFlags(flags: Uint8Array): Uint32Array {
  const words = new Uint32Array(Math.ceil(flags.length / 32));
  flags.forEach((flag, row) => {
    words[row >>> 5]! |= flag << (row & 31);
  });
  return words;
}
