// Learned memories in any runtime: checks rows and labels, sends them to the memory's worker, and returns what it finds.
import { abortable, connected, type EngineWorker, fetched } from "./connected.js";
import type { Connection } from "./connection.js";
import { CONTRAST_OPTIONS, type ContrastOptions } from "./contrast-options.js";
import type { HalfArray, Integers } from "./data.js";
import { InputError, shown } from "./errors.js";
import { Handle } from "./handle.js";
import { cloned, taken } from "./options.js";
import { ENGINE, type LabelledRows, type RemoteFound, type RemoteMap, type RemoteMemory } from "./wire.js";

/** The coordinates of a row. All rows of a memory have as many. */
export type MemoryRow =
  | readonly number[]
  | Float32Array
  | Float64Array
  | HalfArray
  | Exclude<Integers, BigInt64Array | BigUint64Array>;

/** The class of a row. */
export type MemoryLabel = string | number;

/** Options of {@link learn}. Those that are not given have the defaults of `mero contrast`. */
export interface LearnOptions extends Omit<ContrastOptions, "hidden"> {
  /** Where it is learned: only the CPU, on one thread. */
  device?: "cpu" | undefined;
  /** Called after every epoch; the next one begins when a promise that it returns is resolved. */
  onEpoch?: ((event: LearnEpoch) => unknown) | undefined;
  /**
   * Ends the run after the current epoch, with the memory under the map as it is then; before the first epoch was
   * completed, the promise is rejected with the signal's reason.
   */
  signal?: AbortSignal | undefined;
}

/** An epoch of a run. */
export interface LearnEpoch {
  /** From 0. */
  epoch: number;
  /** How many there will be. */
  epochs: number;
  /** Mean over the rows that are learned from of −log(w + 0.001), w being the weight of a row's own class before its step. */
  loss: number;
  /** Learning rate of the last step. */
  lr: number;
  /**
   * The share of the held-out rows (`test`, at most 256 of them) that find their own class among the rows that are
   * learned from (at most 2,048). Null if none are held out.
   */
  accuracy: number | null;
  /** The map as it is now. */
  map: MemoryMap;
}

/** A plane rotation. */
export interface Rotation {
  /** The two coordinates that it turns, from 0. */
  plane: readonly [number, number];
  /** In radians. */
  angle: number;
}

/** A class that its file has as a number; the truth values of Python, False and True, stay texts. */
const numbered = (name: string): MemoryLabel => (Number.isNaN(Number(name)) ? name : Number(name));

/** A learned map: rows x and y are as far apart as |A (x − y)|. */
export class MemoryMap {
  /** Coordinates of a row. */
  readonly inputs: number;
  /** Coordinates after the map. */
  readonly outputs: number;
  /** A in row-major order, [outputs, inputs]. */
  readonly matrix: Float32Array;
  /** What is subtracted from a row before the map, [inputs]: the means of the columns. */
  readonly shift: Float32Array;
  /**
   * With the maps `diagonal`, `rotors` and `low_rank`, how much the square of each coordinate counts, after the
   * rotations if there are any; 1 at the start, when distances are Euclidean. Empty with other maps.
   */
  readonly weights: Float32Array;
  /** With the map `rotors`, its rotations in the order in which they are applied; angles are 0 at the start. */
  readonly rotations: readonly Rotation[];

  /** @internal */
  constructor({ matrix, shift, weights, angles, planes }: RemoteMap) {
    this.inputs = shift.length;
    this.outputs = matrix.length / shift.length;
    this.matrix = matrix;
    this.shift = shift;
    this.weights = weights;
    this.rotations = Array.from(angles, (angle, at) => ({ plane: [planes[2 * at]!, planes[2 * at + 1]!], angle }));
  }

  /** Where a row is under the map: A (x − shift). Distances are Euclidean there. */
  place(x: MemoryRow): Float32Array {
    const [row] = packed("place", [x], this.inputs);
    const { inputs, matrix, shift } = this;
    return Float32Array.from({ length: this.outputs }, (_, output) => {
      let sum = 0;
      for (let input = 0; input < inputs; input++)
        sum += matrix[output * inputs + input]! * (row[input]! - shift[input]!);
      return sum;
    });
  }
}

/** A row of the memory that is near a query. */
export interface Neighbour {
  /** Its number in memory, from 0: that of the rows that were learned. */
  row: number;
  label: MemoryLabel;
  /** Its distance under the map. */
  distance: number;
  /** Its weight among the neighbours: they sum up to 1. */
  weight: number;
}

/** What is found for a query. */
export interface Found {
  /** The label with the largest weight among the neighbours; null if nothing in memory is like the query. */
  label: MemoryLabel | null;
  /**
   * Whether the nearest row is within reach of the memory. Otherwise nothing in memory is like the query: it is a
   * stranger, to which `mero recall --reject` gives no neighbours. Here they are given, as they are the nearest ones.
   */
  isKnown: boolean;
  /** The nearest rows, nearest first. */
  neighbours: Neighbour[];
}

/** Neighbours that are found by default, if there are as many rows. */
const NEIGHBOURS = 5;

