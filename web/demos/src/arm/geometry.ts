// A planar arm with two links: where its hand is, what its elbow has to be, poses to learn from. Lengths in metres, angles in radians.
import type { Random } from "../random.js";

export type Point = [x: number, y: number];

export interface Links {
  upper: number;
  fore: number;
}

/** Elbow and hand for a shoulder angle and an elbow angle. */
export function place({ upper, fore }: Links, shoulder: number, elbow: number): { elbow: Point; hand: Point } {
  const at: Point = [upper * Math.cos(shoulder), upper * Math.sin(shoulder)];
  return { elbow: at, hand: [at[0] + fore * Math.cos(shoulder + elbow), at[1] + fore * Math.sin(shoulder + elbow)] };
}

/** The nearest and the farthest the hand can be from the shoulder. */
export const reach = ({ upper, fore }: Links): [number, number] => [Math.abs(upper - fore), upper + fore];

/** The shoulder angle that points the hand at the target, once the elbow is known. */
export function shoulder({ upper, fore }: Links, [x, y]: Point, elbow: number): number {
  return Math.atan2(y, x) - Math.atan2(fore * Math.sin(elbow), upper + fore * Math.cos(elbow));
}

/** tan²(elbow / 2) = (R² - r²) / (r² - ρ²) for the farthest R and the nearest ρ: negative wherever no real elbow reaches. */
export function squaredTangent(links: Links, [x, y]: Point): number {
  const [near, far] = reach(links);
  const square = x * x + y * y;
  return (far * far - square) / (square - near * near);
}

/** tan² beyond this is written as infinite: the elbow is folded to within 11.5 degrees. */
const FOLDED = 100;

/** Poses of both joints, all over, as two CSVs: x, y and tan²(elbow / 2), x, y and the elbow's angle. Only places that can be reached. */
export function poses(links: Links, rows: number, random: Random): { tangents: string; angles: string } {
  const tangents = ["x,y,t"], angles = ["x,y,elbow"];
  for (let row = 0; row < rows; row++) {
    const elbow = random.between(0, Math.PI);
    const { hand } = place(links, random.between(-Math.PI, Math.PI), elbow);
    const square = Math.tan(elbow / 2) ** 2;
    tangents.push(`${hand},${square > FOLDED ? "inf" : square}`);
    angles.push(`${hand},${elbow}`);
  }
  return { tangents: tangents.join("\n"), angles: angles.join("\n") };
}
