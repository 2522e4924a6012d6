// The measurements on one device: opening, training steps, predictions. Each result is reported when it is complete.
import { type DeviceName, type Engine, type Model, open } from "../engine.js";
import { quantile } from "../numbers.js";
import { random } from "../random.js";

const INPUTS = 5;
const HIDDEN = [64, 64, 64];
/** Weights without biases: each costs two operations per row for a prediction, six in a training step. */
const WEIGHTS = 5 * 64 + 64 * 64 + 64 * 64 + 64;
const ROWS = 16_384;
const PREDICTED_ROWS = 100_000;
const REPEATS = 3;
/** Workers can share memory only in a cross-origin isolated page. */
export const THREADS = crossOriginIsolated ? Math.min(16, navigator.hardwareConcurrency) : 1;
/** Warm-up time that is not counted: browsers recompile code that runs often, with better optimisation. */
const WARM_MS = 250;

export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** 10⁹ operations per second, if defined. */
  gigaflops?: number;
}

export const MEASUREMENTS = [
  "Open",
  "Train, batch 256",
  "Train, batch 2,048",
  `Predict ${PREDICTED_ROWS.toLocaleString("en")} rows`,
];

interface Rows {
  x: Float32Array;
  y: Float32Array;
}

interface Trained {
  rate: number;
  model: Model;
}

/**
 * Measures all figures of a device and passes each to `report`. Rejects with the error of `open` if the device is
 * absent.
 */
export async function measure(
  device: DeviceName,
  seconds: number,
  signal: AbortSignal,
  report: (figure: Figure) => void,
): Promise<Engine["info"]> {
  const began = performance.now();
  const engine = await open({ device, threads: THREADS });
  report({ name: MEASUREMENTS[0]!, value: performance.now() - began, unit: "ms" });
  const data = rows(ROWS);
  let model: Model | undefined;
  for (const [at, batch] of [256, 2048].entries()) {
    const trained = await train(engine, data, batch, seconds, signal);
    model = trained.model;
    report({
      name: MEASUREMENTS[at + 1]!,
      value: trained.rate,
      unit: "steps/s",
      gigaflops: (6 * WEIGHTS * batch * trained.rate) / 1e9,
    });
  }
  const milliseconds = await timePredictions(model!, signal);
  report({
    name: MEASUREMENTS[3]!,
    value: milliseconds,
    unit: "ms",
    gigaflops: (2 * WEIGHTS * PREDICTED_ROWS) / milliseconds / 1e6,
  });
  return engine.info;
}

/** y = sin x0 + cos(x1) / 2 + x2 x3 + 0.3 x4 on [-1, 1]. */
function rows(count: number): Rows {
  const next = random(1);
  const x = Float32Array.from({ length: count * INPUTS }, () => next.between(-1, 1));
  const y = Float32Array.from({ length: count }, (_, row) => {
    const [a, b, c, d, e] = x.subarray(row * INPUTS, (row + 1) * INPUTS) as unknown as [
      number,
      number,
      number,
      number,
      number,
    ];
    return Math.sin(a) + 0.5 * Math.cos(b) + c * d + 0.3 * e;
  });
  return { x, y };
}

/** Steps per second, from the end of the first epoch after the warm-up until the time is up. */
async function train(
  engine: Engine,
  data: Rows,
  batch: number,
  seconds: number,
  signal: AbortSignal,
): Promise<Trained> {
  signal.throwIfAborted();
  const run = engine.train(data, {
    hidden: HIDDEN,
    batch,
    epochs: 1_000_000,
    patience: 0,
    validation: 0,
    test: 0,
    schedule: "constant",
    lr: 1e-3,
  });
  const requested = performance.now();
  let stepsPerEpoch = 0,
    epochs = -1,
    began = 0,
    took = 0,
    isEnding = false;
  for await (const event of run) {
    if (event.event === "start") ({ stepsPerEpoch } = event);
    if (event.event === "end") {
      signal.throwIfAborted();
      return { rate: (epochs * stepsPerEpoch * 1000) / took, model: event.model };
    }
    if (event.event !== "epoch" || isEnding) continue;
    if (epochs < 0 && performance.now() - requested < WARM_MS) continue;
    epochs++;
    if (epochs === 0) began = performance.now();
    took = performance.now() - began;
    isEnding = signal.aborted || (epochs > 0 && took >= 1000 * seconds);
    if (isEnding) run.stop();
  }
  throw new Error("bench: a run ended without an end event");
}

/** The median time of several predictions, after one warm-up call. */
async function timePredictions(model: Model, signal: AbortSignal): Promise<number> {
  const { x } = rows(PREDICTED_ROWS);
  const times: number[] = [];
  for (let repeat = 0; repeat <= REPEATS; repeat++) {
    signal.throwIfAborted();
    const began = performance.now();
    await model.predict(x);
    times.push(performance.now() - began);
  }
  return quantile(times.slice(1), 0.5);
}
