// What was noticed about the cells of a predicted table, in the words of `mero predict`.
import type { Info, Prediction } from "./engine";

const MESSAGES = ["outside the training range", "not seen in training", undefined, "missing, a usual value filled in"];

/** The column `note` of rows about which something was noticed. */
export function notesByRow({ noteRows, noteColumns, noteKinds, noteTexts }: Prediction, { inputs }: Info): Map<number, string> {
  const notes = new Map<number, string>();
  let texts = 0;
  noteRows.forEach((row, at) => {
    const before = notes.get(row);
    const message = MESSAGES[noteKinds[at] ?? 0] ?? noteTexts[texts++];
    notes.set(row, `${before === undefined ? "" : `${before}; `}${inputs[noteColumns[at] ?? 0]?.name}: ${message}`);
  });
  return notes;
}

const SUMMARIES = ["outside the training range", "with a value that training did not see", "without a prediction", "with a value filled in"];

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
