// Tables as text: read as far as the page draws them, written for the engine. What a table holds is the engine's to say (`describe`);
// cells are cut here as it cuts them (src/io/records.rs), and a text that comes out in another shape is not drawn at all.
import type { Description } from "../engine.js";

export interface Table {
  columns: Description["columns"];
  /** Cells without spaces around them. */
  rows: string[][];
}

/** The rows of a text that the engine described; `name` is the file's. */
export function parse(text: string, { rows, columns }: Description, name = ""): Table | undefined {
  const all = [...records(text, /\.(tsv|tab)$/i.test(name) ? "\t" : separator(text))];
  const head = all.length - rows;
  if (head < 0 || head > 1 || all.some((cells) => cells.length !== columns.length)) return undefined;
  return { columns, rows: all.slice(head) };
}

/** Of comma, semicolon and tab the one that the first record has most of. */
function separator(text: string): string {
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

/** The spaces that the engine takes off a cell: not those beyond ASCII. */
const trimmed = (cell: string) => cell.replace(/^[ \t\n\f\r]+|[ \t\n\f\r]+$/g, "");

/** Quotes count only around a whole cell, and may hold separators, line ends and doubled quotes. Empty lines are skipped. */
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
    // No text of the engine's ends a cell otherwise; whatever does would be here for ever.
    if (at < text.length && text[at] !== "\n" && text[at] !== "\r") return;
  }
}

const quoted = (text: string) => (/[",;\t\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A text with commas. */
export function csv(names: string[], rows: string[][]): string {
  return `${[names, ...rows].map((cells) => cells.map(quoted).join(",")).join("\n")}\n`;
}

/** The cell of a column of numbers; NaN where it is missing. */
export const numberOf = (cell: string): number =>
  /^[+-]?inf(inity)?$/i.test(cell) ? (cell.startsWith("-") ? -Infinity : Infinity) : cell === "" ? NaN : Number(cell);

const isMissing = (cell: string, isNumeric: boolean) =>
  /^(na|n\/a|nan|null|\?|)$/i.test(cell) || (isNumeric && Number.isNaN(numberOf(cell)));

/** At most so many rows without missing cells, evenly spread over the table. */
export function sample({ columns, rows }: Table, count: number): Table {
  const whole = rows.filter((cells) => !cells.some((cell, at) => isMissing(cell, columns[at]!.isNumeric)));
  const step = Math.max(1, whole.length / count);
  return { columns, rows: Array.from({ length: Math.min(count, whole.length) }, (_, at) => whole[Math.floor(at * step)]!) };
}

/** The rows that can be asked about: only a target may be infinite. */
export function askable({ columns, rows }: Table, target: string): Table {
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

/** A column as classes; a class that is a number is called as the engine calls it, however the cell writes it. */
export const labels = (table: Table, name: string): string[] =>
  (table.columns.some((column) => column.name === name && column.isNumeric) ? numbers(table, name).map(String) : cellsOf(table, name));
