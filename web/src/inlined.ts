// WebAssembly and worker from text.
import type { Spawned } from "./place.js";

/** The module in base64 of raw deflate. */
export async function inflated(text: string): Promise<WebAssembly.Module> {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/** A worker with this source: a classic one, for pages from disk may start no module as a worker. */
export async function fromText(source: string): Promise<Spawned> {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return await spawned(() => new Worker(url, { name: "meromorph" }));
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** The worker that `start` makes, once its script was found and runs. */
export function spawned(start: () => Worker): Promise<Spawned> {
  return new Promise((resolve, reject) => {
    const worker = start();
    worker.onerror = ({ message }) => {
      worker.terminate();
      reject(new Error(message ?? "its script was not found"));
    };
    worker.onmessage = () => resolve({
      give: (port, module) => worker.postMessage({ port, module }, [port]),
      watch: (tell) => { worker.onerror = ({ message }) => tell(message); },
      end: () => worker.terminate(),
    });
  });
}
