// An open device at the other end of a connection: starts runs, resumes them, loads models.
import type { Connection } from "./connection.js";
import { checkPassable, InputError, shown } from "./errors.js";
import { download } from "./fetch.js";
import { Handle } from "./handle.js";
import { Model } from "./model.js";
import { divided, taken } from "./options.js";
import { copied, type Packed, pack } from "./parcel.js";
import { renamed } from "./received.js";
import { type Begin, Run } from "./run.js";
import { isAddress, unknownText } from "./text.js";
import type {
  Arrays,
  DeviceInfo,
  Fit,
  FitOptions,
  LoadOptions,
  ModelSource,
  ProfileOptions,
  ReadingOptions,
  ResumeOptions,
  StartEvent,
  StepProfile,
  TableSource,
  Task,
  TrainOptions,
} from "./types.js";
import { ENGINE } from "./wire.js";

/** Errors if one of these options is given and no function. */
function checkFunctions(call: string, options: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (value && typeof value !== "function")
      throw new InputError(`${call}: ${name} is ${shown(value)}, expected a function`, "usage");
  }
}

/**
 * Whether a run with these options reads a column: those that it ignores, and with `features` all that no option names,
 * may hold anything.
 */
function columnsUsed({
  ignore,
  features,
  ...others
}: Pick<TrainOptions, "ignore" | "features">): (name: string) => boolean {
  const list = (names: unknown): unknown[] => (Array.isArray(names) ? names : [names]);
  const ignored = new Set(list(ignore));
  const named = features && new Set([features, ...Object.values(others)].flatMap(list));
  return (name) => !ignored.has(name) && (!named || named.has(name));
}

/** An open device. Disposing of it disposes of its runs and models too: save a model before that. */
export class Engine extends Handle {
  readonly info: DeviceInfo;
  #profiles = 0;

  /** @internal */
  constructor(connection: Connection, info: DeviceInfo) {
    super(connection, "engine");
    this.info = info;
    this.attach(ENGINE);
  }

  /**
   * Trains a model on a table or on arrays and resolves with it, once the run has ended. `onEpoch` is called after
   * every epoch. An aborted signal ends the run early, with its best model; before the first epoch was completed, the
   * promise is rejected with the signal's reason.
   */
  async fit<T extends Task = Task>(data: TableSource | Arrays, options: FitOptions<T> = {}): Promise<Fit<T>> {
    const { onStart, onEpoch, ...rest } = options ?? {};
    checkFunctions("fit", { onStart, onEpoch });
    const run = this.#run<T>("fit", data, rest);
    let start: StartEvent | undefined;
    for await (const event of run) {
      if (event.event === "epoch") onEpoch?.(event);
      if (event.event === "start") {
        start = event;
        onStart?.(event);
      }
      if (event.event !== "end") continue;
      const { event: _event, ...fit } = { ...start!, ...event, warnings: [...start!.warnings, ...event.warnings] };
      if (fit.stop === "diverged") {
        const lr = rest.lr ?? (rest as { learningRate?: number }).learningRate;
        const message = `the loss diverged in epoch ${fit.epochs}; try a smaller learning rate, lr${lr ? `: ${+(lr / 10).toPrecision(3)}` : ""}`;
        if (fit.bestEpoch === null) throw new InputError(`fit: ${message}`, "usage");
        fit.warnings.push({ column: fit.model.info.target, message, cells: [] });
      }
      return fit as Fit<T>;
    }
    throw new InputError("fit: the run was disposed of", "usage");
  }

  /**
   * Trains a model on a table or on arrays. The run is an async iterator of events; the last one holds the model. Data
   * are copied before this method returns. Training starts at once and runs at most 16 epochs ahead of the events read.
   */
  train<T extends Task = Task>(data: TableSource | Arrays, options: TrainOptions & { task?: T } = {}): Run<T> {
    return this.#run("train", data, options);
  }

  #run<T extends Task>(call: string, data: unknown, options: TrainOptions): Run<T> {
    const { signal, keep, reading, rest } = divided(call, options);
    if (Array.isArray(rest.target)) {
      throw new InputError(
        `${call}: target: got an array: several targets in one model are not possible yet; train one model for each target, and leave the others out with ignore`,
        "usage",
      );
    }
    const packed = this.#packed(call, data, signal, rest.target, reading, rest);
    return new Run(this.connection, this.#starter("train", packed, rest, keep), signal, call);
  }

