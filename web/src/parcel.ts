// Prepares the caller's data for transfer: copied once, so that the caller's arrays are not detached and later changes to them have no effect.
import { InputError, messageOf, unpassable } from "./errors.js";
import type { Parcel } from "./wire.js";

/** A parcel and those of its buffers that can be transferred. */
export interface Packed {
  parcel: Parcel;
  transfer: ArrayBuffer[];
}

/** Reads a file, or copies arrays before it returns. Anything else is passed on for the engine to check. */
export function pack(call: string, data: unknown, source: string): Promise<Packed> {
  const packing = packed(call, data, source);
  // The error reaches the caller who awaits `packing`; after an abort nobody does.
  packing.catch(() => {});
  return packing;
}

async function packed(call: string, data: unknown, source: string): Promise<Packed> {
  if (isBlob(data)) {
    const bytes = await data.arrayBuffer().catch((error: unknown) => {
      throw new InputError(`${call}: ${named(data, source)} cannot be read: ${messageOf(error)}`);
    });
    return { parcel: { data: bytes, source: named(data, source) }, transfer: [bytes] };
  }
  const transfer: ArrayBuffer[] = [];
  return { parcel: { data: copied(call, data, transfer), source }, transfer };
}

/** Tested by its methods: a Blob of another realm (an iframe) is not an `instanceof Blob`. */
const isBlob = (data: unknown): data is Partial<File> & Blob => Boolean((data as Blob | undefined)?.arrayBuffer && (data as Blob).slice);

/** The name of a file; `source` for a plain Blob. */
const named = (blob: Partial<File>, source: string): string => blob.name || source;

/** Copies an array or buffer, or those in an object with the property x, and adds the copies to `transfer`. Returns anything else unchanged. */
export function copied(call: string, value: unknown, transfer: ArrayBuffer[]): unknown {
  try {
    const alone = copy(value, transfer);
    if (alone !== value || typeof value !== "object" || value === null || !("x" in value)) return alone;
    const entries = Object.entries(value).map(([key, part]) => [key, copy(part, transfer)]);
    return Object.fromEntries(entries);
  } catch (error) {
    // For example, an array whose buffer is detached.
    throw unpassable(call, error);
  }
}

function copy(value: unknown, transfer: ArrayBuffer[]): unknown {
  // `every` skips holes, which read as undefined.
  if (Array.isArray(value)) return !value.includes(undefined) && value.every((item) => typeof item === "number") ? listed(Float64Array.from(value), transfer) : value;
  if (value instanceof ArrayBuffer) return listed(new Uint8Array(value.slice(0)), transfer);
  if (!ArrayBuffer.isView(value) || value instanceof DataView) return value;
  // Not `value.slice`: that of Node's Buffer does not copy.
  return listed(Uint8Array.prototype.slice.call(value) as Uint8Array<ArrayBuffer>, transfer);
}

function listed<T extends { buffer: ArrayBuffer }>(array: T, transfer: ArrayBuffer[]): T {
  transfer.push(array.buffer);
  return array;
}
