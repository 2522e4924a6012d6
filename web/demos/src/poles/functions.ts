// Functions with poles, the place of one chosen: value, poles, where it is drawn.
import type { Random } from "../random.js";

export interface Target {
  value: (x: number, place: number) => number;
  poles: (place: number) => number[];
  x: [number, number];
  /** Where the chosen pole may lie, and does at first. */
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

/** Beyond this the meter is over its range. */
export const RANGE = 30;

/** Poles that are drawn. */
export function polesInside({ poles, x: [low, high] }: Target, place: number): number[] {
  return poles(place).filter((pole) => pole > low && pole < high);
}

/** Readings at random places as CSV: x, y; over the meter's range y is inf or -inf. */
export function readings(target: Target, place: number, rows: number, random: Random): string {
  const lines = Array.from({ length: rows }, () => {
    const x = random.between(...target.x);
    const y = target.value(x, place);
    return `${x},${Math.abs(y) <= RANGE ? y : y > 0 ? "inf" : "-inf"}`;
  });
  return `x,y\n${lines.join("\n")}\n`;
}

/** The true curve on a grid, broken at poles. */
export function truth(target: Target, place: number, grid: ArrayLike<number>): (number | null)[] {
  const poles = target.poles(place);
  return Array.from(grid, (x, at) => {
    const before = grid[at - 1] ?? x;
    if (poles.some((pole) => pole > before && pole <= x)) return null;
    return target.value(x, place);
  });
}
