// The demos' one door to the engine.
import init, * as wasm from "../../pkg/meromorph.js";
import type { Arrays, Description, DeviceInfo, DeviceName, EndEvent, EpochEvent, ModelInfo, Numbers, Prediction, StartEvent, Table, TrainOptions } from "../../dist/index.js";

export type { Arrays, Description, DeviceInfo, DeviceName, EpochEvent, ModelInfo, Prediction, StartEvent, Table, TrainOptions };
export type End = Omit<EndEvent, "model"> & { model: Model };
export type TrainEvent = StartEvent | EpochEvent | End;

let ready: Promise<unknown> | undefined;
const start = () => (ready ??= init());

async function named(data: unknown, name: string): Promise<[unknown, string]> {
  if (!(data instanceof Blob)) return [data, name];
  return [new Uint8Array(await data.arrayBuffer()), data instanceof File ? data.name : name];
}

export async function open({ device = "auto" }: { device?: DeviceName } = {}): Promise<Engine> {
  await start();
  return new Engine(await wasm.open(device));
}

export async function describe(data: Table): Promise<Description> {
  await start();
  return wasm.describe(...(await named(data, "table")));
}

export class Engine {
  readonly info: DeviceInfo;
  constructor(private engine: wasm.Engine) { this.info = engine.info(); }
  train(data: Table | Arrays, options: TrainOptions): Run {
    const { signal, ...rest } = options;
    return new Run(named(data, "data").then((all) => this.engine.train(...all, rest)), signal);
  }
  async load(data: Uint8Array | Blob): Promise<Model> {
    return new Model(this.engine.load(...(await named(data, "model"))));
  }
}

export class Run {
  #held: Promise<void> = Promise.resolve();
  #let: (() => void) | undefined;
  #last: Promise<unknown> = Promise.resolve();
  constructor(private training: Promise<wasm.Training>, signal?: AbortSignal) {
    training.catch(() => {});
    signal?.addEventListener("abort", () => this.stop());
  }
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
  async *[Symbol.asyncIterator](): AsyncGenerator<TrainEvent, void> {
    const training = await this.training;
    yield training.start_event();
    for (;;) {
      await this.#held;
      await new Promise((resolve) => setTimeout(resolve));
      const event = await this.#alone(() => training.next());
      if (event.event === "end") event.model = new Model(await this.#alone(() => training.model()));
      yield event;
      if (event.event === "end") return;
    }
  }
  pause(): void { this.#held = new Promise((resolve) => { this.#let = resolve; }); }
  resume(): void { this.#let?.(); }
  stop(): void { this.resume(); this.training.then((training) => training.stop()).catch(() => {}); }
  predict(x: Table | Numbers): Promise<Prediction> {
    return this.#alone(async () => new Model(await (await this.training).model()).predict(x));
  }
}

export class Model {
  readonly info: ModelInfo;
  constructor(private model: wasm.Model) { this.info = model.info(); }
  async predict(x: Table | Numbers): Promise<Prediction> { return this.model.predict(...(await named(x, "table"))); }
  async save(): Promise<Uint8Array> { return this.model.save(); }
}
