// A trained model at the other end of a connection.
import type { Connection } from "./connection.js";
import { Handle } from "./handle.js";
import { split } from "./options.js";
import { pack } from "./parcel.js";
import type { ModelInfo, Numbers, PredictOptions, Prediction, Table } from "./types.js";
import type { Distant } from "./wire.js";

/** A trained model. */
export class Model extends Handle {
  readonly info: ModelInfo;

  /** @internal */
  constructor(connection: Connection, { id, info }: Distant) {
    super(connection, "model");
    this.info = info;
    this.attach(id);
  }

  /** Predicts a table, whose columns are found by name, or rows of numbers in the order of `info.columns`. */
  predict(x: Table | Numbers, options: PredictOptions & { masks: "words" }): Promise<Prediction<Uint32Array>>;
  predict(x: Table | Numbers, options?: PredictOptions & { masks?: "bytes" }): Promise<Prediction>;
  async predict(x: Table | Numbers, options: PredictOptions = {}): Promise<Prediction<Uint8Array | Uint32Array>> {
    const { signal } = split("predict", options);
    const { parcel, transfer } = await pack("predict", x, "table");
    return this.call("predict", [parcel, options.masks], { transfer, signal });
  }

  /** The bytes of the model's file, which a browser and the `mero` binary read. */
  save(): Promise<Uint8Array> {
    return this.call("save", []);
  }
}
