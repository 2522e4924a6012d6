/// <reference lib="esnext.disposable" preserve="true" />
// What engines, runs and models have in common: an object at the other end of a connection, until it is disposed of.
import type { Connection, Sending } from "./connection.js";
import { InputError, type MeromorphError } from "./errors.js";
import type { Calls } from "./wire.js";

const gone = (what: string): MeromorphError => new InputError(`${what}: was disposed of`, "usage");

/** Lets go of objects that nobody holds any more. */
const forgotten = new FinalizationRegistry<() => void>((release) => release());

export abstract class Handle {
  /** @internal */
  protected readonly connection: Connection;
  #what: string;
  #id?: number;
  #isDisposed = false;

  /** @internal `what` it is called in messages. */
  protected constructor(connection: Connection, what: string) {
    this.connection = connection;
    this.#what = what;
  }

  /** @internal Takes hold of the object `id`. */
  protected attach(id: number): void {
    const { connection } = this;
    connection.hold();
    this.#id = id;
    const reason = gone(this.#what);
    forgotten.register(this, () => connection.release(id, reason), this);
    if (this.#isDisposed) this.#release(id);
  }

  /** @internal Calls the object. */
  protected call<K extends keyof Calls>(call: K, args: Parameters<Calls[K]>, sending?: Sending): Promise<ReturnType<Calls[K]>> {
    if (this.#isDisposed || this.#id === undefined) return Promise.reject(gone(this.#what));
    return this.connection.call(this.#id, call, args, sending);
  }

  /** Gives back what the object holds. Calls under way, and later ones, are refused. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    if (this.#id !== undefined) this.#release(this.#id);
  }

  /** The same, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  #release(id: number): void {
    forgotten.unregister(this);
    this.connection.release(id, gone(this.#what));
  }
}
