// The package's own files in Node, Deno and Bun: worker threads from their scripts.
import { Worker } from "node:worker_threads";
import type { EngineWorker } from "./connected.js";
import { LoadError, messageOf } from "./errors.js";

/** Starts a worker thread with the script at `url`. */
export async function spawned(call: string, url: URL, workerData: object = {}): Promise<EngineWorker> {
  // Command-line flags of the process, such as `--input-type`, must not apply to this script.
  const worker = new Worker(url, { workerData, execArgv: [] });
  await withFiles(call, () => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject)));
  // The process stays alive for pending calls, not for the worker.
  worker.unref();
  return {
    connect: (port, module) => worker.postMessage({ port, module }, [port as never]),
    onFailure: (report) => worker.on("error", ({ message }) => report(message)),
    terminate: () => void worker.terminate(),
  };
}

/** Runs `make`, which needs the package's own files. A bundler may have left them behind. `call` stands in the error. */
export async function withFiles<T>(call: string, make: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    throw new LoadError(
      `${call}: the engine's files cannot be loaded; if the program is bundled, mark meromorph as external: ${messageOf(error)}`,
    );
  }
}
