// A training run as the caller sees it: an async iterator of events, with methods to pause, stop, predict and
// checkpoint.
import type { Connection } from "./connection.js";
import { InputError } from "./errors.js";
import { Handle } from "./handle.js";
import { type Input, Model, predicted } from "./model.js";
import { renamed } from "./received.js";
import type {
  Columns,
  ModelInfo,
  Numbers,
  Prediction,
  PredictOptions,
  Remote,
  RowOf,
  RowPrediction,
  Rows,
  Table,
  Task,
  TrainEvent,
} from "./types.js";
import type { State, WireEvent } from "./wire.js";

/**
 * Events requested in advance: enough to continue training while a page draws, few enough to stop soon after the caller
 * stops reading.
 */
const AHEAD = 16;

/**
 * Starts a run on the engine at the other end of a connection and returns its number. With `leader`, the new run
 * follows that run.
 */
export type Begin = (connection: Connection, leader?: Run) => Promise<number>;

/**
 * A training run. `for await` reads its events: the start, one per epoch, and the end with the model. Training
 * continues only while events are read. Leaving the loop ends the run without an end event. The events can be read
 * once.
 */
export class Run<T extends Task = Task> extends Handle implements AsyncIterableIterator<TrainEvent<T>, undefined> {
  #started: Promise<void>;
  #signal: AbortSignal | undefined;
  /** The function that the user called, for messages. */
  #call: string;
  #stop = () => this.stop();
  #info: ModelInfo | undefined;
  /** Events that were requested but not yet read. */
  #requested: Promise<TrainEvent<T> | undefined>[] = [];
  /** Why no more events come. */
  #over: "read to its end" | "left before its end" | "failed" | undefined;

  /** @internal */
  constructor(connection: Connection, begin: Begin, signal?: AbortSignal, call = "train") {
    super(connection, "run");
    this.#signal = signal;
    this.#call = call;
    this.#started = (async () => {
      signal?.throwIfAborted();
      this.attach(await begin(connection));
      signal?.addEventListener("abort", this.#stop);
      if (signal?.aborted) this.stop();
      await this.#addWorkers(begin);
    })();
    this.#requestAhead();
  }

  /** The next event, or `done` after the last one. */
  async next(): Promise<IteratorResult<TrainEvent<T>, undefined>> {
    if (this.#over) return { done: true, value: undefined };
    try {
      const value = await (this.#requested.shift() ?? this.#request());
      if (value?.event === "end") {
        // Without a completed epoch there is nothing to keep: the model has its initial weights.
        if (value.stop === "stopped" && value.bestEpoch === null && this.#signal?.aborted) {
          super.dispose();
          value.model.dispose();
          throw this.#signal.reason;
        }
        this.#end("read to its end");
        // If the engine has ended meanwhile, there is nothing left to delete.
        await this.call("ended", []).catch(() => {});
      } else if (value) this.#requestAhead();
      return { done: !value, value } as IteratorResult<TrainEvent<T>, undefined>;
    } catch (error) {
      this.#end("failed");
      throw renamed(error, "train", this.#call);
    }
  }

  /** Ends the run without an end event. Leaving a `for await` loop calls this. */
  async return(): Promise<IteratorResult<TrainEvent<T>, undefined>> {
    this.dispose();
    return { done: true, value: undefined };
  }

  /** Errors if there are no events left to read. */
  [Symbol.asyncIterator](): this {
    if (this.#over)
      throw new InputError(
        `run: it was ${this.#over}, and its events can be read once: keep what you need of them, or train again`,
        "usage",
      );
    return this;
  }

  /** Pauses the run after the current epoch, until `resume`. */
  pause(): void {
    this.#send("pause");
  }

  /** Continues a paused run. */
  resume(): void {
    this.#send("resume");
  }

  /** Ends the run early, in the middle of the current epoch. The end event holds the best model so far. */
  stop(): void {
    this.#send("stop");
  }

  /** Predicts with the weights after the current epoch, or with the final model if the run has ended. */
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
  async predict(x: Input, options: PredictOptions = {}): Promise<unknown> {
    return predicted(
      this.connection,
      this.#info ?? this.#described(),
      x,
      options,
      ({ parcel, transfer }, asked, signal) => this.call("predict", [parcel, asked], { transfer, signal }),
    );
  }

  /** A checkpoint: `Engine.resume` or the `mero` binary continues from it with identical results, bit for bit. */
  async checkpoint(): Promise<Uint8Array<ArrayBuffer>> {
    await this.#started;
    return this.call("checkpoint", []);
  }

  /** @internal Data and checkpoint of a stored run. */
  state(): Promise<State> {
    return this.call("state", []);
  }

  override dispose(): void {
    this.#end("left before its end");
    super.dispose();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
  }

  #end(why: "read to its end" | "left before its end" | "failed"): void {
    this.#over ??= why;
    this.#requested = [];
    this.#signal?.removeEventListener("abort", this.#stop);
  }

  /** Lets the other workers follow this run, if its steps can be shared. */
  async #addWorkers(begin: Begin): Promise<void> {
    const { workers } = this.connection;
    const memory = workers.length > 0 ? await this.call("share", [workers.length + 1]) : undefined;
    if (!memory) return;
    await Promise.all(
      workers.map(async (worker, at) => {
        // If a worker fails, the run is slower and its result is the same.
        const run = await begin(worker, this).catch(() => {});
        if (run) await worker.call(run, "follow", [memory, at + 1]).catch(() => {});
      }),
    );
  }

  #requestAhead(): void {
    while (this.#requested.length < AHEAD) this.#requested.push(this.#request());
  }

  /** The model's description, for predictions during the run. */
  async #described(): Promise<ModelInfo> {
    await this.#started;
    return (this.#info ??= await this.call("about", []));
  }

  #request(): Promise<TrainEvent<T> | undefined> {
    const event = this.#started.then(() => this.call("next", [])).then((event) => event && this.#withModel(event));
    // The error reaches the caller in `next`.
    event.catch(() => {});
    return event;
  }

  #withModel(event: WireEvent): TrainEvent<T> {
    return event.event === "end" ? { ...event, model: new Model<T>(this.connection, event.model) } : event;
  }

  /** Sends a command. If the run no longer exists, it has no effect. */
  #send(call: "pause" | "resume" | "stop"): void {
    this.#started.then(() => this.call(call, [])).catch(() => {});
  }
}
