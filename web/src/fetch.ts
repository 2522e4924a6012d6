// Downloads a model file with progress. The length that a server reports is not trusted.
import { InputError, LoadError, messageOf } from "./errors.js";
import type { LoadOptions } from "./types.js";

/** A larger file leaves too little WebAssembly memory to run the model. */
const MAX_BYTES = 2 ** 30;

type Bytes = Uint8Array<ArrayBuffer>;
type Reader = ReadableStreamDefaultReader<Bytes>;
type OnProgress = LoadOptions["onProgress"];

/** Fetches `source`, or reads it if it is a `Response`, until `signal` aborts. Returns the bytes and the name for messages. */
export async function download(source: Response | URL | string, signal: AbortSignal | undefined, onProgress: OnProgress): Promise<[Bytes, string]> {
  const response = source instanceof Response ? source : await requested(source, signal);
  const where = response.url || "the response";
  if (response.bodyUsed) throw new InputError("load: the response was already read", "usage");
  const reader = response.body?.getReader();
  // An error of `cancel` does not matter.
  const cancel = () => void reader?.cancel().catch(() => {});
  signal?.addEventListener("abort", cancel);
  try {
    if (!response.ok) throw new LoadError(`load: ${where} answered ${response.status} ${response.statusText}`.trim());
    // Servers of single-page apps send a page for a missing file.
    if (response.headers.get("content-type")?.startsWith("text/html")) throw new LoadError(`load: ${where} is a web page, wanted a model file`);
    const name = response.url.split(/[?#]/)[0]?.split("/").pop() || "model";
    return [await whole(reader, response.headers, where, signal, onProgress), name];
  } catch (error) {
    cancel();
    throw error;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

async function requested(source: URL | string, signal: AbortSignal | undefined): Promise<Response> {
  try {
    return await fetch(source, { signal: signal ?? null });
  } catch (error) {
    signal?.throwIfAborted();
    throw new LoadError(`load: ${String(source)} cannot be fetched: ${messageOf(error)}`);
  }
}

async function whole(reader: Reader | undefined, headers: Headers, where: string, signal: AbortSignal | undefined, onProgress: OnProgress): Promise<Bytes> {
  const length = Number(headers.get("content-length") ?? NaN);
  if (length > MAX_BYTES) throw tooLarge(where, length);
  // For a compressed body, content-length is the compressed size.
  const isKnown = length >= 0 && !headers.has("content-encoding");
  const chunks: Bytes[] = [];
  let loaded = 0;
  for (;;) {
    const { value: chunk } = await reader?.read().catch((error: unknown) => {
      signal?.throwIfAborted();
      throw new LoadError(`load: ${where} was interrupted: ${messageOf(error)}`);
    }) ?? {};
    signal?.throwIfAborted();
    if (!chunk) return joined(chunks, loaded);
    loaded += chunk.length;
    if (loaded > MAX_BYTES) throw tooLarge(where, loaded);
    chunks.push(chunk);
    onProgress?.(isKnown ? { loaded, total: length } : { loaded });
  }
}

const tooLarge = (where: string, bytes: number): LoadError => new LoadError(`load: ${where} has ${bytes} bytes; at most ${MAX_BYTES} can be loaded`);

function joined(chunks: Bytes[], length: number): Bytes {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
