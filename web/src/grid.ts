// The cells of tables that are JavaScript values, copied by column, so that later changes have no effect.
import type { ReadingOptions } from "./data.js";
import { InputError, shown } from "./errors.js";

/** What is known about a table before it is read. */
export interface Known {
  /** The columns that are used, in order; the last may be absent if it is the target. */
  names?: readonly string[] | undefined;
  reading?: ReadingOptions | undefined;
  /** How the table was written that the model learnt from: what `reading` does not say. */
  own?: ReadingOptions | undefined;
  /** Whether `{ x, y }` are arrays rather than columns: always, or only if there are no other fields. */
  arrays?: "always" | "alone";
  /** Whether an object of cells is one row, and a column may be missing: for predictions. */
  hasRow?: boolean;
  /** Whether a column is used; if not, its cells may be anything. */
  isUsed?: ((name: string) => boolean) | undefined;
  /** A name that rows may have though it is not used: that of the target. */
  target?: string | undefined;
}

/** Cells by column. Without names, the first row may hold them. */
export interface Grid {
  names?: readonly string[] | undefined;
  rows: number;
  cells: readonly List[];
}

export type List = ArrayLike<unknown> & { slice(): List; some(is: (cell: unknown) => boolean): boolean };

/** Steps that pause at yields of true. */
type Steps = Generator<boolean, Grid>;

export const isList = (value: unknown): value is List =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));

const quoted = (names: readonly string[]): string =>
  names
    .slice(0, 12)
    .map((name) => JSON.stringify(name))
    .join(", ") + (names.length > 12 ? ", …" : "");

/** A table of more cells is copied in parts: at once it would block a page for too long. */
const AT_ONCE = 100_000;
/** Rows between two pauses. */
const ROWS = 256;

/** A cell as it is now. A Date can be changed. */
const copied = (cell: unknown): unknown => (typeof cell === "object" && cell instanceof Date ? new Date(cell) : cell);

/** Nothing for an object in a column that is not used: an array in it is no error. */
const scrubbed = (cell: unknown): unknown =>
  typeof cell === "object" && cell !== null && !(cell instanceof Date) ? undefined : copied(cell);

/**
 * Rows that are arrays of cells, in the order of the columns that are used, or below a first row with the names of
 * theirs.
 */
export function* nested(call: string, rows: readonly unknown[], known: Known): Steps {
  const { names, reading } = known;
  const first = Array.from(rows[0] as List) as string[];
  const isNamed = names && (reading?.header ?? names.every((name) => first.includes(name)));
  const order = isNamed ? undefined : names;
  const { length: width } = order ?? first;
  const places = isNamed ? names.map((name) => first.lastIndexOf(name)) : Array.from({ length: width }, (_, at) => at);
  if (isNamed)
    checkAbsent(
      call,
      names.filter((_, at) => places[at]! < 0),
      first,
      known,
    );
  const cells: unknown[][] = places.map(() => []);
  for (const [row, list] of rows.entries()) {
    if (!isList(list)) throw new InputError(`${call}: row ${row + 1} is ${shown(list)}, expected an array as in row 1`);
    if (list.length !== width)
      throw new InputError(
        `${call}: row ${row + 1} has ${list.length} cells, expected ${width}${order ? `: ${quoted(order)}` : " as in row 1"}`,
      );
    if (!isNamed || row > 0) for (let at = 0; at < places.length; at++) cells[at]!.push(copied(list[places[at]!]));
    if (row % ROWS === 0) yield rows.length * width > AT_ONCE;
  }
  return { names, rows: rows.length - (isNamed ? 1 : 0), cells };
}

/** Deeper than any table. */
const MOST_DEEP = 128;

/** Whether a value is an object with fields, and no date. */
const hasFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" &&
  value !== null &&
  Object.getPrototypeOf(value) === Object.prototype &&
  Object.keys(value).length > 0;

/**
 * The cells of a row. Fields within a field, such as `{ pos: { x: 1 } }`, are cells of their own, named `pos.x`, as in
 * a file of JSON.
 */
function flat(row: Record<string, unknown>, before = "", depth = 0): [string, unknown][] {
  return Object.entries(row).flatMap(([name, value]) =>
    hasFields(value) && depth < MOST_DEEP ? flat(value, `${before}${name}.`, depth + 1) : [[before + name, value]],
  );
}

