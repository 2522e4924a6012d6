// The package's own files in Node, Deno and Bun: worker threads from their scripts.
import type { Worker } from "node:worker_threads";
import type { EngineWorker } from "./connected.js";
import { LoadError, messageOf } from "./errors.js";

/** Options of every worker thread: command-line flags of the process, such as `--input-type`, must not apply to its script. */
export const THREAD = { execArgv: [] };

/**
 * Waits for a worker thread to start. Its caller makes it, with the name of the script in one expression: bundlers look
 * for that.
 */
export async function started(call: string, worker: Worker): Promise<EngineWorker> {
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
