// A drawing: strokes in a unit square, or an image. What the memory gets of it is the ink in each cell of a grid.

/** Cells in each direction. */
export const GRID = 8;

export type Point = readonly [x: number, y: number];
export type Stroke = readonly Point[];

export interface Drawing {
  /** The ink of each cell, [GRID, GRID], in [0, 1]. */
  ink: Float32Array;
  /** Draws it into a square of this size whose corner is at x, y. */
  paint(context: CanvasRenderingContext2D, x: number, y: number, size: number, colour: string): void;
}

/** How far ink spreads, in cells. */
const SPREAD = 0.6;
/** The share of the square that a centred drawing fills. */
const FILLED = 0.84;

/** A drawing of strokes. It is centred and scaled, so that size and place do not count. */
export function strokes(given: readonly Stroke[]): Drawing {
  const all = centred(given);
  return {
    ink: Float32Array.from({ length: GRID * GRID }, (_, cell) => {
      const at: Point = [((cell % GRID) + 0.5) / GRID, (Math.floor(cell / GRID) + 0.5) / GRID];
      const nearest = Math.min(...all.map((stroke) => apart(at, stroke)));
      return Math.exp(-((nearest * GRID) ** 2) / (2 * SPREAD ** 2));
    }),
    paint(context, x, y, size, colour) {
      trace(context, all, x, y, size);
      context.strokeStyle = colour;
      context.lineWidth = Math.max(1.5, size / 16);
      context.stroke();
    },
  };
}

/** Traces strokes into a square. */
export function trace(
  context: CanvasRenderingContext2D,
  all: readonly Stroke[],
  x: number,
  y: number,
  size: number,
): void {
  context.lineCap = context.lineJoin = "round";
  context.beginPath();
  for (const [first, ...others] of all) {
    if (!first) continue;
    context.moveTo(x + first[0] * size, y + first[1] * size);
    // A line to the same place is a dot.
    for (const [toX, toY] of others.length > 0 ? others : [first]) context.lineTo(x + toX * size, y + toY * size);
  }
}

function centred(all: readonly Stroke[]): readonly Stroke[] {
  const points = all.flat();
  const ends = ([0, 1] as const).map((axis) => {
    const values = points.map((point) => point[axis]);
    return [Math.min(...values), Math.max(...values)] as const;
  });
  const size = Math.max(...ends.map(([low, high]) => high - low), 0.05);
  const place = (value: number, axis: number) =>
    0.5 + ((value - (ends[axis]![0] + ends[axis]![1]) / 2) * FILLED) / size;
  return all.map((stroke) => stroke.map(([x, y]): Point => [place(x, 0), place(y, 1)]));
}

/** The distance of a point from a stroke. */
function apart([x, y]: Point, stroke: Stroke): number {
  let least = Infinity;
  for (let at = 0; at < stroke.length; at++) {
    const [[fromX, fromY], [toX, toY]] = [stroke[Math.max(at - 1, 0)]!, stroke[at]!];
    const [wide, high] = [toX - fromX, toY - fromY];
    const along = ((x - fromX) * wide + (y - fromY) * high) / (wide * wide + high * high || 1);
    const share = Math.min(Math.max(along, 0), 1);
    least = Math.min(least, Math.hypot(x - fromX - share * wide, y - fromY - share * high));
  }
  return least;
}

/** Pixels in each direction of an image, after it was scaled. */
const PIXELS = 8 * GRID;

/** A drawing from the file of an image: what differs in brightness from its corners is ink. */
export async function image(file: Blob): Promise<Drawing> {
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Error(`${file instanceof File ? file.name : "the file"}: it cannot be read as an image`);
  });
  const canvas = Object.assign(document.createElement("canvas"), { width: PIXELS, height: PIXELS });
  const context = canvas.getContext("2d", { willReadFrequently: true })!;
  const scale = PIXELS / Math.max(bitmap.width, bitmap.height);
  const [wide, high] = [bitmap.width * scale, bitmap.height * scale];
  context.fillStyle = "#fff";
  context.fillRect(0, 0, PIXELS, PIXELS);
  context.drawImage(bitmap, (PIXELS - wide) / 2, (PIXELS - high) / 2, wide, high);
  bitmap.close();
  const { data } = context.getImageData(0, 0, PIXELS, PIXELS);
  const light = (pixel: number) =>
    (0.299 * data[4 * pixel]! + 0.587 * data[4 * pixel + 1]! + 0.114 * data[4 * pixel + 2]!) / 255;
  const corners = [0, PIXELS - 1, PIXELS * (PIXELS - 1), PIXELS * PIXELS - 1];
  const ground = corners.reduce((sum, pixel) => sum + light(pixel) / corners.length, 0);
  const ink = new Float32Array(GRID * GRID);
  const step = PIXELS / GRID;
  for (let pixel = 0; pixel < PIXELS * PIXELS; pixel++) {
    const [x, y] = [pixel % PIXELS, Math.floor(pixel / PIXELS)];
    const cell = Math.floor(y / step) * GRID + Math.floor(x / step);
    ink[cell] = ink[cell]! + Math.abs(light(pixel) - ground) / step ** 2;
  }
  return {
    ink,
    paint(context, x, y, size, colour) {
      context.drawImage(canvas, x, y, size, size);
      context.strokeStyle = colour;
      context.lineWidth = 1.5;
      context.strokeRect(x, y, size, size);
    },
  };
}
