// The answers of the two models for targets: an elbow angle, or a refusal with its reason.
import type { Prediction } from "../engine.js";
import { type Links, type Point, place, shoulder } from "./geometry.js";

export type Answer =
  | { kind: "pole" | "imaginary"; predicted: number | null }
  | { kind: "pose"; elbow: number; shoulder: number; hand: Point; joint: Point; miss: number; predicted: number };

function pose(links: Links, target: Point, elbow: number, predicted: number): Answer {
  const angle = shoulder(links, target, elbow);
  const { elbow: joint, hand } = place(links, angle, elbow);
  return {
    kind: "pose",
    elbow,
    shoulder: angle,
    hand,
    joint,
    miss: Math.hypot(hand[0] - target[0], hand[1] - target[1]),
    predicted,
  };
}

/** The answers of the model that predicts tan²(elbow / 2). ⊥ means a pole; a negative square has no real root. */
export function strict(links: Links, targets: Point[], { value, bottom }: Prediction): Answer[] {
  return targets.map((target, at) => {
    if (bottom?.[at]) return { kind: "pole", predicted: null };
    const square = Number(value[at]);
    if (square < 0) return { kind: "imaginary", predicted: square };
    return pose(links, target, 2 * Math.atan(Math.sqrt(square)), square);
  });
}

/** The answers of the model that predicts the angle. It never refuses. */
export function plain(links: Links, targets: Point[], { value }: Prediction): Answer[] {
  return targets.map((target, at) => pose(links, target, Number(value[at]), Number(value[at])));
}

export const flat = (targets: Point[]): Float32Array => Float32Array.from(targets.flat());
