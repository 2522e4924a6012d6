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

const DAY = 86_400_000;

/**
 * At most `count` points from the first to the last one with `now` among them, as values of the field. If they are days
 * or weeks apart, all have the time of day and weekday of `now`, since otherwise a curve would jump up and down with
 * them.
 */
export function around(input: DateInput, now: string, count: number): string[] {
  const [first, last] = [milliseconds(input.from), milliseconds(input.to)];
  const center = Number.isNaN(milliseconds(now)) ? last : milliseconds(now);
  const least = (last - first) / (count - 1);
  const unit = least >= 7 * DAY ? 7 * DAY : least >= DAY ? DAY : 60_000;
  const step = Math.max(1, Math.ceil(least / unit)) * unit;
  const start = center - Math.floor((center - first) / step) * step;
  const points = Array.from({ length: Math.floor((last - start) / step) + 1 }, (_, at) => start + at * step);
  if (center < first || center > last) points.push(center);
  return points.sort((a, b) => a - b).map((at) => written(input, at));
}

/** Texts below the points: without the year if all share it, without the time if all share it. */
export function labels(points: string[]): string[] {
  const same = (from: number, to: number) => new Set(points.map((point) => point.slice(from, to))).size === 1;
  if (points.length < 2 || !points[0]?.includes("-")) return points;
  const [from, to] = [same(0, 5) ? 5 : 0, same(10, 16) ? 10 : 16];
  return points.map((point) => point.slice(from, to).replace("T", " "));
}

function written(input: DateInput, at: number): string {
  const text = new Date(at).toISOString();
  const ends = { date: [0, 10], "datetime-local": [0, 16], time: [11, 16] } as const;
  return text.slice(...ends[fieldType(input)]);
}
