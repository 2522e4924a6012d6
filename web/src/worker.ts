// The worker's script: takes a port and the engine's WebAssembly, once, and serves.
import { serve } from "./serve/serve.js";

self.onmessage = ({ data: { port, module } }: MessageEvent<{ port: MessagePort; module: WebAssembly.Module }>) => serve(port, module);
// Whoever started it learns that it was found.
(self as unknown as MessagePort).postMessage("ready");
