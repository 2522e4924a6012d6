// A trained model at the other end of a connection.
import type { Connection } from "./connection.js";
import { InputError } from "./errors.js";
import { Handle } from "./handle.js";
import { cloned, split, taken } from "./options.js";
import { paced } from "./pace.js";
import { type Packed, pack } from "./parcel.js";
import { PREDICTING_OPTIONS } from "./predict-options.js";
import { byRow, joined, named } from "./prediction.js";
import { needsNames } from "./tables.js";
import { READING_OPTIONS } from "./train-options.js";
import type {
  Arrays,
  Columns,
  EvaluateOptions,
  Evaluation,
  ModelInfo,
  Numbers,
  Prediction,
  PredictOptions,
  Remote,
  Row,
  RowOf,
  RowPrediction,
  Rows,
  Table,
  TableSource,
  Task,
} from "./types.js";
import { ENGINE, type Parcel, type Predicting, type RemoteModel, type RemotePrediction } from "./wire.js";

/** Fewer rows per worker than this are not worth the transfer. */
const MIN_ROWS = 8192;

/** What a prediction is of. */
export type Input = Table | Numbers | Columns | Remote | Rows | Row;
export type Answer = Prediction<Uint8Array | Uint32Array> | RowPrediction[] | RowPrediction;

/** Packs the rows of a prediction, and lets `predict` predict them. Data are copied before this function returns. */
export async function predicted(
  connection: Connection,
  info: ModelInfo | Promise<ModelInfo>,
  x: unknown,
  options: PredictOptions,
  predict: (packed: Packed, options: Predicting, signal: AbortSignal | undefined) => Promise<RemotePrediction>,
): Promise<Answer> {
  const { signal, masks, precision, unknown, interval, ...rest } = taken("predict", options, [
    ...PREDICTING_OPTIONS,
    "masks",
    ...READING_OPTIONS,
    "signal",
  ]);
  // If the call below fails too, its error is the one that the caller sees.
  if (info instanceof Promise) info.catch(() => {});
  const isLate = info instanceof Promise && needsNames(x);
  const own = isLate ? cloned("predict", x) : x;
  const known = isLate ? await info : info instanceof Promise ? undefined : info;
  const packed = await pack("predict", own, "table", {
    reading: split(rest)[0],
    own: known?.reading,
    names: known?.columns,
    target: known?.target,
    hasRow: true,
    request: connection.request,
    signal,
  });
  const asked = { masks: packed.shape && masks === "words" ? undefined : masks, precision, unknown, interval };
  const prediction = named(await predict(packed, asked, signal), await info);
  if (!packed.shape) return prediction;
  const rows = await paced(byRow(prediction), signal);
  return packed.shape === "rows" ? rows : rows[0]!;
}

/** A trained model. */
export class Model<T extends Task = Task> extends Handle {
  readonly info: ModelInfo<T>;
  /** Copies of this model on the other workers. */
  #copies?: Promise<Model[]>;

  /** @internal */
  constructor(connection: Connection, { id, info }: RemoteModel) {
    super(connection, "model");
    this.info = info as ModelInfo<T>;
    this.attach(id);
  }

  /** Whether the model predicts numbers or classes. A guard for TypeScript. */
  is<K extends Task>(task: K): this is Model<K> {
    return (this.info.task as Task) === task;
  }

  /**
   * Predicts rows, given as objects, or as arrays of cells in the order of `info.columns` or below a first row with
   * their names: one object for each. One object gives one. Of a table, columns or numbers in row-major order, the
   * result has arrays with one entry per row. Columns are matched by name.
   */
  predict(rows: Rows, options?: PredictOptions): Promise<RowPrediction<T>[]>;
  predict(
    x: Table | Numbers | Columns | Remote,
    options: PredictOptions & { masks: "words" },
  ): Promise<Prediction<Uint32Array, T>>;
  predict(
    x: Table | Numbers | Columns | Remote,
    options?: PredictOptions & { masks?: "bytes" | undefined },
  ): Promise<Prediction<Uint8Array, T>>;
  predict(
    x: Table | Numbers | Columns | Remote,
    options: PredictOptions,
  ): Promise<Prediction<Uint8Array | Uint32Array, T>>;
  predict<R extends object & RowOf<R>>(row: R, options?: PredictOptions): Promise<RowPrediction<T>>;
  predict(x: Input, options: PredictOptions = {}): Promise<unknown> {
    return predicted(this.connection, this.info, x, options, ({ parcel, transfer }, asked, signal) =>
      this.#predict(parcel, transfer, asked, signal),
    );
  }

  /**
   * Measures the model on a table with the target column. Rows without a target or without an input that the model
   * needs are left out.
   */
  async evaluate(data: TableSource | Arrays, options: EvaluateOptions = {}): Promise<Evaluation> {
    const { signal, ...rest } = taken("evaluate", options, [...READING_OPTIONS, "signal"]);
    const names = [...this.info.columns, this.info.target];
    const { parcel, transfer } = await pack("evaluate", data, "table", {
      reading: split(rest)[0],
      own: this.info.reading,
      names,
      arrays: "alone",
      request: this.connection.request,
      signal,
    });
    return this.call("evaluate", [parcel], { transfer, signal });
  }

  /** The bytes of the model file. Browsers, Node and the `mero` binary can read it. */
  save(): Promise<Uint8Array<ArrayBuffer>> {
    return this.call("save", []);
  }

  /** Predicts with all workers if there are enough rows. */
  async #predict(
    parcel: Parcel,
    transfer: ArrayBuffer[],
    options: Predicting,
    signal: AbortSignal | undefined,
  ): Promise<RemotePrediction> {
    const chunks = this.#split(parcel.data);
    if (chunks.length > 0) {
      try {
        const models = [this, ...(await (this.#copies ??= this.#copied()))];
        const predictChunk = (data: Matrix, at: number) =>
          models[at]!.call("predict", [{ ...parcel, data }, options], { transfer: [data.buffer], signal });
        return joined(await Promise.all(chunks.map(predictChunk)));
      } catch (error) {
        // Predict all rows here, so that the message names the row by its number in the whole input.
        if (!(error instanceof InputError)) throw error;
      }
    }
    return this.call("predict", [parcel, options], { transfer, signal });
  }

  /**
   * Splits rows of numbers among the workers, in multiples of 32 rows (one mask word). Returns [] if there are too few
   * rows.
   */
  #split(data: unknown): Matrix[] {
    const {
      columns: { length: width },
      task,
    } = this.info;
    const workers = this.connection.workers.length + 1;
    if (task !== "regression" || !isMatrix(data) || data.length % width !== 0) return [];
    const rows = data.length / width;
    const count = Math.min(workers, Math.floor(rows / MIN_ROWS));
    if (count < 2) return [];
    const size = Math.ceil(rows / count / 32) * 32 * width;
    return Array.from({ length: Math.ceil(data.length / size) }, (_, at) => data.slice(at * size, (at + 1) * size));
  }

  override dispose(): void {
    this.#copies?.then(
      (copies) => copies.forEach((copy) => copy.dispose()),
      () => {},
    );
    super.dispose();
  }

  async #copied(): Promise<Model[]> {
    const data = await this.save();
    return Promise.all(
      this.connection.workers.map(
        async (worker) => new Model(worker, await worker.call(ENGINE, "load", [{ data, source: "model" }])),
      ),
    );
  }
}

type Matrix = Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

const isMatrix = (data: unknown): data is Matrix => data instanceof Float32Array || data instanceof Float64Array;
