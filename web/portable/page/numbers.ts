// Numbers formatted for people, round ticks of an axis, and scales from values to positions.

/** At most `digits` significant digits, with an exponent only for very large or small numbers. */
export function short(value: number, digits = 5): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4))
    return value
      .toExponential(digits - 2)
      .replace("-", "−")
      .replace("e-", "e−");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** About `count` round numbers from `min` to `max`. */
export function ticks(min: number, max: number, count: number): number[] {
  const span = max - min;
  if (!(span > 0) || !Number.isFinite(span)) return [min];
  const power = 10 ** Math.floor(Math.log10(span / count));
  const step = power * ([1, 2, 5].find((factor) => span / (factor * power) <= count) ?? 10);
  const first = Math.ceil(min / step);
  const length = Math.floor(max / step + 1e-9) - first + 1;
  return Array.from({ length }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

/** `value` rounded to a thousandth of the range `span`, for a field. */
export function rounded(value: number, span: number): number {
  if (!(span > 0) || !Number.isFinite(span)) return value;
  const digits = Math.min(Math.max(3 - Math.floor(Math.log10(span)), 0), 100);
  return Number(value.toFixed(digits));
}

export type Scale = (value: number) => number;

/** Maps [a, b] to [start, end]; to the middle if a equals b. */
export function scale([a, b]: readonly [number, number], [start, end]: readonly [number, number]): Scale {
  return a === b ? () => (start + end) / 2 : (value) => start + ((value - a) / (b - a)) * (end - start);
}

/** The smallest and largest of some numbers; [0, 1] if there are none. */
export function extent(values: Iterable<number>): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low <= high ? [low, high] : [0, 1];
}
