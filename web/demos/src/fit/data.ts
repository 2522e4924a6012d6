// Columns of numbers from pasted text or a file: CSV, tabs, semicolons with decimal commas, or spaces.
import { separator, split } from "../playground/table.js";

export interface Data {
  names: string[];
  /** Numbers, NaN where a cell is missing; texts if a cell is no number. */
  columns: Record<string, Float64Array | string[]>;
  rows: number;
}

const MISSING = /^(na|n\/a|nan|null|\?|)$/i;

export function parse(text: string): Data {
  const lines = text
    .split(/\r?\n/)
    .filter((line) => line.trim() && !line.trimStart().startsWith("#"))
    .join("\n");
  const isSpaced = !/[,;\t]/.test(lines);
  const by = isSpaced ? "," : separator(lines);
  const cells = split(isSpaced ? lines.replaceAll(/^ +| +$/gm, "").replaceAll(/ +/g, ",") : lines, by);
  const value = (cell: string) => (MISSING.test(cell) ? NaN : Number(by === ";" ? cell.replace(",", ".") : cell));
  const isNumber = (cell: string) => MISSING.test(cell) || !Number.isNaN(value(cell));
  if (cells.length === 0) throw new Error("data: got no rows, expected columns of numbers");
  const hasHead = cells[0]!.some((cell) => !isNumber(cell));
  const body = cells.slice(hasHead ? 1 : 0);
  const width = cells[0]!.length;
  const wrong = body.findIndex((row) => row.length !== width);
  if (wrong >= 0)
    throw new Error(
      `data, row ${wrong + 1}: got ${body[wrong]!.length} ${body[wrong]!.length === 1 ? "cell" : "cells"}, expected ${width}`,
    );
  if (width < 2) throw new Error("data: got one column, expected at least two");
  if (body.length === 0) throw new Error("data: got no rows, expected columns of numbers");
  const names = hasHead
    ? cells[0]!
    : width === 2
      ? ["x", "y"]
      : [...Array.from({ length: width - 1 }, (_, at) => `x${at + 1}`), "y"];
  const column = (at: number) => {
    const all = body.map((row) => row[at]!);
    return all.every(isNumber) ? Float64Array.from(all, value) : all;
  };
  return { names, columns: Object.fromEntries(names.map((name, at) => [name, column(at)])), rows: body.length };
}
