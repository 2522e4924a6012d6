/**
 * The package for Node, Deno and Bun: on the cpu by WebAssembly, and on WebGPU where the runtime or the npm package `webgpu` has it.
 * @module
 */
import { readFile } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import type { Engine } from "./engine.js";
import { DeviceError, LoadError, words } from "./errors.js";
import { hasGpu, provideGpu } from "./gpu.js";
import { describeAt, fuses, openAt, type Place } from "./place.js";
import type { Description, OpenOptions, PlaceOptions, Table } from "./types.js";

export * from "./face.js";

let module: Promise<WebAssembly.Module> | undefined;
const node: Place = {
  module: () => module ??= own(async () => WebAssembly.compile(
    await readFile(fuses() ? new URL("./meromorph.relaxed.wasm", import.meta.url) : new URL("./meromorph.wasm", import.meta.url)),
  )).catch((error) => {
    module = undefined;
    throw error;
  }),
  async spawn(needsGpu) {
    if (needsGpu) avoidOpenGl();
    // Flags of the process, such as `--input-type`, are not meant for this script.
    const worker = new Worker(new URL("./node-worker.js", import.meta.url), { workerData: { needsGpu }, execArgv: [] });
    await own(() => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject)));
    // The process waits for calls under way, not for the worker.
    worker.unref();
    return {
      give: (port, module) => worker.postMessage({ port, module }, [port as never]),
      watch: (tell) => worker.on("error", ({ message }) => tell(message)),
      end: () => void worker.terminate(),
    };
  },
  async direct(needsGpu) {
    if (needsGpu) await provideGpu();
    return import("./direct.js");
  },
};

/** Something made of the package's own files, which a bundler may have left behind. */
async function own<T>(make: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    throw new LoadError(`open: the engine's files cannot be loaded, and a bundler has to leave the package outside: ${words(error)}`);
  }
}

/** Deno looks at OpenGL as well, and crashes at its end where a worker thread did so. What its owner chose stays. */
function avoidOpenGl(): void {
  if (!("Deno" in globalThis)) return;
  // Without leave to write there, it has to take its chances.
  try { process.env.DENO_WEBGPU_BACKEND ??= "vulkan,metal,dx12"; } catch { /* as before */ }
}

/** Opens a device, in a worker thread of its own. */
export async function open(options: OpenOptions = {}): Promise<Engine> {
  try {
    return await openAt(node, options);
  } catch (error) {
    if (!(error instanceof DeviceError) || await hasGpu()) throw error;
    throw new DeviceError(`${error.message}; the npm package webgpu brings one: npm install webgpu`);
  }
}

/** Reads a table only far enough to say what it holds. */
export const describe = (data: Table, options: PlaceOptions = {}): Promise<Description> => describeAt(node, data, options);
