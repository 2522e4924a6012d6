// Tables that are JavaScript values: rows of objects, nested arrays, columns. They become what the engine reads: a matrix of numbers, or CSV if a cell is
// no number, so that texts are understood as they are in a file.
import type { ReadingOptions } from "./data.js";
import { InputError, shown, tagOf } from "./errors.js";

/** A table for the engine. */
export interface Converted {
  data: unknown;
  /** How the data are written. */
  reading?: ReadingOptions;
  /** Whether the result of a prediction has one entry for each row (`rows`), is one entry (`row`), or has columns. */
  shape?: "rows" | "row";
  /** The target, if the form of the data decides it. */
  target?: string;
}

/** What is known about a table before it is read. */
export interface Known {
  /** The columns that are used, in order; the last may be absent if it is the target. */
  names?: readonly string[] | undefined;
  reading?: ReadingOptions | undefined;
  /** How the table was written that the model learnt from: what `reading` does not say. */
  own?: ReadingOptions | undefined;
  /** Whether `{ x, y }` are arrays rather than columns: always, or only if there are no other fields. */
  arrays?: "always" | "alone";
  /** Whether an object of cells is one row. */
  hasRow?: boolean;
}

/** Cells by row and column. Without names, the first row may hold them. */
interface Grid {
  names?: readonly string[] | undefined;
  rows: number;
  width: number;
  cell(row: number, column: number): unknown;
}

type List = ArrayLike<unknown>;

interface ArraysGiven {
  x: unknown;
  y: unknown;
  bottom?: unknown;
}

/** Converts a table of JavaScript values; undefined for anything else. Nothing of `data` is kept. */
export function converted(call: string, data: unknown, given: Known): Converted | undefined {
  // Texts among the cells may be numbers as the model's table had them.
  const known = { ...given, reading: { ...(given.own?.decimal && { decimal: given.own.decimal }), ...given.reading } };
  if (!needsNames(data)) {
    const isBytes = tagOf(data) === "Uint8Array";
    if (known.arrays && isList(data) && !isBytes) throw new InputError(`${call}: data is ${shown(data)}, which has no columns: wanted rows, columns or { x, y }`);
    return undefined;
  }
  if (Array.isArray(data)) {
    return { shape: "rows", ...written(call, isList(data[0]) ? nested(call, data, known) : objects(call, data, known.names), known.reading) };
  }
  const fields = Object.entries(data as object);
  const others = fields.filter(([name]) => !["x", "y", "bottom"].includes(name)).length;
  const isArrays = Object.hasOwn(data as object, "x") && Object.hasOwn(data as object, "y") && (known.arrays === "always" || (known.arrays === "alone" && others === 0));
  if (isArrays) return arrays(call, data as ArraysGiven, known);
  if (fields.some(([, value]) => isList(value))) return written(call, columns(call, fields), known.reading);
  if (!known.hasRow || fields.length === 0) return undefined;
  return { ...written(call, objects(call, [data], known.names), known.reading), shape: "row" };
}

/** Whether the columns of a table are found by the names of others. */
export const needsNames = (data: unknown): boolean =>
  Array.isArray(data) ? data.some((row) => typeof row === "object" && row !== null) : tagOf(data) === "Object";

const isList = (value: unknown): value is List => Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));

const quoted = (names: readonly string[]): string => names.slice(0, 12).map((name) => JSON.stringify(name)).join(", ") + (names.length > 12 ? ", …" : "");

/** Rows that are arrays of cells, in the order of the columns that are used, or below a first row with the names of theirs. */
function nested(call: string, rows: readonly unknown[], { names, reading }: Known): Grid {
  const first = Array.from(rows[0] as List) as string[];
  const isNamed = names && (reading?.header ?? names.every((name) => first.includes(name)));
  const order = isNamed ? undefined : names;
  const { length: width } = order ?? first;
  for (const [row, cells] of rows.entries()) {
    if (!isList(cells)) throw new InputError(`${call}: row ${row + 1} is ${shown(cells)}, wanted an array as in row 1`);
    if (cells.length !== width) throw new InputError(`${call}: row ${row + 1} has ${cells.length} cells, wanted ${width}${order ? `: ${quoted(order)}` : " as in row 1"}`);
  }
  if (isNamed) return objects(call, rows.slice(1).map((cells) => Object.fromEntries(first.map((name, at) => [name, (cells as List)[at]]))), names);
  return { names, rows: rows.length, width, cell: (row, column) => (rows[row] as List)[column] };
}

/** Rows that are objects. Their columns are those that any row has, or of those the ones that are used. */
function objects(call: string, rows: readonly unknown[], used: readonly string[] | undefined): Grid {
  const found = new Set<string>();
  for (const [row, cells] of rows.entries()) {
    if (typeof cells !== "object" || cells === null || isList(cells)) throw new InputError(`${call}: row ${row + 1} is ${shown(cells)}, wanted an object as in row 1`);
    for (const name of Object.keys(cells)) found.add(name);
  }
  if (found.size === 0) throw new InputError(`${call}: the rows have no cells`);
  const absent = used?.find((name) => !found.has(name));
  if (absent !== undefined) throw new InputError(`${call}: column ${JSON.stringify(absent)} is missing from the rows; they have ${quoted([...found])}`);
  const names = used ?? [...found];
  const cell = (row: number, column: number) => {
    const [cells, name] = [rows[row] as Record<string, unknown>, names[column]!];
    return Object.hasOwn(cells, name) ? cells[name] : undefined;
  };
  return { names, rows: rows.length, width: names.length, cell };
}

