// The script of the worker: receives a port and the engine's WebAssembly once, then answers calls.
import { serve } from "./serve/serve.js";

self.onmessage = ({ data: { port, module } }: MessageEvent<{ port: MessagePort; module: WebAssembly.Module }>) =>
  serve(port, module);
// Reports that the script was found and runs.
(self as unknown as MessagePort).postMessage("ready");
