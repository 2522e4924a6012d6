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

/**
 * A function that resolves with the next event of a run as `{ text, model }`, or with undefined if there is none after
 * so many milliseconds. Python looks for Ctrl-C in between.
 */
export function reader(run) {
  let pending;
  return async (ms) => {
    pending ??= run.next();
    const answer = await within(pending, ms);
    if (!answer) return undefined;
    pending = undefined;
    const { model, ...event } = answer.value;
    return { text: JSON.stringify(event), model };
  };
}
