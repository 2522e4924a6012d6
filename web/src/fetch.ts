// Downloads a model or a table with progress. The length that a server reports is not trusted.
import { InputError, LoadError, messageOf } from "./errors.js";
import type { LoadOptions } from "./types.js";

/** A larger file leaves too little WebAssembly memory. */
const MAX_BYTES = 2 ** 30;

type Bytes = Uint8Array<ArrayBuffer>;
type Reader = ReadableStreamDefaultReader<Bytes>;
type OnProgress = LoadOptions["onProgress"];

/** Fetches a URL. In Node it also reads files. */
export type Request = (source: URL | string, signal: AbortSignal | undefined) => Promise<Response>;

/** What a download needs, and for whom it is. */
export interface Download {
  /** The function that the user called. */
  call: string;
  /** What is expected, for messages. */
  expected: string;
  request: Request;
  signal?: AbortSignal | undefined;
  onProgress?: OnProgress;
}

/**
 * Fetches `source`, or reads it if it is a `Response` or a stream, until `signal` aborts. Returns the bytes and, if it
 * has one, its name.
 */
export async function download(
  source: Response | ReadableStream<Bytes> | URL | string,
  { call, expected, request, signal, onProgress }: Download,
): Promise<[Bytes, string | undefined]> {
  signal?.throwIfAborted();
  if (source instanceof ReadableStream ? source.locked : source instanceof Response && source.bodyUsed) {
    throw new InputError(
      `${call}: the ${source instanceof Response ? "response" : "stream"} was already read`,
      "usage",
    );
  }
  const failed =
    (what: string) =>
    (error: unknown): never => {
      signal?.throwIfAborted();
      throw new LoadError(`${call}: ${what}: ${messageOf(error)}`);
    };
  const isAddress = typeof source === "string" || source instanceof URL;
  const response =
    source instanceof ReadableStream
      ? new Response(source)
      : isAddress
        ? await request(source, signal).catch(failed(`${String(source)} cannot be fetched`))
        : source;
  const where =
    response.url || (isAddress ? String(source) : source instanceof Response ? "the response" : "the stream");
  const reader = response.body?.getReader();
  // An error of `cancel` does not matter.
  const cancel = () => void reader?.cancel().catch(() => {});
  signal?.addEventListener("abort", cancel);
  try {
    if (!response.ok)
      throw new LoadError(`${call}: ${where} answered ${response.status} ${response.statusText}`.trim());
    // Servers of single-page apps send a page for a missing file.
    if (response.headers.get("content-type")?.startsWith("text/html"))
      throw new LoadError(`${call}: ${where} is a web page, expected ${expected}`);
    const name = (response.url || (isAddress ? where : "")).split(/[?#]/)[0]?.split("/").pop();
    return [
      await whole(
        reader,
        failed(`${where} was interrupted`),
        response.headers,
        `${call}: ${where}`,
        signal,
        onProgress,
      ),
      name || undefined,
    ];
  } catch (error) {
    cancel();
    throw error;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

async function whole(
  reader: Reader | undefined,
  failed: (error: unknown) => never,
  headers: Headers,
  where: string,
  signal: AbortSignal | undefined,
  onProgress: OnProgress,
): Promise<Bytes> {
  const checkSize = (bytes: number) => {
    if (bytes > MAX_BYTES) throw new LoadError(`${where} has ${bytes} bytes; at most ${MAX_BYTES} can be loaded`);
  };
  const length = Number(headers.get("content-length") ?? NaN);
  checkSize(length);
  // For a compressed body, content-length is the compressed size.
  const isKnown = length >= 0 && !headers.has("content-encoding");
  const chunks: Bytes[] = [];
  let loaded = 0;
  for (;;) {
    const { value: chunk } = (await reader?.read().catch(failed)) ?? {};
    signal?.throwIfAborted();
    if (!chunk) return new Uint8Array(await new Blob(chunks).arrayBuffer());
    loaded += chunk.length;
    checkSize(loaded);
    chunks.push(chunk);
    onProgress?.(isKnown ? { loaded, total: length } : { loaded });
  }
}
