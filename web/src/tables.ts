// Tables that are JavaScript values: rows of objects, nested arrays, columns. They become what the engine reads: a
// matrix of numbers, or CSV if a cell is no number, so that texts are understood as they are in a file. grid.ts copies
// their cells, this file writes them.
import type { LabelType, ReadingOptions } from "./data.js";
import { InputError, shown, tagOf } from "./errors.js";
import { columns, type Grid, isList, type Known, type List, nested, objects } from "./grid.js";
import { paced } from "./pace.js";

/** A table for the engine. */
export interface Converted {
  data: unknown;
  /** How the data are written. */
  reading?: ReadingOptions;
  /** Whether the result of a prediction has one entry for each row (`rows`), is one entry (`row`), or has columns. */
  shape?: "rows" | "row";
  /** The target, if the form of the data decides it. */
  target?: string;
  /** The types of columns whose cells are all of one type other than text. */
  labels?: Map<string, LabelType>;
}

interface ArraysGiven {
  x: unknown;
  y: unknown;
  bottom?: unknown;
}

/** Steps that pause at yields of true. */
type Steps<T> = Generator<boolean, T>;

/**
 * Converts a table of JavaScript values; undefined for anything else. Nothing of `data` is kept. Its cells are copied
 * before this function returns, unless there are very many; the rest of the work is done in parts, so that a page stays
 * responsive.
 */
export function converted(
  call: string,
  data: unknown,
  given: Known,
  signal?: AbortSignal,
): Promise<Converted> | undefined {
  // Texts among the cells may be numbers as the model's table had them.
  const known = { ...given, reading: { ...(given.own?.decimal && { decimal: given.own.decimal }), ...given.reading } };
  if (!needsNames(data)) {
    const isBytes = tagOf(data) === "Uint8Array";
    if (known.arrays && isList(data) && !isBytes)
      throw new InputError(`${call}: data is ${shown(data)}, which has no columns: expected rows, columns or { x, y }`);
    return undefined;
  }
  const steps = conversion(call, data as object, known);
  return steps && paced(steps, signal);
}

function conversion(call: string, data: object, known: Known): Steps<Converted> | undefined {
  if (Array.isArray(data)) return rowsOf(call, data, known, "rows");
  const fields = Object.entries(data);
  const others = fields.filter(([name]) => !["x", "y", "bottom"].includes(name)).length;
  const isArrays =
    Object.hasOwn(data, "x") &&
    Object.hasOwn(data, "y") &&
    (known.arrays === "always" || (known.arrays === "alone" && others === 0));
  if (isArrays) return arrays(call, data as ArraysGiven, known);
  // Of a model's table, the other fields decide nothing: a row may have lists besides.
  const deciding = known.hasRow && known.names ? fields.filter(([name]) => known.names!.includes(name)) : fields;
  if ((deciding.length > 0 ? deciding : fields).some(([, value]) => isList(value)))
    return columnsOf(call, fields, known);
  return known.hasRow && fields.length > 0 ? rowsOf(call, [data], known, "row") : undefined;
}

function* rowsOf(call: string, rows: readonly unknown[], known: Known, shape: "rows" | "row"): Steps<Converted> {
  const grid = yield* isList(rows[0]) ? nested(call, rows, known) : objects(call, rows, known);
  return { shape, ...(yield* written(call, grid, known.reading)) };
}

function* columnsOf(call: string, fields: [string, unknown][], known: Known): Steps<Converted> {
  return yield* written(call, columns(call, fields, known), known.reading);
}

/** Whether the columns of a table are found by the names of others. */
export const needsNames = (data: unknown): boolean =>
  Array.isArray(data) ? data.some((row) => typeof row === "object" && row !== null) : tagOf(data) === "Object";

/** The types of the labels in arrays that the engine reads as they are. */
export function labelsOf(data: unknown): Map<string, LabelType> | undefined {
  const { y } = Object(data) as Partial<ArraysGiven>;
  if (!isList(y)) return undefined;
  return new Map([["y", /^Big/.test(tagOf(y)) ? "bigint" : "number"]]);
}

/** `{ x, y }` as a table if x holds rows or y texts; undefined if the engine reads the arrays as they are. */
function arrays(
  call: string,
  { x, y, bottom, ...rest }: ArraysGiven,
  { names: known, reading }: Known,
): Steps<Converted> | undefined {
  if (Array.isArray(y) && y.some(isList)) {
    throw new InputError(
      `${call}: y holds arrays: several targets in one model are not possible yet; train one model for each column of y. For classes that are written as 0 and 1, give y as the number of each class: y.map((row) => row.indexOf(1))`,
    );
  }
  const hasRows = Array.isArray(x) && x.some(isList);
  const hasTexts = Array.isArray(y) && y.some((cell) => typeof cell === "string" || typeof cell === "boolean");
  if ((!hasRows && !hasTexts) || !isList(y) || Object.keys(rest).length > 0) return undefined;
  if (hasTexts && bottom) throw new InputError(`${call}: bottom marks rows without a value, but y holds classes`);
  const width = hasRows ? (x[0] as List).length : isList(x) ? x.length / y.length : 0;
  if (!Number.isInteger(width) || (hasRows && x.length !== y.length))
    throw new InputError(
      `${call}: ${(x as List).length} ${hasRows ? "rows" : "values"} in x do not fill ${y.length} rows, one for each value in y`,
    );
  // Copies: the conversion may pause.
  const targets = Array.isArray(y) ? Array.from(y as unknown[]) : y.slice();
  const marks = ArrayBuffer.isView(bottom) ? (bottom as Uint8Array).slice() : bottom;
  return withTargets();

  function* withTargets(): Steps<Converted> {
    const inputs = hasRows ? yield* nested(call, x, {}) : split(x as List, width);
    const numbers = hasTexts ? undefined : yield* matrix(call, inputs);
    if (numbers)
      return {
        data: { x: numbers, y: targets, ...(marks !== undefined && { bottom: marks }) },
        labels: labelsOf({ y: targets })!,
      };
    if (marks) throw new InputError(`${call}: bottom needs an x of numbers`);
    const names = known ?? [...Array.from({ length: width }, (_, column) => `x${column}`), "y"];
    const cells = [...inputs.cells, targets];
    return { ...(yield* written(call, { names, rows: targets.length, cells }, reading)), target: "y" };
  }
}

