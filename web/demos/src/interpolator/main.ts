// Interpolator: a model of a function of five inputs. Charts compare it with the true formula along each input, also
// during training.
import { Chart } from "../chart.js";
import type { Model, Prediction, Run } from "../engine.js";
import { follow } from "../follow.js";
import { mean, places, quantile, r2, short, spread, whole } from "../numbers.js";
import { element, engine, figures, get, number, ready, shown } from "../page.js";
import { random } from "../random.js";
import { INPUTS, type Rows, rows, slices, TRUTHS, type Truth } from "./truth.js";

const STEPS = 61;
const PROBES = 2000;
const BINS = 41;

const INDICES = Array.from({ length: INPUTS }, (_, input) => input);
const sliders = INDICES.map(slider);
const charts = INDICES.map(
  (input) =>
    new Chart(get(`slice-${input}`), {
      x: { label: `x${input}` },
      y: { label: "y" },
      series: [
        { label: "true", colour: "--truth", width: 5 },
        { label: "model", colour: "--model" },
      ],
      isSmall: true,
    }),
);
const lossChart = new Chart(get("loss"), {
  x: { label: "epoch" },
  y: { label: "squared error, scaled", isLog: true },
  series: [
    { label: "training", colour: "--model" },
    { label: "validation", colour: "--plain" },
  ],
  isSmall: true,
});
const errorChart = new Chart(get("errors"), {
  x: { label: "model − true" },
  y: { label: "points" },
  series: [{ label: "points", colour: "--model", kind: "bars" }],
  isSmall: true,
});

/** What predicts: a running run or a finished model. */
let source: Pick<Run | Model, "predict"> | undefined;
let truth: Truth = TRUTHS.wave!;
let abort = new AbortController();

function slider(input: number): HTMLInputElement {
  const row = element("div");
  const head = element("div", "", "sliding");
  const made = Object.assign(element("input"), {
    id: `x${input}`,
    type: "range",
    step: "0.01",
    min: "-1",
    max: "1",
    value: "0.2",
  });
  const readout = element("output", "0.20");
  const update = () => {
    readout.textContent = places(made.valueAsNumber, 2);
  };
  made.addEventListener("input", () => {
    update();
    shown(redraw);
  });
  made.addEventListener("reset-value", update);
  head.append(Object.assign(element("label", `x${input}`), { htmlFor: made.id }), readout);
  row.append(head, made);
  get("sliders").append(row);
  return made;
}

async function train(): Promise<void> {
  abort.abort();
  const { signal } = (abort = new AbortController());
  delete document.documentElement.dataset.trained;
  get("status").textContent = "Training …";
  const seed = random(number("seed"));
  const data = rows(truth, number("rows"), seed, true);
  const probes = rows(truth, PROBES, seed, false);
  const hidden = get<HTMLInputElement>("hidden")
    .value.split(",")
    .map((width) => width.trim())
    .filter(Boolean)
    .map(Number);
  const losses: [number[], (number | null)[]] = [[], []];
  const began = performance.now();
  let trained = 0;
  try {
    const opened = await engine();
    const run = opened.train(data, {
      hidden,
      bins: 0,
      epochs: number("epochs"),
      lr: number("lr"),
      seed: number("seed"),
      batch: 256,
      patience: 0,
      test: 0,
    });
    source = run;
    const end = await follow(run, signal, {
      start: (event) => {
        trained = event.trainRows;
      },
      epoch: ({ trainLoss, valLoss }) => {
        losses[0].push(trainLoss);
        losses[1].push(valLoss);
      },
      draw: async () => {
        drawLosses(losses);
        get("status").textContent = `Epoch ${losses[0].length}, training loss ${short(losses[0].at(-1)!)}`;
        await redraw();
      },
    });
    if (signal.aborted) return;
    drawLosses(losses);
    source = end.model;
    const seconds = (performance.now() - began) / 1000;
    await redraw();
    await conclude(end.model, probes);
    const pace = `${seconds.toFixed(1)} s, ${whole(end.steps / seconds)} steps per second`;
    get("status").textContent = `Trained on ${whole(trained)} rows in ${pace}. Move the sliders.`;
    document.documentElement.dataset.trained = "";
  } catch (error) {
    if (signal.aborted) return;
    get("status").textContent = "Not trained.";
    throw error;
  }
}

