// The bytes of a model file from wherever it is, with progress, and without believing what a server says about its length.
import { InputError, LoadError, words } from "./errors.js";
import type { LoadOptions } from "./types.js";

/** Larger files do not fit a browser's WebAssembly beside what it needs to run them. */
const MAX_BYTES = 2 ** 30;

type Bytes = Uint8Array<ArrayBuffer>;
type Reader = ReadableStreamDefaultReader<Bytes>;
type OnProgress = LoadOptions["onProgress"];

/** Fetches `source`, or reads it if it is an answer already, unless aborted: the bytes and the name to use in messages. */
export async function download(source: Response | URL | string, signal: AbortSignal | undefined, onProgress: OnProgress): Promise<[Bytes, string]> {
  const response = source instanceof Response ? source : await requested(source, signal);
  const where = response.url || "the response";
  if (response.bodyUsed) throw new InputError("load: the response was read already; give a fresh one", "usage");
  const reader = response.body?.getReader();
  // What the stream says to that does not matter.
  const leave = () => void reader?.cancel().catch(() => {});
  signal?.addEventListener("abort", leave);
  try {
    if (!response.ok) throw new LoadError(`load: ${where} answered ${response.status} ${response.statusText}`.trim());
    // Servers of single-page apps give one where there is no file.
    if (response.headers.get("content-type")?.startsWith("text/html")) throw new LoadError(`load: ${where} is a web page, wanted a model file`);
    const name = response.url.split(/[?#]/)[0]?.split("/").pop() || "model";
    return [await whole(reader, response.headers, where, signal, onProgress), name];
  } catch (error) {
    leave();
    throw error;
  } finally {
    signal?.removeEventListener("abort", leave);
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

async function whole(reader: Reader | undefined, headers: Headers, where: string, signal: AbortSignal | undefined, onProgress: OnProgress): Promise<Bytes> {
  const told = Number(headers.get("content-length") ?? NaN);
  if (told > MAX_BYTES) throw tooLarge(where, told);
  // Of a compressed body the length is another one.
  const isWhole = told >= 0 && !headers.has("content-encoding");
  const chunks: Bytes[] = [];
  let loaded = 0;
  for (;;) {
    const { value: chunk } = await reader?.read().catch((error: unknown) => {
      signal?.throwIfAborted();
      throw new LoadError(`load: ${where} broke off: ${words(error)}`);
    }) ?? {};
    signal?.throwIfAborted();
    if (!chunk) return joined(chunks, loaded);
    loaded += chunk.length;
    if (loaded > MAX_BYTES) throw tooLarge(where, loaded);
    chunks.push(chunk);
    onProgress?.(isWhole ? { loaded, total: told } : { loaded });
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
