// What a text is that a caller gives as a table or as a model: an address to fetch, JSON, a table, or nothing that is
// known. A text that is not clearly an address is never sent anywhere: it may be data.
import type { ReadingOptions } from "./data.js";
import { InputError, messageOf, shown } from "./errors.js";

/** A longer text is no address, unless it holds the data itself. */
const MAX_ADDRESS = 2048;
/**
 * Letters, digits and the signs of paths and queries; white space, brackets, commas, semicolons and quotes are those of
 * data.
 */
const ADDRESS = /^[\p{L}\p{N}\-._~:/?#@!$&*+=%]+$/u;
/** A scheme that is fetched, or a path from the root, the page's folder or the one above. */
const BEGINNING = /^(https?:\/\/[^/]|blob:|\.{0,2}\/)/i;
/** A name of a file of a table or of a model, perhaps in a folder. */
const FILE_NAME = /^[^:?#]*[^/:?#]\.(csv|tsv|tab|txt|dat|data|npy|json|jsonl|ndjson|safetensors|mero|bin)([?#].*)?$/i;
/** An address that holds its data, which fetching sends nowhere. */
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+(;[^,\r\n]*)?|;base64),[^\r\n]*$/i;
/** Bytes as text: long, and without the signs that names have. */
const BASE64 = /^([A-Za-z0-9+/]{100,}|[A-Za-z0-9_-]{100,})={0,2}$/;

/** Whether a text is an address to fetch. */
export function isAddress(text: string): boolean {
  if (DATA_URL.test(text)) return true;
  return (
    text.length <= MAX_ADDRESS &&
    ADDRESS.test(text) &&
    !BASE64.test(text) &&
    (BEGINNING.test(text) || FILE_NAME.test(text))
  );
}

const START = 80;
const quoted = (text: string): string => shown(text.slice(0, START)) + (text.length > START ? "…" : "");

/** The error for a text that is neither `expected` nor an address. */
export function unknownText(call: string, text: string, expected: string): InputError {
  const hint = BASE64.test(text)
    ? "; it looks like base64: decode it first, and give the bytes"
    : /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
      ? `; to fetch it, give a URL: ${call}(new URL(…))`
      : "; a text is fetched if it begins with https://, /, ./ or ../, or is the name of a file such as houses.csv";
  return new InputError(`${call}: got ${quoted(text)}, expected ${expected}${hint}`);
}

/**
 * Errors if a text that is no address cannot be a table either: one word, unless the caller says that the first line
 * holds data.
 */
export function checkTable(call: string, text: string, { header, delimiter }: ReadingOptions = {}): void {
  const isTable = /[\r\n,;\t]/.test(text) || header === false || (delimiter && text.includes(delimiter));
  if (!isTable || BASE64.test(text)) throw unknownText(`${call}: data`, text, "a table as text");
}

/**
 * How a text of JSON begins: with a list of rows or with fields. A header of CSV in brackets, such as [mm], begins
 * otherwise.
 */
const JSON_START = /^\uFEFF?\s*(\[\s*[[{\]]|\{\s*["}])/;

/** Whether a text may be JSON: an array of numbers, or one with an error, is not told by its start. */
const MAYBE_JSON = /^\uFEFF?\s*[[{]/;

/** The value of JSON in a file's bytes, as {@link parsedJson}. */
export function fileJson(call: string, bytes: Uint8Array, source: string): object | undefined {
  // The whole file is decoded only if its start is that of JSON.
  if (!MAYBE_JSON.test(new TextDecoder().decode(bytes.subarray(0, 256)))) return undefined;
  return parsedJson(call, new TextDecoder().decode(bytes), source);
}

/**
 * The rows or columns in a text of JSON, or of one object of JSON on each line; undefined for another text. `source`
 * names it in an error.
 */
export function parsedJson(call: string, text: string, source: string): object | undefined {
  if (!MAYBE_JSON.test(text)) return undefined;
  const whole = text.replace(/^\uFEFF/, "");
  try {
    return JSON.parse(whole) as object;
  } catch (error) {
    const rows = lines(whole);
    if (rows || !JSON_START.test(text)) return rows;
    throw new InputError(`${call}: ${source} begins like JSON, but it is not: ${messageOf(error)}`);
  }
}

/** The objects of JSON lines. */
function lines(text: string): object[] | undefined {
  const all = text.split("\n").filter((line) => line.trim() !== "");
  if (all.length < 2 || !text.trimStart().startsWith("{")) return undefined;
  try {
    return all.map((line) => JSON.parse(line) as object);
  } catch {
    return undefined;
  }
}
