// The two functions of five inputs that can be learned, and random rows of them.
import type { Random } from "../random.js";

export interface Truth {
  value: (x: ArrayLike<number>) => number;
  /** The range of the sliders. */
  range: [number, number];
  draw: (random: Random) => number;
  /** The standard deviation of the noise in the rows. */
  noise: number;
}

export const INPUTS = 5;

/** The wave, without noise, and the noisy sum of `mero demo`. */
export const TRUTHS: Record<string, Truth> = {
  wave: {
    value: (x) => Math.sin(2 * Math.PI * x[0]!) + 0.5 * x[1]! ** 2 - 0.3 * x[2]! + Math.cos(Math.PI * x[3]! * x[4]!),
    range: [-1, 1],
    draw: (random) => random.between(-1, 1),
    noise: 0,
  },
  sum: {
    value: (x) => 2 * x[0]! + 0.5 * x[1]! - 1.5 * x[2]! + 0.8 * x[3]! - 0.3 * x[4]!,
    range: [-3, 3],
    draw: (random) => random.normal(),
    noise: 0.1,
  },
};

export interface Rows {
  x: Float32Array;
  y: Float32Array;
}

/** Random rows, with noise if `isNoisy`. */
export function rows({ value, draw, noise }: Truth, count: number, random: Random, isNoisy: boolean): Rows {
  const x = new Float32Array(count * INPUTS),
    y = new Float32Array(count);
  for (let row = 0; row < count; row++) {
    const inputs = x.subarray(row * INPUTS, (row + 1) * INPUTS);
    for (let input = 0; input < INPUTS; input++) inputs[input] = draw(random);
    y[row] = value(inputs) + (isNoisy ? noise * random.normal() : 0);
  }
  return { x, y };
}

/** Rows that vary one input after the other, with the other inputs as in `at`: five times `steps` rows. */
export function slices({ range: [low, high] }: Truth, at: ArrayLike<number>, steps: number): Float32Array {
  const x = new Float32Array(INPUTS * steps * INPUTS);
  for (let input = 0; input < INPUTS; input++) {
    for (let step = 0; step < steps; step++) {
      const row = (input * steps + step) * INPUTS;
      for (let other = 0; other < INPUTS; other++) x[row + other] = at[other]!;
      x[row + input] = low + ((high - low) * step) / (steps - 1);
    }
  }
  return x;
}
