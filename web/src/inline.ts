/**
 * The package with its WebAssembly and its worker embedded, for pages that cannot fetch them: a page opened from disk, or a host with a strict policy.
 * @module
 */
import type { Engine } from "./engine.js";
import wasm from "./inline-wasm.js";
import worker from "./inline-worker.js";
import { fromText, inflated } from "./inlined.js";
import { describeIn, openIn, type Runtime } from "./runtime.js";
import type { DescribeOptions, Description, OpenOptions, TableSource } from "./types.js";

export * from "./exports.js";

let module: Promise<WebAssembly.Module> | undefined;
const inline: Runtime = {
  module: () => (module ??= inflated(wasm)),
  spawn: () => fromText(worker),
  direct: () => import("./direct.js"),
};

/** Opens a device, in a worker of its own. */
export const open = (options: OpenOptions = {}): Promise<Engine> => openIn(inline, options);

/** Describes a table: its columns and its number of rows. */
export const describe = (data: TableSource, options: DescribeOptions = {}): Promise<Description> => describeIn(inline, data, options);