/** Row-major values as columns. */
function split(x: List, width: number): Grid {
  const rows = width > 0 ? x.length / width : 0;
  return {
    rows,
    cells: Array.from({ length: width }, (_, column) =>
      Array.from({ length: rows }, (_, row) => x[row * width + column]),
    ),
  };
}

/** The table as a matrix of numbers, or as CSV. */
function* written(call: string, grid: Grid, reading: ReadingOptions = {}): Steps<Converted> {
  const { names } = grid;
  const values = names || !reading.header ? yield* matrix(call, grid) : undefined;
  const all = names ?? grid.cells.map((_, column) => `c${column}`);
  if (values)
    return {
      data: { names: all, values },
      labels: typesOf(
        all,
        grid.cells.map((cells) => (cells.some((cell) => typeof cell === "bigint") ? BIGINT : NUMBER)),
      ),
    };
  const { header, decimal = "." } = reading;
  const [data, types] = yield* csv(call, grid, decimal);
  return { data, labels: typesOf(all, types), reading: { ...reading, header: names ? true : header!, delimiter: "," } };
}

/** Bits for the types of the cells of a column. */
const [NUMBER, BOOLEAN, BIGINT, OTHER] = [1, 2, 4, 8];

/** The names of the columns whose cells are all of one type. */
function typesOf(names: readonly string[], types: readonly number[]): Map<string, LabelType> {
  const byBit: Record<number, LabelType> = { [NUMBER]: "number", [BOOLEAN]: "boolean", [BIGINT]: "bigint" };
  return new Map(names.flatMap((name, at) => (byBit[types[at]!] ? [[name, byBit[types[at]!]!] as const] : [])));
}

/** Cells between two pauses. */
const CELLS = 4096;

/** The cells as numbers, NaN where one is missing; undefined if one is no number. */
function* matrix(call: string, { rows, cells }: Grid): Steps<Float64Array<ArrayBuffer> | undefined> {
  const { length: width } = cells;
  if (rows * width > MAX_NUMBERS)
    throw new InputError(`${call}: the table has ${rows * width} cells; at most ${MAX_NUMBERS} are taken at once`);
  const isNumber = (value: unknown) =>
    value === undefined || value === null || typeof value === "number" || typeof value === "bigint";
  if (rows > 0 && !cells.every((column) => isNumber(column[0]))) return undefined;
  const values = new Float64Array(rows * width);
  for (const [at, column] of cells.entries()) {
    for (let row = 0; row < rows; row++) {
      const value = column[row];
      if (!isNumber(value)) return undefined;
      values[row * width + at] = Number(value ?? NaN);
      if (row % CELLS === 0) yield true;
    }
  }
  return values;
}

const MAX_NUMBERS = 100_000_000;

/** The bytes of a CSV file, and the types of its columns. */
function* csv(call: string, { names, rows, cells }: Grid, decimal: string): Steps<[Uint8Array<ArrayBuffer>, number[]]> {
  const { length: width } = cells;
  const types = new Array<number>(width).fill(0);
  // An empty line would be no row.
  const missing = width === 1 ? "NA" : "";
  const typed = (column: number, type: number, text: string) => {
    types[column]! |= type;
    return text;
  };
  const text = (row: number, column: number): string => {
    const value = cells[column]![row];
    if (value === undefined || value === null || value === "" || Number.isNaN(value)) return missing;
    if (typeof value === "string") return typed(column, OTHER, cellText(value));
    if (typeof value === "number")
      return typed(column, NUMBER, cellText(String(value).replace("Infinity", "inf").replace(".", decimal)));
    if (typeof value === "boolean") return typed(column, BOOLEAN, String(value));
    if (typeof value === "bigint") return typed(column, BIGINT, String(value));
    if (value instanceof Date)
      return Number.isNaN(value.getTime()) ? missing : typed(column, OTHER, value.toISOString());
    const name = names?.[column] ?? `c${column}`;
    throw new InputError(
      `${call}: row ${row + 1}, column ${JSON.stringify(name)} is ${shown(value)}, expected a number, a text, true, false, a Date or null`,
    );
  };
  const encoder = new TextEncoder();
  const parts = names ? [encoder.encode(`${names.map(cellText).join(",")}\n`)] : [];
  const each = Math.max(1, Math.ceil(CELLS / width));
  for (let from = 0; from < rows; from += each) {
    let lines = "";
    for (let row = from; row < Math.min(from + each, rows); row++) {
      for (let column = 0; column < width; column++)
        lines += column === 0 ? text(row, column) : `,${text(row, column)}`;
      lines += "\n";
    }
    parts.push(encoder.encode(lines));
    yield true;
  }
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return [whole, types];
}

const cellText = (text: string): string => (/[",\s]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
