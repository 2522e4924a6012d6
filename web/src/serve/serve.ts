// The engine's end of a port: receives calls on numbered objects and sends their answers. Runs in the thread that
// starts it.
import * as wasm from "../../pkg/meromorph.js";
import { InputError, type SerializedError } from "../errors.js";
import { read } from "../keep.js";
import type { Description, StepProfile } from "../types.js";
import { ENGINE, type Parcel, type Port, type RemoteModel } from "../wire.js";
import { answered } from "./answers.js";
import { Backup, type LockedName, locked } from "./backup.js";
import { Device } from "./device.js";
import { ServedModel } from "./model.js";
import { checkPoles, plain } from "./parcel.js";
import { type RunSetup, ServedRun } from "./run.js";

/**
 * Called if the engine panics, because its promises then stay pending. One WebAssembly instance serves all ports of a
 * thread.
 */
const crashListeners = new Set<(crash: SerializedError) => void>();
let crash: SerializedError | undefined;

/** Answers calls on `port` with the engine in `module`. */
export function serve(port: Port, module: WebAssembly.Module): void {
  wasm.initSync({ module });
  wasm.on_panic((message: string) => {
    crash = { name: "InternalError", message };
    for (const listen of crashListeners) listen(crash);
  });
  const send = answered(port, (on, call, args) => served.call(on, call, args));
  const onCrash = (crash: SerializedError) => send({ crash });
  const served = new Served(() => {
    crashListeners.delete(onCrash);
    port.close();
  });
  crashListeners.add(onCrash);
  if (crash) onCrash(crash);
}

class Served {
  #device: Device | undefined;
  #objects = new Map<number, object>([[ENGINE, this]]);
  #count = ENGINE;
  /** Profiles that were aborted. */
  #stopped = new Set<number>();
  #ended: () => void;

  constructor(ended: () => void) {
    this.#ended = ended;
  }

  /** Calls a method by name: the messages come from this package's own connection. */
  async call(on: number, call: string, args: unknown[]): Promise<unknown> {
    const object = this.#objects.get(on) as Record<string, (...args: unknown[]) => unknown> | undefined;
    // A follower disposes of itself when its leader ends.
    if (call === "dispose" || call === "follow") this.#objects.delete(on);
    const value = await object?.[call]?.(...args);
    if (call !== "next" || typeof value !== "object" || value === null || !("model" in value)) return value;
    return { ...value, model: this.#remote(value.model as ServedModel) };
  }

  async open(name: unknown, threads: number): Promise<unknown> {
    this.#device = await Device.open(name, threads);
    return this.#device.info;
  }

  describe({ data, source, reading }: Parcel): Description {
    return wasm.describe(data, source, reading) as Description;
  }

  load({ data, source }: Parcel): RemoteModel {
    const { device } = this;
    return this.#remote(new ServedModel(device, device.engine.load(data, source)));
  }

  train(parcel: Parcel, options: unknown, keep: unknown): Promise<number> {
    checkPoles(parcel, options);
    return this.#started(keep, (name) =>
      this.#run(parcel, new Backup(parcel, this.device.canBeLost, name), (engine, { data, source, reading }) =>
        engine.train(data, source, options, reading),
      ),
    );
  }

  continue(parcel: Parcel, checkpoint: unknown, keep: unknown): Promise<number> {
    return this.#started(keep, (name) =>
      this.#continued(parcel, checkpoint, new Backup(parcel, this.device.canBeLost, name)),
    );
  }

  continueKept(keep: unknown): Promise<number> {
    return this.#started(keep, async (name) => {
      const { parcel, checkpoint } = await read(name!.name);
      return this.#continued(parcel, checkpoint, new Backup(parcel, true, name, true));
    });
  }

  /** Measures on a device of its own, which is freed afterwards. */
  async profile(parcel: Parcel, options: unknown, sizes: unknown, id: number): Promise<StepProfile> {
    checkPoles(parcel, options);
    const { data, source, reading } = plain(parcel);
    const goesOn = () => this.#objects.has(ENGINE) && !this.#stopped.has(id);
    try {
      const [report, trace] = (await this.device.engine.profile(data, source, options, reading, sizes, goesOn)) as [
        string,
        string,
      ];
      return { ...JSON.parse(report), trace };
    } finally {
      this.#stopped.delete(id);
    }
  }

  stopProfile(id: number): void {
    this.#stopped.add(id);
  }

  dispose(): void {
    for (const [id, object] of this.#objects) if (id !== ENGINE) (object as ServedModel | ServedRun).dispose();
    this.#objects.clear();
    this.#device?.engine.free();
    this.#ended();
  }

  get device(): Device {
    if (!this.#device) throw new InputError("engine: was not opened", "usage");
    return this.#device;
  }

  /** Starts a run under a locked name. The name is released if starting fails. */
  async #started(keep: unknown, begin: (name: LockedName | undefined) => number | Promise<number>): Promise<number> {
    const name = await locked(keep);
    try {
      return await begin(name);
    } catch (error) {
      name?.release();
      throw error;
    }
  }

  #continued(parcel: Parcel, checkpoint: unknown, backup: Backup): number {
    return this.#run(parcel, backup, (engine, { data, source }) => engine.resume(data, source, checkpoint));
  }

  #run(parcel: Parcel, backup: Backup, begin: RunSetup["begin"]): number {
    const { device } = this;
    return this.#number(
      new ServedRun({ device, backup, begin, serve: (model) => new ServedModel(device, model, parcel.labels) }, parcel),
    );
  }

  #number(object: object): number {
    this.#objects.set(++this.#count, object);
    return this.#count;
  }

  #remote(model: ServedModel): RemoteModel {
    return { id: this.#number(model), info: model.info };
  }
}