  /**
   * Resumes the run of a checkpoint on the same data. On the same device the result is identical, bit for bit, to a run
   * without interruption.
   */
  resume(data: TableSource | Arrays, checkpoint: Uint8Array, options: ResumeOptions = {}): Run {
    const { signal, keep } = taken("resume", options, ["signal", "keep"]);
    checkPassable("resume: checkpoint", checkpoint, "its bytes");
    const packed = this.#packed("resume", data, signal, null);
    return new Run(this.connection, this.#starter("continue", packed, copied("resume", checkpoint, []), keep), signal);
  }

  /** Resumes a run that was stored under `name` (see {@link TrainOptions.keep}), and continues to store it. */
  resumeKept(name: string, options: Pick<ResumeOptions, "signal"> = {}): Run {
    const { signal } = taken("resumeKept", options, ["signal"]);
    const begin: Begin = async (connection, leader) => {
      if (!leader) return connection.call(ENGINE, "continueKept", [name ?? null]);
      const { parcel, checkpoint } = await leader.state();
      return connection.call(ENGINE, "continue", [parcel, checkpoint, undefined]);
    };
    return new Run(this.connection, begin, signal);
  }

  /**
   * Measures where the time of a training step goes, launch by launch: trains for some seconds as {@link train} would
   * with these options, on a second device of the same kind, and measures what that device can do at best. Errors if
   * the GPU has no timestamps. On the CPU one thread is measured. Browsers round all clocks, so times are means over
   * many steps. Close other busy programs, and run nothing else on the engine meanwhile.
   */
  async profile(data: TableSource | Arrays, options: ProfileOptions = {}): Promise<StepProfile> {
    const {
      signal,
      keep,
      reading,
      rest: { steps, windows, ...train },
    } = divided<ProfileOptions>("profile", options);
    const { parcel, transfer, target } = await this.#packed("profile", data, signal, train.target, reading, train);
    const id = ++this.#profiles;
    const stop = () => void this.call("stopProfile", [id]).catch(() => {});
    signal?.addEventListener("abort", stop, { once: true });
    try {
      // The engine refuses `keep`.
      return await this.call("profile", [parcel, { target, ...train, keep }, { steps, windows }, id], {
        transfer,
        signal,
      });
    } catch (error) {
      throw renamed(error, "train", "profile");
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  /** Loads a model file that was written by a browser or by the `mero` binary. */
  async load(source: ModelSource, options: LoadOptions = {}): Promise<Model> {
    const { signal, onProgress } = taken("load", options, ["signal", "onProgress"]);
    signal?.throwIfAborted();
    checkFunctions("load", { onProgress });
    const isRemote = source instanceof Response || source instanceof URL || typeof source === "string";
    const { request } = this.connection;
    // Outside a page a text is also a path, whose name may have any signs; nothing is sent.
    const isPath =
      !(globalThis as { location?: unknown }).location &&
      typeof source === "string" &&
      source.length < 4096 &&
      !/^https?:|^\s*[[{]|[\r\n]/i.test(source);
    if (typeof source === "string" && !isPath && !isAddress(source))
      throw unknownText("load", source, "the bytes of a model file, or its URL");
    const [data, name] = isRemote
      ? await download(source, {
          call: "load",
          expected: "a model file",
          request,
          signal: this.#signal(signal),
          onProgress,
        })
      : [source, undefined];
    const { parcel, transfer } = await pack("load", data, name ?? "model");
    return new Model(this.connection, await this.call("load", [parcel], { transfer, signal }));
  }

  /** Packs what is trained on. Without a target, `{ x, y }` are always arrays. */
  #packed(
    call: string,
    data: unknown,
    signal: AbortSignal | undefined,
    target: string | null | undefined,
    reading?: ReadingOptions,
    options?: object,
  ): Promise<Packed> {
    const arrays = target === undefined ? "always" : "alone";
    return pack(call, data, "data", {
      reading,
      arrays,
      isUsed: options && columnsUsed(options),
      request: this.connection.request,
      signal: this.#signal(signal),
    });
  }

  /**
   * A signal that aborts when the engine ends or the caller's signal aborts. Runtimes without `AbortSignal.any` use the
   * caller's signal alone.
   */
  #signal(signal: AbortSignal | undefined): AbortSignal | undefined {
    const { ended } = this.connection;
    return signal ? (AbortSignal.any?.([signal, ended]) ?? signal) : ended;
  }

  /**
   * Returns the function that starts a run on an engine: on this one, which alone stores it, or on a worker that
   * follows this one.
   */
  #starter(call: "train" | "continue", packed: Promise<Packed>, what: unknown, keep: unknown): Begin {
    return async (connection, leader) => {
      const { parcel, transfer, target } = await packed;
      const options = call === "train" ? { target, ...(what as TrainOptions) } : what;
      // The buffers can be transferred if no other worker needs them.
      const isAlone = !leader && connection.workers.length === 0;
      return connection.call(ENGINE, call, [parcel, options, leader ? undefined : keep], isAlone ? { transfer } : {});
    };
  }

  /** Ends the engine, its runs and its models. */
  override dispose(): void {
    this.connection.close(new InputError("engine: was disposed of", "usage"));
    super.dispose();
  }
}
