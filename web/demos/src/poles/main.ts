// Poles: a rational head and a perceptron learn a function with poles from the same measurements. Both are drawn while
// they train.
import { Chart } from "../chart.js";
import type { End, Prediction, StartEvent, TrainOptions } from "../engine.js";
import { follow } from "../follow.js";
import { places, quantile, short, spread, whole } from "../numbers.js";
import { element, engine, figures, get, number, ready, shown } from "../page.js";
import { random } from "../random.js";
import { nearPole, type Pole, polesFound, reliable } from "./found.js";
import { measurements, polesInside, RANGE, TARGETS, type Target, truth } from "./functions.js";

const DRAWN = 801;
const MEASURED = 4001;
const HEIGHT = 12;
/** A pole found farther away than this counts as a different pole. */
const NEAR = 0.1;

const chart = new Chart(get("curve"), {
  x: { label: "x" },
  y: { label: "y", range: [-HEIGHT, HEIGHT] },
  series: [
    { label: "true", colour: "--truth", width: 5, kind: "branches" },
    { label: "perceptron", colour: "--plain" },
    { label: "rational", colour: "--model" },
    { label: "rational, near a pole", colour: "--model", kind: "dash" },
  ],
});
const lossChart = new Chart(get("loss"), {
  x: { label: "epoch", isLog: true },
  y: { label: "loss", isLog: true },
  series: [
    { label: "perceptron, mse", colour: "--plain" },
    { label: "rational, pairs", colour: "--model" },
  ],
  isSmall: true,
});

interface Setting {
  target: Target;
  place: number;
  grid: Float32Array;
  table: string;
  signal: AbortSignal;
}

/** The current state of one model. */
interface Side {
  losses: number[];
  curve?: Prediction;
  start?: StartEvent;
  end?: End;
}

let abort = new AbortController();

async function train(): Promise<void> {
  abort.abort();
  abort = new AbortController();
  const setting = chosen(abort.signal);
  const sides: [Side, Side] = [{ losses: [] }, { losses: [] }];
  delete document.documentElement.dataset.trained;
  get("status").textContent = "Training …";
  const options = { epochs: number("epochs"), seed: number("seed") };
  const began = performance.now();
  try {
    await Promise.all([
      side(setting, sides, 0, "plain", { ...options, head: "linear" }),
      side(setting, sides, 1, "model", { ...options, head: "rational" }),
    ]);
    if (setting.signal.aborted) return;
    await conclude(setting, sides, (performance.now() - began) / 1000);
  } catch (error) {
    if (setting.signal.aborted) return;
    get("status").textContent = "Not trained.";
    throw error;
  }
}

function chosen(signal: AbortSignal): Setting {
  const target = TARGETS[get<HTMLSelectElement>("function").value]!;
  const place = number("place");
  const grid = Float32Array.from(spread(...target.x, DRAWN));
  return { target, place, grid, table: measurements(target, place, number("rows"), random(number("seed"))), signal };
}

/** Trains one of the two models. */
async function side(
  setting: Setting,
  sides: [Side, Side],
  at: 0 | 1,
  slot: string,
  options: TrainOptions,
): Promise<void> {
  const opened = await engine(slot);
  const run = opened.train(setting.table, {
    target: "y",
    hidden: [32, 32],
    activation: "tanh",
    lr: 5e-3,
    weightDecay: 0,
    batch: 64,
    patience: 0,
    test: 0,
    ...options,
  });
  const mine = sides[at];
  mine.end = await follow(run, setting.signal, {
    start: (event) => {
      mine.start = event;
    },
    epoch: (event) => {
      mine.losses.push(event.trainLoss);
    },
    draw: async () => {
      mine.curve = await run.predict(setting.grid);
      if (!setting.signal.aborted) draw(setting, sides);
    },
  });
}

function draw({ target, place, grid }: Setting, [plain, rational]: [Side, Side]): void {
  const none = Array.from(grid, () => null);
  const found = rational.curve ? polesFound(grid, rational.curve) : [];
  chart.set(
    [
      grid,
      truth(target, place, grid),
      plain.curve ? (plain.curve.value as Float64Array) : none,
      rational.curve ? reliable(rational.curve) : none,
      rational.curve ? nearPole(rational.curve) : none,
    ],
    { bands: found.map(({ band }) => band), lines: polesInside(target, place) },
  );
  const longest = Math.max(plain.losses.length, rational.losses.length);
  const epochs = Array.from({ length: longest }, (_, epoch) => epoch + 1);
  const row = (losses: number[]) => epochs.map((_, epoch) => losses[epoch] ?? null);
  lossChart.set([epochs, row(plain.losses), row(rational.losses)]);
}

