// A training run as its owner sees it: events in order, taken at the owner's pace, and a hand on the brake.
import type { Connection } from "./connection.js";
import { Handle } from "./handle.js";
import { ASKED, Model } from "./model.js";
import { taken } from "./options.js";
import { pack } from "./parcel.js";
import type { Numbers, PredictOptions, Prediction, Table, TrainEvent } from "./types.js";
import type { State, WireEvent } from "./wire.js";

/** So many events may wait to be taken: enough to train on while a page draws, few enough to stop soon after it stopped looking. */
const AHEAD = 16;

/** Begins a run on the engine at the other end of a connection: the one it is for, or one that follows that. Gives its number. */
export type Begin = (connection: Connection, leader?: Run) => Promise<number>;

/**
 * A training run. `for await` over it takes its events: the start, one for each epoch, and the end with the model. It goes on
 * only as long as events are taken, and ends without an end event where the loop is left.
 */
export class Run extends Handle implements AsyncIterableIterator<TrainEvent, undefined> {
  #begun: Promise<void>;
  #signal: AbortSignal | undefined;
  #stop = () => this.stop();
  /** Events asked for and not yet taken. */
  #asked: Promise<TrainEvent | undefined>[] = [];
  #isOver = false;

  /** @internal */
  constructor(connection: Connection, begin: Begin, signal?: AbortSignal) {
    super(connection, "run");
    this.#signal = signal;
    this.#begun = (async () => {
      signal?.throwIfAborted();
      this.attach(await begin(connection));
      signal?.addEventListener("abort", this.#stop);
      if (signal?.aborted) this.stop();
      await this.#gather(begin);
    })();
    this.#askAhead();
  }

  /** The next event; nothing after the last. */
  async next(): Promise<IteratorResult<TrainEvent, undefined>> {
    if (this.#isOver) return { done: true, value: undefined };
    try {
      const value = await (this.#asked.shift() ?? this.#ask());
      if (value?.event === "end") {
        this.#over();
        // With the engine goes what it would have forgotten.
        await this.call("taken", []).catch(() => {});
      } else if (value) this.#askAhead();
      return { done: !value, value } as IteratorResult<TrainEvent, undefined>;
    } catch (error) {
      this.#over();
      throw error;
    }
  }

  /** Ends the run without an end event, as leaving the loop does. */
  async return(): Promise<IteratorResult<TrainEvent, undefined>> {
    this.dispose();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Holds the run after the epoch under way, until `resume`. */
  pause(): void {
    this.#tell("pause");
  }

  /** Lets a paused run go on. */
  resume(): void {
    this.#tell("resume");
  }

  /** Ends the run early: the epoch under way is cut short, and the end event brings the best model so far. */
  stop(): void {
    this.#tell("stop");
  }

  /** Predicts with the weights as they are after the epoch under way; once the run is over, with those of its model. */
  predict(x: Table | Numbers, options: PredictOptions & { masks: "words" }): Promise<Prediction<Uint32Array>>;
  predict(x: Table | Numbers, options?: PredictOptions & { masks?: "bytes" | undefined }): Promise<Prediction>;
  predict(x: Table | Numbers, options: PredictOptions): Promise<Prediction<Uint8Array | Uint32Array>>;
  async predict(x: Table | Numbers, options: PredictOptions = {}): Promise<Prediction<Uint8Array | Uint32Array>> {
    const { masks, precision, signal } = taken("predict", options, ASKED);
    const { parcel, transfer } = await pack("predict", x, "table");
    await this.#begun;
    return this.call("predict", [parcel, masks, precision], { transfer, signal });
  }

  /** All it takes to go on from here bit for bit: bytes for `Engine.resume`, in a browser or by the `mero` binary. */
  async checkpoint(): Promise<Uint8Array<ArrayBuffer>> {
    await this.#begun;
    return this.call("checkpoint", []);
  }

  /** @internal Data and checkpoint of a run that is kept. */
  state(): Promise<State> {
    return this.call("state", []);
  }

  override dispose(): void {
    this.#over();
    super.dispose();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
  }

  #over(): void {
    this.#isOver = true;
    this.#asked = [];
    this.#signal?.removeEventListener("abort", this.#stop);
  }

  /** Has the engines beside this one follow the run, if its steps can be shared. */
  async #gather(begin: Begin): Promise<void> {
    const { crew } = this.connection;
    const memory = crew.length > 0 ? await this.call("share", [crew.length + 1]) : undefined;
    if (!memory) return;
    await Promise.all(crew.map(async (mate, at) => {
      // Without it the run is slower and comes to the same.
      const run = await begin(mate, this).catch(() => {});
      if (run) await mate.call(run, "follow", [memory, at + 1]).catch(() => {});
    }));
  }

  #askAhead(): void {
    while (this.#asked.length < AHEAD) this.#asked.push(this.#ask());
  }

  #ask(): Promise<TrainEvent | undefined> {
    const event = this.#begun.then(() => this.call("next", [])).then((event) => event && this.#told(event));
    // Whoever takes it hears of it.
    event.catch(() => {});
    return event;
  }

  #told(event: WireEvent): TrainEvent {
    return event.event === "end" ? { ...event, model: new Model(this.connection, event.model) } : event;
  }

  /** What is told to a run that is gone needs no answer. */
  #tell(call: "pause" | "resume" | "stop"): void {
    this.#begun.then(() => this.call(call, [])).catch(() => {});
  }
}
