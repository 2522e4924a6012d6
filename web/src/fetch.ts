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
  return [await body(response, options), name];
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
  const reader = response.body?.getReader();
  if (told > MAX_BYTES) throw tooLarge(response, told, reader);
  // Of a compressed body the length is another one.
  const isWhole = told >= 0 && !response.headers.has("content-encoding");
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let loaded = 0;
  for (;;) {
    const chunk = reader && await next(reader, response, signal);
    if (!chunk) return joined(chunks, loaded);
    loaded += chunk.length;
    if (loaded > MAX_BYTES) throw tooLarge(response, loaded, reader);
    chunks.push(chunk);
    onProgress?.(isWhole ? { loaded, total: told } : { loaded });
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;

/** The next bytes, or none after the last. */
async function next(reader: Reader, response: Response, signal: AbortSignal | undefined): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const cancel = () => leave(reader);
  signal?.addEventListener("abort", cancel);
  try {
    const { value } = await reader.read();
    signal?.throwIfAborted();
    return value;
  } catch (error) {
    signal?.throwIfAborted();
    throw new LoadError(`load: ${response.url || "the response"} broke off: ${words(error)}`);
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

/** Nothing more is wanted; what the stream says to that does not matter. */
const leave = (reader: Reader | undefined): void => void reader?.cancel().catch(() => {});

function tooLarge(response: Response, bytes: number, reader: Reader | undefined): LoadError {
  leave(reader);
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
