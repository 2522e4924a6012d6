// The last checkpoint of a run, taken at intervals: in memory against the loss of a device, in storage against that of the tab.
import type * as wasm from "../../pkg/meromorph.js";
import { InternalError } from "../errors.js";
import { erase, hold, write } from "../keep.js";
import type { EpochEvent, StartEvent } from "../types.js";
import type { Parcel } from "../wire.js";
import { isLoss } from "./device.js";

/** At most this part of the time goes into checkpoints, but one is taken every second where that costs less. */
const SHARE = 0.02;
const EVERY_MS = 1000;

/** The name to keep a run under, held for it until it leaves. */
export interface Name {
  name: string;
  leave(): void;
}

/** Holds the name that was given, if one was. */
export async function held(keep: unknown): Promise<Name | undefined> {
  return keep === undefined ? undefined : { name: keep as string, leave: await hold(keep) };
}

export class Mirror {
  last: Uint8Array | undefined;
  /** The run's data, as long as they may be needed again. */
  #parcel: Parcel | undefined;
  #name: Name | undefined;
  #isStored: boolean;
  #dueMs = 0;

  /** Keeps under `name` if there is one; `isMortal`: in memory in any case. `isStored`: the data are in storage already. */
  constructor(parcel: Parcel, isMortal: boolean, name?: Name, isStored = false) {
    this.#parcel = isMortal || name !== undefined ? parcel : undefined;
    this.#name = name;
    this.#isStored = isStored;
  }

  /** Takes a checkpoint after `event`, if it is time. */
  async epoch(training: wasm.Training, { epoch }: EpochEvent, { epochs }: StartEvent): Promise<void> {
    const began = performance.now();
    if (!this.#parcel || began < this.#dueMs) return;
    let checkpoint;
    try {
      checkpoint = await training.checkpoint();
    } catch (error) {
      if (isLoss(error)) throw error;
      // After its last epoch a run has none; only its end is left to tell.
      return;
    }
    await this.#write(this.#parcel, checkpoint, epoch + 1, epochs);
    this.last = checkpoint;
    const ended = performance.now();
    this.#dueMs = ended + Math.max(EVERY_MS, (ended - began) / SHARE);
  }

  /** The data of a run that is kept, or on a device that can be lost. */
  get parcel(): Parcel {
    if (!this.#parcel) throw new InternalError("the data of a run were not mirrored");
    return this.#parcel;
  }

  /** The run is over, and its model in its owner's hands. */
  async end(): Promise<void> {
    // What cannot be forgotten stays listed; the end is worth more.
    if (this.#name) await erase(this.#name.name).catch(() => {});
    this.leave();
  }

  /** What is kept may be taken up by others. */
  leave(): void {
    this.#name?.leave();
  }

  /** Nothing is needed any more. */
  drop(): void {
    this.last = this.#parcel = undefined;
  }

  async #write(parcel: Parcel, checkpoint: Uint8Array, epoch: number, epochs: number): Promise<void> {
    if (!this.#name) return;
    const about = { name: this.#name.name, epoch, epochs, savedAt: new Date(), sizeBytes: checkpoint.length + size(parcel.data) };
    await write(about, checkpoint, this.#isStored ? undefined : parcel);
    this.#isStored = true;
  }
}

/** Bytes of a table or of arrays. */
function size(data: unknown): number {
  if (typeof data === "string") return data.length;
  if (ArrayBuffer.isView(data)) return data.byteLength;
  return Object.values(data as object).reduce((sum, part) => sum + (ArrayBuffer.isView(part) ? part.byteLength : 0), 0);
}
