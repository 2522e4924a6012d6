// Connects to an engine that starts, in a worker or in this thread.
import { Connection } from "./connection.js";
import { InputError, InternalError } from "./errors.js";
import type { Request } from "./fetch.js";
import { ENGINE, type Port } from "./wire.js";

/** A worker whose script runs and that waits for its port. */
export interface EngineWorker {
  connect(port: MessagePort, module: WebAssembly.Module): void;
  /** Calls `report` if the worker fails. */
  onFailure(report: (reason: string) => void): void;
  terminate(): void;
}

/** Fetches with `fetch`. */
export const fetched: Request = (source, signal) => fetch(source, { signal: signal ?? null });

/** Resolves to the connection, or rejects with the signal's reason. */
export async function abortable(connecting: Promise<Connection>, signal: AbortSignal | undefined): Promise<Connection> {
  if (!signal) return connecting;
  return new Promise((resolve, reject) => {
    const abort = () => {
      reject(signal.reason);
      connecting.then(
        (connection) => connection.close(new InputError("engine: was not opened", "usage")),
        () => {},
      );
    };
    signal.addEventListener("abort", abort, { once: true });
    connecting.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

type Host = EngineWorker | { serve(port: Port, module: WebAssembly.Module): void };

/** Starts an engine with its WebAssembly and connects to it. */
export async function connected(
  starting: Promise<Host>,
  compiling: Promise<WebAssembly.Module>,
  request: Request,
): Promise<Connection> {
  const [started, compiled] = await Promise.allSettled([starting, compiling]);
  if (started.status === "rejected") throw started.reason;
  const [host, module] = [started.value, compiled];
  if (module.status === "rejected") {
    if ("terminate" in host) host.terminate();
    throw module.reason;
  }
  const { port1, port2 }: { port1: Port; port2: Port } = new MessageChannel();
  if (!("terminate" in host)) {
    host.serve(port2, module.value);
    port2.unref?.();
    return new Connection(port1, () => port1.postMessage({ id: 0, on: ENGINE, call: "dispose", args: [] }), request);
  }
  const connection = new Connection(port1, () => host.terminate(), request);
  host.onFailure((reason) => connection.close(new InternalError(`the engine's worker failed: ${reason}`)));
  host.connect(port2, module.value);
  return connection;
}
