/**
 * Learned memories in Node, Deno and Bun: see `contrast.ts`.
 * @module
 */
import { Worker } from "node:worker_threads";
import { fetched } from "./inlined.js";
import {
  type LearnOptions,
  learnIn,
  loadIn,
  type Memory,
  type MemoryLabel,
  type MemoryRow,
  type MemoryRuntime,
} from "./memory.js";
import { started, THREAD } from "./node-files.js";

export * from "./memory-exports.js";

const node: MemoryRuntime = {
  module: fetched(
    "contrast",
    () => import("./contrast-wasm.js"),
    (module) => module,
  ),
  spawn: (call) => started(call, new Worker(new URL("./contrast-node-worker.js", import.meta.url), THREAD)),
};

/** Learns a memory from rows and their labels, in a worker thread. */
export const learn = (
  rows: readonly MemoryRow[] | MemoryRow,
  labels: readonly MemoryLabel[] | MemoryRow,
  options: LearnOptions = {},
): Promise<Memory> => learnIn(node, rows, labels, options);

/** A memory from the bytes of a file that `memory.save()` or `mero contrast` wrote. */
export const loadMemory = (file: Uint8Array | ArrayBuffer | Blob): Promise<Memory> => loadIn(node, file);
