// Playground: choose data, train one or two models side by side, save or use the model.
import {
  type Description,
  describe,
  type End,
  InputError,
  type Model,
  type ReadingOptions,
  type Run,
  type Table as Source,
  type TrainOptions,
} from "../engine.js";
import { follow } from "../follow.js";
import { whole } from "../numbers.js";
import { engine, get, number, ready, shown } from "../page.js";
import { EXAMPLES, text } from "./examples.js";
import { load, useModel } from "./keeper.js";
import { freshKey } from "./kept.js";
import { forgetNote, forgetRun, type Left, leftRuns, remember, tidy } from "./left.js";
import { Panel } from "./panel.js";
import { plain, reading } from "./reading.js";
import { parse, sample, type Table } from "./table.js";
import { preview, sceneOf } from "./views.js";

const SAMPLE = 400;
const MODEL = /\.safetensors$/i;
const ARRAY = /\.npy$/i;

/** The chosen data; without a sample if they are not text. */
interface Data {
  source: Source;
  /** How it is written; examples are written by the page. */
  reading: ReadingOptions;
  name: string;
  columns: Description["columns"];
  sample: Table | undefined;
}

const state = {
  data: undefined as Data | undefined,
  runs: [] as Run[],
  panels: [] as Panel[],
  abort: undefined as AbortController | undefined,
  isPaused: false,
};
const checked = (id: string) => get<HTMLInputElement>(id).checked;
const chosen = (id: string) => get<HTMLSelectElement>(id).value;

async function use(source: Source, name: string, formula: string, how: ReadingOptions = {}): Promise<void> {
  const description = await describe(source, how);
  const { rows, columns } = description;
  const written =
    typeof source === "string"
      ? source
      : source instanceof File && !ARRAY.test(source.name)
        ? await source.text()
        : undefined;
  const table =
    written === undefined ? undefined : parse(written, description, source instanceof File ? source.name : "");
  state.data = { source, reading: how, name, columns, sample: table && sample(plain(table, how), SAMPLE) };
  get("data-name").textContent = name;
  get("data-size").textContent = `${whole(rows)} rows, ${columns.length} columns`;
  get("formula").textContent = formula;
  get("target").replaceChildren(...columns.map(({ name }) => new Option(name)));
  get<HTMLSelectElement>("target").selectedIndex = columns.length - 1;
  showTarget();
}

// Runs replace it.
const previewed = { card: get("preview"), host: get("preview-chart") };

/** Offers the heads that can learn the target, and draws it. */
function showTarget(): void {
  const target = chosen("target");
  const { columns, sample } = state.data!;
  const isNumeric = columns.some((column) => column.name === target && column.isNumeric);
  const head = get<HTMLSelectElement>("head");
  for (const option of head.options) option.disabled = !isNumeric && option.value !== "linear";
  if (!isNumeric) head.value = "linear";
  get("heads").hidden = isNumeric;
  offerComparison();
  const scene = previewed.card.isConnected && sceneOf(sample, target);
  previewed.card.hidden = !scene || !preview({ ...scene, host: previewed.host });
}

async function example(): Promise<void> {
  const one = EXAMPLES[chosen("example")];
  if (!one) return;
  get<HTMLSelectElement>("head").value = one.head;
  await use(text(one), one.title, one.formula);
}

/** A perceptron is not compared with itself. */
function offerComparison(): void {
  get<HTMLInputElement>("compare").disabled = chosen("head") === "linear";
}

/** The last file of a person, read again if its numbers are written otherwise. */
let last: File | undefined;

async function file(one: File): Promise<void> {
  // A perceptron can learn numbers and classes.
  get<HTMLSelectElement>("head").value = "linear";
  last = one;
  await use(one, one.name, "", reading());
  get<HTMLSelectElement>("example").value = "file";
}

function options(): TrainOptions {
  const hidden = get<HTMLInputElement>("hidden")
    .value.split(",")
    .map((width) => width.trim())
    .filter(Boolean)
    .map(Number);
  return {
    target: chosen("target"),
    hidden,
    epochs: number("epochs"),
    seed: number("seed"),
    lr: number("lr"),
    batch: number("batch"),
    activation: chosen("activation") as TrainOptions["activation"],
    patience: number("patience"),
  };
}

interface Side {
  slot: string;
  title: string;
  head: NonNullable<TrainOptions["head"]>;
}

const TITLES = {
  linear: "Perceptron",
  rational: "Rational head",
  projective: "Projective head",
  angular: "Angular head",
};

async function train(): Promise<void> {
  const data = state.data!;
  const head = chosen("head") as Side["head"];
  const first: Side = { slot: "model", title: TITLES[head], head };
  const plain: Side = { slot: "plain", title: "Plain perceptron", head: "linear" };
  const sides = checked("compare") && head !== "linear" ? [first, plain] : [first];
  const settings = options();
  await session(async (signal) => {
    const scene = sceneOf(data.sample, settings.target!);
    const key = freshKey();
    await remember(key, { name: data.name, head, scene });
    const one = async (side: Side, keep?: string): Promise<End> => {
      const panel = add(side);
      const opened = await engine(side.slot);
      const more: TrainOptions = { head: side.head, ...(side.head !== "linear" && { weightDecay: 0 }) };
      const run = (keep?: string) =>
        watch(opened.train(data.source, { ...data.reading, ...settings, ...more, keep }), panel, scene, signal);
      return run(keep).catch((error) => {
        if (!isStorageError(error) || panel.hasEpochs) throw error;
        panel.warn(`This run is not stored: closing the tab loses it. (${error.message})`);
        return run();
      });
    };
    await Promise.all(
      sides.map(async (side, at) => {
        const { model } = await one(side, at === 0 ? key : undefined);
        if (at === 0) useModel(model, `trained on “${data.name}”`);
      }),
    );
    await forgetNote(key);
  });
}

