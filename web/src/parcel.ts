// The caller's data, made ready to be given away: copied once, so that no array of the caller's is detached or watched.
import { InputError, unpassable, words } from "./errors.js";
import type { Parcel } from "./wire.js";

/** A parcel and the buffers in it that are given away. */
export interface Packed {
  parcel: Parcel;
  transfer: ArrayBuffer[];
}

/** Reads a file, copies arrays before it returns, and leaves the rest for the engine to judge. */
export function pack(call: string, data: unknown, source: string): Promise<Packed> {
  const packing = packed(call, data, source);
  // Whoever waits for it hears of it; where a call is aborted first, nobody does.
  packing.catch(() => {});
  return packing;
}

async function packed(call: string, data: unknown, source: string): Promise<Packed> {
  if (isBlob(data)) {
    const bytes = await data.arrayBuffer().catch((error: unknown) => {
      throw new InputError(`${call}: ${named(data, source)} cannot be read: ${words(error)}`);
    });
    return { parcel: { data: bytes, source: named(data, source) }, transfer: [bytes] };
  }
  const transfer: ArrayBuffer[] = [];
  return { parcel: { data: copied(call, data, transfer), source }, transfer };
}

/** By what it does: one of another realm is of another class. */
const isBlob = (data: unknown): data is Partial<File> & Blob => Boolean((data as Blob | undefined)?.arrayBuffer && (data as Blob).slice);

/** A file has a name. */
const named = (blob: Partial<File>, source: string): string => blob.name || source;

/** A copy of an array or buffer, or of all such in an object with an x, their memory noted as given away; anything else as it is. */
export function copied(call: string, value: unknown, transfer: ArrayBuffer[]): unknown {
  try {
    const alone = copy(value, transfer);
    if (alone !== value || typeof value !== "object" || value === null || !("x" in value)) return alone;
    const entries = Object.entries(value).map(([key, part]) => [key, copy(part, transfer)]);
    return Object.fromEntries(entries);
  } catch (error) {
    // An array whose memory was given away, say.
    throw unpassable(call, error);
  }
}

function copy(value: unknown, transfer: ArrayBuffer[]): unknown {
  // A hole is undefined, and passed over by `every`.
  if (Array.isArray(value)) return !value.includes(undefined) && value.every((item) => typeof item === "number") ? given(Float64Array.from(value), transfer) : value;
  if (value instanceof ArrayBuffer) return given(new Uint8Array(value.slice(0)), transfer);
  if (!ArrayBuffer.isView(value) || value instanceof DataView) return value;
  // Called by name, for Node's Buffer has a `slice` that copies nothing.
  return given(Uint8Array.prototype.slice.call(value) as Uint8Array<ArrayBuffer>, transfer);
}

function given<T extends { buffer: ArrayBuffer }>(array: T, transfer: ArrayBuffer[]): T {
  transfer.push(array.buffer);
  return array;
}
