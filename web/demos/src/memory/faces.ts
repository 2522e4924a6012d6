// Drawings that the page begins with: faces. Their names depend on the mouth alone; hair, eyes and noses differ at random.
import { type Random, random } from "../random.js";
import { type Drawing, type Point, type Stroke, strokes } from "./drawing.js";

/** A curve through so many points. */
const curve = (count: number, at: (share: number) => Point): Stroke =>
  Array.from({ length: count + 1 }, (_, step) => at(step / count));
const ring = (x: number, y: number, wide: number, high = wide): Stroke =>
  curve(20, (share) => [x + wide * Math.cos(2 * Math.PI * share), y + high * Math.sin(2 * Math.PI * share)]);
const line = (...points: Point[]): Stroke => points;

/** The mouths by their names, in a face around (0, 0) with radius 1. */
const MOUTHS: Record<string, (by: Random) => Stroke> = {
  calm: (by) => line([-by.between(0.3, 0.5), 0.48], [by.between(0.3, 0.5), 0.48]),
  happy: (by) => bow(by, 0.24),
  sad: (by) => bow(by, -0.24),
  surprised: (by) => ring(0, 0.48, by.between(0.13, 0.2), by.between(0.16, 0.24)),
};

function bow(by: Random, depth: number): Stroke {
  const wide = by.between(0.36, 0.5);
  return curve(8, (share) => [
    wide * (2 * share - 1),
    0.48 + depth * (1 - 2 * (2 * share - 1) ** 2) * by.between(0.8, 1.1),
  ]);
}

const HAIR: ((by: Random) => Stroke[])[] = [
  () => [],
  (by) =>
    Array.from({ length: 5 }, () => by.between(-0.7, 0.7)).map((x) =>
      line([x, -0.72], [x + by.between(-0.2, 0.2), -0.35]),
    ),
  (by) => [curve(12, (share) => [1.5 * share - 0.75, -0.5 + 0.14 * Math.sin(by.between(16, 20) * share)])],
  (by) => [line([-0.8, -0.5], [by.between(-0.3, 0.3), -0.65], [0.8, -0.5])],
  () => [line([-0.86, -0.45], [0.86, -0.45]), line([-0.7, -0.68], [0.7, -0.68])],
];

const EYES: ((x: number, by: Random) => Stroke[])[] = [
  (x) => [ring(x, -0.12, 0.05)],
  (x, by) => [ring(x, -0.12, by.between(0.15, 0.2))],
  (x) => [line([x - 0.16, -0.12], [x + 0.16, -0.12])],
  (x, by) => [line([x, -0.26], [x, by.between(0, 0.08)])],
];

const NOSES: (() => Stroke[])[] = [
  () => [],
  () => [line([0, -0.05], [0, 0.2])],
  () => [line([0.02, -0.08], [-0.12, 0.18], [0.08, 0.18])],
  () => [ring(0, 0.12, 0.09)],
];

const any = <T>(all: readonly T[], by: Random): T => all[Math.floor(by.uniform() * all.length)]!;

/** A face with a mouth, drawn by an unsteady hand, in the middle of a unit square. */
function face(mouth: string, by: Random): Stroke[] {
  const [hair, eye, nose] = [any(HAIR, by), any(EYES, by), any(NOSES, by)];
  const parts = [[ring(0, 0, 1)], hair(by), eye(-0.38, by), eye(0.38, by), nose(), [MOUTHS[mouth]!(by)]];
  const [size, phase, angle] = [by.between(0.01, 0.04), by.between(0, 6), 0.05 * by.normal()];
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return parts.flat().map((stroke) =>
    stroke.map(([x, y]): Point => {
      const [a, b] = [x + size * Math.sin(5 * y + phase), y + size * Math.sin(5 * x + phase)];
      return [0.5 + 0.4 * (cos * a - sin * b), 0.5 + 0.4 * (sin * a + cos * b)];
    }),
  );
}

/** A house, which is no face. */
const HOUSE: Stroke[] = [
  line([0.2, 0.45], [0.2, 0.9], [0.8, 0.9], [0.8, 0.45], [0.2, 0.45], [0.5, 0.1], [0.8, 0.45]),
  line([0.42, 0.9], [0.42, 0.65], [0.58, 0.65], [0.58, 0.9]),
];

const names = Object.keys(MOUTHS);

/** Named drawings, so many of each face. */
export function examples(each: number): { name: string; drawing: Drawing }[] {
  const by = random(4);
  return names.flatMap((name) => Array.from({ length: each }, () => ({ name, drawing: strokes(face(name, by)) })));
}

/** The strokes of one face after the other, and of a house. */
export function* inTurn(): Generator<Stroke[], never> {
  const by = random(11);
  for (;;) {
    for (const name of names) yield face(name, by);
    yield HOUSE;
  }
}
