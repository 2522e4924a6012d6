// The script of the worker thread of a memory: receives a port and the WebAssembly once, then answers calls.
import { parentPort } from "node:worker_threads";
import { serve } from "./serve/memory.js";
import type { Port } from "./wire.js";

parentPort?.once("message", ({ port, module }: { port: Port; module: WebAssembly.Module }) => serve(port, module));
parentPort?.postMessage("ready");
