// The script of the worker thread: receives a port and the engine's WebAssembly once, then answers calls.
import { parentPort, workerData } from "node:worker_threads";
import { provideGpu } from "./gpu.js";
import { serve } from "./serve/serve.js";
import type { Port } from "./wire.js";

if ((workerData as { needsGpu: boolean }).needsGpu) await provideGpu();
parentPort?.once("message", ({ port, module }: { port: Port; module: WebAssembly.Module }) => serve(port, module));
parentPort?.postMessage("ready");