/**
 * A learned memory, in a worker of its own. Disposing of it ends the worker; so does the garbage collector, some time
 * after nothing refers to it.
 */
export class Memory extends Handle {
  /** The label of each row. */
  readonly labels: readonly MemoryLabel[];
  /** The different labels, in order. */
  readonly classes: readonly MemoryLabel[];
  /** The names of the columns, for a memory that `mero contrast` learned from a table. Otherwise empty. */
  readonly columns: readonly string[];
  /** The column of the labels there. */
  readonly target: string;
  readonly map: MemoryMap;
  /**
   * The distance within which 99 % of the rows have another one. A query whose nearest row is farther away is unlike
   * anything in memory.
   */
  readonly reach: number;
  /** β: a row at distance d from a query has weight exp(−β d). */
  readonly sharpness: number;

  /** @internal */
  constructor(connection: Connection, { classes, isNumeric, rows, map, ...rest }: RemoteMemory) {
    super(connection, "memory");
    this.classes = isNumeric ? classes.map(numbered) : classes;
    this.labels = Array.from(rows, (place) => this.classes[place]!);
    this.map = new MemoryMap(map);
    this.columns = rest.columns;
    this.target = rest.target;
    this.reach = rest.reach;
    this.sharpness = rest.sharpness;
    this.attach(ENGINE);
  }

  /**
   * The `k` nearest rows, by default 5, and whether any is near enough to be known. `x` is one row, or an array of
   * rows, for which an array is returned.
   */
  find(x: MemoryRow, k?: number): Promise<Found>;
  find(x: readonly MemoryRow[], k?: number): Promise<Found[]>;
  async find(x: MemoryRow | readonly MemoryRow[], k?: number): Promise<Found | Found[]> {
    const { length: rows } = this.labels;
    const count = k ?? Math.min(NEIGHBOURS, rows);
    if (!Number.isInteger(count) || count < 1 || count > rows)
      throw new InputError(`find: k: got ${shown(k)}, expected a whole number from 1 to ${rows}, the rows in memory`);
    const isOne = !isRows(x);
    const [values] = packed("find", isOne ? [x] : x, this.map.inputs);
    if (values.length === 0) return [];
    const found = this.#found(await this.call("find", [values, count], { transfer: [values.buffer] }), count);
    return isOne ? found[0]! : found;
  }

  /** The bytes of its file, which {@link loadMemory} and `mero recall` read. */
  save(): Promise<Uint8Array<ArrayBuffer>> {
    return this.call("save", []);
  }

  #found({ rows, distances, weights, known, classes }: RemoteFound, count: number): Found[] {
    return Array.from(known, (isKnown, query) => ({
      label: isKnown ? this.classes[classes[query]!]! : null,
      isKnown: isKnown === 1,
      neighbours: Array.from({ length: count }, (_, rank) => {
        const at = query * count + rank;
        const row = rows[at]!;
        return { row, label: this.labels[row]!, distance: distances[at]!, weight: weights[at]! };
      }),
    }));
  }
}

/** @internal One kind of runtime: where it gets the package's own files from. */
export interface MemoryRuntime {
  module(): Promise<WebAssembly.Module>;
  /** `call` is the name of the function that needs the worker. */
  spawn(call: string): Promise<EngineWorker>;
}

/** @internal Learns a memory in a runtime. */
export async function learnIn(
  runtime: MemoryRuntime,
  rows: readonly MemoryRow[] | MemoryRow,
  labels: readonly MemoryLabel[] | MemoryRow,
  options: LearnOptions = {},
): Promise<Memory> {
  if ((options as ContrastOptions | null)?.hidden !== undefined)
    throw new InputError("learn: hidden: layers that settle are not learned here: use mero contrast --hidden", "usage");
  const names: readonly (keyof LearnOptions)[] = [
    ...CONTRAST_OPTIONS.filter((name) => name !== "hidden"),
    "device",
    "onEpoch",
    "signal",
  ];
  const { device = "cpu", onEpoch, signal, ...rest } = taken("learn", options, names);
  if (device !== "cpu")
    throw new InputError(
      `learn: device: got ${shown(device)}, expected "cpu": memories are learned there only`,
      "usage",
    );
  if (onEpoch !== undefined && typeof onEpoch !== "function")
    throw new InputError(`learn: onEpoch: got ${shown(onEpoch)}, expected a function`, "usage");
  const given = labelled(rows, labels);
  const settings = cloned("learn", rest);
  return inWorker(runtime, "learn", signal, async (connection) => {
    const transfer = [given.x.buffer, given.classes.buffer];
    await connection.call(ENGINE, "learn", [given, settings], { transfer, signal });
    for (let done = 0; ; done++) {
      // After the first epoch, the one that runs is completed.
      const event = await connection.call(ENGINE, "learnEpoch", [onEpoch !== undefined], done > 0 ? {} : { signal });
      if (event) await onEpoch?.({ ...event, map: new MemoryMap(event.map) });
      if (!event || signal?.aborted) return new Memory(connection, await connection.call(ENGINE, "learned", []));
    }
  });
}

