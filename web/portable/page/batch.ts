// A table of rows to predict: dropped or chosen, shown in part, its predictions given back as CSV.
import { preview, type Model, type Prediction } from "./engine";
import { get, make } from "./dom";
import { csv } from "./csv";
import { percent, short } from "./numbers";

const SHOWN = 20;

/** Lets the page take tables; `failed` shows what is wrong with one. */
export function batch(model: Model, failed: (error: unknown) => void): void {
  const drop = get("drop");
  const file = get<HTMLInputElement>("file");
  const take = (taken: File | undefined) => {
    if (taken) predict(model, taken).catch(failed);
  };
  file.addEventListener("change", () => {
    take(file.files?.[0]);
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
    take(event.dataTransfer?.files[0]);
  });
}

async function predict(model: Model, file: File): Promise<void> {
  get("batch-error").textContent = "";
  get("batch-result").hidden = true;
  get("batch-status").textContent = `Predicting ${file.name} …`;
  // A frame for the words above: the engine then has the thread.
  await new Promise((resolve) => setTimeout(resolve));
  try {
    const [prediction, head] = [await model.predict(file), await preview(file, SHOWN)];
    const columns = named(prediction);
    get("batch-status").textContent = told(head.rows, prediction);
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

/** The columns of the result, as `mero predict` calls them. */
function named({ value, probability, bottom, gap, fault }: Prediction): Columns {
  const flag = (flags: Uint8Array) => (row: number) => String(flags[row]);
  const columns: Columns = bottom && gap && fault
    ? [["value", (row) => (bottom[row] ? "" : String(value[row]))], ["bottom", flag(bottom)], ["gap", flag(gap)], ["fault", flag(fault)]]
    : [["prediction", (row) => String(value[row])]];
  if (probability) columns.push(["probability", (row) => single(probability[row] ?? 0)]);
  return columns;
}

function told(rows: number, { bottom, gap }: Prediction): string {
  const count = (flags: Uint8Array) => flags.reduce((sum, flag) => sum + flag, 0);
  const all = `${rows.toLocaleString("en")} rows predicted`;
  if (!bottom || !gap) return `${all}.`;
  return `${all}: ${percent(count(bottom) / rows)} have no value (⊥), ${percent(count(gap) / rows)} are near a pole.`;
}

function showTable(names: string[], cells: string[][], columns: Columns): void {
  // Answers first: on a telephone the rest is to be scrolled to.
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
  const isNumber = name === "value" || name === "prediction" || name === "probability";
  const words = name === "value" && text === "" ? "⊥" : isNumber && text !== "" && Number.isFinite(Number(text)) ? short(Number(text), 6) : text;
  return make("td", { textContent: words, className: "given" });
}

/** The fewest digits that give the same 32-bit number. */
function single(value: number): string {
  const wanted = Math.fround(value);
  const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9].find((count) => Math.fround(Number(wanted.toPrecision(count))) === wanted);
  return String(Number(wanted.toPrecision(digits ?? 9)));
}

function offer(name: string, columns: Columns, rows: number): void {
  const records = Array.from({ length: rows }, (_, row) => columns.map(([, text]) => text(row)));
  const link = get<HTMLAnchorElement>("batch-download");
  URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(new Blob([csv([columns.map(([head]) => head), ...records])], { type: "text/csv" }));
  link.download = `${name.replace(/\.[^.]*$/, "")}-predictions.csv`;
}
