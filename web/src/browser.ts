// Where a browser finds the engine's WebAssembly and worker: beside this file, as bundlers and plain servers leave them; else
// inside modules of this package that carry them, for bundlers that leave such files behind and pages of another origin.
import { LoadError, words } from "./errors.js";
import { fromText, inflated, spawned } from "./inlined.js";
import { compiled, fuses, type Place } from "./place.js";

let module: Promise<WebAssembly.Module> | undefined;

export const browser: Place = {
  module() {
    module ??= found(
      () => {
        const plain = () => compiled(new URL("./meromorph.wasm", import.meta.url));
        return fuses() ? compiled(new URL("./meromorph.relaxed.wasm", import.meta.url)).catch(plain) : plain();
      },
      async () => inflated((await import("./inline-wasm.js")).default),
    );
    module.catch(() => { module = undefined; });
    return module;
  },
  spawn() {
    return found(
      () => spawned(() => new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: "meromorph" })),
      async () => {
        const { default: source } = await import("./inline-worker.js");
        return fromText(source);
      },
    );
  },
  direct: () => import("./direct.js"),
};

/** What is beside, or else what is carried. */
async function found<T>(beside: () => Promise<T>, carried: () => Promise<T>): Promise<T> {
  let missing: unknown;
  try {
    return await beside();
  } catch (error) {
    missing = error;
  }
  try {
    return await carried();
  } catch (error) {
    throw new LoadError(`open: neither the engine's files were found (${words(missing)}) nor those carried along (${words(error)})`);
  }
}
