// The script of the worker of a memory: receives a port and the WebAssembly once, then answers calls.
import { serve } from "./serve/memory.js";

self.onmessage = ({ data: { port, module } }: MessageEvent<{ port: MessagePort; module: WebAssembly.Module }>) =>
  serve(port, module);
// Reports that the script was found and runs.
(self as unknown as MessagePort).postMessage("ready");
