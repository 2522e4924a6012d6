// What every engine of the race gets: the same rows, and a clock around the same steps.

/** Random numbers in [0, 1), the same everywhere. */
export function generator(seed) {
  let s = seed >>> 0;
  return () => { s = (Math.imul(s, 1664525) + 1013904223) >>> 0; return s / 4294967296; };
}

/** n rows of five inputs in [-1, 1) and a smooth target. */
export function data(n, seed = 1) {
  const r = generator(seed), x = new Float32Array(n * 5), y = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    const row = Array.from({ length: 5 }, () => 2 * r() - 1);
    x.set(row, i * 5);
    y[i] = Math.sin(row[0]) + 0.5 * Math.cos(row[1]) + row[2] * row[3] + 0.3 * row[4];
  }
  return { x, y };
}

/** Milliseconds of a call: the median of `turns` turns of `calls` calls after one turn that is not counted. */
export async function median(turns, work, calls = 1) {
  const times = [];
  for (let turn = 0; turn <= turns; turn++) {
    const started = performance.now();
    for (let call = 0; call < calls; call++) await work();
    times.push((performance.now() - started) / calls);
  }
  return times.slice(1).sort((a, b) => a - b)[Math.floor(turns / 2)];
}

/**
 * Steps per second: `epochs` calls of `epoch`, which makes `steps` steps and waits for the last, after one that is not
 * counted.
 */
export async function rate(epochs, steps, epoch) {
  return 1e3 * steps / await median(epochs, epoch);
}

/** Calls per turn of a prediction: the clock of a page is too coarse for one call with few rows. */
export const callsFor = (rows) => (rows < 100 ? 200 : 1);
