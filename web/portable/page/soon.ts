// Work that is done as often as the page keeps up with, and where its errors are told.
import { get } from "./dom";

/** Calls `work` soon after it was asked for; while it is under way, once more at the end of it however often it was asked. */
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
  return (error) => { get(place).textContent = error instanceof Error ? error.message : String(error); };
}
