// Reads a run's events to the end and redraws no more often than a page can draw.
import type { End, EpochEvent, Run, StartEvent } from "./engine.js";

const REDRAW_MS = 90;

export interface Callbacks {
  start?: (event: StartEvent) => void;
  epoch?: (event: EpochEvent) => void;
  /** Called after some epochs: predicts with the current weights, and draws. */
  draw?: () => unknown;
}

/**
 * Returns the run's end event. Aborting the signal stops the run. An error if the loss diverged before an epoch was
 * completed.
 */
export async function follow(run: Run, signal: AbortSignal, callbacks: Callbacks): Promise<End> {
  const stop = () => run.stop();
  signal.addEventListener("abort", stop);
  let drawn = 0;
  try {
    for await (const event of run) {
      if (event.event === "end") {
        if (event.stop === "diverged" && event.bestEpoch === null)
          throw new Error("The loss diverged: try a smaller learning rate.");
        return event;
      }
      if (event.event === "start") {
        callbacks.start?.(event);
        continue;
      }
      callbacks.epoch?.(event);
      if (performance.now() - drawn < REDRAW_MS || signal.aborted) continue;
      await callbacks.draw?.();
      drawn = performance.now();
    }
  } finally {
    signal.removeEventListener("abort", stop);
  }
  throw new DOMException("the run ended without an end event", "AbortError");
}
