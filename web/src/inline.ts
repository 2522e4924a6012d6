/**
 * The package with its WebAssembly and its worker embedded, for hosts where further files cannot be fetched. A page
 * opened from disk needs `meromorph.classic.js`, which is this as a classic script.
 * @module
 */
import * as direct from "./direct.js";
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
  // Imported above, not when it is needed: a service worker cannot import later.
  direct: async () => direct,
};

/** Opens a device, in a worker of its own. */
export const open = (options: OpenOptions = {}): Promise<Engine> => openIn(inline, options);

/** Describes a table: its columns and its number of rows. */
export const describe = (data: TableSource, options: DescribeOptions = {}): Promise<Description> =>
  describeIn(inline, data, options);
