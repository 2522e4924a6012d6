/**
 * Learned memories: a map of labelled rows is learned under which rows of the same class are near each other, and
 * finds the rows that are most like a new one, or says that nothing in it is. A module of its own, because it fetches
 * a WebAssembly of its own. `instanceof` recognises its errors with the classes of the package `meromorph` too.
 * @module
 */

import { LoadError } from "./errors.js";
import { fetched, fromText, started, withFallback } from "./inlined.js";
import {
  type LearnOptions,
  learnIn,
  loadIn,
  type Memory,
  type MemoryLabel,
  type MemoryRow,
  type MemoryRuntime,
} from "./memory.js";

export * from "./memory-exports.js";

const browser: MemoryRuntime = {
  module: fetched(
    "contrast",
    () => import("./contrast-wasm.js"),
    (module) => module,
  ),
  async spawn(call) {
    if (typeof Worker === "undefined")
      throw new LoadError(
        `${call}: workers cannot be started here, as in a service worker: call it in a page or in a worker`,
      );
    return withFallback(
      call,
      () =>
        started(
          () => new Worker(new URL("./contrast-worker.js", import.meta.url), { type: "module", name: "meromorph" }),
        ),
      async () => fromText((await import("./contrast-inline-worker.js")).default),
    );
  },
};

/**
 * Learns a memory from rows and their labels, in a worker. The rows are arrays of equally many numbers, or one typed
 * array of all of them, row by row. All rows are in the memory, also those that are held out of learning (`test`) to
 * judge an epoch.
 *
 * @example
 * ```js
 * import { learn } from "meromorph/contrast";
 *
 * const rows = [[1, 0.1], [1.2, 0.4], [0.9, 0.9], [3, 0.2], [3.1, 0.8], [2.8, 0.5]];
 * const memory = await learn(rows, ["low", "low", "low", "high", "high", "high"], {
 *   map: "diagonal", epochs: 50, test: 0, onEpoch: ({ epoch, loss }) => console.log(epoch, loss),
 * });
 * const { label, neighbours } = await memory.find([1.1, 0.7], 2);
 * console.log(label, neighbours.map(({ row, distance }) => [row, distance]));
 * console.log((await memory.find([90, 0.7])).isKnown, memory.map.weights);
 * ```
 */
export const learn = (
  rows: readonly MemoryRow[] | MemoryRow,
  labels: readonly MemoryLabel[] | MemoryRow,
  options: LearnOptions = {},
): Promise<Memory> => learnIn(browser, rows, labels, options);

/** A memory from the bytes of a file that `memory.save()` or `mero contrast` wrote. */
export const loadMemory = (file: Uint8Array | ArrayBuffer | Blob): Promise<Memory> => loadIn(browser, file);
