// Example data sets, generated in the page from a formula and a seed.
import { type Random, random } from "../random.js";

export interface Example {
  title: string;
  formula: string;
  names: string[];
  /** The head that suits the data. */
  head: "linear" | "rational";
  row: (random: Random) => (number | string)[];
}

const SEED = 1;
const ROWS = 2000;
/** A larger target of the pole example is written as infinite. */
const RANGE = 30;

const angle = (random: Random) => random.between(0, 2 * Math.PI);

export const EXAMPLES: Record<string, Example> = {
  pole: {
    title: "A function with a pole",
    formula: "y = (x + 1) / (x − 0.5), written as infinite if |y| > 30; x uniform from −2 to 2.",
    names: ["x", "y"],
    head: "rational",
    row: (random) => {
      const x = random.between(-2, 2);
      const y = (x + 1) / (x - 0.5);
      return [x, Math.abs(y) <= RANGE ? y : y > 0 ? "inf" : "-inf"];
    },
  },
  sum: {
    title: "Five inputs, a noisy sum",
    formula: "y = 2 x0 + 0.5 x1 − 1.5 x2 + 0.8 x3 − 0.3 x4 + 0.1 ε; x and ε normal. The best possible R² is 0.9986.",
    names: ["x0", "x1", "x2", "x3", "x4", "y"],
    head: "linear",
    row: (random) => {
      const x = [2, 0.5, -1.5, 0.8, -0.3].map((weight) => [weight, random.normal()] as const);
      return [
        ...x.map(([, value]) => value),
        x.reduce((sum, [weight, value]) => sum + weight * value, 0.1 * random.normal()),
      ];
    },
  },
  sine: {
    title: "A noisy sine",
    formula: "y = sin 3x + 0.1 ε; x uniform from −2 to 2, ε normal.",
    names: ["x", "y"],
    head: "linear",
    row: (random) => {
      const x = random.between(-2, 2);
      return [x, Math.sin(3 * x) + 0.1 * random.normal()];
    },
  },
  lens: {
    title: "A thin lens, two inputs",
    formula:
      "image = 1 / (1/f − 1/object) in cm, written as infinite beyond 300 cm; f uniform from 5 to 15 cm, object from 4 to 40 cm.",
    names: ["f", "object", "image"],
    head: "rational",
    row: (random) => {
      const [f, object] = [random.between(5, 15), random.between(4, 40)];
      const image = 1 / (1 / f - 1 / object);
      return [f, object, Math.abs(image) <= 300 ? image : image > 0 ? "inf" : "-inf"];
    },
  },
  rings: {
    title: "Two rings (classes)",
    formula: "inner: radius 0.5 + 0.12 ε; outer: radius 1.2 + 0.12 ε; angles uniform, ε normal.",
    names: ["u", "v", "ring"],
    head: "linear",
    row: (random) => {
      const isInner = random.uniform() < 0.5;
      const [turn, radius] = [angle(random), (isInner ? 0.5 : 1.2) + 0.12 * random.normal()];
      return [radius * Math.cos(turn), radius * Math.sin(turn), isInner ? "inner" : "outer"];
    },
  },
  moons: {
    title: "Two moons (classes)",
    formula: "upper: (cos t, sin t); lower: (1 − cos t, 0.5 − sin t); t uniform from 0 to π; both with noise 0.12 ε.",
    names: ["u", "v", "moon"],
    head: "linear",
    row: (random) => {
      const isUpper = random.uniform() < 0.5;
      const t = angle(random) / 2;
      const [u, v] = isUpper ? [Math.cos(t), Math.sin(t)] : [1 - Math.cos(t), 0.5 - Math.sin(t)];
      return [u + 0.12 * random.normal(), v + 0.12 * random.normal(), isUpper ? "upper" : "lower"];
    },
  },
};

/** The rows of an example as CSV. */
export function text({ names, row }: Example): string {
  const source = random(SEED);
  const cell = (value: number | string) => (typeof value === "number" ? value.toFixed(6) : value);
  return `${names.join(",")}\n${Array.from({ length: ROWS }, () => row(source).map(cell).join(",")).join("\n")}\n`;
}