/** Rows that are objects. Their columns are those that any row has, or of those the ones that are used. */
export function* objects(call: string, given: readonly unknown[], known: Known): Steps {
  const { names: used, isUsed = () => true } = known;
  const rows: unknown[] = [];
  const found = new Set<string>();
  let last: string[] = [];
  for (const [row, one] of given.entries()) {
    const cells = hasFields(one) && Object.values(one).some(hasFields) ? Object.fromEntries(flat(one)) : one;
    rows.push(cells);
    if (typeof cells !== "object" || cells === null || isList(cells))
      throw new InputError(`${call}: row ${row + 1} is ${shown(cells)}, expected an object as in row 1`);
    const keys = Object.keys(cells);
    // Most rows have the keys of the row before.
    if (keys.length !== last.length || keys.some((key, at) => key !== last[at])) for (const key of keys) found.add(key);
    last = keys;
    if (row % ROWS === 0) yield given.length * keys.length > AT_ONCE;
  }
  if (found.size === 0) throw new InputError(`${call}: the rows have no cells`);
  if (used)
    checkAbsent(
      call,
      used.filter((name) => !found.has(name)),
      [...found],
      known,
    );
  const names = used ?? [...found];
  const cells: unknown[][] = names.map(() => new Array(rows.length).fill(undefined));
  const reads = names.map((name) => (isUsed(name) ? copied : scrubbed));
  for (let from = 0; from < rows.length; from += ROWS) {
    const to = Math.min(from + ROWS, rows.length);
    for (let at = 0; at < names.length; at++) fill(cells[at]!, rows, names[at]!, from, to, reads[at]!);
    yield rows.length * names.length > AT_ONCE;
  }
  return { names, rows: rows.length, cells };
}

/** Copies the cells of a column in some rows. What a row inherits, such as `constructor`, is none of its cells. */
function fill(
  cells: unknown[],
  rows: readonly unknown[],
  name: string,
  from: number,
  to: number,
  read: (cell: unknown) => unknown,
): void {
  const isInherited = name in Object.prototype;
  for (let row = from; row < to; row++) {
    const one = rows[row] as Record<string, unknown>;
    if ((!isInherited && Object.getPrototypeOf(one) === Object.prototype) || Object.hasOwn(one, name))
      cells[row] = read(one[name]);
  }
}

/**
 * Errors if used columns are absent. In a prediction their cells are missing, and filled in, as in an exported model;
 * but if the rows have a column that the model does not know, its name may be misspelt.
 */
function checkAbsent(
  call: string,
  [absent]: readonly string[],
  found: readonly string[],
  { names, hasRow, target }: Known,
): void {
  if (absent === undefined) return;
  const isFilled = hasRow && found.every((name) => names!.includes(name) || name === target);
  if (!isFilled)
    throw new InputError(
      `${call}: column ${JSON.stringify(absent)} is missing from the rows; they have ${quoted(found)}`,
    );
}

/** Columns of equal length. Of those that are not used, anything may be given. */
export function columns(
  call: string,
  fields: readonly [string, unknown][],
  { isUsed = () => true, hasRow, names: used }: Known,
): Grid {
  const isWanted = (name: string) => isUsed(name) && !(hasRow && used && !used.includes(name));
  const rows = (fields.find(([name, cells]) => isWanted(name) && isList(cells)) ??
    fields.find(([, cells]) => isList(cells)))![1] as List;
  const cells = fields.flatMap(([name, cells]) => {
    if (!isWanted(name) && !(isList(cells) && cells.length === rows.length))
      return isUsed(name) ? [] : [[name, new Array(rows.length)] as const];
    if (!isList(cells))
      throw new InputError(`${call}: column ${JSON.stringify(name)} is ${shown(cells)}, expected an array`);
    if (cells.length !== rows.length)
      throw new InputError(
        `${call}: column ${JSON.stringify(name)} has ${cells.length} rows, the first column ${rows.length}`,
      );
    return [
      [name, Array.isArray(cells) ? Array.from(cells, isWanted(name) ? copied : scrubbed) : cells.slice()] as const,
    ];
  });
  return { names: cells.map(([name]) => name), rows: rows.length, cells: cells.map(([, list]) => list as List) };
}
