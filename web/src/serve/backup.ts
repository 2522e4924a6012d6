// A checkpoint of a run, taken at intervals: in memory in case the device is lost, in storage in case the tab is
// closed.
import type * as wasm from "../../pkg/meromorph.js";
import { InternalError } from "../errors.js";
import { erase, lockName, write } from "../keep.js";
import type { EpochEvent, StartEvent } from "../types.js";
import type { Parcel } from "../wire.js";
import { isDeviceLoss } from "./device.js";

/** Checkpoints take at most this share of the time, and are at least this far apart. */
const MAX_SHARE = 0.02;
const INTERVAL_MS = 1000;

/** A name to store a run under, locked until `release`. */
export interface LockedName {
  name: string;
  release(): void;
}

/** Locks the name `keep`, if it is given. */
export async function locked(keep: unknown): Promise<LockedName | undefined> {
  return keep === undefined ? undefined : { name: keep as string, release: await lockName(keep) };
}

export class Backup {
  last: Uint8Array | undefined;
  /** The run's data, while they may be needed again. */
  #parcel: Parcel | undefined;
  #name: LockedName | undefined;
  #isStored: boolean;
  #dueMs = 0;

  /**
   * Stores the run under `name`, if given. `canBeLost`: the device can be lost, so keep a copy in memory. `isStored`:
   * the data are already in storage.
   */
  constructor(parcel: Parcel, canBeLost: boolean, name?: LockedName, isStored = false) {
    this.#parcel = canBeLost || name !== undefined ? parcel : undefined;
    this.#name = name;
    this.#isStored = isStored;
  }

  /** Takes a checkpoint after an epoch event, if the last one is old enough. */
  async epoch(training: wasm.Training, { epoch }: EpochEvent, { epochs }: StartEvent): Promise<void> {
    const began = performance.now();
    if (!this.#parcel || began < this.#dueMs) return;
    let checkpoint;
    try {
      checkpoint = await training.checkpoint();
    } catch (error) {
      if (isDeviceLoss(error)) throw error;
      // After its last epoch a run has no checkpoint; only its end event remains.
      return;
    }
    await this.#write(this.#parcel, checkpoint, epoch + 1, epochs);
    this.last = checkpoint;
    const ended = performance.now();
    this.#dueMs = ended + Math.max(INTERVAL_MS, (ended - began) / MAX_SHARE);
  }

  /** The data of a run that is stored or that runs on a device that can be lost. */
  get parcel(): Parcel {
    if (!this.#parcel) throw new InternalError("the run has no backup of its data");
    return this.#parcel;
  }

  /** The caller has received the end event: deletes the stored run. */
  async end(): Promise<void> {
    // If deleting fails, the run stays listed; the end event must still be delivered.
    if (this.#name) await erase(this.#name.name).catch(() => {});
    this.release();
  }

  /** Releases the name: another tab may resume the stored run. */
  release(): void {
    this.#name?.release();
  }

  /** Frees the copies in memory. */
  clear(): void {
    this.last = this.#parcel = undefined;
  }

  async #write(parcel: Parcel, checkpoint: Uint8Array, epoch: number, epochs: number): Promise<void> {
    if (!this.#name) return;
    const about = {
      name: this.#name.name,
      epoch,
      epochs,
      savedAt: new Date(),
      sizeBytes: checkpoint.length + size(parcel.data),
    };
    await write(about, checkpoint, this.#isStored ? undefined : parcel);
    this.#isStored = true;
  }
}

/** The size of a table or of arrays in bytes. */
function size(data: unknown): number {
  if (typeof data === "string") return data.length;
  if (ArrayBuffer.isView(data) || data instanceof ArrayBuffer) return data.byteLength;
  return Object.values(data as object).reduce((sum, part) => sum + (ArrayBuffer.isView(part) ? part.byteLength : 0), 0);
}
