// A trained model at the other end of a connection.
import type { Connection } from "./connection.js";
import { InputError } from "./errors.js";
import { Handle } from "./handle.js";
import { taken } from "./options.js";
import { pack } from "./parcel.js";
import type { ModelInfo, Numbers, PredictOptions, Prediction, Table } from "./types.js";
import { type Distant, ENGINE } from "./wire.js";

/** Fewer rows than this are not worth another engine's while. */
const ROWS = 8192;

/** The options of a prediction. */
export const ASKED = ["masks", "precision", "signal"] as const;

type Answer = Prediction<Uint8Array | Uint32Array>;

/** A trained model. */
export class Model extends Handle {
  readonly info: ModelInfo;
  /** The same model on the engines beside this one. */
  #copies?: Promise<Model[]>;

  /** @internal */
  constructor(connection: Connection, { id, info }: Distant) {
    super(connection, "model");
    this.info = info;
    this.attach(id);
  }

  /** Predicts a table, whose columns are found by name, or rows of numbers in the order of `info.columns`. */
  predict(x: Table | Numbers, options: PredictOptions & { masks: "words" }): Promise<Prediction<Uint32Array>>;
  predict(x: Table | Numbers, options?: PredictOptions & { masks?: "bytes" | undefined }): Promise<Prediction>;
  predict(x: Table | Numbers, options: PredictOptions): Promise<Prediction<Uint8Array | Uint32Array>>;
  async predict(x: Table | Numbers, options: PredictOptions = {}): Promise<Answer> {
    const { masks, precision, signal } = taken("predict", options, ASKED);
    const { parcel, transfer } = await pack("predict", x, "table");
    const hands = this.#hands(parcel.data);
    if (hands.length > 0) {
      try {
        const models = [this, ...await (this.#copies ??= this.#copied())];
        const ask = (data: Rows, at: number) => models[at]!.call("predict", [{ ...parcel, data }, masks, precision], { transfer: [data.buffer], signal });
        return joined(await Promise.all(hands.map(ask)));
      } catch (error) {
        // Whatever is wrong in a row is told of its number among all.
        if (!(error instanceof InputError)) throw error;
      }
    }
    return this.call("predict", [parcel, masks, precision], { transfer, signal });
  }

  /** The bytes of the model's file, which a browser and the `mero` binary read. */
  save(): Promise<Uint8Array<ArrayBuffer>> {
    return this.call("save", []);
  }

  /** Rows of numbers as they are dealt out: in runs of whole mask words, none if they are not worth dealing. */
  #hands(data: unknown): Rows[] {
    const { columns: { length: width }, task } = this.info;
    const members = this.connection.crew.length + 1;
    if (task !== "regression" || !isRows(data) || data.length % width !== 0) return [];
    const rows = data.length / width;
    const hands = Math.min(members, Math.floor(rows / ROWS));
    if (hands < 2) return [];
    const hand = Math.ceil(rows / hands / 32) * 32 * width;
    return Array.from({ length: Math.ceil(data.length / hand) }, (_, at) => data.slice(at * hand, (at + 1) * hand));
  }

  override dispose(): void {
    this.#copies?.then((copies) => copies.forEach((copy) => copy.dispose()), () => {});
    super.dispose();
  }

  async #copied(): Promise<Model[]> {
    const data = await this.save();
    return Promise.all(this.connection.crew.map(async (mate) => new Model(mate, await mate.call(ENGINE, "load", [{ data, source: "model" }]))));
  }
}

type Rows = Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

const isRows = (data: unknown): data is Rows => data instanceof Float32Array || data instanceof Float64Array;

/** Predictions of consecutive rows as one. */
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
