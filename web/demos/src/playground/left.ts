// Runs that closed tabs left: the engine keeps their data and checkpoints, this page what it draws. Each is kept under a name of its
// own, which the tab that trains it has claimed, so that no tab writes over what another one keeps.
import { describe, forget, type TrainOptions } from "../engine.js";
import { KEPT, keptRuns } from "./kept.js";
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

/** A name that is this tab's until it gives it up, or is closed. */
export interface Claim {
  key: string;
  giveUp(): void;
}

/** Absent in pages that are not secure; names are then not told apart by tabs. */
const locks = () => navigator.locks as LockManager | undefined;
const lockOf = (key: string) => `kept run: ${key}`;

/** Claims a name; nothing where another tab has it. */
export async function claim(key: string): Promise<Claim | undefined> {
  const all = locks();
  if (!all) return { key, giveUp() {} };
  return new Promise((resolve, reject) => {
    all.request(lockOf(key), { ifAvailable: true }, (lock) => {
      if (!lock) return resolve(undefined);
      return new Promise<void>((giveUp) => resolve({ key, giveUp }));
    }).catch(reject);
  });
}

/** Claims a name that nothing is kept under and notes there what it takes to draw `run`; without storage nothing is offered later. */
export async function remember(run: Remembered): Promise<Claim> {
  const taken = await keptRuns().then((runs) => runs.map(({ name }) => name), () => [] as string[]);
  for (let count = 1; ; count++) {
    const key = count === 1 ? KEPT : `${KEPT} ${count}`;
    const mine = taken.includes(key) ? undefined : await claim(key);
    if (!mine) continue;
    await inNotes("readwrite", (store) => store.put(run, key)).catch(() => {});
    return mine;
  }
}

/** The runs that were left and that this page knows how to draw, latest first; none where there is no storage. */
export async function leftRuns(): Promise<Left[]> {
  const held = (await locks()?.query())?.held?.map(({ name }) => name) ?? [];
  const runs = await keptRuns().catch(() => []);
  const left = runs.filter(({ name }) => !held.includes(lockOf(name))).map(async ({ name: key, epoch, epochs }) => {
    const run = await inNotes("readonly", (store) => store.get(key)) as Remembered | undefined;
    return run && { ...run, scene: await known(run.scene), key, epoch, epochs };
  });
  return (await Promise.all(left)).filter((run) => run !== undefined);
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
