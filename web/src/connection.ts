// The page's end of the port to an engine: sends calls, receives answers, and rejects pending calls when the engine
// ends.

import { type MeromorphError, unpassable } from "./errors.js";
import type { Request } from "./fetch.js";
import { deserializeError } from "./received.js";
import { type Answer, type Calls, ENGINE, type Port, type RemoteModel } from "./wire.js";

interface Pending {
  on: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Options of one call. */
export interface Sending {
  transfer?: ArrayBuffer[];
  signal?: AbortSignal | undefined;
}

/** Answers that hold a model: the result of `load`, and the end event of a run. */
type WithModel = RemoteModel & { model: RemoteModel };

export class Connection {
  /**
   * Further engines on other threads. They compute each training step together with this one, and are closed with it.
   */
  readonly workers: Connection[] = [];
  #port: Port;
  #terminate: () => void;
  #pending = new Map<number, Pending>();
  #calls = 0;
  #handles = 0;
  #closed?: MeromorphError;
  #ending = new AbortController();

  /** Fetches what the caller names by a URL. */
  readonly request: Request;

  /** `terminate` stops the worker that the other end of `port` runs in. */
  constructor(port: Port, terminate: () => void, request: Request) {
    this.request = request;
    this.#port = port;
    this.#terminate = terminate;
    port.onmessage = ({ data }: MessageEvent<Answer>) => this.#receive(data);
    port.unref?.();
  }

  /** Aborted when the engine ends. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /**
   * Calls `call` of the object `on`. If `signal` aborts, the promise is rejected with its reason and a later answer is
   * ignored.
   */
  call<K extends keyof Calls>(
    on: number,
    call: K,
    args: Parameters<Calls[K]>,
    { transfer = [], signal }: Sending = {},
  ): Promise<ReturnType<Calls[K]>> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw this.#closed;
      signal?.throwIfAborted();
      const id = ++this.#calls;
      try {
        this.#port.postMessage({ id, on, call, args }, transfer);
      } catch (error) {
        throw unpassable(call, error);
      }
      const abort = () => this.#remove(id)?.reject(signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      const done = () => signal?.removeEventListener("abort", abort);
      if (this.#pending.size === 0) this.#port.ref?.();
      this.#pending.set(id, {
        on,
        resolve: (value) => (done(), resolve(value as ReturnType<Calls[K]>)),
        reject: (error) => (done(), reject(error)),
      });
    });
  }

  /** Counts one more object at the other end that is in use. */
  retain(): void {
    this.#handles++;
  }

  /** Releases an object: its pending calls are rejected with `reason`. The last release ends the engine. */
  release(on: number, reason: MeromorphError): void {
    for (const [id, pending] of this.#pending) if (pending.on === on) this.#remove(id)?.reject(reason);
    if (on !== ENGINE) this.call(on, "dispose", []).catch(() => {});
    if (--this.#handles === 0) this.close(reason);
  }

  /** Ends the engine: pending and later calls are rejected with `reason`. */
  close(reason: MeromorphError): void {
    if (this.#closed) return;
    this.#closed = reason;
    this.#ending.abort(reason);
    for (const id of this.#pending.keys()) this.#remove(id)?.reject(reason);
    this.#terminate();
    this.#port.close();
    for (const worker of this.workers) worker.close(reason);
  }

  #receive(answer: Answer): void {
    if ("crash" in answer) return this.close(deserializeError(answer.crash));
    const pending = this.#remove(answer.id);
    if ("error" in answer) pending?.reject(deserializeError(answer.error));
    else if (pending) pending.resolve(answer.value);
    else this.#discard(answer.value as Partial<WithModel> | undefined);
  }

  /** Frees the model in an answer whose call was aborted. */
  #discard(value: Partial<WithModel> | undefined): void {
    const id = value?.model?.id ?? value?.id;
    if (id !== undefined) this.call(id, "dispose", []).catch(() => {});
  }

  #remove(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#port.unref?.();
    return pending;
  }
}
