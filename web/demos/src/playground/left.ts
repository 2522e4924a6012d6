// The run that a closed tab left: the engine keeps its data and checkpoint, this page what it draws.
import { forget, kept } from "../engine.js";
import type { TrainOptions } from "../engine.js";
import type { Scene } from "./views.js";

/** The engine keeps the run under this name. */
export const KEPT = "playground";
const KEY = "playground-run";

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

export function remember(run: Remembered): void {
  try { localStorage.setItem(KEY, JSON.stringify(run)); } catch { /* Without storage nothing is offered later. */ }
}

/** The run that was left, if there is one and this page knows how to draw it. */
export async function leftRun(): Promise<Left | undefined> {
  const found = (await kept()).find(({ name }) => name === KEPT);
  const words = found && localStorage.getItem(KEY);
  if (!words) return undefined;
  const { epoch, epochs } = found;
  return { ...(JSON.parse(words) as Remembered), epoch, epochs };
}

export const forgetRun = (): Promise<void> => forget(KEPT);
