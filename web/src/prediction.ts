// Predictions as the caller gets them: notes by column, probabilities by class, and, for rows, one object per row.
import type { Label, LabelType, ModelInfo, Note, Prediction, RowPrediction } from "./types.js";
import type { RemotePrediction } from "./wire.js";

const KINDS = ["outside", "unseen", "unusable", "filled"] as const;
const MESSAGES = ["outside the training range", "not seen in training", undefined, "missing, a usual value filled in"];

type Flags = Uint8Array | Uint32Array;

/**
 * The label of a class with this name, of the type that the labels had in the training. A name that is none of this
 * type stays a text.
 */
function label(name: string | null, type: LabelType): Label | null {
  if (name === null) return null;
  if (type === "boolean") return name === "true" || (name !== "false" && name);
  if (type === "bigint") return /^-?\d+$/.test(name) ? BigInt(name) : name;
  const number = Number(name);
  return Number.isNaN(number) ? name : number;
}

/** A prediction with its notes, with labels of their own type, and with probabilities by the names of the classes. */
export function named(
  { probabilities, noteRows, noteColumns, noteKinds, noteTexts, ...others }: RemotePrediction,
  { columns, classes, labels }: ModelInfo,
): Prediction<Flags> {
  let texts = 0;
  const notes = Array.from(noteRows, (row, at): Note => {
    const kind = noteKinds[at]!;
    return {
      row,
      column: columns[noteColumns[at]!]!,
      kind: KINDS[kind]!,
      message: MESSAGES[kind] ?? noteTexts[texts++]!,
    };
  });
  const byName = labels && new Map(classes.map((name) => [name, label(name, labels)]));
  const rest =
    byName && Array.isArray(others.value)
      ? { ...others, value: others.value.map((name) => (name === null ? null : (byName.get(name) ?? name))) }
      : others;
  if (!probabilities) return { ...rest, notes };
  const rows = rest.value.length;
  const ofClass = (at: number) =>
    Float64Array.from({ length: rows }, (_, row) => probabilities[row * classes.length + at]!);
  return { ...rest, probabilities: Object.fromEntries(classes.map((name, at) => [name, ofClass(at)])), notes };
}

/** Rows between two pauses. */
const ROWS = 256;

/** One object for each row, in steps that may pause. Flags are bytes. */
export function* byRow({
  value: values,
  deviation,
  lower,
  upper,
  probability,
  probabilities,
  bottom,
  gap,
  fault,
  notes,
}: Prediction<Flags>): Generator<boolean, RowPrediction[]> {
  const all = probabilities && Object.entries(probabilities);
  const one = (value: Label | null, row: number): RowPrediction => {
    const isNone = value === null || Number.isNaN(value) || bottom?.[row] === 1;
    return {
      value: isNone ? null : value,
      ...(deviation && !isNone && { deviation: deviation[row]! }),
      ...(lower && upper && !isNone && { lower: lower[row]!, upper: upper[row]! }),
      ...(probability && { probability: probability[row]! }),
      ...(all && { probabilities: Object.fromEntries(all.map(([name, shares]) => [name, shares[row]!])) }),
      ...(bottom && { bottom: bottom[row] === 1, gap: gap?.[row] === 1, fault: fault?.[row] === 1 }),
      outside: [],
      note: "",
    };
  };
  const rows: RowPrediction[] = [];
  for (const value of values as Iterable<Label | null>) {
    if (rows.length % ROWS === 0) yield true;
    rows.push(one(value, rows.length));
  }
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
    const whole = new (arrays[0]!.constructor as Float64ArrayConstructor)(
      arrays.reduce((length, array) => length + array.length, 0),
    );
    let at = 0;
    for (const array of arrays as Float64Array[]) {
      whole.set(array, at);
      at += array.length;
    }
    return [key, whole];
  });
  return Object.fromEntries(entries) as RemotePrediction;
}
