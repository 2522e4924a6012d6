// Numbers formatted for people, and statistics of lists of numbers.

const MINUS = "\u2212";

/** Four significant digits without trailing zeros. */
export function short(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? `${MINUS}∞` : "none";
  const size = Math.abs(value);
  const isFar = size !== 0 && (size < 1e-4 || size >= 1e6);
  const text = isFar
    ? Number(value.toPrecision(Math.min(digits, 3))).toExponential()
    : String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", MINUS);
}

/** A number with `count` decimal places. */
export const places = (value: number, count: number): string => value.toFixed(count).replace("-", MINUS);

export const whole = (value: number): string => Math.round(value).toLocaleString("en");

export const percent = (share: number, count = 1): string => `${(100 * share).toFixed(count)} %`;

/** `count` numbers from `low` to `high`, both included. */
export function spread(low: number, high: number, count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, at) => low + ((high - low) * at) / (count - 1));
}

/** The value below which a share of the list lies; NaN of an empty list. */
export function quantile(values: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}

export const mean = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;

/** 1 minus the squared error divided by the variance of the true values. */
export function r2(truth: ArrayLike<number>, predicted: ArrayLike<number>): number {
  const middle = mean(truth);
  let error = 0,
    variance = 0;
  for (let at = 0; at < truth.length; at++) {
    error += (truth[at]! - predicted[at]!) ** 2;
    variance += (truth[at]! - middle) ** 2;
  }
  return 1 - error / variance;
}
