// A page's end of the port to an engine: calls go out, answers come back, and nobody waits for an engine that is gone.
import { type MeromorphError, unpacked, unpassable } from "./errors.js";
import { type Answer, type Calls, type Distant, ENGINE, type Port } from "./wire.js";

interface Waiting {
  on: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** How a call goes out. */
export interface Sending {
  transfer?: ArrayBuffer[];
  signal?: AbortSignal | undefined;
}

/** Answers that hold a model: the one that was loaded, and the end of a run. */
type WithModel = Distant & { model: Distant };

export class Connection {
  /** Engines that make steps of this one's runs together with it, and end with it. */
  readonly crew: Connection[] = [];
  #port: Port;
  #end: () => void;
  #waiting = new Map<number, Waiting>();
  #calls = 0;
  #handles = 0;
  #closed?: MeromorphError;
  #ending = new AbortController();

  /** `end` lets go of whatever the other end of `port` lives in. */
  constructor(port: Port, end: () => void) {
    this.#port = port;
    this.#end = end;
    port.onmessage = ({ data }: MessageEvent<Answer>) => this.#take(data);
    port.unref?.();
  }

  /** Aborted with the engine's end. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /** Calls `call` of the object `on`. Aborted: the answer is rejected with the signal's reason, whatever comes back. */
  call<K extends keyof Calls>(
    on: number, call: K, args: Parameters<Calls[K]>, { transfer = [], signal }: Sending = {},
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
      const abort = () => this.#settle(id)?.reject(signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      const done = () => signal?.removeEventListener("abort", abort);
      if (this.#waiting.size === 0) this.#port.ref?.();
      this.#waiting.set(id, {
        on,
        resolve: (value) => (done(), resolve(value as ReturnType<Calls[K]>)),
        reject: (error) => (done(), reject(error)),
      });
    });
  }

  /** One more object at the other end is in use. */
  hold(): void {
    this.#handles++;
  }

  /** An object is not: whoever waits for it hears `reason`, and with the last one the engine ends. */
  release(on: number, reason: MeromorphError): void {
    for (const [id, waiting] of this.#waiting) if (waiting.on === on) this.#settle(id)?.reject(reason);
    if (on !== ENGINE) this.call(on, "dispose", []).catch(() => {});
    if (--this.#handles === 0) this.close(reason);
  }

  /** Ends the engine: whoever waits for it, or asks from now on, hears `reason`. */
  close(reason: MeromorphError): void {
    if (this.#closed) return;
    this.#closed = reason;
    this.#ending.abort(reason);
    for (const id of this.#waiting.keys()) this.#settle(id)?.reject(reason);
    this.#end();
    this.#port.close();
    for (const mate of this.crew) mate.close(reason);
  }

  #take(answer: Answer): void {
    if ("died" in answer) return this.close(unpacked(answer.died));
    const waiting = this.#settle(answer.id);
    if ("error" in answer) waiting?.reject(unpacked(answer.error));
    else if (waiting) waiting.resolve(answer.value);
    else this.#drop(answer.value as Partial<WithModel> | undefined);
  }

  /** Nobody waits for what came: a model in it is given back. */
  #drop(value: Partial<WithModel> | undefined): void {
    const id = value?.model?.id ?? value?.id;
    if (id !== undefined) this.call(id, "dispose", []).catch(() => {});
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#port.unref?.();
    return waiting;
  }
}
