// A memory at its end of a port: learns or loads it, then finds rows. It has a thread of its own.
import * as wasm from "../../pkg/contrast/meromorph.js";
import type { LabelledRows, MemoryCalls, Port, RemoteEpoch, RemoteFound, RemoteMemory } from "../wire.js";
import { answered } from "./answers.js";

/** Answers calls on `port` with the WebAssembly in `module`. */
export function serve(port: Port, module: WebAssembly.Module): void {
  wasm.initSync({ module });
  const served = new ServedMemory() as unknown as Record<string, (...args: unknown[]) => unknown>;
  // By name: the messages come from this package's own connection.
  const send = answered(port, async (_, call, args) => served[call]!(...args));
  wasm.on_panic((message: string) => send({ crash: { name: "InternalError", message } }));
}

class ServedMemory implements Async<MemoryCalls> {
  #learner: wasm.Learner | undefined;
  #memory: wasm.Memory | undefined;

  async learn({ x, inputs, classes, names, isNumeric }: LabelledRows, options: unknown): Promise<void> {
    this.#learner = new wasm.Learner(x, inputs, classes, names, isNumeric, options);
  }

  learnEpoch(isWatched: boolean): Promise<RemoteEpoch | undefined> {
    return this.#learner!.epoch(isWatched);
  }

  async learned(): Promise<RemoteMemory> {
    const memory = await this.#learner!.memory();
    this.#learner!.free();
    return this.#held(memory);
  }

  async loadMemory(bytes: Uint8Array): Promise<RemoteMemory> {
    return this.#held(wasm.Memory.load(bytes));
  }

  async find(x: Float32Array, count: number): Promise<RemoteFound> {
    return this.#memory!.find(x, count) as RemoteFound;
  }

  async save(): Promise<Uint8Array> {
    return this.#memory!.save();
  }

  #held(memory: wasm.Memory): RemoteMemory {
    this.#memory = memory;
    return memory.info() as RemoteMemory;
  }
}

type Async<C> = { [K in keyof C]: C[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : never };