function columns(call: string, fields: [string, unknown][]): Grid {
  const rows = (fields.find(([, cells]) => isList(cells))![1] as List).length;
  for (const [name, cells] of fields) {
    if (!isList(cells)) throw new InputError(`${call}: column ${JSON.stringify(name)} is ${shown(cells)}, wanted an array`);
    if (cells.length !== rows) throw new InputError(`${call}: column ${JSON.stringify(name)} has ${cells.length} rows, the first column ${rows}`);
  }
  return { names: fields.map(([name]) => name), rows, width: fields.length, cell: (row, column) => (fields[column]![1] as List)[row] };
}

/** `{ x, y }` as the engine reads it, or as a table if x holds rows or y texts. */
function arrays(call: string, { x, y, bottom, ...rest }: ArraysGiven, { names: known, reading }: Known): Converted | undefined {
  const hasRows = Array.isArray(x) && x.some(isList);
  const hasTexts = Array.isArray(y) && y.some((cell) => typeof cell === "string" || typeof cell === "boolean");
  if ((!hasRows && !hasTexts) || !isList(y) || Object.keys(rest).length > 0) return undefined;
  if (hasTexts && bottom) throw new InputError(`${call}: bottom marks rows without a value, but y holds classes`);
  const width = hasRows ? (x[0] as List).length : isList(x) ? x.length / y.length : 0;
  if (!Number.isInteger(width) || (hasRows && x.length !== y.length)) throw new InputError(`${call}: ${(x as List).length} ${hasRows ? "rows" : "values"} in x do not fill ${y.length} rows, one for each value in y`);
  const inputs = hasRows ? nested(call, x, {}) : { rows: y.length, width, cell: (row: number, column: number) => (x as List)[row * width + column] };
  const numbers = hasTexts ? undefined : matrix(call, inputs);
  if (numbers) return { data: { x: numbers, y, ...(bottom !== undefined && { bottom }) } };
  if (bottom) throw new InputError(`${call}: bottom needs an x of numbers`);
  const names = known ?? [...Array.from({ length: width }, (_, column) => `x${column}`), "y"];
  const cell = (row: number, column: number) => (column < width ? inputs.cell(row, column) : y[row]);
  return { ...written(call, { names, rows: y.length, width: width + 1, cell }, reading), target: "y" };
}

/** The table as a matrix of numbers, or as CSV. */
function written(call: string, grid: Grid, reading: ReadingOptions = {}): Converted {
  const { names, width } = grid;
  const values = names || !reading.header ? matrix(call, grid) : undefined;
  if (values) return { data: { names: names ?? Array.from({ length: width }, (_, column) => `c${column}`), values } };
  const { header, decimal = "." } = reading;
  return { data: csv(call, grid, decimal), reading: { ...reading, header: names ? true : header!, delimiter: "," } };
}

/** The cells as numbers, NaN where one is missing; undefined if one is no number. */
function matrix(call: string, { rows, width, cell }: Grid): Float64Array<ArrayBuffer> | undefined {
  if (rows * width > MAX_NUMBERS) throw new InputError(`${call}: the table has ${rows * width} cells; at most ${MAX_NUMBERS} are taken at once`);
  const values = new Float64Array(rows * width);
  for (let at = 0, row = 0; row < rows; row++) {
    for (let column = 0; column < width; column++) {
      const value = cell(row, column) ?? NaN;
      if (typeof value !== "number" && typeof value !== "bigint") return undefined;
      values[at++] = Number(value);
    }
  }
  return values;
}

const MAX_NUMBERS = 100_000_000;

function csv(call: string, grid: Grid, decimal: string): Uint8Array<ArrayBuffer> {
  const { names, rows, width } = grid;
  // An empty line would be no row.
  const missing = width === 1 ? "NA" : "";
  const text = (row: number, column: number) => {
    const value = grid.cell(row, column);
    if (typeof value === "string") return value === "" ? missing : cellText(value);
    if (typeof value === "number" && !Number.isNaN(value)) return cellText(String(value).replace("Infinity", "inf").replace(".", decimal));
    if (typeof value === "boolean" || typeof value === "bigint") return String(value);
    if (value === undefined || value === null || typeof value === "number") return missing;
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? missing : value.toISOString();
    const name = names?.[column] ?? `c${column}`;
    throw new InputError(`${call}: row ${row + 1}, column ${JSON.stringify(name)} is ${shown(value)}, wanted a number, a text, true, false, a Date or null`);
  };
  const lines = names ? [names.map(cellText).join(",")] : [];
  for (let row = 0; row < rows; row++) lines.push(Array.from({ length: width }, (_, column) => text(row, column)).join(","));
  return new TextEncoder().encode(`${lines.join("\n")}\n`);
}

const cellText = (text: string): string => (/[",\s]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
