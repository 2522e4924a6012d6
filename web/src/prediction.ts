// Predictions as the caller gets them: notes by column, probabilities by class, and, for rows, one object per row.
import type { ModelInfo, Note, Prediction, RowPrediction } from "./types.js";
import type { RemotePrediction } from "./wire.js";

const KINDS = ["outside", "unseen", "unusable", "filled"] as const;
const MESSAGES = ["outside the training range", "not seen in training", undefined, "missing, a usual value filled in"];

type Flags = Uint8Array | Uint32Array;

/** A prediction with its notes, and with probabilities by the names of the classes. */
export function named({ probabilities, noteRows, noteColumns, noteKinds, noteTexts, ...rest }: RemotePrediction, { columns, classes }: ModelInfo): Prediction<Flags> {
  let texts = 0;
  const notes = Array.from(noteRows, (row, at): Note => {
    const kind = noteKinds[at]!;
    return { row, column: columns[noteColumns[at]!]!, kind: KINDS[kind]!, message: MESSAGES[kind] ?? noteTexts[texts++]! };
  });
  if (!probabilities) return { ...rest, notes };
  const rows = rest.value.length;
  const ofClass = (at: number) => Float64Array.from({ length: rows }, (_, row) => probabilities[row * classes.length + at]!);
  return { ...rest, probabilities: Object.fromEntries(classes.map((name, at) => [name, ofClass(at)])), notes };
}

/** One object for each row. Flags are bytes. */
export function byRow({ value, deviation, probability, probabilities, bottom, gap, fault, notes }: Prediction<Flags>): RowPrediction[] {
  const all = probabilities && Object.entries(probabilities);
  const rows = Array.from(value as ArrayLike<number | string | null>, (value, row): RowPrediction => {
    const isNone = value === null || Number.isNaN(value) || bottom?.[row] === 1;
    return {
      value: isNone ? null : value,
      ...(deviation && !isNone && { deviation: deviation[row]! }),
      ...(probability && { probability: probability[row]! }),
      ...(all && { probabilities: Object.fromEntries(all.map(([name, shares]) => [name, shares[row]!])) }),
      ...(bottom && { bottom: bottom[row] === 1, gap: gap?.[row] === 1, fault: fault?.[row] === 1 }),
      outside: [],
      note: "",
    };
  });
  for (const { row, column, kind, message } of notes) {
    const noted = rows[row]!;
    if (kind === "outside") noted.outside.push(column);
    noted.note += `${noted.note && "; "}${column}: ${message}`;
  }
  return rows;
}

/** Concatenates the predictions of consecutive chunks. */
export function joined(parts: RemotePrediction[]): RemotePrediction {
  let before = 0;
  const shifted = parts.map((part) => {
    const noteRows = part.noteRows.map((row) => row + before);
    before += part.value.length;
    return { ...part, noteRows };
  });
  const entries = Object.keys(parts[0]!).map((key) => {
    const arrays = shifted.map((part) => part[key as "value"] as Float64Array | string[]);
    if (Array.isArray(arrays[0])) return [key, arrays.flat()];
    const whole = new (arrays[0]!.constructor as Float64ArrayConstructor)(arrays.reduce((length, array) => length + array.length, 0));
    let at = 0;
    for (const array of arrays as Float64Array[]) {
      whole.set(array, at);
      at += array.length;
    }
    return [key, whole];
  });
  return Object.fromEntries(entries) as RemotePrediction;
}
