/**
 * Trains and runs models that may divide by zero, in a browser: on WebGPU if there is a GPU, otherwise on WebAssembly.
 * @module
 */
import { browser } from "./browser.js";
import type { Engine } from "./engine.js";
import { describeIn, openIn } from "./runtime.js";
import type { DescribeOptions, Description, OpenOptions, TableSource } from "./types.js";

export * from "./exports.js";

/** Opens a device, in a worker of its own. */
export const open = (options: OpenOptions = {}): Promise<Engine> => openIn(browser, options);

/** Describes a table: its columns and its number of rows. */
export const describe = (data: TableSource, options: DescribeOptions = {}): Promise<Description> =>
  describeIn(browser, data, options);
