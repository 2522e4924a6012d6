// Long work in short parts, so that a page stays responsive: a generator yields where it may pause.

/** A part takes about this long. People notice a page that does not answer for 50 ms. */
const PART_MS = 10;

/**
 * Runs `steps` to its end. It pauses at yields of true, whenever it has run for a while; up to the first pause it runs
 * before this function returns.
 */
export async function paced<T>(steps: Generator<boolean, T>, signal?: AbortSignal): Promise<T> {
  let began = performance.now();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (!value || performance.now() - began < PART_MS) continue;
    await turn();
    signal?.throwIfAborted();
    began = performance.now();
  }
}

/** Resolves after other events of the page. Not a timer: those of hidden pages are a second apart. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