async function conclude(setting: Setting, sides: [Side, Side], seconds: number): Promise<void> {
  const { target, place, grid } = setting;
  const [plain, rational] = sides.map(({ end }) => end!.model) as [End["model"], End["model"]];
  const fine = Float32Array.from(spread(...target.x, MEASURED));
  [sides[0].curve, sides[1].curve] = await Promise.all([plain.predict(grid), rational.predict(grid)]);
  const [predictedPlain, predictedRational] = await Promise.all([plain.predict(fine), rational.predict(fine)]);
  draw(setting, sides);
  const poles = polesInside(target, place);
  const found = polesFound(fine, predictedRational);
  const atPoles = (await plain.predict(Float32Array.from(poles))).value as Float64Array;
  const missed = tabulate(poles, found, atPoles);
  const median = (predicted: Prediction) => short(quantile(errors(target, place, fine, predicted), 0.5), 2);
  const { bottom, gap } = predictedRational;
  const unmarked = errors(target, place, fine, predictedRational, (at) => Boolean(bottom?.[at] || gap?.[at]));
  const extra = found.filter((one) => poles.every((pole) => Math.abs(pole - one.place) > NEAR)).length;
  figures(get("figures"), [
    [
      "Median error, rational head",
      median(predictedRational),
      `largest outside of marked places: ${short(Math.max(...unmarked), 2)}`,
    ],
    ["Median error, perceptron", median(predictedPlain), "at all points"],
    ["False poles", String(extra), "reported where there is none"],
    [
      "Training time, both",
      `${seconds.toFixed(1)} s`,
      `${whole(sides[0].start!.trainRows)} and ${whole(sides[1].start!.trainRows)} rows`,
    ],
  ]);
  chart.describe(`${poles.length} true poles; the rational head found ${poles.length - missed}`);
  lossChart.describe(
    `final losses: perceptron ${short(sides[0].losses.at(-1)!)}, rational ${short(sides[1].losses.at(-1)!)}`,
  );
  const [used, all] = sides.map(({ start }) => start!.trainRows + start!.valRows) as [number, number];
  get("dropped").textContent = `Here these are ${whole(all - used)} of ${whole(all)} rows.`;
  get("status").textContent = "Done. Move the pole with the slider, or choose another function.";
  document.documentElement.dataset.trained = "";
}

/** The absolute errors at points where the meter gives a number and the model does, or is not marked otherwise. */
function errors(
  { value: formula }: Target,
  place: number,
  grid: Float32Array,
  { value, bottom }: Prediction,
  isMarked = (at: number) => Boolean(bottom?.[at]),
): number[] {
  return Array.from(grid).flatMap((x, at) => {
    const expected = formula(x, place);
    return isMarked(at) || Math.abs(expected) > RANGE ? [] : [Math.abs(Number(value[at]) - expected)];
  });
}

/**
 * Fills the table with a row per pole: its position by the rational head, and the perceptron's value there. Returns the
 * number of missed poles.
 */
function tabulate(poles: number[], found: Pole[], atPoles: ArrayLike<number>): number {
  let missed = 0;
  get("poles").replaceChildren(
    ...poles.map((pole, at) => {
      const off = ({ place }: Pole) => Math.abs(place - pole);
      const nearest = found.toSorted((a, b) => off(a) - off(b)).find((one) => off(one) <= NEAR);
      if (!nearest) missed++;
      const result = nearest ? [places(nearest.place, 4), short(off(nearest), 2)] : ["not found", "–"];
      const row = element("tr");
      row.append(...[places(pole, 4), ...result, short(atPoles[at]!)].map((cell) => element("td", cell)));
      return row;
    }),
  );
  return missed;
}

/** Shows the chosen function's formula, axes and slider. */
function show(): void {
  const { value: name } = get<HTMLSelectElement>("function");
  const { place, axes } = TARGETS[name]!;
  for (const formula of document.querySelectorAll<HTMLElement>("[data-formula]"))
    formula.hidden = formula.dataset.formula !== name;
  chart.axes({ label: axes.x }, { label: axes.y, range: [-HEIGHT, HEIGHT] });
  Object.assign(get<HTMLInputElement>("place"), { min: place.min, max: place.max, value: place.start });
  showPlace();
}

function showPlace(): void {
  get("place-value").textContent = places(number("place"), 2);
}

let soon = 0;
/** Trains when the slider has stopped moving. */
function later(): void {
  clearTimeout(soon);
  soon = setTimeout(() => shown(train), 200);
}

get("function").addEventListener("change", () => {
  show();
  shown(train);
});
get("place").addEventListener("input", () => {
  showPlace();
  later();
});
get("device").addEventListener("change", () => shown(train));
get("form").addEventListener("submit", (event) => {
  event.preventDefault();
  shown(train);
});
show();
ready();
shown(train);
