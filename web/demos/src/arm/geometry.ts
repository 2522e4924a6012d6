// A planar arm with two links: its kinematics, and random poses for training. Lengths in metres, angles in radians.
import type { Random } from "../random.js";

export type Point = [x: number, y: number];

export interface Links {
  upper: number;
  fore: number;
}

/** The positions of elbow and hand for a shoulder angle and an elbow angle. */
export function place({ upper, fore }: Links, shoulder: number, elbow: number): { elbow: Point; hand: Point } {
  const at: Point = [upper * Math.cos(shoulder), upper * Math.sin(shoulder)];
  return { elbow: at, hand: [at[0] + fore * Math.cos(shoulder + elbow), at[1] + fore * Math.sin(shoulder + elbow)] };
}

/** The minimum and maximum distance of the hand from the shoulder. */
export const reach = ({ upper, fore }: Links): [number, number] => [Math.abs(upper - fore), upper + fore];

/** The shoulder angle that points the hand at the target, for a given elbow angle. */
export function shoulder({ upper, fore }: Links, [x, y]: Point, elbow: number): number {
  return Math.atan2(y, x) - Math.atan2(fore * Math.sin(elbow), upper + fore * Math.cos(elbow));
}

/**
 * tan²(elbow / 2) = (R² - r²) / (r² - ρ²) for the maximum reach R and the minimum reach ρ: negative if no real elbow
 * angle exists.
 */
export function squaredTangent(links: Links, [x, y]: Point): number {
  const [near, far] = reach(links);
  const square = x * x + y * y;
  return (far * far - square) / (square - near * near);
}

/** A larger tan² is written as infinite: the elbow is then within 11.5 degrees of fully folded. */
const FOLDED = 100;

/**
 * Random poses as two CSV tables, with the columns x, y, tan²(elbow / 2) and x, y, elbow angle. All are within reach.
 */
export function poses(links: Links, rows: number, random: Random): { tangents: string; angles: string } {
  const tangents = ["x,y,t"],
    angles = ["x,y,elbow"];
  for (let row = 0; row < rows; row++) {
    const elbow = random.between(0, Math.PI);
    const { hand } = place(links, random.between(-Math.PI, Math.PI), elbow);
    const square = Math.tan(elbow / 2) ** 2;
    tangents.push(`${hand},${square > FOLDED ? "inf" : square}`);
    angles.push(`${hand},${elbow}`);
  }
  return { tangents: tangents.join("\n"), angles: angles.join("\n") };
}
