// The engine for Python: the npm package, and what Python would be slow or clumsy at.
export { describe, open } from "../../../web/dist/inline.js";

/** The value of a promise, or undefined if it has none after so many milliseconds. */
const within = (promise, ms) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const done = (settle) => (value) => {
      clearTimeout(timer);
      settle(value);
    };
    promise.then(done(resolve), done(reject));
  });

/** Ctrl-C is looked for this often. */
const SIGNALS_MS = 50;

/**
 * A function that resolves with an event of a run by its number from 1, as JSON, and its model, or with undefined at
 * Ctrl-C, for which `check` throws. Python does not run while it waits, so that Ctrl-C does not strike anywhere in it,
 * and can ask for the event again that it was about to read then.
 */
export function reader(run, check) {
  let [known, event] = [0];
  return async (number) => {
    if (number !== known) [known, event] = [number, run.next()];
    for (;;) {
      const answer = await within(event, SIGNALS_MS);
      if (answer) {
        const { model, ...rest } = answer.value;
        return { text: JSON.stringify(rest), model };
      }
      try {
        check();
      } catch {
        return undefined;
      }
    }
  };
}
