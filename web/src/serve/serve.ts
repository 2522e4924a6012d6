// The engine's end of a port: objects by number, calls on them, their answers. Runs in whatever thread it is started in.
import * as wasm from "../../pkg/meromorph.js";
import { InputError, packed, type PackedError } from "../errors.js";
import { read } from "../keep.js";
import type { Description } from "../types.js";
import { type Answer, type Call, type Distant, ENGINE, type Parcel, type Port } from "../wire.js";
import { Device } from "./device.js";
import { held, Mirror, type Name } from "./mirror.js";
import { ServedModel } from "./model.js";
import { checkPoles, plain } from "./parcel.js";
import { type Origin, ServedRun } from "./run.js";

/** Those to tell should the engine panic: its promises then stay pending. One WebAssembly serves all ports of a thread. */
const mourners = new Set<(died: PackedError) => void>();
let died: PackedError | undefined;

/** Answers calls on `port` with the engine in `module`. */
export function serve(port: Port, module: WebAssembly.Module): void {
  wasm.initSync({ module });
  wasm.on_panic((message: string) => {
    died = { name: "InternalError", message };
    for (const tell of mourners) tell(died);
  });
  const send = (answer: Answer, transfer: Transferable[] = []) => port.postMessage(answer, transfer);
  const mourn = (died: PackedError) => send({ died });
  const served = new Served(() => {
    mourners.delete(mourn);
    port.close();
  });
  mourners.add(mourn);
  if (died) mourn(died);
  port.onmessage = async ({ data: { id, on, call, args } }: MessageEvent<Call>) => {
    try {
      const value = await served.call(on, call, args);
      send({ id, value }, buffers(value));
    } catch (error) {
      send({ id, error: packed(error) });
    }
  };
}

/** Fresh buffers in an answer, which are given away. */
function buffers(value: unknown): ArrayBuffer[] {
  const parts = typeof value === "object" && value !== null && !ArrayBuffer.isView(value) ? Object.values(value) : [value];
  return parts.filter((part) => ArrayBuffer.isView(part)).map(({ buffer }) => buffer as ArrayBuffer);
}

class Served {
  #device: Device | undefined;
  #objects = new Map<number, object>([[ENGINE, this]]);
  #count = ENGINE;
  #ended: () => void;

  constructor(ended: () => void) {
    this.#ended = ended;
  }

  /** What came over the port was made by this package's own other end, so calls go by name. */
  async call(on: number, call: string, args: unknown[]): Promise<unknown> {
    const object = this.#objects.get(on) as Record<string, (...args: unknown[]) => unknown> | undefined;
    // A run that follows lives as long as there is somebody to follow.
    if (call === "dispose" || call === "follow") this.#objects.delete(on);
    const value = await object?.[call]?.(...args);
    if (call !== "next" || typeof value !== "object" || value === null || !("model" in value)) return value;
    return { ...value, model: this.#distant(value.model as ServedModel) };
  }

  async open(name: unknown, threads: number): Promise<unknown> {
    this.#device = await Device.open(name, threads);
    return this.#device.info;
  }

  describe({ data, source }: Parcel): Description {
    return wasm.describe(data, source) as Description;
  }

  load({ data, source }: Parcel): Distant {
    const { device } = this;
    return this.#distant(new ServedModel(device, device.engine.load(data, source)));
  }

  train(parcel: Parcel, options: unknown, keep: unknown): Promise<number> {
    checkPoles(parcel, options);
    return this.#begun(keep, (name) =>
      this.#run(parcel, new Mirror(parcel, this.device.isMortal, name), (engine, { data, source }) => engine.train(data, source, options)));
  }

  continue(parcel: Parcel, checkpoint: unknown, keep: unknown): Promise<number> {
    return this.#begun(keep, (name) => this.#continued(parcel, checkpoint, new Mirror(parcel, this.device.isMortal, name)));
  }

  continueKept(keep: unknown): Promise<number> {
    return this.#begun(keep, async (name) => {
      const { parcel, checkpoint } = await read(name!.name);
      return this.#continued(parcel, checkpoint, new Mirror(parcel, true, name, true));
    });
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

  /** Begins a run under a name, which is given up should it come to nothing. */
  async #begun(keep: unknown, begin: (name: Name | undefined) => number | Promise<number>): Promise<number> {
    const name = await held(keep);
    try {
      return await begin(name);
    } catch (error) {
      name?.leave();
      throw error;
    }
  }

  #continued(parcel: Parcel, checkpoint: unknown, mirror: Mirror): number {
    return this.#run(parcel, mirror, (engine, { data, source }) => engine.resume(data, source, checkpoint));
  }

  #run(parcel: Parcel, mirror: Mirror, begin: Origin["begin"]): number {
    const { device } = this;
    return this.#number(new ServedRun({ device, mirror, begin, own: (model) => new ServedModel(device, model) }, parcel));
  }

  #number(object: object): number {
    this.#objects.set(++this.#count, object);
    return this.#count;
  }

  #distant(model: ServedModel): Distant {
    return { id: this.#number(model), info: model.info };
  }
}
