// Converts received data for the engine's bindings: f16 arrays to f32, and rows without a value to infinite targets.
import { InputError, tagOf } from "../errors.js";
import type { Parcel } from "../wire.js";

interface ArraysGiven {
  x: unknown;
  y: unknown;
  bottom?: unknown;
}

/** The parcel with f16 arrays as f32, and with `bottom` merged into `y`. */
export function plain({ data, ...rest }: Parcel): Parcel {
  if (typeof data !== "object" || data === null || !("y" in data)) return { data: widened(data), ...rest };
  const { x, y, bottom } = data as ArraysGiven;
  const whole = { ...data, x: widened(x), y: widened(y) };
  return { data: bottom === undefined || bottom === null ? whole : { ...whole, y: poles(whole.y, bottom) }, ...rest };
}

/** Arrays `{ x, y }` as a table of numbers with these columns; other data as they are. */
export function table(call: string, data: unknown, names: string[]): unknown {
  if (typeof data !== "object" || data === null || !("x" in data && "y" in data)) return data;
  const [x, y] = [data.x, data.y] as ArrayLike<number>[];
  const [rows, width] = [y?.length ?? 0, names.length - 1];
  if (!rows || x?.length !== rows * width)
    throw new InputError(
      `${call}: got ${x?.length} values in x and ${rows} in y, expected rows of ${width} values in x and one in y`,
    );
  const values = Float64Array.from({ length: rows * names.length }, (_, at) => {
    const [row, column] = [Math.floor(at / names.length), at % names.length];
    return column < width ? x[row * width + column]! : y![row]!;
  });
  return { names, values };
}

/** Errors if rows are marked as having no value but the model has no poles: it would leave them out. */
export function checkPoles({ data }: Parcel, options: unknown): void {
  const hasMarks =
    typeof data === "object" && data !== null && "bottom" in data && data.bottom !== undefined && data.bottom !== null;
  const { head = "linear" } = (options ?? {}) as { head?: unknown };
  if (hasMarks && (head === "linear" || head === null)) {
    throw new InputError(
      'train: bottom marks rows without a value, which only a head with poles can learn; give head: "rational"',
      "usage",
    );
  }
}

function widened(value: unknown): unknown {
  return tagOf(value) === "Float16Array" ? Float32Array.from(value as ArrayLike<number>) : value;
}

/** `y` with infinity, which means a pole to the engine, in the rows that `bottom` marks. */
function poles(y: unknown, bottom: unknown): unknown {
  if (!(y instanceof Float32Array || y instanceof Float64Array)) return y;
  const rows = y.length;
  if (bottom instanceof Uint8Array && bottom.length === rows)
    return y.map((value, row) => (bottom[row] ? Infinity : value));
  const words = Math.ceil(rows / 32);
  if (!(bottom instanceof Uint32Array) || bottom.length !== words) {
    const what = ArrayBuffer.isView(bottom)
      ? `${bottom.constructor.name} of ${(bottom as Uint8Array).length}`
      : typeof bottom;
    throw new InputError(
      `train: bottom is ${what}, expected a Uint8Array of ${rows} or a Uint32Array of ${words} for ${rows} rows`,
    );
  }
  return y.map((value, row) => ((bottom[row >>> 5]! >>> (row & 31)) & 1 ? Infinity : value));
}