function drawLosses([training, validation]: [number[], (number | null)[]]): void {
  lossChart.set([training.map((_, epoch) => epoch + 1), training, validation]);
  lossChart.describe(`${training.length} epochs, last training loss ${short(training.at(-1)!)}`);
}

let isPredicting = false,
  isStale = false;

/** Draws the charts for the sliders' point. During a prediction only the newest point is remembered. */
async function redraw(): Promise<void> {
  isStale = true;
  if (isPredicting || !source) return;
  isPredicting = true;
  try {
    while (isStale) {
      isStale = false;
      const at = sliders.map((one) => one.valueAsNumber);
      const prediction = await source.predict(Float32Array.from([...slices(truth, at, STEPS), ...at]));
      draw(at, prediction);
    }
  } finally {
    isPredicting = false;
  }
}

function draw(at: number[], { value }: Prediction): void {
  const grid = spread(...truth.range, STEPS);
  for (const input of INDICES) {
    const expected = Array.from(grid, (x) => truth.value(at.with(input, x)));
    const predicted = (value as Float64Array).subarray(input * STEPS, (input + 1) * STEPS);
    charts[input]!.set([grid, expected, predicted], { bands: [], lines: [at[input]!] });
    const worst = Math.max(...expected.map((one, step) => Math.abs(one - predicted[step]!)));
    charts[input]!.describe(`along x${input} the largest error is ${short(worst, 2)}`);
  }
  const [predicted, expected] = [Number(value.at(-1)), truth.value(at)];
  figures(get("here"), [
    ["Model", places(predicted, 4)],
    ["True", places(expected, 4)],
    ["Error", places(Math.abs(predicted - expected), 4)],
  ]);
}

/** Shows the errors at new points, without noise. */
async function conclude(model: Model, probes: Rows): Promise<void> {
  const predicted = (await model.predict(probes.x)).value as Float64Array;
  const errors = Array.from(predicted, (value, row) => value - probes.y[row]!);
  const sizes = errors.map(Math.abs);
  const end = quantile(sizes, 0.995);
  const width = (2 * end) / BINS;
  const counts = new Array<number>(BINS).fill(0);
  for (const error of errors) counts[Math.min(Math.max(Math.floor((error + end) / width), 0), BINS - 1)]!++;
  errorChart.set([counts.map((_, bin) => -end + (bin + 0.5) * width), counts]);
  errorChart.describe(`half of the errors are below ${short(quantile(sizes, 0.5), 2)}`);
  figures(get("figures"), [
    ["R²", places(r2(probes.y, predicted), 5), `over ${whole(PROBES)} new points`],
    ["Median error", short(quantile(sizes, 0.5), 2)],
    ["Mean error", short(mean(sizes), 2), "absolute"],
    ["Largest error", short(Math.max(...sizes), 2)],
    ["Parameters", whole(model.info.parameters)],
  ]);
}

/** Shows the chosen function's formula, and resets the sliders to its range. */
function show(): void {
  const { value: name } = get<HTMLSelectElement>("function");
  truth = TRUTHS[name]!;
  for (const formula of document.querySelectorAll<HTMLElement>("[data-formula]"))
    formula.hidden = formula.dataset.formula !== name;
  const [low, high] = truth.range;
  for (const one of sliders) {
    Object.assign(one, { min: String(low), max: String(high), value: "0.2" });
    one.dispatchEvent(new Event("reset-value"));
  }
}

get("function").addEventListener("change", () => {
  show();
  shown(train);
});
get("device").addEventListener("change", () => shown(train));
get("form").addEventListener("submit", (event) => {
  event.preventDefault();
  shown(train);
});
show();
ready();
shown(train);
