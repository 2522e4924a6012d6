// Inputs that are dates or times: their fields, and points from the first to the last of the training rows.
import type { Input } from "./engine";

export type DateInput = Extract<Input, { from: string }>;

/** The type of an `input` element for it. */
export function fieldType({ from, to }: DateInput): "date" | "datetime-local" | "time" {
  if (!from.includes("-")) return "time";
  return from.includes("T") || to.includes("T") ? "datetime-local" : "date";
}

/** Milliseconds since the beginning of 1970, as if the text were in universal time; NaN if it is no date or time. */
export function milliseconds(text: string): number {
  if (!text.includes("-")) return Date.parse(`1970-01-01T${text}Z`);
  return Date.parse(text.includes("T") ? `${text}Z` : text);
}

/** `text` as the value of its field. */
export function fieldValue(input: DateInput, text: string): string {
  return written(input, milliseconds(text));
}

/** `count` points from the first to the last one, as values of the field. */
export function between(input: DateInput, count: number): string[] {
  const [first, last] = [milliseconds(input.from), milliseconds(input.to)];
  const points = Array.from({ length: count }, (_, at) => written(input, first + ((last - first) * at) / (count - 1)));
  return [...new Set(points)];
}

function written(input: DateInput, at: number): string {
  const text = new Date(at).toISOString();
  const ends = { date: [0, 10], "datetime-local": [0, 16], time: [11, 16] } as const;
  return text.slice(...ends[fieldType(input)]);
}
