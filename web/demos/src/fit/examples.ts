// Example data, generated in the page from a formula and a seed.
import { random } from "../random.js";

export interface Example {
  title: string;
  formula: string;
  about: string;
  names: [string, string];
  rows: number;
  x: (share: number) => number;
  y: (x: number, noise: number) => number;
  /** The parameters' names and start values. */
  starts: Record<string, number>;
}

const between = (low: number, high: number) => (share: number) => low + (high - low) * share;

export const EXAMPLES: Record<string, Example> = {
  peak: {
    title: "Peak on a line",
    formula: "gaussian(x) + line(x)",
    about: "A Gaussian peak on a sloping background.",
    names: ["x", "counts"],
    rows: 160,
    x: between(0, 10),
    y: (x, noise) => 42 * Math.exp(-0.5 * ((x - 4.3) / 0.7) ** 2) + 18 + 1.6 * x + 4 * noise,
    starts: { height: 25, center: 5.2, sigma: 1.2, offset: 10, slope: 3 },
  },
  decay: {
    title: "Exponential decay, 1,000 rows",
    formula: "a*exp(-b*t) + c",
    about: "Decay to a background c.",
    names: ["t", "signal"],
    rows: 1000,
    x: between(0, 12),
    y: (t, noise) => 5 * Math.exp(-0.55 * t) + 0.8 + 0.35 * noise,
    starts: { a: 3, b: 0.2, c: 2 },
  },
  dose: {
    title: "Dose and response",
    formula: "low + (high - low)/(1 + (ec50/dose)^hill)",
    about: "Response to a dose, with its half effect at ec50.",
    names: ["dose", "response"],
    rows: 48,
    x: (share) => 0.05 * 10 ** ((2.3 * Math.floor(12 * share)) / 11),
    y: (dose, noise) => 8 + 84 / (1 + (1.3 / dose) ** 1.6) + 4 * noise,
    starts: { low: 0, high: 100, ec50: 3, hill: 1 },
  },
  oscillation: {
    title: "Damped oscillation",
    formula: "amplitude*exp(-damping*t)*cos(frequency*t + phase)",
    about: "Far from the right frequency, the search ends in another minimum: drag it.",
    names: ["t", "angle"],
    rows: 240,
    x: between(0, 15),
    y: (t, noise) => 2.4 * Math.exp(-0.16 * t) * Math.cos(2.1 * t + 0.6) + 0.22 * noise,
    starts: { amplitude: 1.5, damping: 0.05, frequency: 2.2, phase: 0 },
  },
};

const SEED = 4;

/** The rows of an example as CSV. */
export function text({ names, rows, x, y }: Example): string {
  const source = random(SEED);
  const row = (_: unknown, at: number) => {
    const place = x(at / rows);
    return `${Number(place.toPrecision(5))},${Number(y(place, source.normal()).toPrecision(5))}`;
  };
  return `${names.join(",")}\n${Array.from({ length: rows }, row).join("\n")}\n`;
}
