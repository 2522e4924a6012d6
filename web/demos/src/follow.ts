// Follows a run to its end and looks at it as often as a page can draw, not more.
import type { End, EpochEvent, Run, StartEvent } from "./engine.js";

const LOOK_MS = 90;

export interface Watch {
  start?: (event: StartEvent) => void;
  epoch?: (event: EpochEvent) => void;
  /** After some epochs: predict with the weights as they are, and draw. */
  look?: () => unknown;
}

/** The run's end. An aborted signal stops the run. */
export async function follow(run: Run, signal: AbortSignal, watch: Watch): Promise<End> {
  const stop = () => run.stop();
  signal.addEventListener("abort", stop);
  let looked = 0;
  try {
    for await (const event of run) {
      if (event.event === "end") return event;
      if (event.event === "start") {
        watch.start?.(event);
        continue;
      }
      watch.epoch?.(event);
      if (performance.now() - looked < LOOK_MS || signal.aborted) continue;
      await watch.look?.();
      looked = performance.now();
    }
  } finally {
    signal.removeEventListener("abort", stop);
  }
  throw new DOMException("the run was left", "AbortError");
}
