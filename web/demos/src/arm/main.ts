// Robot arm: inverse kinematics of a target that is dragged, by a model that may divide by zero and by one that may
// not.
import type { End, Engine, Model, TrainOptions } from "../engine.js";
import { follow } from "../follow.js";
import { percent, places, short } from "../numbers.js";
import { element, engine, get, number, onTheme, ready, shown } from "../page.js";
import { random } from "../random.js";
import { type Answer, flat, plain, strict } from "./answers.js";
import { CENTRES, isInside, picture, score } from "./floor.js";
import { type Links, type Point, poses, reach, squaredTangent } from "./geometry.js";
import { Stage } from "./scene.js";

const UPPER = 1;

interface Pair<T> {
  strict: T;
  plain: T;
}

const state = {
  links: { upper: UPPER, fore: 0.6 } as Links,
  target: [1.4, 0.95] as Point,
  models: undefined as Pair<Model> | undefined,
  answers: undefined as Pair<Answer> | undefined,
  floors: undefined as Pair<Answer[]> | undefined,
  abort: new AbortController(),
};
const stage = new Stage(get<HTMLCanvasElement>("floor"), (target) => aim(target));

async function train(): Promise<void> {
  state.abort.abort();
  const { signal } = (state.abort = new AbortController());
  const links = { upper: UPPER, fore: number("fore") };
  Object.assign(state, { links, models: undefined, answers: undefined, floors: undefined });
  delete document.documentElement.dataset.trained;
  get("status").textContent = "Training …";
  show();
  const data = poses(links, number("rows"), random(number("seed")));
  const epochs = number("epochs");
  const options: TrainOptions = {
    hidden: [32, 32],
    activation: "tanh",
    lr: 5e-3,
    weightDecay: 0,
    batch: 128,
    patience: 0,
    test: 0,
    epochs,
    seed: number("seed"),
  };
  const began = performance.now();
  const done = [0, 0];
  const showProgress = () => {
    get<HTMLProgressElement>("progress").value = (done[0]! + done[1]!) / (2 * epochs);
  };
  const side = async (at: number, opened: Engine, table: string, more: TrainOptions): Promise<End> =>
    follow(opened.train(table, { ...options, ...more }), signal, {
      epoch: ({ epoch }) => {
        done[at] = epoch + 1;
      },
      draw: showProgress,
    });
  try {
    const [first, second] = await Promise.all([engine("strict"), engine("plain")]);
    const [one, other] = await Promise.all([
      side(0, first, data.tangents, { target: "t", head: "projective" }),
      side(1, second, data.angles, { target: "elbow", head: "linear" }),
    ]);
    if (signal.aborted) return;
    state.models = { strict: one.model, plain: other.model };
  } catch (error) {
    if (signal.aborted) return;
    get("status").textContent = "Not trained.";
    get<HTMLProgressElement>("progress").value = 0;
    throw error;
  }
  get<HTMLProgressElement>("progress").value = 1;
  get("status").textContent = `Both trained in ${((performance.now() - began) / 1000).toFixed(1)} s. Drag the target.`;
  state.floors = await predict(CENTRES);
  tabulate();
  await aim(state.target);
  document.documentElement.dataset.trained = "";
}

async function predict(targets: Point[]): Promise<Pair<Answer[]>> {
  const { links, models } = state;
  const x = flat(targets);
  const [one, other] = await Promise.all([models!.strict.predict(x), models!.plain.predict(x)]);
  return { strict: strict(links, targets, one), plain: plain(links, targets, other) };
}

let isPredicting = false;

/** Moves the target. During a prediction only the newest target is remembered. */
async function aim(target: Point): Promise<void> {
  state.target = target;
  get<HTMLInputElement>("x").value = target[0].toFixed(2);
  get<HTMLInputElement>("y").value = target[1].toFixed(2);
  show();
  if (isPredicting || !state.models) return;
  isPredicting = true;
  try {
    let predicted: Point | undefined;
    while (predicted !== state.target) {
      predicted = state.target;
      const {
        strict: [one],
        plain: [other],
      } = await predict([predicted]);
      state.answers = { strict: one!, plain: other! };
      show();
    }
  } finally {
    isPredicting = false;
  }
}

