// The same measurement as for the other libraries: 5-64-64-64-1 SiLU, AdamW, the loss read once per epoch, the first epoch not counted.
import { open } from "../dist/index.js";

function generator(seed) {
  let s = seed >>> 0;
  return () => { s = (Math.imul(s, 1664525) + 1013904223) >>> 0; return s / 4294967296; };
}

/** The same data as for the other libraries. */
function data(n, seed = 1) {
  const r = generator(seed), x = new Float32Array(n * 5), y = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    const row = Array.from({ length: 5 }, () => 2 * r() - 1);
    x.set(row, i * 5);
    y[i] = Math.sin(row[0]) + 0.5 * Math.cos(row[1]) + row[2] * row[3] + 0.3 * row[4];
  }
  return { x, y };
}

/** Steps per second over `epochs` epochs of `n` rows in batches of `batch`, after one epoch of warm-up. */
globalThis.bench = async (device, n, epochs, batch, threads) => {
  const engine = await open({ device, threads });
  // The other libraries use no validation rows. Our trainer needs at least one batch of them: without any it would evaluate the
  // training rows again after each epoch.
  const validation = batch / (n + batch);
  const options = { epochs: epochs + 1, patience: 0, batch, validation, test: 0, task: "regression", schedule: "constant" };
  let started, loss, steps;
  for await (const event of engine.train(data(n + batch), options)) {
    if (event.event === "start") steps = event.stepsPerEpoch;
    if (event.event !== "epoch") continue;
    loss = event.trainLoss;
    if (event.epoch === 0) started = performance.now();
    if (event.epoch === epochs) {
      const ms = performance.now() - started;
      const lib = `meromorph-${engine.info.device}`;
      return { lib, threads, n, epochs, batch, ms, steps_per_s: epochs * steps / ms * 1e3, samples_per_s: epochs * n / ms * 1e3, loss };
    }
  }
};
/** The median time of 9 predictions of `rows` rows, after one warm-up call. */
globalThis.infer = async (device, rows, threads) => {
  const engine = await open({ device, threads });
  let model;
  for await (const event of engine.train(data(1024), { epochs: 1, task: "regression" })) ({ model } = event);
  const { x } = data(rows);
  const times = [];
  for (let turn = 0; turn < 10; turn++) {
    const started = performance.now();
    await model.predict(x);
    times.push(performance.now() - started);
  }
  const ms = times.slice(1).sort((a, b) => a - b)[4];
  return { lib: `meromorph-${engine.info.device}`, infer_rows: rows, ms };
};
globalThis.ready = true;
