// Opening an engine, wherever its WebAssembly and its worker come from.
import { Connection } from "./connection.js";
import { Engine } from "./engine.js";
import { InputError, InternalError, LoadError, shown, words } from "./errors.js";
import { taken } from "./options.js";
import { pack } from "./parcel.js";
import type { Description, OpenOptions, PlaceOptions, Table } from "./types.js";
import { ENGINE, type Port } from "./wire.js";

/** A worker that was found and waits for its port. */
export interface Spawned {
  give(port: MessagePort, module: WebAssembly.Module): void;
  /** `tell` is called should the worker fail. */
  watch(tell: (reason: string) => void): void;
  end(): void;
}

/** Where the package's own files come from in one kind of runtime. */
export interface Place {
  module(): Promise<WebAssembly.Module>;
  /** `needsGpu`: whether a GPU may be asked for, where the runtime has none of its own. */
  spawn(needsGpu: boolean): Promise<Spawned>;
  /** The engine for this thread. */
  direct(needsGpu: boolean): Promise<{ serve(port: Port, module: WebAssembly.Module): void }>;
}

/** Opens a device in a place. */
export async function openAt(place: Place, options: OpenOptions): Promise<Engine> {
  const { device = "auto", threads = 1, ...rest } = taken("open", options, ["device", "threads", ...PLACED]);
  checkThreads(threads, rest);
  const { signal } = rest;
  const start = starting("open", place, rest);
  const connection = await start(device !== "cpu");
  const mates: Promise<Connection>[] = [];
  try {
    const info = await connection.call(ENGINE, "open", [device, threads], { signal });
    if (info.device === "cpu") for (let mate = 1; mate < threads; mate++) mates.push(start(false));
    for (const mate of await Promise.all(mates)) {
      // It lives as long as this one.
      mate.hold();
      connection.crew.push(mate);
    }
    await Promise.all(connection.crew.map((mate) => mate.call(ENGINE, "open", ["cpu", threads], { signal })));
    return new Engine(connection, info);
  } catch (error) {
    const reason = new InputError("engine: was not opened", "usage");
    connection.close(reason);
    for (const mate of mates) mate.then((mate) => mate.close(reason), () => {});
    throw error;
  }
}

function checkThreads(threads: number, { worker = true }: PlaceOptions): void {
  if (!Number.isInteger(threads) || threads < 1 || threads > 16) throw new InputError(`open: threads is ${shown(threads)}, wanted a whole number from 1 to 16`, "usage");
  const lacks = worker ? unshared() : "workers: leave out worker: false";
  if (threads > 1 && lacks) throw new InputError(`open: threads is ${threads}, which needs ${lacks}`, "usage");
}

/** What workers lack to share memory here: runtimes that are no browser lack nothing. */
function unshared(): string | undefined {
  const { crossOriginIsolated } = globalThis as { crossOriginIsolated?: boolean };
  if (crossOriginIsolated === false) return "a page that is cross-origin isolated: send Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp";
  return typeof SharedArrayBuffer === "function" ? undefined : "SharedArrayBuffer, which this browser has not";
}

/** Reads a table only far enough to say what it holds. */
export async function describeAt(place: Place, data: Table, options: PlaceOptions): Promise<Description> {
  const given = taken("describe", options, PLACED);
  const packed = pack("describe", data, "table");
  const connection = await starting("describe", place, given)(false);
  try {
    const { parcel, transfer } = await packed;
    return await connection.call(ENGINE, "describe", [parcel], { transfer, signal: given.signal });
  } finally {
    connection.close(new InputError("describe: was done", "usage"));
  }
}

/** The mark of the bindings in these scripts. Written by the build. */
declare const BINDINGS: string;

/** The module, if it was built with these scripts: another one would link, and do something else. */
function own(module: WebAssembly.Module): WebAssembly.Module {
  const [mark] = WebAssembly.Module.customSections(module, "bindings");
  if (mark && new TextDecoder().decode(mark) === BINDINGS) return module;
  throw new Error("it is not the one of this version of the package");
}

/** A module whose one function is `f32x4.relaxed_madd` of three parameters. */
const FUSED = [0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0, 10, 13, 1, 11, 0, 32, 0, 32, 1, 32, 2, 253, 133, 2, 11];

/** Whether this runtime has relaxed SIMD: fused products, which the package brings a build of the engine for. */
export const fuses = (): boolean => WebAssembly.validate(new Uint8Array(FUSED));

/** The WebAssembly in whatever holds it. */
export async function compiled(wasm: NonNullable<PlaceOptions["wasm"]>): Promise<WebAssembly.Module> {
  try {
    return own(wasm instanceof WebAssembly.Module ? wasm : await compile(wasm));
  } catch (error) {
    throw new LoadError(`open: the engine's WebAssembly cannot be loaded: ${words(error)}`);
  }
}

async function compile(wasm: string | URL | Response | BufferSource): Promise<WebAssembly.Module> {
  const source = typeof wasm === "string" || wasm instanceof URL ? await fetch(wasm) : wasm;
  if (!(source instanceof Response)) return WebAssembly.compile(source);
  if (!source.ok) throw new Error(`${source.url} answered ${source.status} ${source.statusText}`.trim());
  const isDeclared = source.headers.get("content-type")?.startsWith("application/wasm");
  return isDeclared ? WebAssembly.compileStreaming(source) : WebAssembly.compile(await source.arrayBuffer());
}

/** The options that say where an engine runs. */
const PLACED = ["worker", "wasm", "signal"] as const;

/** What starts engines, one after the other: they have one module, for a response can be read but once. */
function starting(call: string, place: Place, { worker = true, wasm, signal }: PlaceOptions): (needsGpu: boolean) => Promise<Connection> {
  if (typeof worker !== "boolean") throw new InputError(`${call}: worker is ${shown(worker)}, wanted true or false`, "usage");
  signal?.throwIfAborted();
  const module = wasm === undefined ? place.module() : compiled(wasm);
  return (needsGpu) => connect(joined(worker ? place.spawn(needsGpu) : place.direct(needsGpu), module), signal);
}

/** The connection, or the signal's reason. */
async function connect(connecting: Promise<Connection>, signal: AbortSignal | undefined): Promise<Connection> {
  if (!signal) return connecting;
  return new Promise((resolve, reject) => {
    const abort = () => {
      reject(signal.reason);
      connecting.then((connection) => connection.close(new InputError("engine: was not opened", "usage")), () => {});
    };
    signal.addEventListener("abort", abort, { once: true });
    connecting.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

type Other = Spawned | Awaited<ReturnType<Place["direct"]>>;

async function joined(starting: Promise<Other>, compiling: Promise<WebAssembly.Module>): Promise<Connection> {
  const [started, compiled] = await Promise.allSettled([starting, compiling]);
  if (started.status === "rejected") throw started.reason;
  const [other, module] = [started.value, compiled];
  if (module.status === "rejected") {
    if ("end" in other) other.end();
    throw module.reason;
  }
  const { port1, port2 }: { port1: Port; port2: Port } = new MessageChannel();
  if (!("end" in other)) {
    other.serve(port2, module.value);
    port2.unref?.();
    return new Connection(port1, () => port1.postMessage({ id: 0, on: ENGINE, call: "dispose", args: [] }));
  }
  const connection = new Connection(port1, () => other.end());
  other.watch((reason) => connection.close(new InternalError(`the engine's worker failed: ${reason}`)));
  other.give(port2, module.value);
  return connection;
}
