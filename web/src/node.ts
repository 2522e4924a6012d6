/**
 * The package for Node, Deno and Bun: on the CPU through WebAssembly, and on WebGPU if the runtime or the npm package
 * `webgpu` provides it.
 * @module
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Engine } from "./engine.js";
import { DeviceError } from "./errors.js";
import { hasGpu, provideGpu } from "./gpu.js";
import { started, THREAD, withFiles } from "./node-files.js";
import { describeIn, hasRelaxedSimd, openIn, type Runtime } from "./runtime.js";
import type { DescribeOptions, Description, OpenOptions, TableSource } from "./types.js";

export * from "./exports.js";

let module: Promise<WebAssembly.Module> | undefined;
const node: Runtime = {
  module: () =>
    (module ??= withFiles("open", async () =>
      WebAssembly.compile(
        await readFile(
          hasRelaxedSimd()
            ? new URL("./meromorph.relaxed.wasm", import.meta.url)
            : new URL("./meromorph.wasm", import.meta.url),
        ),
      ),
    ).catch((error) => {
      module = undefined;
      throw error;
    })),
  async spawn(needsGpu) {
    if (needsGpu) avoidOpenGl();
    const script = new Worker(new URL("./node-worker.js", import.meta.url), { workerData: { needsGpu }, ...THREAD });
    return started("open", script);
  },
  async direct(needsGpu) {
    if (needsGpu) await provideGpu();
    return import("./direct.js");
  },
  async request(source, signal) {
    const text = String(source);
    // A path, also one such as C:\model.safetensors, or a file: URL.
    const isPath = !URL.canParse(text) || /^[a-z]:[\\/]/i.test(text);
    if (!isPath && !text.startsWith("file:")) return fetch(source, { signal: signal ?? null });
    return new Response(await readFile(isPath ? text : fileURLToPath(text), { signal }));
  },
};

/**
 * Deno also tries OpenGL, and crashes on exit if a worker thread did so. A backend that the user has chosen is not
 * changed.
 */
function avoidOpenGl(): void {
  if (!("Deno" in globalThis)) return;
  // Writing needs a permission; without it the default backends are used.
  try {
    process.env.DENO_WEBGPU_BACKEND ??= "vulkan,metal,dx12";
  } catch {
    /* no permission */
  }
}

/** Opens a device, in a worker thread of its own. */
export async function open(options: OpenOptions = {}): Promise<Engine> {
  try {
    return await openIn(node, options);
  } catch (error) {
    if (!(error instanceof DeviceError) || (await hasGpu())) throw error;
    throw new DeviceError(`${error.message}; the npm package webgpu provides one: npm install webgpu`);
  }
}

/** Describes a table: its columns and its number of rows. */
export const describe = (data: TableSource, options: DescribeOptions = {}): Promise<Description> =>
  describeIn(node, data, options);
