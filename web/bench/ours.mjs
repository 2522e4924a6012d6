// Our side of the race: a perceptron with SiLU and AdamW. The loss is read once per epoch.
import { open } from "../dist/index.js";
import { onnx } from "../dist/export.js";
import { callsFor, data, median } from "./shared.mjs";

const constant = { task: "regression", schedule: "constant", bins: 0 };

/** Steps per second. The other engines use no validation rows; our trainer needs a batch of them. */
globalThis.train = async ({ device, hidden, batch, steps, epochs, threads, step }) => {
  const engine = await open({ device, threads });
  const validation = 1 / (steps + 1);
  const options = { ...constant, hidden, epochs: epochs + 1, patience: 0, batch, validation, test: 0, ...(step && { step }) };
  const times = [];
  let last;
  for await (const event of engine.train(data(batch * (steps + 1)), options)) {
    if (event.event === "start" && event.stepsPerEpoch !== steps) throw new Error(`${event.stepsPerEpoch} steps instead of ${steps}`);
    if (event.event !== "epoch") continue;
    if (last) times.push(performance.now() - last);
    last = performance.now();
  }
  const ms = times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
  return 1e3 * steps / ms;
};

async function trained(engine, hidden) {
  for await (const { model } of engine.train(data(1024), { ...constant, hidden, epochs: 1 })) if (model) return model;
}

/** Milliseconds of a prediction of `rows` rows. */
globalThis.predict = async ({ device, hidden, rows, threads, turns = 9 }) => {
  const engine = await open({ device, threads });
  const model = await trained(engine, hidden);
  const { x } = data(rows);
  return median(turns, () => model.predict(x), callsFor(rows));
};

/** The bytes of a model of this shape as ONNX, for the engines that only predict. */
globalThis.exported = async ({ hidden }) => Array.from(await onnx(await trained(await open({ device: "cpu" }), hidden)));
globalThis.ready = true;