const degrees = (angle: number) => `${places((angle * 180) / Math.PI, 1)}°`;
const point = ([x, y]: Point) => `(${places(x, 3)}, ${places(y, 3)}) m`;

function show(): void {
  const { links, target, answers, floors } = state;
  const shade = get<HTMLSelectElement>("shade").value as "none" | keyof Pair<unknown>;
  const floor = shade === "none" || !floors ? undefined : picture(floors[shade]);
  stage.draw({ links, target, floor, strict: answers?.strict, plain: answers?.plain });
  const [near, far] = reach(links);
  get("fore-value").textContent = `${places(number("fore"), 2)} m`;
  const distance = Math.hypot(...target);
  const where = isInside(links, target) ? "within reach" : distance > far ? "too far to reach" : "too near to reach";
  const truth = squaredTangent(links, target);
  get("truth").textContent =
    `The target is ${places(distance, 3)} m from the shoulder, ${where}. True tan²(θ₂/2) = ${short(truth)}.`;
  get("reach").textContent = `${places(near, 2)} m to ${places(far, 2)} m`;
  if (!answers) return;
  say("strict", answers.strict);
  say("plain", answers.plain);
}

const REFUSALS = {
  pole: "⊥: no value. The target is at the pole, where the arm is folded.",
  imaginary: "Out of reach: the predicted square is negative, so no real elbow angle exists.",
};

function say(which: keyof Pair<unknown>, answer: Answer): void {
  const box = get(`${which}-says`);
  if (answer.kind !== "pose") {
    const detail = answer.predicted === null ? "" : `Predicted tan²(θ₂/2) = ${short(answer.predicted)}.`;
    box.replaceChildren(element("strong", REFUSALS[answer.kind]), element("span", detail));
    return;
  }
  const isWrong = answer.miss > 0.05;
  const miss = `${places(1000 * answer.miss, answer.miss < 0.1 ? 1 : 0)} mm`;
  box.replaceChildren(
    element("strong", isWrong ? `Misses by ${miss}` : `Reaches it (${miss} off)`, isWrong ? "is-wrong" : "is-right"),
    element(
      "span",
      `Elbow ${degrees(answer.elbow)}, shoulder ${degrees(answer.shoulder)}; hand at ${point(answer.hand)}`,
    ),
  );
}

/** Shows the errors of both models over the whole floor. */
function tabulate(): void {
  const { links, floors } = state;
  const [one, other] = [score(links, floors!.strict), score(links, floors!.plain)];
  const millimetres = (miss: number) => (Number.isNaN(miss) ? "no answers" : `${short(1000 * miss, 3)} mm`);
  const rows: [string, string, string][] = [
    ["Target out of reach: refused", percent(one.refusedOutside), percent(other.refusedOutside)],
    ["Target within reach: refused", percent(one.refusedInside), percent(other.refusedInside)],
    ["Target within reach: median miss", millimetres(one.missInside), millimetres(other.missInside)],
    ["Target out of reach but answered: median miss", millimetres(one.missOutside), millimetres(other.missOutside)],
  ];
  get("scores").replaceChildren(
    ...rows.map((cells) => {
      const row = element("tr");
      row.append(...cells.map((cell) => element("td", cell)));
      return row;
    }),
  );
}

let soon = 0;
function later(): void {
  show();
  clearTimeout(soon);
  soon = setTimeout(() => shown(train), 250);
}

for (const id of ["x", "y"]) {
  get(id).addEventListener("change", () => {
    const typed: Point = [number("x"), number("y")];
    if (typed.every(Number.isFinite)) shown(() => aim(typed));
  });
}
get("shade").addEventListener("change", show);
onTheme(show);
get("fore").addEventListener("input", later);
get("device").addEventListener("change", () => shown(train));
get("form").addEventListener("submit", (event) => {
  event.preventDefault();
  shown(train);
});
show();
ready();
shown(train);
