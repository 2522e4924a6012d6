// Unfinished runs of closed tabs. The engine stores their data and checkpoints; this page stores what it draws.
import { describe, forget, type TrainOptions } from "../engine.js";
import { keptRuns } from "./kept.js";
import { csv, parse, sample } from "./table.js";
import { type Scene, sceneOf } from "./views.js";

/** The database of the page's own notes. Not localStorage, which is lost if the browser crashes. */
const NOTES = "playground";

/** What the page needs to draw a run. */
export interface Remembered {
  name: string;
  head: NonNullable<TrainOptions["head"]>;
  scene: Omit<Scene, "host"> | undefined;
}

export interface Left extends Remembered {
  /** The name it is stored under. */
  key: string;
  epoch: number;
  epochs: number;
}

/**
 * Notes what is needed to draw the run that will be stored under `key`. Without storage, the run is not offered later.
 */
export const remember = (key: string, run: Remembered): Promise<unknown> =>
  inNotes("readwrite", (store) => store.put({ ...run, notedAt: Date.now() }, key)).catch(() => {});

/**
 * The unfinished runs that this page can draw, latest first, and whether other runs are active. Empty without storage.
 */
export async function leftRuns(): Promise<{ left: Left[]; isAnyRunning: boolean }> {
  const runs = await keptRuns().catch(() => []);
  const left = runs
    .filter(({ isRunning }) => !isRunning)
    .map(async ({ name: key, epoch, epochs }) => {
      const run = (await inNotes("readonly", (store) => store.get(key))) as Remembered | undefined;
      return run && { ...run, scene: await upgraded(run.scene), key, epoch, epochs };
    });
  return {
    left: (await Promise.all(left)).filter((run) => run !== undefined),
    isAnyRunning: left.length < runs.length,
  };
}

/** After this time a run has reported an epoch and is stored. */
const HOUR_MS = 3_600_000;

/** Deletes old notes of runs that are not stored: their tabs were closed before the first epoch. */
export async function tidy(): Promise<void> {
  const kept = (await keptRuns()).map(({ name }) => name);
  const keys = (await inNotes("readonly", (store) => store.getAllKeys())) as string[];
  await Promise.all(
    keys
      .filter((key) => !kept.includes(key))
      .map(async (key) => {
        const { notedAt = 0 } = (await inNotes("readonly", (store) => store.get(key))) as { notedAt?: number };
        if (Date.now() - notedAt > HOUR_MS) await forgetNote(key);
      }),
  );
}

/**
 * Notes of earlier versions hold only column names: the engine describes their rows again. If that fails, they are not
 * drawn.
 */
async function upgraded(scene: Remembered["scene"]): Promise<Remembered["scene"]> {
  if (!scene || "columns" in scene.sample) return scene;
  const { names, rows } = scene.sample as { names: string[]; rows: string[][] };
  const text = csv(names, rows);
  const table = await describe(text).then(
    (description) => parse(text, description),
    () => undefined,
  );
  return sceneOf(table && sample(table, rows.length), scene.target);
}

/** Deletes a run and its note. */
export async function forgetRun(key: string): Promise<void> {
  await forget(key);
  await forgetNote(key);
}

/** Deletes the note of a finished run: the engine has deleted the rest. */
export const forgetNote = (key: string): Promise<unknown> =>
  inNotes("readwrite", (store) => store.delete(key)).catch(() => {});

async function inNotes(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest): Promise<unknown> {
  const opening = indexedDB.open(NOTES, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(NOTES);
  await done(opening, "onsuccess");
  const transaction = opening.result.transaction(NOTES, mode, { durability: "strict" });
  const request = work(transaction.objectStore(NOTES));
  await done(transaction, "oncomplete");
  opening.result.close();
  return request.result;
}

const done = <On extends string>(work: { [on in On]: unknown } & { onerror: unknown }, on: On): Promise<unknown> =>
  new Promise((resolve, reject) => Object.assign(work, { [on]: resolve, onerror: reject, onabort: reject }));
