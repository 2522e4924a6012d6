// A training run on a device: an epoch for each event asked for, other questions in between, and a way on where the device is lost.
import type * as wasm from "../../pkg/meromorph.js";
import { InputError } from "../errors.js";
import type { EndEvent, EpochEvent, Prediction, StartEvent } from "../types.js";
import type { Parcel, State } from "../wire.js";
import { type Device, isLoss } from "./device.js";
import type { Mirror } from "./mirror.js";
import { flagged, type ServedModel } from "./model.js";
import { plain } from "./parcel.js";
import { memory, Share } from "./share.js";

type Happening = StartEvent | EpochEvent | Omit<EndEvent, "model">;
export type ServedEvent = StartEvent | EpochEvent | (Omit<EndEvent, "model"> & { model: ServedModel });

/** What a run is made of. */
export interface Origin {
  device: Device;
  mirror: Mirror;
  /** Begins the run, on any engine. */
  begin(engine: wasm.Engine, parcel: Parcel): wasm.Training;
  own(model: wasm.Model): ServedModel;
}

export class ServedRun {
  #origin: Origin;
  #engine: wasm.Engine;
  #training: wasm.Training;
  #start: StartEvent;
  #isStarted = false;
  #epochs: number;
  #last: ServedModel | undefined;
  #share: Share | undefined;
  /** The device was lost, and nothing was done since. */
  #isShaken = false;
  #isPaused = false;
  #isStopped = false;
  #isOver = false;
  #isLeft = false;
  #isBusy = false;
  #questions: (() => Promise<void>)[] = [];
  #nexts: (() => Promise<void>)[] = [];

  constructor(origin: Origin, parcel: Parcel) {
    this.#origin = origin;
    this.#engine = origin.device.engine;
    this.#training = origin.begin(this.#engine, plain(parcel));
    this.#start = this.#training.start_event() as StartEvent;
    this.#epochs = this.#start.epochsDone;
  }

  /** The next event; nothing once the end was told. */
  next(): Promise<ServedEvent | undefined> {
    return this.#queued(this.#nexts, () => this.#event().catch((error: unknown) => {
      // It goes on no more, but what is kept of it may.
      this.#origin.mirror.leave();
      throw error;
    }));
  }

  /** Memory for `members` to make each step together, of which this run leads; nothing where its steps cannot be shared. */
  share(members: number): SharedArrayBuffer | undefined {
    const words = this.#training.piece_words();
    if (words === 0) return undefined;
    const shared = memory(members, words);
    this.#join(shared, 0);
    return shared;
  }

  /** Goes on in step with the leader, as member `own`, until the leader ends or leaves. Nobody waits for that, nor hears of it. */
  follow(shared: SharedArrayBuffer, own: number): void {
    this.#join(shared, own);
    const follow = async () => { while (await this.next()); };
    void follow().catch(() => {}).finally(() => {
      this.#finish();
      this.#last?.dispose();
    });
  }

  /** Data and checkpoint, for runs that follow. */
  async state(): Promise<State> {
    return { parcel: this.#origin.mirror.parcel, checkpoint: await this.checkpoint() };
  }

  #join(shared: SharedArrayBuffer, own: number): void {
    this.#share = new Share(shared, own, () => this.stop());
    this.#training.share(this.#share);
  }

  pause(): void {
    // What was stopped comes to its end.
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

  /** Predicts with the weights of now. */
  predict(parcel: Parcel, masks: unknown, precision: unknown): Promise<Prediction<Uint8Array | Uint32Array>> {
    return this.#queued(this.#questions, async () => {
      if (this.#last) return this.#last.predict(parcel, masks, precision);
      const { data, source } = plain(parcel);
      return this.#surely(async (training) => {
        const model = await training.model();
        try {
          return flagged(await model.predict(data, source, precision), masks);
        } finally {
          model.free();
        }
      });
    });
  }

  checkpoint(): Promise<Uint8Array> {
    return this.#queued(this.#questions, () => {
      if (this.#isOver) throw new InputError("checkpoint: the run is over; save its model instead", "usage");
      return this.#surely((training) => training.checkpoint());
    });
  }

  /** Nobody needs what is kept any more: the end was told, and taken. */
  taken(): Promise<void> {
    return this.#origin.mirror.end();
  }

  /** Ends the run, after what is under way. What is kept of it stays. */
  dispose(): void {
    this.#isLeft = true;
    this.#nexts = [];
    this.#share?.leave();
    this.#questions.push(async () => {
      this.#origin.mirror.leave();
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

  /** Does what is asked for, one thing at a time: the bindings take one call at a time. */
  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (;;) {
      const work = this.#questions.shift() ?? (this.#isPaused ? undefined : this.#nexts.shift());
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
    await this.#share?.turn();
    const event = await this.#surely(async (training) => {
      const event = await training.next() as Happening;
      if (this.#isLeft) return undefined;
      if (event.event === "epoch") await this.#origin.mirror.epoch(training, event, this.#start);
      if (event.event !== "end") return event;
      return { ...event, model: this.#origin.own(await training.model()) };
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
    this.#origin.mirror.drop();
  }

  /** `work`, and once more where the device was lost on the way. */
  async #surely<T>(work: (training: wasm.Training) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const answer = await work(this.#training);
        this.#isShaken = false;
        return answer;
      } catch (error) {
        if (!isLoss(error) || this.#isShaken) throw error;
        this.#isShaken = true;
        await this.#recover();
      }
    }
  }

  /** Goes on from the last checkpoint, on another device, as far as was told. */
  async #recover(): Promise<void> {
    const { device, mirror, begin } = this.#origin;
    this.#engine = await device.instead(this.#engine);
    const { last } = mirror;
    const given = plain(mirror.parcel);
    const training = last ? this.#engine.resume(given.data, given.source, last) : begin(this.#engine, given);
    let { epochsDone } = training.start_event() as StartEvent;
    while (epochsDone < this.#epochs) epochsDone = (await training.next() as EpochEvent).epoch + 1;
    this.#training.free();
    this.#training = training;
    if (this.#isStopped) training.stop();
  }
}
