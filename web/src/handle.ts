/// <reference lib="esnext.disposable" preserve="true" />
// The common base of engines, runs and models: an object at the other end of a connection, until it is disposed of.
import type { Connection, Sending } from "./connection.js";
import { InputError, type MeromorphError } from "./errors.js";
import type { Calls } from "./wire.js";

const disposed = (what: string): MeromorphError => new InputError(`${what}: was disposed of`, "usage");

/** Releases objects whose handle was garbage-collected. */
const unreachable = new FinalizationRegistry<() => void>((release) => release());

export abstract class Handle {
  /** @internal */
  protected readonly connection: Connection;
  #what: string;
  #id?: number;
  #isDisposed = false;

  /** @internal `what` is the object's name in messages. */
  protected constructor(connection: Connection, what: string) {
    this.connection = connection;
    this.#what = what;
  }

  /** @internal Connects this handle to the object `id`. */
  protected attach(id: number): void {
    const { connection } = this;
    const what = this.#what;
    connection.retain();
    this.#id = id;
    // The callback must not hold this handle. An error made here would: V8 keeps the receivers of the calls in its
    // stack.
    unreachable.register(this, () => connection.release(id, disposed(what)), this);
    if (this.#isDisposed) this.#release(id);
  }

  /** @internal Calls a method of the object. */
  protected call<K extends keyof Calls>(
    call: K,
    args: Parameters<Calls[K]>,
    sending?: Sending,
  ): Promise<ReturnType<Calls[K]>> {
    if (this.#isDisposed || this.#id === undefined) return Promise.reject(disposed(this.#what));
    return this.connection.call(this.#id, call, args, sending);
  }

  /** Frees the object. Pending and later calls are rejected. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    if (this.#id !== undefined) this.#release(this.#id);
  }

  /** The same as `dispose`, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  #release(id: number): void {
    unreachable.unregister(this);
    this.connection.release(id, disposed(this.#what));
  }
}
