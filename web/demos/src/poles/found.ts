// Where a model sees poles, from its predictions on a grid.
import type { Prediction } from "../engine.js";

export interface Pole {
  /** Between these the model has no value. */
  band: [number, number];
  /** Where the reciprocal of its prediction passes zero; the band's middle if it does not change sign. */
  place: number;
}

/** The stretches without a value, and the pole in each. Those at an end of the grid have one side only and are no pole found. */
export function polesFound(grid: ArrayLike<number>, { value, bottom }: Prediction): Pole[] {
  if (!bottom) return [];
  const found: Pole[] = [];
  let last = -1;
  for (let at = 0; at < grid.length; at++) {
    if (bottom[at]) continue;
    if (last >= 0 && at - last > 1) found.push(pole([grid[last]!, grid[at]!], [Number(value[last]), Number(value[at])]));
    last = at;
  }
  return found;
}

function pole(band: [number, number], [left, right]: [number, number]): Pole {
  const [u, v] = [1 / left, 1 / right];
  const share = u * v < 0 ? u / (u - v) : 0.5;
  return { band, place: band[0] + (band[1] - band[0]) * share };
}

/** A row of values for a chart, `null` where the model has none or where it doubts them. */
export function sure({ value, bottom, gap }: Prediction): (number | null)[] {
  return Array.from(value as Float64Array, (one, at) => (bottom?.[at] || gap?.[at] ? null : one));
}

/** The values near a pole, joined to the sure ones beside them. */
export function doubtful({ value, bottom, gap }: Prediction): (number | null)[] {
  const isNear = (at: number) => gap?.[at] || gap?.[at - 1] || gap?.[at + 1];
  return Array.from(value as Float64Array, (one, at) => (!bottom?.[at] && isNear(at) ? one : null));
}
