// Where a browser finds the engine's WebAssembly and worker: in files next to this one, where bundlers and plain
// servers put them. If they are missing (some bundlers drop them; a page of another origin cannot start the worker),
// modules of this package with an embedded copy are used.
import { LoadError, messageOf } from "./errors.js";
import { fromText, inflated, started, withFallback } from "./inlined.js";
import { compiled, hasRelaxedSimd, type Runtime } from "./runtime.js";

let module: Promise<WebAssembly.Module> | undefined;

export const browser: Runtime = {
  module() {
    module ??= withFallback(
      "open",
      () => {
        const plain = () => compiled(new URL("./meromorph.wasm", import.meta.url));
        return hasRelaxedSimd() ? compiled(new URL("./meromorph.relaxed.wasm", import.meta.url)).catch(plain) : plain();
      },
      async () => inflated((await import("./inline-wasm.js")).default),
    );
    module.catch(() => {
      module = undefined;
    });
    return module;
  },
  async spawn() {
    if (typeof Worker === "undefined")
      throw new LoadError(
        "open: workers cannot be started here, as in a service worker: give worker: false, with meromorph/inline or meromorph.classic.js",
      );
    return withFallback(
      "open",
      () => started(() => new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: "meromorph" })),
      async () => {
        const { default: source } = await import("./inline-worker.js");
        return fromText(source);
      },
    );
  },
  direct: () =>
    import("./direct.js").catch((error: unknown) => {
      throw new LoadError(
        `open: worker: false: the engine's script cannot be loaded here: ${messageOf(error)}. Service workers, such as the background of an extension, load nothing later: import { open } from "meromorph/inline", or load meromorph.classic.js with importScripts`,
      );
    }),
};
