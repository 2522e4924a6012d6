// A trained model at the other end of a connection.
import type { Connection } from "./connection.js";
import { InputError } from "./errors.js";
import { Handle } from "./handle.js";
import { taken } from "./options.js";
import { pack } from "./parcel.js";
import type { ModelInfo, Numbers, PredictOptions, Prediction, Table } from "./types.js";
import { ENGINE, type RemoteModel } from "./wire.js";

/** Fewer rows per worker than this are not worth the transfer. */
const MIN_ROWS = 8192;

/** The names of the options of a prediction. */
export const PREDICT_OPTIONS = ["masks", "precision", "signal"] as const;

type Answer = Prediction<Uint8Array | Uint32Array>;

/** A trained model. */
export class Model extends Handle {
  readonly info: ModelInfo;
  /** Copies of this model on the other workers. */
  #copies?: Promise<Model[]>;

  /** @internal */
  constructor(connection: Connection, { id, info }: RemoteModel) {
    super(connection, "model");
    this.info = info;
    this.attach(id);
  }

  /** Predicts a table, whose columns are matched by name, or rows of numbers in the order of `info.columns`. */
  predict(x: Table | Numbers, options: PredictOptions & { masks: "words" }): Promise<Prediction<Uint32Array>>;
  predict(x: Table | Numbers, options?: PredictOptions & { masks?: "bytes" | undefined }): Promise<Prediction>;
  predict(x: Table | Numbers, options: PredictOptions): Promise<Prediction<Uint8Array | Uint32Array>>;
  async predict(x: Table | Numbers, options: PredictOptions = {}): Promise<Answer> {
    const { masks, precision, signal } = taken("predict", options, PREDICT_OPTIONS);
    const { parcel, transfer } = await pack("predict", x, "table");
    const chunks = this.#split(parcel.data);
    if (chunks.length > 0) {
      try {
        const models = [this, ...await (this.#copies ??= this.#copied())];
        const predictChunk = (data: Rows, at: number) => models[at]!.call("predict", [{ ...parcel, data }, masks, precision], { transfer: [data.buffer], signal });
        return joined(await Promise.all(chunks.map(predictChunk)));
      } catch (error) {
        // Predict all rows here, so that the message names the row by its number in the whole input.
        if (!(error instanceof InputError)) throw error;
      }
    }
    return this.call("predict", [parcel, masks, precision], { transfer, signal });
  }

  /** The bytes of the model file. Browsers, Node and the `mero` binary can read it. */
  save(): Promise<Uint8Array<ArrayBuffer>> {
    return this.call("save", []);
  }

  /** Splits rows of numbers among the workers, in multiples of 32 rows (one mask word). Returns [] if there are too few rows. */
  #split(data: unknown): Rows[] {
    const { columns: { length: width }, task } = this.info;
    const workers = this.connection.workers.length + 1;
    if (task !== "regression" || !isRows(data) || data.length % width !== 0) return [];
    const rows = data.length / width;
    const count = Math.min(workers, Math.floor(rows / MIN_ROWS));
    if (count < 2) return [];
    const size = Math.ceil(rows / count / 32) * 32 * width;
    return Array.from({ length: Math.ceil(data.length / size) }, (_, at) => data.slice(at * size, (at + 1) * size));
  }

  override dispose(): void {
    this.#copies?.then((copies) => copies.forEach((copy) => copy.dispose()), () => {});
    super.dispose();
  }

  async #copied(): Promise<Model[]> {
    const data = await this.save();
    return Promise.all(this.connection.workers.map(async (worker) => new Model(worker, await worker.call(ENGINE, "load", [{ data, source: "model" }]))));
  }
}

type Rows = Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

const isRows = (data: unknown): data is Rows => data instanceof Float32Array || data instanceof Float64Array;

/** Concatenates the predictions of consecutive chunks. */
function joined(parts: Answer[]): Answer {
  const entries = Object.keys(parts[0]!).map((key) => {
    const arrays = parts.map((part) => part[key as "value"] as Float64Array);
    const whole = new (arrays[0]!.constructor as Float64ArrayConstructor)(arrays.reduce((length, array) => length + array.length, 0));
    let at = 0;
    for (const array of arrays) {
      whole.set(array, at);
      at += array.length;
    }
    return [key, whole];
  });
  return Object.fromEntries(entries) as Answer;
}
