// Functions with a pole at a chosen position: formula, poles, range, axes.
import type { Random } from "../random.js";

export interface Target {
  value: (x: number, place: number) => number;
  poles: (place: number) => number[];
  x: [number, number];
  /** The limits of the pole's position, and its start. */
  place: { min: number; max: number; start: number };
  axes: { x: string; y: string };
}

export const TARGETS: Record<string, Target> = {
  reciprocal: {
    value: (x, a) => 1 / (x - a),
    poles: (a) => [a],
    x: [-2, 2],
    place: { min: -1.5, max: 1.5, start: 0.4 },
    axes: { x: "x", y: "y" },
  },
  tangent: {
    value: (x, a) => Math.tan(x - a + Math.PI / 2),
    poles: (a) => [a - Math.PI, a, a + Math.PI],
    x: [-3, 3],
    place: { min: -1.5, max: 1.5, start: 1 },
    axes: { x: "x in rad", y: "y" },
  },
  resonance: {
    value: (x, a) => 1 / (a * a - x * x),
    poles: (a) => [a],
    x: [0, 3],
    place: { min: 0.5, max: 2.5, start: 1.3 },
    axes: { x: "drive frequency ω in rad/s", y: "amplitude in m" },
  },
  quotient: {
    value: (x, a) => (x * x - 1) / (x - a),
    poles: (a) => [a],
    x: [-2, 2],
    place: { min: -0.8, max: 0.8, start: 0.3 },
    axes: { x: "x", y: "y" },
  },
};

/** The range of the meter: larger values are recorded as infinite. */
export const RANGE = 30;

/** The poles within the drawn range. */
export function polesInside({ poles, x: [low, high] }: Target, place: number): number[] {
  return poles(place).filter((pole) => pole > low && pole < high);
}

/** Measurements at random points as CSV with columns x and y. Beyond the meter's range y is inf or -inf. */
export function measurements(target: Target, place: number, rows: number, random: Random): string {
  const lines = Array.from({ length: rows }, () => {
    const x = random.between(...target.x);
    const y = target.value(x, place);
    return `${x},${Math.abs(y) <= RANGE ? y : y > 0 ? "inf" : "-inf"}`;
  });
  return `x,y\n${lines.join("\n")}\n`;
}

/** The true curve on a grid, with breaks at the poles. */
export function truth(target: Target, place: number, grid: ArrayLike<number>): (number | null)[] {
  const poles = target.poles(place);
  return Array.from(grid, (x, at) => {
    const before = grid[at - 1] ?? x;
    if (poles.some((pole) => pole > before && pole <= x)) return null;
    return target.value(x, place);
  });
}