/** @internal Loads a memory in a runtime. */
export async function loadIn(runtime: MemoryRuntime, file: Uint8Array | ArrayBuffer | Blob): Promise<Memory> {
  const bytes =
    file instanceof Blob || file instanceof ArrayBuffer ? new Uint8Array(await new Blob([file]).arrayBuffer()) : file;
  if (!(bytes instanceof Uint8Array))
    throw new InputError(
      `loadMemory: got ${shown(file)}, expected the bytes of a file that mero contrast wrote`,
      "usage",
    );
  return inWorker(
    runtime,
    "loadMemory",
    undefined,
    async (connection) => new Memory(connection, await connection.call(ENGINE, "loadMemory", [bytes])),
  );
}

/** Starts a worker for `call` and does `work` with it. If that fails, the worker is ended. */
async function inWorker(
  runtime: MemoryRuntime,
  call: string,
  signal: AbortSignal | undefined,
  work: (connection: Connection) => Promise<Memory>,
): Promise<Memory> {
  signal?.throwIfAborted();
  const connection = await abortable(connected(runtime.spawn(call), runtime.module(), fetched), signal);
  try {
    return await work(connection);
  } catch (error) {
    connection.close(new InputError("memory: was not made", "usage"));
    throw error;
  }
}

const isNumbers = (x: unknown): x is Exclude<MemoryRow, readonly number[]> =>
  (ArrayBuffer.isView(x) && !(x instanceof DataView)) || Object.prototype.toString.call(x) === "[object Float16Array]";

/** Whether it is an array of rows, not the numbers of one. */
const isRows = (x: unknown): x is readonly MemoryRow[] =>
  Array.isArray(x) && (x.length === 0 || typeof x[0] === "object");

/**
 * The numbers of some rows one after another, and how many each has: `inputs` if that is given. Messages begin with
 * `call`; rows and columns are numbered from 0, as neighbours are.
 */
function packed(
  call: string,
  rows: readonly MemoryRow[],
  inputs?: number,
): [values: Float32Array<ArrayBuffer>, inputs: number] {
  const width = inputs ?? (rows[0] as MemoryRow | undefined)?.length ?? 0;
  const expected = inputs === undefined ? "as in row 0" : "as the rows of the memory have";
  const values = new Float32Array(rows.length * width);
  for (const [at, row] of rows.entries()) {
    const where = `${call}: row ${at}`;
    if (!Array.isArray(row) && !isNumbers(row))
      throw new InputError(`${where}: got ${shown(row)}, expected an array of numbers`);
    if (row.length !== width)
      throw new InputError(`${where}: got ${row.length} numbers, expected ${width}, ${expected}`);
    for (let column = 0; column < width; column++) {
      const value: unknown = row[column];
      const single = Math.fround(value as number);
      if (typeof value !== "number" || !Number.isFinite(single))
        throw new InputError(
          `${where}, column ${column}: got ${shown(value)}, expected a finite number in single precision`,
        );
      values[at * width + column] = single;
    }
  }
  return [values, width];
}

/** Rows and their labels as the engine reads them. */
function labelled(rows: unknown, labels: unknown): LabelledRows {
  if (!Array.isArray(labels) && !isNumbers(labels))
    throw new InputError(`learn: labels: got ${shown(labels)}, expected an array of texts or of numbers`);
  if (!isRows(rows) && !isNumbers(rows))
    throw new InputError(`learn: rows: got ${shown(rows)}, expected an array of rows, or a typed array of all of them`);
  if (rows.length === 0) throw new InputError("learn: rows: got none, expected rows of at least two classes");
  const all = isRows(rows) ? rows : split(rows, labels.length);
  if (all.length !== labels.length)
    throw new InputError(`learn: labels: got ${labels.length} for ${all.length} rows, expected one for each`);
  const [x, inputs] = packed("learn", all);
  const isNumeric = typeof labels[0] === "number";
  for (const [at, label] of Array.from(labels as ArrayLike<unknown>).entries()) {
    if (typeof label === (isNumeric ? "number" : "string") && !Number.isNaN(label)) continue;
    const expected = at === 0 ? "a text or a number" : isNumeric ? "a number as the first" : "a text as the first";
    throw new InputError(`learn: labels: row ${at}: got ${shown(label)}, expected ${expected}`);
  }
  const sorted = Array.from(new Set(labels as MemoryLabel[])).sort((a, b) => (a < b ? -1 : 1));
  const places = new Map(sorted.map((label, place) => [label, place]));
  const classes = Uint32Array.from(labels as MemoryLabel[], (label) => places.get(label)!);
  return { x, inputs, classes, names: sorted.map(String), isNumeric };
}

/** The rows in numbers that stand one after another. */
function split(numbers: Exclude<MemoryRow, readonly number[]>, rows: number): MemoryRow[] {
  const width = numbers.length / rows;
  if (rows === 0 || !Number.isInteger(width))
    throw new InputError(`learn: rows: got ${numbers.length} numbers for ${rows} labels, expected as many for each`);
  return Array.from({ length: rows }, (_, row) => (numbers as Float32Array).subarray(row * width, (row + 1) * width));
}
