// A training run on a device: computes one epoch per requested event, answers other calls between epochs, and recovers
// if the device is lost.
import type * as wasm from "../../pkg/meromorph.js";
import { InputError } from "../errors.js";
import type { EndEvent, EpochEvent, ModelInfo, StartEvent } from "../types.js";
import type { Parcel, Predicting, RemotePrediction, State } from "../wire.js";
import type { Backup } from "./backup.js";
import { type Device, isDeviceLoss } from "./device.js";
import { described, flagged, type ServedModel } from "./model.js";
import { plain } from "./parcel.js";
import { memory, Share } from "./share.js";

type EngineEvent = StartEvent | EpochEvent | Omit<EndEvent, "model">;
export type ServedEvent = StartEvent | EpochEvent | (Omit<EndEvent, "model"> & { model: ServedModel });

/** What is needed to start a run. */
export interface RunSetup {
  device: Device;
  backup: Backup;
  /** Starts the run on an engine. */
  begin(engine: wasm.Engine, parcel: Parcel): wasm.Training;
  serve(model: wasm.Model): ServedModel;
}

export class ServedRun {
  #setup: RunSetup;
  #engine: wasm.Engine;
  #training: wasm.Training;
  #start: StartEvent;
  #isStarted = false;
  #epochs: number;
  #last: ServedModel | undefined;
  /** The types of the columns. */
  #labels: Parcel["labels"];
  #share: Share | undefined;
  /** Whether the device was lost and no call has succeeded since. */
  #hasJustRecovered = false;
  #isPaused = false;
  #isStopped = false;
  #isOver = false;
  #isDisposed = false;
  #isBusy = false;
  #queries: (() => Promise<void>)[] = [];
  #nexts: (() => Promise<void>)[] = [];

  constructor(setup: RunSetup, parcel: Parcel) {
    this.#setup = setup;
    this.#engine = setup.device.engine;
    this.#labels = parcel.labels;
    this.#training = setup.begin(this.#engine, plain(parcel));
    this.#start = this.#training.start_event() as StartEvent;
    this.#epochs = this.#start.epochsDone;
  }

