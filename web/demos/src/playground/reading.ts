// How the numbers of a person's files are written: chosen on the page.
import type { ReadingOptions } from "../engine.js";
import { get } from "../page.js";
import type { Table } from "./table.js";

/**
 * The options for reading a file: the decimal mark, and after it the character between groups of three digits, if any.
 */
export function reading(): ReadingOptions {
  const [decimal = ".", thousands] = get<HTMLSelectElement>("numbers").value;
  return { decimal, ...(thousands && { thousands }) };
}

/** The table with numbers as the rest of the page reads and writes them: with a decimal point, and without groups. */
export function plain({ columns, rows }: Table, { decimal = ".", thousands = "" }: ReadingOptions): Table {
  if (decimal === "." && !thousands) return { columns, rows };
  const number = (cell: string) => (thousands ? cell.replaceAll(thousands, "") : cell).replace(decimal, ".");
  return {
    columns,
    rows: rows.map((cells) => cells.map((cell, at) => (columns[at]!.isNumeric ? number(cell) : cell))),
  };
}
