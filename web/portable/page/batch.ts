// Predicts a table that is dropped or chosen: shows its first rows, and offers the predictions as CSV.

import { csv } from "./csv";
import { get, make } from "./dom";
import type { Info, Model, Prediction, Reading } from "./engine";
import { notesByRow, summaryOf } from "./notes";
import { percent, short } from "./numbers";

const SHOWN = 20;

/** Lets the user predict tables. `failed` shows errors. */
export function batch(model: Model, failed: (error: unknown) => void): void {
  const drop = get("drop");
  const file = get<HTMLInputElement>("file");
  const numbers = get<HTMLSelectElement>("numbers");
  // Tables are most likely written like the one that the model learnt from.
  const { decimal, thousands = "" } = model.info.reading;
  const own = decimal + thousands;
  if ([...numbers.options].some(({ value }) => value === own)) numbers.value = own;
  let last: File | undefined;
  const use = (chosen: File | undefined) => {
    last = chosen ?? last;
    if (last) predict(model, last, readingOf(numbers.value)).catch(failed);
  };
  numbers.addEventListener("change", () => use(undefined));
  file.addEventListener("change", () => {
    use(file.files?.[0]);
    file.value = "";
  });
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    use(event.dataTransfer?.files[0]);
  });
}

/** The decimal mark, and after it the character between groups of three digits, if any. */
function readingOf([decimal = ".", thousands]: string): Reading {
  return { decimal, ...(thousands && { thousands }) };
}

async function predict(model: Model, file: File, reading: Reading): Promise<void> {
  get("batch-error").textContent = "";
  get("batch-result").hidden = true;
  get("batch-status").textContent = `Predicting ${file.name} …`;
  // Let the browser draw the status before the engine blocks the thread.
  await new Promise((resolve) => setTimeout(resolve));
  try {
    const [prediction, head] = [await model.predict(file, "other", reading), await model.preview(file, SHOWN, reading)];
    const columns = named(prediction, model.info);
    get("batch-status").textContent = [summary(head.rows, prediction), ...summaryOf(prediction, model.info)].join(" ");
    get("batch-shown").textContent = head.rows > SHOWN ? `The first ${SHOWN} rows` : "All rows";
    showTable(head.columns, head.cells, columns);
    offer(file.name, columns, head.rows);
    get("batch-result").hidden = false;
  } catch (error) {
    get("batch-status").textContent = "";
    throw error;
  }
}

/** A column's name, and the text of each of its rows. */
type Columns = [string, (row: number) => string][];

/** The columns of the result, named as by `mero predict`. */
function named(prediction: Prediction, info: Info): Columns {
  const { value, deviation, probability, bottom, gap, fault } = prediction;
  const isNone = (row: number) => value[row] === null || Number.isNaN(value[row]);
  const flag = (flags: Uint8Array) => (row: number) => (isNone(row) ? "" : String(flags[row]));
  const columns: Columns =
    bottom && gap && fault
      ? [
          ["value", (row) => (bottom[row] ? "" : String(value[row]))],
          ["bottom", flag(bottom)],
          ["gap", flag(gap)],
          ["fault", flag(fault)],
        ]
      : [["prediction", (row) => (isNone(row) ? "" : String(value[row]))]];
  if (deviation) columns.push(["prediction_std", (row) => (isNone(row) ? "" : String(deviation[row]))]);
  if (probability) columns.push(["probability", (row) => (isNone(row) ? "" : single(probability[row] ?? 0))]);
  const notes = notesByRow(prediction, info);
  columns.push(["note", (row) => notes.get(row) ?? ""]);
  return columns;
}

function summary(rows: number, { bottom, gap }: Prediction): string {
  const count = (flags: Uint8Array) => flags.reduce((sum, flag) => sum + flag, 0);
  const all = `${rows.toLocaleString("en")} rows predicted`;
  if (!bottom || !gap) return `${all}.`;
  return `${all}: ${percent(count(bottom) / rows)} have no value (⊥), ${percent(count(gap) / rows)} are near a pole.`;
}

function showTable(names: string[], cells: string[][], columns: Columns): void {
  // Predictions first: on a phone the other columns need scrolling.
  const heads = [...columns.map(([name]) => name), ...names];
  const row = (texts: string[], at: number) => {
    const found = columns.map(([name, text]) => shown(name, text(at)));
    return make("tr", {}, ...found, ...texts.map((text) => make("td", { textContent: text })));
  };
  get("batch-table").replaceChildren(
    make("thead", {}, make("tr", {}, ...heads.map((name) => make("th", { scope: "col", textContent: name })))),
    make("tbody", {}, ...cells.map(row)),
  );
}

function shown(name: string, text: string): HTMLElement {
  const isNumber = name === "value" || name === "prediction" || name === "prediction_std" || name === "probability";
  const content =
    name === "value" && text === ""
      ? "⊥"
      : isNumber && text !== "" && Number.isFinite(Number(text))
        ? short(Number(text), 6)
        : text;
  return make("td", { textContent: content, className: "given" });
}

/** The shortest decimal number with the same 32-bit value. */
function single(value: number): string {
  const expected = Math.fround(value);
  const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9].find(
    (count) => Math.fround(Number(expected.toPrecision(count))) === expected,
  );
  return String(Number(expected.toPrecision(digits ?? 9)));
}

function offer(name: string, columns: Columns, rows: number): void {
  const records = Array.from({ length: rows }, (_, row) => columns.map(([, text]) => text(row)));
  const link = get<HTMLAnchorElement>("batch-download");
  URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(new Blob([csv([columns.map(([head]) => head), ...records])], { type: "text/csv" }));
  link.download = `${name.replace(/\.[^.]*$/, "")}-predictions.csv`;
}
