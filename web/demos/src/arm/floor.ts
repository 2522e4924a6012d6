// The floor around the arm, divided into squares: each model's answer for every square, their errors, and a picture of
// them.

import { quantile } from "../numbers.js";
import { ink } from "../page.js";
import type { Answer } from "./answers.js";
import { type Links, type Point, reach } from "./geometry.js";

/** Half the side of the floor in metres, and the number of squares along a side. */
export const HALF = 2;
export const SQUARES = 101;

/** The centres of the squares, row by row from the upper left. */
export const CENTRES: Point[] = Array.from({ length: SQUARES * SQUARES }, (_, at) => {
  const step = (2 * HALF) / SQUARES;
  return [((at % SQUARES) + 0.5) * step - HALF, HALF - (Math.floor(at / SQUARES) + 0.5) * step];
});

export const isInside = (links: Links, [x, y]: Point): boolean => {
  const [near, far] = reach(links);
  const distance = Math.hypot(x, y);
  return distance >= near && distance <= far;
};

export interface Score {
  /** Of the targets out of reach, the share that is refused. */
  refusedOutside: number;
  /** Of the targets within reach, the share that is refused. */
  refusedInside: number;
  /** The median distance between hand and target over the answered targets, within and out of reach. */
  missInside: number;
  missOutside: number;
}

export function score(links: Links, answers: Answer[]): Score {
  const sides = [true, false].map((inside) => answers.filter((_, at) => isInside(links, CENTRES[at]!) === inside));
  const refused = (list: Answer[]) => list.filter(({ kind }) => kind !== "pose").length / list.length;
  const miss = (list: Answer[]) =>
    quantile(
      list.flatMap((answer) => (answer.kind === "pose" ? [answer.miss] : [])),
      0.5,
    );
  const [inside, outside] = sides as [Answer[], Answer[]];
  return {
    refusedOutside: refused(outside),
    refusedInside: refused(inside),
    missInside: miss(inside),
    missOutside: miss(outside),
  };
}

/** The miss in metres that is drawn in the full colour. */
const FULL = 0.3;

/** Draws refused squares in one colour and misses in another; a larger miss is more opaque. */
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
