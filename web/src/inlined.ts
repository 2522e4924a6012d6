// Makes the WebAssembly module and the worker from text.

import type { EngineWorker } from "./connected.js";
import { LoadError, messageOf } from "./errors.js";

/** Compiles a module from base64 of raw deflate. */
export async function inflated(text: string): Promise<WebAssembly.Module> {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/**
 * A function that fetches a WebAssembly and starts it when it is first called, with what `start` returns; after a
 * failure, also at the next call.
 * `name` stands in the error.
 */
export function fetched<T>(
  name: string,
  load: () => Promise<{ default: string }>,
  start: (module: WebAssembly.Module) => T,
): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () =>
    (loading ??= load()
      .then(async ({ default: text }) => start(await inflated(text)))
      .catch((error) => {
        loading = undefined;
        throw new LoadError(`${name}: the WebAssembly cannot be loaded: ${messageOf(error)}`);
      }));
}

/** Starts a worker with this source. It is a classic worker, because a page from disk cannot start a module worker. */
export async function fromText(source: string): Promise<EngineWorker> {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return await started(() => new Worker(url, { name: "meromorph" }));
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Resolves when the worker that `start` makes has loaded its script. */
export function started(start: () => Worker): Promise<EngineWorker> {
  return new Promise((resolve, reject) => {
    const worker = start();
    worker.onerror = ({ message }) => {
      worker.terminate();
      reject(new Error(message ?? "its script was not found"));
    };
    worker.onmessage = () =>
      resolve({
        connect: (port, module) => worker.postMessage({ port, module }, [port]),
        onFailure: (report) => {
          worker.onerror = ({ message }) => report(message);
        },
        terminate: () => worker.terminate(),
      });
  });
}

/** Tries the package's files first, then the embedded copy. `call` stands in the error. */
export async function withFallback<T>(
  call: string,
  fromFiles: () => Promise<T>,
  embedded: () => Promise<T>,
): Promise<T> {
  let missing: unknown;
  try {
    return await fromFiles();
  } catch (error) {
    missing = error;
  }
  try {
    return await embedded();
  } catch (error) {
    throw new LoadError(
      `${call}: neither the engine's files (${messageOf(missing)}) nor their embedded copy can be loaded (${messageOf(error)})`,
    );
  }
}
