/**
 * Trains and runs models that may divide by zero, in a browser: on WebGPU where there is a GPU, else on WebAssembly.
 * @module
 */
import { browser } from "./browser.js";
import type { Engine } from "./engine.js";
import { describeAt, openAt } from "./place.js";
import type { Description, OpenOptions, PlaceOptions, Table } from "./types.js";

export * from "./face.js";

/** Opens a device, in a worker of its own. */
export const open = (options: OpenOptions = {}): Promise<Engine> => openAt(browser, options);

/** Reads a table only far enough to say what it holds. */
export const describe = (data: Table, options: PlaceOptions = {}): Promise<Description> => describeAt(browser, data, options);
