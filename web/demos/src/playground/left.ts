// The run that a closed tab left: the engine keeps its data and checkpoint, this page what it draws.
import { describe, forget, kept, type TrainOptions } from "../engine.js";
import { csv, parse, sample } from "./table.js";
import { type Scene, sceneOf } from "./views.js";

/** The engine keeps the run under this name. */
export const KEPT = "playground";
/** Where the page's own note lies. Not in localStorage, which a browser that crashes takes along. */
const NOTE = "playground";

/** What the page needs to draw a run. */
export interface Remembered {
  name: string;
  head: NonNullable<TrainOptions["head"]>;
  scene: Omit<Scene, "host"> | undefined;
}

export interface Left extends Remembered {
  epoch: number;
  epochs: number;
}

/** Notes what it takes to draw `run`; without storage nothing is offered later. */
export const remember = (run: Remembered): Promise<unknown> => inNote("readwrite", (store) => store.put(run, NOTE)).catch(() => {});

/** The run that was left, if there is one and this page knows how to draw it. */
export async function leftRun(): Promise<Left | undefined> {
  const found = (await kept()).find(({ name }) => name === KEPT);
  const run = found && await inNote("readonly", (store) => store.get(NOTE)) as Remembered | undefined;
  return run && { ...run, scene: await known(run.scene), epoch: found.epoch, epochs: found.epochs };
}

/** Notes of before had names of columns only: what their rows hold the engine says again. Without that nothing is drawn of them. */
async function known(scene: Remembered["scene"]): Promise<Remembered["scene"]> {
  if (!scene || "columns" in scene.sample) return scene;
  const { names, rows } = scene.sample as { names: string[]; rows: string[][] };
  const text = csv(names, rows);
  const table = await describe(text).then((description) => parse(text, description), () => undefined);
  return sceneOf(table && sample(table, rows.length), scene.target);
}

export const forgetRun = (): Promise<void> => forget(KEPT);

async function inNote(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest): Promise<unknown> {
  const opening = indexedDB.open(NOTE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(NOTE);
  await done(opening, "onsuccess");
  const transaction = opening.result.transaction(NOTE, mode, { durability: "strict" });
  const request = work(transaction.objectStore(NOTE));
  await done(transaction, "oncomplete");
  opening.result.close();
  return request.result;
}

const done = <On extends string>(work: { [on in On]: unknown } & { onerror: unknown }, on: On): Promise<unknown> =>
  new Promise((resolve, reject) => Object.assign(work, { [on]: resolve, onerror: reject, onabort: reject }));
