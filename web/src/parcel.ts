import { checkPassable, InputError, messageOf, shown, tagOf, unpassable } from "./errors.js";
import { type Download, download } from "./fetch.js";
import type { Known } from "./grid.js";
import { converted, labelsOf } from "./tables.js";
import { checkTable, fileJson, isAddress, parsedJson } from "./text.js";
import type { Parcel } from "./wire.js";

/** A parcel and those of its buffers that can be transferred. */
export interface Packed {
  parcel: Parcel;
  transfer: ArrayBuffer[];
  shape?: "rows" | "row" | undefined;
  target?: string | undefined;
}

/** How a table is read, and how it is fetched. */
export type Packing = Known & Partial<Download>;

/** Reads or fetches a file, or copies arrays before it returns. Anything else is passed on for the engine to check. */
export function pack(call: string, data: unknown, source: string, how: Packing = {}): Promise<Packed> {
  const packing = packed(call, data, source, how);
  // The error reaches the caller who awaits `packing`; after an abort nobody does.
  packing.catch(() => {});
  return packing;
}

async function packed(call: string, data: unknown, source: string, how: Packing): Promise<Packed> {
  const { request } = how;
  checkPassable(`${call}: data`, data, request ? "a table" : "a model file");
  if (isBlob(data)) {
    const bytes = await data.arrayBuffer().catch((error: unknown) => {
      throw new InputError(`${call}: ${named(data, source)} cannot be read: ${messageOf(error)}`);
    });
    return file(call, new Uint8Array(bytes), named(data, source), how);
  }
  if (request && isRemote(data)) {
    // Only a page fetches it: elsewhere it could be a text of somebody else that names a local file.
    if (typeof data === "string" && !(globalThis as { location?: unknown }).location) {
      throw new InputError(
        `${call}: data: got ${shown(data.slice(0, 80))}, expected a table; read a file first: await readFile(…)`,
      );
    }
    const [bytes, name] = await download(data, { ...how, request, call, expected: "a table" });
    return file(call, bytes, name ?? source, how);
  }
  if (request && typeof data === "string" && data !== "") {
    const value = parsedJson(call, data, "the text");
    if (value) return json(call, value, source, how);
    checkTable(call, data, how.reading);
    // As bytes: the engine takes a text of one line for a name.
    return bytesOf(new TextEncoder().encode(data), source, how);
  }
  if (request && (data instanceof ArrayBuffer || tagOf(data) === "Uint8Array")) {
    const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : (data as Uint8Array<ArrayBuffer>);
    const value = fileJson(call, bytes, "the file");
    if (value) return json(call, value, source, how);
  }
  return values(call, data, source, how);
}

/** Rows, columns or arrays, or anything else for the engine to check. */
async function values(call: string, data: unknown, source: string, how: Packing): Promise<Packed> {
  const transfer: ArrayBuffer[] = [];
  const converting = how.request && converted(call, data, how, how.signal);
  if (!converting)
    return {
      parcel: { data: copied(call, data, transfer), source, reading: how.reading, labels: labelsOf(data) },
      transfer,
    };
  const { data: table, reading = how.reading, labels, shape, target } = await converting;
  return { parcel: { data: copied(call, table, transfer), source, reading, labels }, transfer, shape, target };
}

/** A file of a model or of a table. One of JSON is read here. */
async function file(call: string, bytes: Uint8Array<ArrayBuffer>, source: string, how: Packing): Promise<Packed> {
  const value = how.request && fileJson(call, bytes, source);
  return value ? json(call, value, source, how) : bytesOf(bytes, source, how);
}

/** The table in a value of JSON: like a file, it has columns. */
const json = async (call: string, value: object, source: string, how: Packing): Promise<Packed> => ({
  ...(await values(call, value, source, how)),
  shape: undefined,
});

const bytesOf = ({ buffer }: Uint8Array<ArrayBuffer>, source: string, { reading }: Packing): Packed => ({
  parcel: { data: buffer, source, reading },
  transfer: [buffer],
});

/** Tested by its methods: a Blob of another realm (an iframe) is not an `instanceof Blob`. */
const isBlob = (data: unknown): data is Partial<File> & Blob =>
  Boolean((data as Blob | undefined)?.arrayBuffer && (data as Blob).slice);

/** Whether the data are to be fetched. */
function isRemote(data: unknown): data is URL | Response | ReadableStream<Uint8Array<ArrayBuffer>> | string {
  if (typeof data === "string") return isAddress(data);
  return data instanceof URL || data instanceof Response || data instanceof ReadableStream;
}

/** The name of a file; `source` for a plain Blob. */
const named = (blob: Partial<File>, source: string): string => blob.name || source;

/**
 * Copies an array or buffer, or those in an object with the property x, and adds the copies to `transfer`. Returns
 * anything else unchanged.
 */
export function copied(call: string, value: unknown, transfer: ArrayBuffer[]): unknown {
  try {
    const alone = copy(value, transfer, "file");
    if (alone !== value || typeof value !== "object" || value === null) return alone;
    if ("x" in value)
      return Object.fromEntries(
        Object.entries(value).map(([key, part]) => [key, copy(part, transfer, key === "bottom" ? "flags" : "numbers")]),
      );
    // A table that was made here.
    if ("values" in value && value.values instanceof Float64Array) transfer.push(value.values.buffer as ArrayBuffer);
    return value;
  } catch (error) {
    // For example, an array whose buffer is detached.
    throw unpassable(call, error);
  }
}

/** Whole numbers become floats. The bytes of a file and flags stay as they are. */
function copy(value: unknown, transfer: ArrayBuffer[], use: "file" | "numbers" | "flags"): unknown {
  // `every` skips holes, which read as undefined.
  if (Array.isArray(value))
    return !value.includes(undefined) && value.every((item) => typeof item === "number")
      ? listed(Float64Array.from(value), transfer)
      : value;
  if (value instanceof ArrayBuffer) return listed(new Uint8Array(value.slice(0)), transfer);
  if (!ArrayBuffer.isView(value) || value instanceof DataView) return value;
  const tag = tagOf(value);
  const isWhole = /int|Clamped/i.test(tag) && use !== "flags" && !(tag === "Uint8Array" && use === "file");
  if (isWhole) return listed(Float64Array.from(value as unknown as ArrayLike<number | bigint>, Number), transfer);
  // Not `value.slice`: that of Node's Buffer does not copy.
  return listed(Uint8Array.prototype.slice.call(value) as Uint8Array<ArrayBuffer>, transfer);
}

function listed<T extends { buffer: ArrayBuffer }>(array: T, transfer: ArrayBuffer[]): T {
  transfer.push(array.buffer);
  return array;
}
