// Drawings where the memory puts them, seen from the side on which they differ most.
import type { MemoryMap } from "meromorph/contrast";
import { ink } from "../page.js";
import type { Drawing } from "./drawing.js";

/** Pixels of a drawing: on a phone, and on wider screens. */
const SIZES = { narrow: 16, wide: 22 };
const NARROW = 480;
const MARGIN = 26;
/** Steps that follow the directions as the map changes. */
const STEPS = 4;

export interface Shown {
  name: string;
  drawing: Drawing;
}

export class Plane {
  #canvas: HTMLCanvasElement;
  /** Two directions [2, outputs], which are followed from map to map, so that the view does not jump. */
  #axes: Float64Array[] = [];
  #colour: (name: string) => string;

  constructor(canvas: HTMLCanvasElement, colour: (name: string) => string) {
    this.#canvas = canvas;
    this.#colour = colour;
  }

  /** Draws all examples; with a query, a line to each of its neighbours, given by their numbers. */
  draw(all: readonly Shown[], map: Pick<MemoryMap, "place">, query?: { drawing: Drawing; near: number[] }): void {
    const placed = all.map(({ drawing }) => map.place(drawing.ink));
    const flat = this.#flattened(placed);
    const context = fitted(this.#canvas);
    const { clientWidth: wide, clientHeight: high } = this.#canvas;
    const size = wide < NARROW ? SIZES.narrow : SIZES.wide;
    const at = query && flat.project(map.place(query.drawing.ink));
    const points = placed.map(flat.project);
    const everything = at ? [...points, at] : points;
    const range = ([0, 1] as const).map((axis) => {
      const values = everything.map((point) => point[axis]);
      return [Math.min(...values), Math.max(...values)] as const;
    });
    const scale = Math.min(
      ...([wide, high] as const).map(
        (length, axis) => (length - 2 * MARGIN) / (range[axis]![1] - range[axis]![0] || 1),
      ),
    );
    const x = (value: number) => wide / 2 + scale * (value - (range[0]![0] + range[0]![1]) / 2);
    const y = (value: number) => high / 2 - scale * (value - (range[1]![0] + range[1]![1]) / 2);
    if (at) {
      context.strokeStyle = ink("--edge");
      context.lineWidth = 1;
      for (const row of query!.near) {
        context.beginPath();
        context.moveTo(x(at[0]), y(at[1]));
        context.lineTo(x(points[row]![0]), y(points[row]![1]));
        context.stroke();
      }
    }
    all.forEach(({ name, drawing }, row) => {
      drawing.paint(context, x(points[row]![0]) - size / 2, y(points[row]![1]) - size / 2, size, this.#colour(name));
    });
    if (!at) return;
    context.fillStyle = ink("--card");
    context.strokeStyle = ink("--ink");
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(x(at[0]), y(at[1]), 0.8 * size, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    query!.drawing.paint(context, x(at[0]) - size / 2, y(at[1]) - size / 2, size, ink("--ink"));
  }

  /** The projection onto the two directions of largest variance, found by subspace iteration from the last ones. */
  #flattened(placed: Float32Array[]): { project(place: Float32Array): [number, number] } {
    const outputs = placed[0]?.length ?? 0;
    const middle = new Float64Array(outputs);
    for (const place of placed) place.forEach((value, at) => (middle[at] = middle[at]! + value / placed.length));
    const along = (place: Float32Array, axis: Float64Array) =>
      place.reduce((sum, value, at) => sum + (value - middle[at]!) * axis[at]!, 0);
    if (this.#axes[0]?.length !== outputs) this.#axes = [0, 1].map((first) => start(outputs, first));
    // Two coordinates are what they are.
    for (let step = 0; step < STEPS && outputs > 2; step++) {
      const moved = this.#axes.map((axis) => {
        const next = new Float64Array(outputs);
        for (const place of placed) {
          const weight = along(place, axis);
          place.forEach((value, at) => (next[at] = next[at]! + weight * (value - middle[at]!)));
        }
        return next;
      });
      this.#axes = orthonormal(moved);
    }
    return { project: (place) => [along(place, this.#axes[0]!), along(place, this.#axes[1]!)] };
  }
}

/** A direction to begin with; coordinates in turn, so that the two differ. */
const start = (length: number, first: number): Float64Array =>
  Float64Array.from({ length }, (_, at) => (length > 2 ? Math.cos((at + 1) * (first + 1.3)) : Number(at === first)));

function orthonormal([one, other]: Float64Array[]): Float64Array[] {
  const unit = (axis: Float64Array) => {
    const size = Math.hypot(...axis) || 1;
    return axis.map((value) => value / size);
  };
  const first = unit(one!);
  const shared = other!.reduce((sum, value, at) => sum + value * first[at]!, 0);
  return [first, unit(other!.map((value, at) => value - shared * first[at]!))];
}

/** The context of a canvas that is as fine as the screen, cleared, in CSS pixels. */
export function fitted(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext("2d")!;
  const { clientWidth: wide, clientHeight: high } = canvas;
  canvas.width = Math.round(wide * devicePixelRatio);
  canvas.height = Math.round(high * devicePixelRatio);
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  context.clearRect(0, 0, wide, high);
  return context;
}
