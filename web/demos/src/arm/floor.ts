// The floor around the arm, in squares: what each model says of every square, how often that is right, and a picture of it.
import { ink } from "../page.js";
import { quantile } from "../numbers.js";
import type { Answer } from "./answers.js";
import { type Links, type Point, reach } from "./geometry.js";

/** Half the floor's side in metres; squares along a side. */
export const HALF = 2;
export const SQUARES = 101;

/** Centres of the squares, from the upper left, row after row. */
export const CENTRES: Point[] = Array.from({ length: SQUARES * SQUARES }, (_, at) => {
  const step = (2 * HALF) / SQUARES;
  return [(at % SQUARES + 0.5) * step - HALF, HALF - (Math.floor(at / SQUARES) + 0.5) * step];
});

export const isInside = (links: Links, [x, y]: Point): boolean => {
  const [near, far] = reach(links);
  const distance = Math.hypot(x, y);
  return distance >= near && distance <= far;
};

export interface Score {
  /** Share of places out of reach that are refused. */
  refusedOutside: number;
  /** Share of places within reach that are refused. */
  refusedInside: number;
  /** Median distance of hand and target, of answers given within and out of reach. */
  missInside: number;
  missOutside: number;
}

export function score(links: Links, answers: Answer[]): Score {
  const sides = [true, false].map((inside) => answers.filter((_, at) => isInside(links, CENTRES[at]!) === inside));
  const refused = (list: Answer[]) => list.filter(({ kind }) => kind !== "pose").length / list.length;
  const miss = (list: Answer[]) => quantile(list.flatMap((answer) => (answer.kind === "pose" ? [answer.miss] : [])), 0.5);
  const [inside, outside] = sides as [Answer[], Answer[]];
  return { refusedOutside: refused(outside), refusedInside: refused(inside), missInside: miss(inside), missOutside: miss(outside) };
}

/** A miss of this many metres has the full colour. */
const FULL = 0.3;

/** Refused squares in one colour, misses in another, the stronger the farther. */
export function picture(answers: Answer[]): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SQUARES;
  const context = canvas.getContext("2d")!;
  const colours = { refused: ink("--model"), miss: ink("--wrong") };
  answers.forEach((answer, at) => {
    const isRefused = answer.kind !== "pose";
    context.fillStyle = isRefused ? colours.refused : colours.miss;
    context.globalAlpha = isRefused ? 0.22 : 0.6 * Math.min(1, answer.miss / FULL);
    context.fillRect(at % SQUARES, Math.floor(at / SQUARES), 1, 1);
  });
  return canvas;
}
