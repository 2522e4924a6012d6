// A model on a device: predicts, and moves to another device where its own is lost.
import type * as wasm from "../../pkg/meromorph.js";
import { InputError, shown } from "../errors.js";
import type { ModelInfo, Prediction } from "../types.js";
import type { Parcel } from "../wire.js";
import { type Device, isLoss } from "./device.js";
import { plain } from "./parcel.js";

export class ServedModel {
  readonly info: ModelInfo;
  #device: Device;
  /** Where the model is. */
  #engine: wasm.Engine;
  #model: wasm.Model;
  /** Predictions under way: the bindings refuse to free what is in use. */
  #uses = 0;
  #isDisposed = false;

  constructor(device: Device, model: wasm.Model) {
    this.#device = device;
    this.#engine = device.engine;
    this.#model = model;
    this.info = model.info() as ModelInfo;
  }

  async predict(parcel: Parcel, masks: unknown, precision: unknown): Promise<Prediction<Uint8Array | Uint32Array>> {
    if (this.#isDisposed) throw new InputError("model: was disposed of", "usage");
    const { data, source } = plain(parcel);
    this.#uses++;
    try {
      return flagged(await this.#surely((model) => model.predict(data, source, precision) as Promise<Prediction>), masks);
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

  /** `work`, and once more on another device where the model's own was lost. */
  async #surely<T>(work: (model: wasm.Model) => Promise<T>): Promise<T> {
    const engine = this.#engine;
    try {
      return await work(this.#model);
    } catch (error) {
      if (!isLoss(error)) throw error;
      await this.#leave(engine);
      return work(this.#model);
    }
  }

  async #leave(lost: wasm.Engine): Promise<void> {
    const engine = await this.#device.instead(lost);
    if (this.#engine === engine) return;
    this.#model = engine.load(this.#model.save(), "model");
    this.#engine = engine;
  }
}

/** A prediction with its flags as they were asked for. */
export function flagged(prediction: Prediction, asked: unknown): Prediction<Uint8Array | Uint32Array> {
  const masks = asked ?? "bytes";
  if (masks !== "bytes" && masks !== "words") throw new InputError(`predict: masks is ${shown(masks)}, wanted one of "bytes", "words"`, "usage");
  const { bottom, gap, fault } = prediction;
  if (masks === "bytes" || !bottom || !gap || !fault) return prediction;
  return { ...prediction, bottom: wordsOf(bottom), gap: wordsOf(gap), fault: wordsOf(fault) };
}

/** Bit i of word w is flag 32·w + i. */
function wordsOf(flags: Uint8Array): Uint32Array {
  const words = new Uint32Array(Math.ceil(flags.length / 32));
  flags.forEach((flag, row) => { words[row >>> 5]! |= flag << (row & 31); });
  return words;
}
