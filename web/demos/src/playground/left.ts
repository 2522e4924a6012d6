// Runs that closed tabs left: the engine keeps their data and checkpoints, this page what it draws.
import { describe, forget, type TrainOptions } from "../engine.js";
import { keptRuns } from "./kept.js";
import { csv, parse, sample } from "./table.js";
import { type Scene, sceneOf } from "./views.js";

/** Where the page's own notes lie. Not in localStorage, which a browser that crashes takes along. */
const NOTES = "playground";

/** What the page needs to draw a run. */
export interface Remembered {
  name: string;
  head: NonNullable<TrainOptions["head"]>;
  scene: Omit<Scene, "host"> | undefined;
}

export interface Left extends Remembered {
  /** What it is kept under. */
  key: string;
  epoch: number;
  epochs: number;
}

/** Notes what it takes to draw a run that will be kept under `key`; without storage nothing is offered later. */
export const remember = (key: string, run: Remembered): Promise<unknown> =>
  inNotes("readwrite", (store) => store.put({ ...run, notedAt: Date.now() }, key)).catch(() => {});

/** The runs that were left and that this page knows how to draw, latest first, and whether others are under way. None where there is no storage. */
export async function leftRuns(): Promise<{ left: Left[]; isAnyRunning: boolean }> {
  const runs = await keptRuns().catch(() => []);
  const left = runs.filter(({ isRunning }) => !isRunning).map(async ({ name: key, epoch, epochs }) => {
    const run = await inNotes("readonly", (store) => store.get(key)) as Remembered | undefined;
    return run && { ...run, scene: await known(run.scene), key, epoch, epochs };
  });
  return { left: (await Promise.all(left)).filter((run) => run !== undefined), isAnyRunning: left.length < runs.length };
}

/** By then a run has told an epoch, and is kept. */
const HOUR_MS = 3_600_000;

/** Forgets old notes of runs that are not kept: their tabs were closed before the first epoch. */
export async function tidy(): Promise<void> {
  const kept = (await keptRuns()).map(({ name }) => name);
  const keys = await inNotes("readonly", (store) => store.getAllKeys()) as string[];
  await Promise.all(keys.filter((key) => !kept.includes(key)).map(async (key) => {
    const { notedAt = 0 } = await inNotes("readonly", (store) => store.get(key)) as { notedAt?: number };
    if (Date.now() - notedAt > HOUR_MS) await forgetNote(key);
  }));
}

/** Notes of before had names of columns only: what their rows hold the engine says again. Without that nothing is drawn of them. */
async function known(scene: Remembered["scene"]): Promise<Remembered["scene"]> {
  if (!scene || "columns" in scene.sample) return scene;
  const { names, rows } = scene.sample as { names: string[]; rows: string[][] };
  const text = csv(names, rows);
  const table = await describe(text).then((description) => parse(text, description), () => undefined);
  return sceneOf(table && sample(table, rows.length), scene.target);
}

/** Forgets a run with the rows that were noted of it. */
export async function forgetRun(key: string): Promise<void> {
  await forget(key);
  await forgetNote(key);
}

/** Forgets what was noted of a run that came to its end: the engine has forgotten the rest. */
export const forgetNote = (key: string): Promise<unknown> => inNotes("readwrite", (store) => store.delete(key)).catch(() => {});

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
