// Stacks of images: synthetic ones with known parameters, and those of NPY files.
import { random } from "../random.js";

/** Images one after another, in the order [height, width, image]: the observed values of a pixel stand together. */
export interface Stack {
  width: number;
  height: number;
  /** The name of the quantity that changes from image to image, and its value in each. */
  x: string;
  values: Float64Array;
  y: Float64Array;
}

export interface Example {
  title: string;
  about: string;
  formula: string;
  /** Starts; without them they are looked for. */
  p0?: Record<string, number>;
  bounds: Record<string, [number | null, number | null]>;
  stack: (noise: number) => Stack;
}

const SIZE = 96;

/** A stack of a function of the place in the image, from -1 to 1 in both directions, and of x. */
function made(
  x: string,
  values: Float64Array,
  noise: number,
  pixel: (u: number, v: number) => (x: number) => number,
): Stack {
  const { normal } = random(7);
  const y = new Float64Array(SIZE * SIZE * values.length);
  let at = 0;
  for (let row = 0; row < SIZE; row++) {
    for (let column = 0; column < SIZE; column++) {
      const value = pixel((2 * column + 1) / SIZE - 1, (2 * row + 1) / SIZE - 1);
      for (const one of values) y[at++] = value(one) + noise * normal();
    }
  }
  return { width: SIZE, height: SIZE, x, values, y };
}

/** 1 inside of a disc, 0 outside, with a soft edge. */
const disc = (u: number, v: number, x: number, y: number, radius: number) =>
  1 / (1 + Math.exp(30 * (Math.hypot(u - x, v - y) - radius)));

export const EXAMPLES: Record<string, Example> = {
  decay: {
    title: "Fluorescence of two cells",
    about: "Brightness after a flash of light, in 40 images over 8 ns. The lifetime tau is shorter in the nuclei.",
    formula: "a*exp(-t/tau) + c",
    p0: { a: 1, tau: 2, c: 0.1 },
    bounds: { a: [0, null], tau: [0.05, 50] },
    stack: (noise) =>
      made(
        "t",
        Float64Array.from({ length: 40 }, (_, at) => at / 5),
        noise,
        (u, v) => {
          const cells = Math.max(disc(u, v, -0.4, -0.25, 0.45), disc(u, v, 0.42, 0.35, 0.4));
          const nuclei = Math.max(disc(u, v, -0.45, -0.2, 0.18), disc(u, v, 0.45, 0.3, 0.15));
          const [a, tau] = [
            0.25 + 1.2 * cells * (0.7 + 0.3 * Math.cos(9 * u) * Math.cos(8 * v)),
            1.2 + 1.8 * cells - 1.9 * nuclei,
          ];
          return (t) => a * Math.exp(-t / tau) + 0.1;
        },
      ),
  },
  galaxy: {
    title: "A rotating galaxy",
    about: "A spectral line in 40 colours. Its place tells how fast each pixel comes nearer or moves away.",
    formula: "a*exp(-((x - m)/w)^2) + b",
    bounds: { a: [0, null], m: [-5, 5], w: [0.2, 4] },
    stack: (noise) =>
      made(
        "x",
        Float64Array.from({ length: 40 }, (_, at) => (at - 19.5) / 4),
        noise,
        (u, v) => {
          const [along, across] = [
            u * Math.cos(0.5) + v * Math.sin(0.5),
            (v * Math.cos(0.5) - u * Math.sin(0.5)) / 0.6,
          ];
          const radius = Math.hypot(along, across);
          const arms = 1 + 0.5 * Math.cos(2 * Math.atan2(across, along) + 8 * radius);
          const [a, m, w] = [
            0.15 + 1.4 * arms * Math.exp(-2 * radius),
            (2.2 * along) / (radius + 0.25),
            0.6 + 0.7 * Math.exp(-3 * radius),
          ];
          return (x) => a * Math.exp(-(((x - m) / w) ** 2)) + 0.05;
        },
      ),
  },
};

const TYPES: Record<string, { bytes: number; read: (view: DataView, at: number) => number }> = {
  "<f8": { bytes: 8, read: (view, at) => view.getFloat64(at, true) },
  "<f4": { bytes: 4, read: (view, at) => view.getFloat32(at, true) },
  "<u2": { bytes: 2, read: (view, at) => view.getUint16(at, true) },
  "<i2": { bytes: 2, read: (view, at) => view.getInt16(at, true) },
  "|u1": { bytes: 1, read: (view, at) => view.getUint8(at) },
};

/** The stack of an NPY file [images, height, width]; images are numbered from 0. */
export function fromNpy(bytes: ArrayBuffer): Stack {
  const view = new DataView(bytes);
  const isNpy = bytes.byteLength > 12 && view.getUint32(0) === 0x934e554d && view.getUint16(4) === 0x5059;
  if (!isNpy) throw new Error("file: this is no NPY file, expected one that numpy.save writes");
  const isLong = view.getUint8(6) > 1;
  const begin = isLong ? 12 : 10;
  const end = begin + (isLong ? view.getUint32(8, true) : view.getUint16(8, true));
  const header = new TextDecoder().decode(bytes.slice(begin, end));
  const name = /'descr':\s*'([^']*)'/.exec(header)?.[1] ?? "none";
  const type = TYPES[name];
  if (!type) throw new Error(`file: the numbers are of type ${name}, expected one of ${Object.keys(TYPES).join(", ")}`);
  if (!/'fortran_order':\s*False/.test(header))
    throw new Error("file: the array is in Fortran order, expected C order");
  const shape = (/'shape':\s*\(([^)]*)\)/.exec(header)?.[1] ?? "")
    .split(",")
    .map((size) => size.trim())
    .filter(Boolean)
    .map(Number);
  const [images, height, width] = shape;
  if (shape.length !== 3 || !images || !height || !width)
    throw new Error(`file: the shape is [${shape.join(", ")}], expected [images, height, width]`);
  if (bytes.byteLength - end < images * height * width * type.bytes) throw new Error("file: it is cut short");
  const y = new Float64Array(images * height * width);
  for (let image = 0, at = end; image < images; image++) {
    for (let pixel = 0; pixel < height * width; pixel++, at += type.bytes)
      y[pixel * images + image] = type.read(view, at);
  }
  return { width, height, x: "i", values: Float64Array.from({ length: images }, (_, at) => at), y };
}