  /** The next event; undefined after the end event. */
  next(): Promise<ServedEvent | undefined> {
    return this.#queued(this.#nexts, () =>
      this.#event().catch((error: unknown) => {
        // This run has failed, but its stored checkpoint can be resumed.
        this.#setup.backup.release();
        throw error;
      }),
    );
  }

  /**
   * Makes this run the leader of `workers` runs that compute each step together. Undefined if its steps cannot be
   * shared.
   */
  share(workers: number): SharedArrayBuffer | undefined {
    const words = this.#training.piece_words();
    if (words === 0) return undefined;
    const shared = memory(workers, words);
    this.#join(shared, 0);
    return shared;
  }

  /** Follows the leader as worker `index` until the leader ends or leaves. Returns at once; errors are not reported. */
  follow(shared: SharedArrayBuffer, index: number): void {
    this.#join(shared, index);
    const follow = async () => {
      while (await this.next());
    };
    void follow()
      .catch(() => {})
      .finally(() => {
        this.#finish();
        this.#last?.dispose();
      });
  }

  /** Data and checkpoint, from which a follower starts. */
  async state(): Promise<State> {
    return { parcel: this.#setup.backup.parcel, checkpoint: await this.checkpoint() };
  }

  #join(shared: SharedArrayBuffer, index: number): void {
    this.#share = new Share(shared, index, () => this.stop());
    this.#training.share(this.#share);
  }

  pause(): void {
    // A stopped run must still reach its end event.
    this.#isPaused = !this.#isStopped;
  }

  resume(): void {
    this.#isPaused = false;
    void this.#work();
  }

  stop(): void {
    this.#isStopped = true;
    if (!this.#isOver) this.#training.stop();
    this.resume();
  }

  /** Predicts with the current weights. */
  predict(parcel: Parcel, options: Predicting): Promise<RemotePrediction> {
    return this.#queued(this.#queries, async () => {
      if (this.#last) return this.#last.predict(parcel, options);
      const { masks, ...how } = options;
      const { data, source, reading } = plain(parcel);
      return this.#withRecovery(async (training) => {
        const model = await training.model();
        try {
          return flagged(await model.predict(data, source, { how, reading }), masks);
        } finally {
          model.free();
        }
      });
    });
  }

  /** The description of the model. */
  about(): Promise<ModelInfo> {
    return this.#queued(
      this.#queries,
      async () =>
        this.#last?.info ??
        this.#withRecovery(async (training) => {
          const model = await training.model();
          try {
            return described(model, this.#labels);
          } finally {
            model.free();
          }
        }),
    );
  }

  checkpoint(): Promise<Uint8Array> {
    return this.#queued(this.#queries, () => {
      if (this.#isOver) throw new InputError("checkpoint: the run is over; save its model instead", "usage");
      return this.#withRecovery((training) => training.checkpoint());
    });
  }

  /** The caller has received the end event: the stored run is deleted. */
  ended(): Promise<void> {
    return this.#setup.backup.end();
  }

  /** Ends the run after the current call. A stored checkpoint stays. */
  dispose(): void {
    this.#isDisposed = true;
    this.#nexts = [];
    this.#share?.leave();
    this.#queries.push(async () => {
      this.#setup.backup.release();
      this.#finish();
    });
    this.stop();
  }

  #queued<T>(queue: (() => Promise<void>)[], work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      queue.push(() => new Promise<T>((done) => done(work())).then(resolve, reject));
      void this.#work();
    });
  }

  /** Handles the queued calls one after the other: the bindings accept one call at a time. */
  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (;;) {
      const work = this.#queries.shift() ?? (this.#isPaused ? undefined : this.#nexts.shift());
      if (!work) break;
      await work();
    }
    this.#isBusy = false;
  }

  async #event(): Promise<ServedEvent | undefined> {
    if (this.#isOver) return undefined;
    if (!this.#isStarted) {
      this.#isStarted = true;
      return this.#start;
    }
    await this.#share?.startEpoch();
    const event = await this.#withRecovery(async (training) => {
      const event = (await training.next()) as EngineEvent;
      if (this.#isDisposed) return undefined;
      if (event.event === "epoch") await this.#setup.backup.epoch(training, event, this.#start);
      if (event.event !== "end") return event;
      return { ...event, model: this.#setup.serve(await training.model()) };
    });
    if (event?.event === "epoch") this.#epochs = event.epoch + 1;
    if (event?.event === "end") {
      this.#last = event.model;
      this.#finish();
    }
    return event;
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#share?.leave();
    this.#training.free();
    this.#setup.backup.clear();
  }

  /** Runs `work`; if the device is lost, recovers and runs it again. */
  async #withRecovery<T>(work: (training: wasm.Training) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const answer = await work(this.#training);
        this.#hasJustRecovered = false;
        return answer;
      } catch (error) {
        if (!isDeviceLoss(error) || this.#hasJustRecovered) throw error;
        this.#hasJustRecovered = true;
        await this.#recover();
      }
    }
  }

  /** Continues from the last checkpoint on another device, up to the last epoch that was reported. */
  async #recover(): Promise<void> {
    const { device, backup, begin } = this.#setup;
    this.#engine = await device.replace(this.#engine);
    const { last } = backup;
    const given = plain(backup.parcel);
    const training = last ? this.#engine.resume(given.data, given.source, last) : begin(this.#engine, given);
    let { epochsDone } = training.start_event() as StartEvent;
    while (epochsDone < this.#epochs) epochsDone = ((await training.next()) as EpochEvent).epoch + 1;
    this.#training.free();
    this.#training = training;
    if (this.#isStopped) training.stop();
  }
}
