// The poles of a model, found from its predictions on a grid.
import type { Prediction } from "../engine.js";

export interface Pole {
  /** The range in which the model has no value. */
  band: [number, number];
  /** Where the reciprocal of the prediction crosses zero; the middle of the band if the sign does not change. */
  place: number;
}

/**
 * The ranges without a value, and the pole in each. A range at an end of the grid is not counted, because only one side
 * of it is known.
 */
export function polesFound(grid: ArrayLike<number>, { value, bottom }: Prediction): Pole[] {
  if (!bottom) return [];
  const found: Pole[] = [];
  let last = -1;
  for (let at = 0; at < grid.length; at++) {
    if (bottom[at]) continue;
    if (last >= 0 && at - last > 1)
      found.push(pole([grid[last]!, grid[at]!], [Number(value[last]), Number(value[at])]));
    last = at;
  }
  return found;
}

function pole(band: [number, number], [left, right]: [number, number]): Pole {
  const [u, v] = [1 / left, 1 / right];
  const share = u * v < 0 ? u / (u - v) : 0.5;
  return { band, place: band[0] + (band[1] - band[0]) * share };
}

/** The values for a chart; `null` if there is no value or it is near a pole. */
export function reliable({ value, bottom, gap }: Prediction): (number | null)[] {
  return Array.from(value as Float64Array, (one, at) => (bottom?.[at] || gap?.[at] ? null : one));
}

/** The values near a pole, and their reliable neighbours, so that the lines join. */
export function nearPole({ value, bottom, gap }: Prediction): (number | null)[] {
  const isNear = (at: number) => gap?.[at] || gap?.[at - 1] || gap?.[at + 1];
  return Array.from(value as Float64Array, (one, at) => (!bottom?.[at] && isNear(at) ? one : null));
}
