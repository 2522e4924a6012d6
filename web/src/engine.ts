// An open device at the other end of a connection: starts runs, takes them up, loads models.
import type { Connection } from "./connection.js";
import { InputError, shown } from "./errors.js";
import { download } from "./fetch.js";
import { Handle } from "./handle.js";
import { Model } from "./model.js";
import { divided, taken } from "./options.js";
import { copied, pack, type Packed } from "./parcel.js";
import { type Begin, Run } from "./run.js";
import type { Arrays, DeviceInfo, LoadOptions, ModelSource, ResumeOptions, Table, TrainOptions } from "./types.js";
import { ENGINE } from "./wire.js";

/** An open device. Its runs and models live with it: save what should outlast it. */
export class Engine extends Handle {
  readonly info: DeviceInfo;

  /** @internal */
  constructor(connection: Connection, info: DeviceInfo) {
    super(connection, "engine");
    this.info = info;
    this.attach(ENGINE);
  }

  /**
   * Trains a model on a table or on arrays: events, the last with the model. Data are copied before this returns. The run begins
   * at once, and goes on at most 16 epochs ahead of the events taken.
   */
  train(data: Table | Arrays, options: TrainOptions = {}): Run {
    const { signal, keep, rest } = divided("train", options);
    const packed = pack("train", data, "data");
    return new Run(this.connection, this.#beginning("train", packed, rest, keep), signal);
  }

  /** Takes up the run of a checkpoint, on the same data: it goes on where it stood, bit for bit on the same device. */
  resume(data: Table | Arrays, checkpoint: Uint8Array, options: ResumeOptions = {}): Run {
    const { signal, keep } = taken("resume", options, ["signal", "keep"]);
    const packed = pack("resume", data, "data");
    return new Run(this.connection, this.#beginning("continue", packed, copied("resume", checkpoint, []), keep), signal);
  }

  /** Takes up a run that was kept under `name` (see {@link TrainOptions.keep}), and goes on keeping it. */
  resumeKept(name: string, options: Pick<ResumeOptions, "signal"> = {}): Run {
    const { signal } = taken("resumeKept", options, ["signal"]);
    const begin: Begin = async (connection, leader) => {
      if (!leader) return connection.call(ENGINE, "continueKept", [name ?? null]);
      const { parcel, checkpoint } = await leader.state();
      return connection.call(ENGINE, "continue", [parcel, checkpoint, undefined]);
    };
    return new Run(this.connection, begin, signal);
  }

  /** Reads a model file, written by a browser or by the `mero` binary. */
  async load(source: ModelSource, options: LoadOptions = {}): Promise<Model> {
    const { signal, onProgress } = taken("load", options, ["signal", "onProgress"]);
    signal?.throwIfAborted();
    if (onProgress && typeof onProgress !== "function") throw new InputError(`load: onProgress is ${shown(onProgress)}, wanted a function`, "usage");
    const isRemote = source instanceof Response || source instanceof URL || typeof source === "string";
    const [data, name] = isRemote ? await download(source, this.#until(signal), onProgress) : [source, "model"];
    const { parcel, transfer } = await pack("load", data, name);
    return new Model(this.connection, await this.call("load", [parcel], { transfer, signal }));
  }

  /** Aborted with the engine's end, and with the caller's signal. Where signals cannot be joined the latter has to do. */
  #until(signal: AbortSignal | undefined): AbortSignal | undefined {
    const { ended } = this.connection;
    return signal ? AbortSignal.any?.([signal, ended]) ?? signal : ended;
  }

  /** What begins a run on an engine: this one, which alone keeps it, or one that makes its steps together with this one. */
  #beginning(call: "train" | "continue", packed: Promise<Packed>, what: unknown, keep: unknown): Begin {
    return async (connection, leader) => {
      const { parcel, transfer } = await packed;
      // Data are given away where nobody else needs them.
      const isAlone = !leader && connection.crew.length === 0;
      return connection.call(ENGINE, call, [parcel, what, leader ? undefined : keep], isAlone ? { transfer } : {});
    };
  }

  /** Ends the engine with its runs and models. */
  override dispose(): void {
    this.connection.close(new InputError("engine: was disposed of", "usage"));
    super.dispose();
  }
}
