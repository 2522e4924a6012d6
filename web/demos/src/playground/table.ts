// Tables as text: parsed for drawing, written for the engine. The engine describes a table (`describe`). Cells are
// split here by the same rules (src/io/records.rs). If the result does not match the description, the table is not
// drawn.
import type { Description } from "../engine.js";

export interface Table {
  columns: Description["columns"];
  /** Cells without surrounding spaces. */
  rows: string[][];
}

/** The rows of a text, given its description by the engine and the file name. */
export function parse(text: string, { rows, columns }: Description, name = ""): Table | undefined {
  const all = split(text, /\.(tsv|tab)$/i.test(name) ? "\t" : separator(text));
  const head = all.length - rows;
  if (head < 0 || head > 1 || all.some((cells) => cells.length !== columns.length)) return undefined;
  return { columns, rows: all.slice(head) };
}

/** The records of a text as cells. */
export const split = (text: string, by: string): string[][] => [...records(text, by)];

/** The separator: comma, semicolon or tab, whichever the first record has most of. */
export function separator(text: string): string {
  const counts: Record<string, number> = { ",": 0, ";": 0, "\t": 0 };
  let isQuoted = false;
  for (let at = text.search(/\S/); at >= 0 && at < text.length; at++) {
    const letter = text[at]!;
    if (letter === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (letter === "\n" || letter === "\r")) break;
    else if (!isQuoted && letter in counts) counts[letter]!++;
  }
  return Object.keys(counts).reduce((best, one) => (counts[one]! > counts[best]! ? one : best));
}

/** Removes the same surrounding spaces as the engine: ASCII only. */
const trimmed = (cell: string) => cell.replace(/^[ \t\n\f\r]+|[ \t\n\f\r]+$/g, "");

/**
 * Quotes have a meaning only around a whole cell. They may contain separators, line ends and doubled quotes. Empty
 * lines are skipped.
 */
function* records(text: string, separator: string): Generator<string[]> {
  const [quoted, plain] = [/ *"([^"]*(?:""[^"]*)*)" */y, new RegExp(`[^${separator}\\r\\n]*`, "y")];
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const cell = () => {
    for (const kind of [quoted, plain]) {
      kind.lastIndex = at;
      const found = kind.exec(text);
      if (!found) continue;
      at = kind.lastIndex;
      return trimmed(kind === quoted ? found[1]!.replaceAll('""', '"') : found[0]);
    }
    return "";
  };
  while (true) {
    while (text[at] === "\n" || text[at] === "\r") at++;
    if (at >= text.length) return;
    const cells = [cell()];
    while (text[at] === separator) {
      at++;
      cells.push(cell());
    }
    yield cells;
    // Any other character here is malformed; without this return the loop would not end.
    if (at < text.length && text[at] !== "\n" && text[at] !== "\r") return;
  }
}

const quoted = (text: string) => (/[",;\t\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Writes a table with commas. */
export function csv(names: string[], rows: string[][]): string {
  return `${[names, ...rows].map((cells) => cells.map(quoted).join(",")).join("\n")}\n`;
}

/** The value of a numeric cell; NaN if it is missing. */
export const numberOf = (cell: string): number =>
  /^[+-]?inf(inity)?$/i.test(cell) ? (cell.startsWith("-") ? -Infinity : Infinity) : cell === "" ? NaN : Number(cell);

const isMissing = (cell: string, isNumeric: boolean) =>
  /^(na|n\/a|nan|null|\?|)$/i.test(cell) || (isNumeric && Number.isNaN(numberOf(cell)));

/** At most `count` rows without missing cells, evenly spaced over the table. */
export function sample({ columns, rows }: Table, count: number): Table {
  const whole = rows.filter((cells) => !cells.some((cell, at) => isMissing(cell, columns[at]!.isNumeric)));
  const step = Math.max(1, whole.length / count);
  return {
    columns,
    rows: Array.from({ length: Math.min(count, whole.length) }, (_, at) => whole[Math.floor(at * step)]!),
  };
}

/** The rows that can be predicted: only the target may be infinite. */
export function predictable({ columns, rows }: Table, target: string): Table {
  const isFine = (cell: string, at: number) => {
    const { name, isNumeric } = columns[at]!;
    return name === target || !isNumeric || Number.isFinite(numberOf(cell));
  };
  return { columns, rows: rows.filter((cells) => cells.every(isFine)) };
}

export const names = ({ columns }: Table): string[] => columns.map(({ name }) => name);

const cellsOf = ({ columns, rows }: Table, name: string): string[] => {
  const at = columns.findIndex((column) => column.name === name);
  return rows.map((cells) => cells[at]!);
};

/** A column of numbers. */
export const numbers = (table: Table, name: string): number[] => cellsOf(table, name).map(numberOf);

/** A column as class names. A class that is a number is named as by the engine, however the cell is written. */
export const labels = (table: Table, name: string): string[] =>
  table.columns.some((column) => column.name === name && column.isNumeric)
    ? numbers(table, name).map(String)
    : cellsOf(table, name);
