// The last checkpoint of a run, taken at intervals: in memory against the loss of a device, in storage against that of the tab.
import type * as wasm from "../../pkg/meromorph.js";
import { forget, write } from "../keep.js";
import type { EpochEvent, StartEvent } from "../types.js";
import type { Parcel } from "../wire.js";
import { isLoss } from "./device.js";

/** At most this part of the time goes into checkpoints, but one is taken every second where that costs less. */
const SHARE = 0.02;
const EVERY_MS = 1000;

export class Mirror {
  last?: Uint8Array;
  #isNeeded: boolean;
  #name: string | undefined;
  #parcel: Parcel;
  #hasParcel: boolean;
  #dueMs = 0;

  /** Keeps under `name` if there is one; `isNeeded`: in memory in any case. `hasParcel`: the data are in storage already. */
  constructor(parcel: Parcel, isNeeded: boolean, name?: string, hasParcel = false) {
    this.#parcel = parcel;
    this.#isNeeded = isNeeded || name !== undefined;
    this.#name = name;
    this.#hasParcel = hasParcel;
  }

  /** Takes a checkpoint after `event`, if it is time. */
  async epoch(training: wasm.Training, { epoch }: EpochEvent, { epochs }: StartEvent): Promise<void> {
    const began = performance.now();
    if (!this.#isNeeded || began < this.#dueMs) return;
    let checkpoint;
    try {
      checkpoint = await training.checkpoint();
    } catch (error) {
      if (isLoss(error)) throw error;
      // After its last epoch a run has none; only its end is left to tell.
      return;
    }
    await this.#write(checkpoint, epoch + 1, epochs);
    this.last = checkpoint;
    const ended = performance.now();
    this.#dueMs = ended + Math.max(EVERY_MS, (ended - began) / SHARE);
  }

  /** The run is over, and its model in its owner's hands. */
  async end(): Promise<void> {
    if (this.#name !== undefined) await forget(this.#name);
  }

  async #write(checkpoint: Uint8Array, epoch: number, epochs: number): Promise<void> {
    if (this.#name === undefined) return;
    const about = { name: this.#name, epoch, epochs, savedAt: new Date(), sizeBytes: checkpoint.length + size(this.#parcel.data) };
    await write(about, checkpoint, this.#hasParcel ? undefined : this.#parcel);
    this.#hasParcel = true;
  }
}

/** Bytes of a table or of arrays. */
function size(data: unknown): number {
  if (typeof data === "string") return data.length;
  if (ArrayBuffer.isView(data)) return data.byteLength;
  return Object.values(data as object).reduce((sum, part) => sum + (ArrayBuffer.isView(part) ? part.byteLength : 0), 0);
}
