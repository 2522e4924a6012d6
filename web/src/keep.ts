// Stored runs, which survive a closed tab: data and checkpoint in IndexedDB. One transaction writes a whole run or
// nothing. While a run is active it holds a browser lock on its name. All tabs see the lock, and it ends with its tab.
import { InputError, messageOf, shown } from "./errors.js";
import type { Kept } from "./types.js";
import type { Parcel } from "./wire.js";

const STORE = "runs";
/** The stored parts of a run, each under the key [part, name]. */
type Part = "about" | "parcel" | "checkpoint";

/** What is needed to resume a run. */
export interface StoredRun {
  parcel: Parcel;
  checkpoint: Uint8Array;
}

/** The stored description of a run. Whether the run is active is not stored: its lock shows that. */
type About = Omit<Kept, "isRunning">;

/** The runs that this site has stored, latest first. */
export async function kept(): Promise<Kept[]> {
  const all = await inStore<About[]>("readonly", (store) => store.getAll(IDBKeyRange.bound(["about"], ["about", []])));
  const { held = [] } = (await locks()?.query()) ?? {};
  return all
    .map((about) => ({ ...about, isRunning: held.some(({ name }) => name === lock(about.name)) }))
    .sort((a, b) => b.savedAt.getTime() - a.savedAt.getTime());
}

/** Deletes the run stored under `name`, if there is one. Fails while the run is active, here or in another tab. */
export async function forget(name: string): Promise<void> {
  const release = await lockName(name);
  await erase(name).finally(release);
}

/** Undefined on pages without https: there, tabs cannot see each other's runs. */
const locks = (): LockManager | undefined => (globalThis.navigator as Partial<Navigator> | undefined)?.locks;

const lock = (name: string): string => `meromorph: ${name}`;

/** A run that was disposed of or whose tab was closed releases its name within this time. */
const WAIT_MS = 2000;

/** Locks a name. Resolves to the function that releases it. */
export function lockName(name: unknown): Promise<() => void> {
  const manager = locks();
  return new Promise((resolve, reject) => {
    if (typeof name !== "string" || !name)
      throw new InputError(`keep: the name is ${shown(name)}, expected a string`, "usage");
    if (!manager) return resolve(() => {});
    const wait = new AbortController();
    const timer = setTimeout(
      () => wait.abort(new InputError(`keep: the run "${name}" is active, here or in another tab`, "usage")),
      WAIT_MS,
    );
    manager
      .request(lock(name), { signal: wait.signal }, () => {
        clearTimeout(timer);
        return new Promise<void>((release) => resolve(release));
      })
      .catch(reject);
  });
}

/** Deletes a run from the storage. */
export function erase(name: string): Promise<void> {
  return inStore("readwrite", (store) => {
    for (const part of ["about", "parcel", "checkpoint"] satisfies Part[]) store.delete([part, name]);
  });
}

/** Stores a run, replacing the one of the same name. The parcel is written only if it is passed. */
export function write(about: About, checkpoint: Uint8Array, parcel?: Parcel): Promise<void> {
  const put = (store: IDBObjectStore, part: Part, value: unknown) => store.put(value, [part, about.name]);
  return inStore("readwrite", (store) => {
    put(store, "about", about);
    put(store, "checkpoint", checkpoint);
    if (parcel) put(store, "parcel", parcel);
  });
}

/** Reads the run stored under `name`. */
export async function read(name: string): Promise<StoredRun> {
  const found: Partial<StoredRun> = {};
  await inStore("readonly", (store) => {
    for (const part of ["parcel", "checkpoint"] satisfies Part[]) {
      const request = store.get([part, name]);
      request.onsuccess = () => {
        found[part] = request.result;
      };
    }
  });
  const { parcel, checkpoint } = found;
  if (!parcel || !checkpoint) throw new InputError(`resumeKept: no run is stored under "${name}"`, "usage");
  return { parcel, checkpoint };
}

/** Runs one transaction and returns its result when the data are on disk. */
async function inStore<T = void>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<T> | void,
): Promise<T> {
  if (typeof indexedDB === "undefined")
    throw new InputError("keep: there is no IndexedDB here; save run.checkpoint() to a file", "usage");
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
    throw new InputError(`keep: the browser's storage failed: ${messageOf(error)}`);
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
