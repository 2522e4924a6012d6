// The bytes of a model file from wherever it is, with progress, and without believing what a server says about its length.
import { InputError, LoadError, words } from "./errors.js";
import type { LoadOptions } from "./types.js";

/** Larger files do not fit a browser's WebAssembly beside what it needs to run them. */
const MAX_BYTES = 2 ** 30;

/** Fetches `source`, or reads it if it is an answer already: the bytes and the name to use in messages. */
export async function download(source: Response | URL | string, options: LoadOptions): Promise<[Uint8Array<ArrayBuffer>, string]> {
  const response = source instanceof Response ? source : await requested(source, options.signal);
  const name = response.url.split(/[?#]/)[0]?.split("/").pop() || "model";
  if (!response.ok) throw new LoadError(`load: ${response.url || "the server"} answered ${response.status} ${response.statusText}`.trim());
  if (response.bodyUsed) throw new InputError("load: the response was read already; give a fresh one");
  try {
    return [await body(response, options), name];
  } catch (error) {
    options.signal?.throwIfAborted();
    throw error instanceof LoadError ? error : new LoadError(`load: ${response.url || "the response"} broke off: ${words(error)}`);
  }
}

async function requested(source: URL | string, signal: AbortSignal | undefined): Promise<Response> {
  try {
    return await fetch(source, { signal: signal ?? null });
  } catch (error) {
    signal?.throwIfAborted();
    throw new LoadError(`load: ${String(source)} cannot be fetched: ${words(error)}`);
  }
}

async function body(response: Response, { signal, onProgress }: LoadOptions): Promise<Uint8Array<ArrayBuffer>> {
  const told = Number(response.headers.get("content-length") ?? NaN);
  if (told > MAX_BYTES) throw tooLarge(response, told);
  // Of a compressed body the length is another one.
  const isWhole = told >= 0 && !response.headers.has("content-encoding");
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let loaded = 0;
  const reader = response.body?.getReader();
  const cancel = () => void reader?.cancel(signal?.reason).catch(() => {});
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      signal?.throwIfAborted();
      if (done) break;
      loaded += value.length;
      if (loaded > MAX_BYTES) throw tooLarge(response, loaded);
      chunks.push(value);
      onProgress?.(isWhole ? { loaded, total: told } : { loaded });
    }
  } catch (error) {
    cancel();
    throw error;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
  return joined(chunks, loaded);
}

function tooLarge(response: Response, bytes: number): LoadError {
  void response.body?.cancel().catch(() => {});
  return new LoadError(`load: ${response.url || "the response"} has ${bytes} bytes; at most ${MAX_BYTES} can be loaded`);
}

function joined(chunks: Uint8Array<ArrayBuffer>[], length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
