// Limits how often work runs to what the page can keep up with, and shows its errors.
import { get } from "./dom";

/** Returns a function that requests `work`. Requests during `work` are combined: it runs once more afterwards. */
export function soon(work: () => Promise<void>, failed: (error: unknown) => void): () => void {
  let [isWanted, isBusy] = [false, false];
  const run = async () => {
    isBusy = true;
    while (isWanted) {
      isWanted = false;
      await work().catch(failed);
      await new Promise(requestAnimationFrame);
    }
    isBusy = false;
  };
  return () => {
    isWanted = true;
    if (!isBusy) void run();
  };
}

/** Shows an error in the element with this id. */
export function failed(place: string): (error: unknown) => void {
  return (error) => {
    get(place).textContent = error instanceof Error ? error.message : String(error);
  };
}
