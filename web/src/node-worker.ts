// The worker thread's script: takes a port and the engine's WebAssembly, once, and serves.
import { parentPort } from "node:worker_threads";
import { provideGpu } from "./gpu.js";
import { serve } from "./serve/serve.js";
import type { Port } from "./wire.js";

await provideGpu();
parentPort?.once("message", ({ port, module }: { port: Port; module: WebAssembly.Module }) => serve(port, module));
parentPort?.postMessage("ready");
