// Opens an engine in any runtime. Each runtime says where its WebAssembly and its worker come from.
import { abortable, connected, type EngineWorker, fetched } from "./connected.js";
import type { Connection } from "./connection.js";
import { Engine } from "./engine.js";
import { InputError, LoadError, messageOf, shown } from "./errors.js";
import type { Request } from "./fetch.js";
import { split, taken } from "./options.js";
import { pack } from "./parcel.js";
import { READING_OPTIONS } from "./train-options.js";
import type { DescribeOptions, Description, OpenOptions, RuntimeOptions, TableSource } from "./types.js";
import { ENGINE, type Port } from "./wire.js";

/** One kind of runtime: where it gets the package's own files from. */
export interface Runtime {
  module(): Promise<WebAssembly.Module>;
  /** `needsGpu`: whether to provide WebGPU if the runtime has none built in. */
  spawn(needsGpu: boolean): Promise<EngineWorker>;
  /** The engine for use in this thread. */
  direct(needsGpu: boolean): Promise<{ serve(port: Port, module: WebAssembly.Module): void }>;
  /** How URLs are fetched, if not by `fetch`. */
  request?: Request;
}

/** Opens a device in a runtime. */
export async function openIn(runtime: Runtime, options: OpenOptions): Promise<Engine> {
  const { device = "auto", threads = 1, ...rest } = taken("open", options, ["device", "threads", ...RUNTIME_OPTIONS]);
  checkThreads(threads, rest);
  const { signal } = rest;
  const start = starter("open", runtime, rest);
  const connection = await start(device !== "cpu");
  const workers: Promise<Connection>[] = [];
  try {
    const info = await connection.call(ENGINE, "open", [device, threads], { signal });
    if (info.device === "cpu") for (let worker = 1; worker < threads; worker++) workers.push(start(false));
    for (const worker of await Promise.all(workers)) {
      // It stays open until `connection` closes it.
      worker.retain();
      connection.workers.push(worker);
    }
    await Promise.all(connection.workers.map((worker) => worker.call(ENGINE, "open", ["cpu", threads], { signal })));
    return new Engine(connection, info);
  } catch (error) {
    const reason = new InputError("engine: was not opened", "usage");
    connection.close(reason);
    for (const worker of workers)
      worker.then(
        (worker) => worker.close(reason),
        () => {},
      );
    throw error;
  }
}

function checkThreads(threads: number, { worker = true }: RuntimeOptions): void {
  if (!Number.isInteger(threads) || threads < 1 || threads > 16)
    throw new InputError(`open: threads is ${shown(threads)}, expected a whole number from 1 to 16`, "usage");
  const missing = worker ? missingForSharing() : "workers: leave out worker: false";
  if (threads > 1 && missing) throw new InputError(`open: threads is ${threads}, which needs ${missing}`, "usage");
}

/** What is missing for workers to share memory. Runtimes other than browsers have everything. */
function missingForSharing(): string | undefined {
  const { crossOriginIsolated } = globalThis as { crossOriginIsolated?: boolean };
  if (crossOriginIsolated === false)
    return "a page that is cross-origin isolated: send Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp";
  return typeof SharedArrayBuffer === "function" ? undefined : "SharedArrayBuffer, which this browser lacks";
}

/** Describes a table: its columns and its number of rows. */
export async function describeIn(runtime: Runtime, data: TableSource, options: DescribeOptions): Promise<Description> {
  const [reading, given] = split(taken("describe", options, [...RUNTIME_OPTIONS, ...READING_OPTIONS]));
  const packed = pack("describe", data, "table", {
    reading,
    request: runtime.request ?? fetched,
    signal: given.signal,
  });
  const connection = await starter("describe", runtime, given)(false);
  try {
    const { parcel, transfer } = await packed;
    return await connection.call(ENGINE, "describe", [parcel], { transfer, signal: given.signal });
  } finally {
    connection.close(new InputError("describe: done"));
  }
}

/** The hash of the bindings in these scripts. Written by the build. */
declare const BINDINGS: string;

/**
 * Returns the module if it was built together with these scripts. Another one could link and then compute something
 * else.
 */
function checked(module: WebAssembly.Module): WebAssembly.Module {
  const [hash] = WebAssembly.Module.customSections(module, "bindings");
  if (hash && new TextDecoder().decode(hash) === BINDINGS) return module;
  throw new Error("it belongs to another version of the package");
}

/** A module with one function, which returns `f32x4.relaxed_madd` of its three parameters. */
const RELAXED_MADD = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0, 10, 13, 1, 11, 0, 32, 0, 32, 1, 32, 2,
  253, 133, 2, 11,
];

/**
 * Whether this runtime has relaxed SIMD (fused multiply-add). The package contains a build of the engine that uses it.
 */
export const hasRelaxedSimd = (): boolean => WebAssembly.validate(new Uint8Array(RELAXED_MADD));

/** Compiles the WebAssembly from any of its sources. */
export async function compiled(wasm: NonNullable<RuntimeOptions["wasm"]>): Promise<WebAssembly.Module> {
  try {
    return checked(wasm instanceof WebAssembly.Module ? wasm : await compile(wasm));
  } catch (error) {
    throw new LoadError(`open: the engine's WebAssembly cannot be loaded: ${messageOf(error)}`);
  }
}

async function compile(wasm: string | URL | Response | BufferSource): Promise<WebAssembly.Module> {
  const source = typeof wasm === "string" || wasm instanceof URL ? await fetch(wasm) : wasm;
  if (!(source instanceof Response)) return WebAssembly.compile(source);
  if (!source.ok) throw new Error(`${source.url} answered ${source.status} ${source.statusText}`.trim());
  const isDeclared = source.headers.get("content-type")?.startsWith("application/wasm");
  return isDeclared ? WebAssembly.compileStreaming(source) : WebAssembly.compile(await source.arrayBuffer());
}

/** The names of the options that say where an engine runs. */
const RUNTIME_OPTIONS = ["worker", "wasm", "signal"] as const;

/** Returns a function that starts engines. They share one module, because a response can be read only once. */
function starter(
  call: string,
  runtime: Runtime,
  { worker = true, wasm, signal }: RuntimeOptions,
): (needsGpu: boolean) => Promise<Connection> {
  if (typeof worker !== "boolean")
    throw new InputError(`${call}: worker is ${shown(worker)}, expected true or false`, "usage");
  signal?.throwIfAborted();
  const module = wasm === undefined ? runtime.module() : compiled(wasm);
  return (needsGpu) =>
    abortable(
      connected(worker ? runtime.spawn(needsGpu) : runtime.direct(needsGpu), module, runtime.request ?? fetched),
      signal,
    );
}
