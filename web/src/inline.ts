/**
 * The package with its WebAssembly and its worker inside, for places that cannot fetch: a page opened from disk, a strict host.
 * @module
 */
import type { Engine } from "./engine.js";
import wasm from "./inline-wasm.js";
import worker from "./inline-worker.js";
import { fromText, inflated } from "./inlined.js";
import { describeAt, openAt, type Place } from "./place.js";
import type { Description, OpenOptions, PlaceOptions, Table } from "./types.js";

export * from "./face.js";

let module: Promise<WebAssembly.Module> | undefined;
const inline: Place = {
  module: () => (module ??= inflated(wasm)),
  spawn: () => fromText(worker),
  direct: () => import("./direct.js"),
};

/** Opens a device, in a worker of its own. */
export const open = (options: OpenOptions = {}): Promise<Engine> => openAt(inline, options);

/** Reads a table only far enough to say what it holds. */
export const describe = (data: Table, options: PlaceOptions = {}): Promise<Description> => describeAt(inline, data, options);
