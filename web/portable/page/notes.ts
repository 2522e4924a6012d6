// What was noticed about the cells of a predicted table, in the words of `mero predict`.
import type { Info, Prediction } from "./engine";

/** The kind of a cell that cannot be used. */
const UNUSABLE = 2;
const MESSAGES = ["outside the training range", "not seen in training", undefined, "missing, a usual value filled in"];

/** The column `note` of rows about which something was noticed, or which have no value or one near a pole. */
export function notesByRow(
  { noteRows, noteColumns, noteKinds, noteTexts, bottom, gap, fault }: Prediction,
  { inputs }: Info,
): Map<number, string> {
  const notes = new Map<number, string>();
  const add = (row: number, text: string) => {
    const before = notes.get(row);
    notes.set(row, before === undefined ? text : `${before}; ${text}`);
  };
  const unusable = new Set<number>();
  let texts = 0;
  noteRows.forEach((row, at) => {
    const kind = noteKinds[at] ?? 0;
    if (kind === UNUSABLE) unusable.add(row);
    add(row, `${inputs[noteColumns[at] ?? 0]?.name}: ${MESSAGES[kind] ?? noteTexts[texts++]}`);
  });
  bottom?.forEach((isBottom, row) => {
    if (unusable.has(row)) return;
    if (isBottom) add(row, fault?.[row] ? "no value: a number is not finite" : "no value: at a pole");
    else if (gap?.[row]) add(row, "near a pole: the value is uncertain");
  });
  return notes;
}

const SUMMARIES = [
  "outside the training range",
  "with a value that training did not see",
  "without a prediction",
  "with a value filled in",
];

/** One sentence for each kind of note: `12 rows are outside the training range (angle).` */
export function summaryOf({ noteRows, noteColumns, noteKinds }: Prediction, { inputs }: Info): string[] {
  return SUMMARIES.flatMap((what, kind) => {
    const found = [...noteRows.keys()].filter((at) => noteKinds[at] === kind);
    if (found.length === 0) return [];
    const rows = new Set(found.map((at) => noteRows[at])).size;
    const names = new Set(found.map((at) => inputs[noteColumns[at] ?? 0]?.name));
    return [`${rows.toLocaleString("en")} ${rows === 1 ? "row is" : "rows are"} ${what} (${[...names].join(", ")}).`];
  });
}
