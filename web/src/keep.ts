// Runs that outlive their tab: data and checkpoint in IndexedDB. One transaction writes all of a run or nothing of it.
// While a run is under way a lock of the browser's says so in all tabs, and ends with the tab.
import { InputError, shown, words } from "./errors.js";
import type { Kept } from "./types.js";
import type { Parcel } from "./wire.js";

const STORE = "runs";
/** What a run is kept as, each part under [part, name]. */
type Part = "about" | "parcel" | "checkpoint";

/** What it takes to take a run up. */
export interface Whole {
  parcel: Parcel;
  checkpoint: Uint8Array;
}

/** A run's about as it is stored: whether it is under way is known from its lock. */
type About = Omit<Kept, "isRunning">;

/** The runs kept by this site, latest first. */
export async function kept(): Promise<Kept[]> {
  const all = await inStore<About[]>("readonly", (store) => store.getAll(IDBKeyRange.bound(["about"], ["about", []])));
  const { held = [] } = await locks()?.query() ?? {};
  return all
    .map((about) => ({ ...about, isRunning: held.some(({ name }) => name === lock(about.name)) }))
    .sort((a, b) => b.savedAt.getTime() - a.savedAt.getTime());
}

/** Forgets the run kept under `name`, if there is one. Refused while it is under way, here or in another tab. */
export async function forget(name: string): Promise<void> {
  const leave = await hold(name);
  await erase(name).finally(leave);
}

/** None on pages that are not secure: there tabs do not know of each other. */
const locks = (): LockManager | undefined => (globalThis.navigator as Partial<Navigator> | undefined)?.locks;

const lock = (name: string): string => `meromorph: ${name}`;

/** A run that was left, and a tab that was closed, give up their name within this time. */
const WAIT_MS = 2000;

/** Takes a name for oneself, until what comes back is called. */
export function hold(name: unknown): Promise<() => void> {
  const manager = locks();
  return new Promise((resolve, reject) => {
    if (typeof name !== "string" || !name) throw new InputError(`keep: the name is ${shown(name)}, wanted a string`, "usage");
    if (!manager) return resolve(() => {});
    const wait = new AbortController();
    const timer = setTimeout(() => wait.abort(new InputError(`keep: a run under "${name}" is under way, here or in another tab`, "usage")), WAIT_MS);
    manager.request(lock(name), { signal: wait.signal }, () => {
      clearTimeout(timer);
      return new Promise<void>((leave) => resolve(leave));
    }).catch(reject);
  });
}

/** Takes a run out of the storage. */
export function erase(name: string): Promise<void> {
  return inStore("readwrite", (store) => {
    for (const part of ["about", "parcel", "checkpoint"] satisfies Part[]) store.delete([part, name]);
  });
}

/** Writes a run, in place of what was kept under its name. The parcel is written only where it is given. */
export function write(about: About, checkpoint: Uint8Array, parcel?: Parcel): Promise<void> {
  const put = (store: IDBObjectStore, part: Part, value: unknown) => store.put(value, [part, about.name]);
  return inStore("readwrite", (store) => {
    put(store, "about", about);
    put(store, "checkpoint", checkpoint);
    if (parcel) put(store, "parcel", parcel);
  });
}

/** The run kept under `name`. */
export async function read(name: string): Promise<Whole> {
  const found: Partial<Whole> = {};
  await inStore("readonly", (store) => {
    for (const part of ["parcel", "checkpoint"] satisfies Part[]) {
      const request = store.get([part, name]);
      request.onsuccess = () => { found[part] = request.result; };
    }
  });
  const { parcel, checkpoint } = found;
  if (!parcel || !checkpoint) throw new InputError(`resumeKept: no run is kept under "${name}"`, "usage");
  return { parcel, checkpoint };
}

/** The result of one transaction, once it is on disk. */
async function inStore<T = void>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T> | void): Promise<T> {
  if (typeof indexedDB === "undefined") throw new InputError("keep: there is no IndexedDB here; keep run.checkpoint() in a file instead", "usage");
  let database: IDBDatabase | undefined;
  try {
    database = await opened();
    const transaction = database.transaction(STORE, mode, { durability: "strict" });
    const request = work(transaction.objectStore(STORE));
    await new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = transaction.onerror = () => reject(transaction.error);
    });
    return request?.result as T;
  } catch (error) {
    throw new InputError(`keep: the browser's storage refused: ${words(error)}`);
  } finally {
    database?.close();
  }
}

function opened(): Promise<IDBDatabase> {
  const request = indexedDB.open("meromorph", 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