/** Whether the error is about storing the run, not about training it. */
const isStorageError = (error: unknown): error is Error =>
  error instanceof InputError && error.message.startsWith("keep: ");

/** Resumes the run of a closed tab. */
async function resume({ name, key, head, scene }: Left): Promise<void> {
  await session(async (signal) => {
    const panel = add({ slot: "model", title: `${TITLES[head]}, resumed`, head });
    const run = (await engine("model")).resumeKept(key);
    useModel((await watch(run, panel, scene, signal)).model, `trained on “${name}”`);
    await forgetNote(key);
  });
}

function add({ title, head }: Side): Panel {
  const panel = new Panel(get("panels"), title, head !== "linear", checked("is-log"));
  state.panels.push(panel);
  return panel;
}

/** One training session: lasts until all its runs have ended. */
async function session(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const { signal } = (state.abort = new AbortController());
  Object.assign(state, { runs: [], panels: [], isPaused: false });
  delete document.documentElement.dataset.trained;
  get("panels").replaceChildren();
  get("left").hidden = true;
  get("status").textContent = "Training …";
  busy(true);
  try {
    await work(signal);
    get("status").textContent = signal.aborted ? "Stopped. The model has the best weights so far." : "Done.";
  } catch (error) {
    state.abort.abort();
    get("status").textContent = "Training failed.";
    for (const panel of state.panels) panel.fail();
    throw error;
  } finally {
    state.abort = undefined;
    busy(false);
    document.documentElement.dataset.trained = "";
  }
}

async function watch(run: Run, panel: Panel, scene: Left["scene"], signal: AbortSignal): Promise<End> {
  state.runs.push(run);
  const began = performance.now();
  const predict = (x: string) => run.predict(x);
  const end = await follow(run, signal, {
    start: (event) => panel.begin(event, scene),
    epoch: (event) => panel.epoch(event),
    draw: () => panel.draw(predict),
  });
  const seconds = (performance.now() - began) / 1000;
  const { model }: { model: Model } = end;
  await panel.finish(end, model.info, seconds, (x) => model.predict(x));
  run.dispose();
  return end;
}

function busy(is: boolean): void {
  get<HTMLButtonElement>("train").disabled = is;
  for (const id of ["pause", "stop"]) get<HTMLButtonElement>(id).disabled = !is;
  get("pause").textContent = "Pause";
}

function pause(): void {
  state.isPaused = !state.isPaused;
  for (const run of state.runs) state.isPaused ? run.pause() : run.resume();
  get("pause").textContent = state.isPaused ? "Resume" : "Pause";
  get("status").textContent = state.isPaused ? "Paused." : "Training …";
}

/**
 * Offers the latest unfinished run; after it is deleted, the one before. A closed tab may need a moment to release its
 * run, so this tries again.
 */
async function offer(tries = 5): Promise<void> {
  const {
    left: [left, ...more],
    isAnyRunning,
  } = await leftRuns();
  if (isAnyRunning && tries > 1) setTimeout(() => shown(() => offer(tries - 1)), 500);
  get("left").hidden = true;
  if (!left || state.abort) return;
  const rest = more.length > 0 ? ` ${more.length} older ${more.length > 1 ? "runs are" : "run is"} stored too.` : "";
  get("left-text").textContent =
    `An unfinished run on “${left.name}” was stored at epoch ${left.epoch} of ${left.epochs}.${rest}`;
  get("left").hidden = false;
  get("go-on").onclick = () => shown(() => resume(left));
  get("forget").onclick = () =>
    shown(async () => {
      await forgetRun(left.key);
      await offer();
    });
}

// A file can be dropped anywhere on the page.
for (const kind of ["dragover", "dragleave", "drop"] as const) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    get("drop").classList.toggle("over", kind === "dragover");
    const one = kind === "drop" ? event.dataTransfer?.files[0] : undefined;
    if (one) shown(() => (MODEL.test(one.name) ? load(one) : file(one)));
  });
}
get("file").addEventListener("change", () => {
  const input = get<HTMLInputElement>("file");
  const one = input.files?.[0];
  // Reset, so that the same file can be chosen again.
  if (one)
    shown(() => file(one)).finally(() => {
      input.value = "";
    });
});
get("numbers").addEventListener("change", () => {
  if (last) shown(() => file(last!));
});
get("head").addEventListener("change", offerComparison);
get("target").addEventListener("change", showTarget);
get("example").addEventListener("change", () => shown(example));
get("device").addEventListener("change", () => shown(() => engine("model")));
get("is-log").addEventListener("change", () => {
  for (const panel of state.panels) panel.scale(checked("is-log"));
});
get("form").addEventListener("submit", (event) => {
  event.preventDefault();
  shown(train);
});
get("pause").addEventListener("click", pause);
get("stop").addEventListener("click", () => {
  if (state.isPaused) pause();
  state.abort?.abort();
});

const examples = Object.entries(EXAMPLES).map(([key, { title }]) => new Option(title, key));
get<HTMLSelectElement>("example").append(...examples, new Option("Your own file", "file"));
await shown(() => Promise.all([example(), engine("model")]));
await shown(offer);
ready();
// Without storage there are no notes to delete.
await tidy().catch(() => {});
