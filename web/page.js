// The page: data in, a run drawn as it goes, a model out. Everything but drawing and asking is the engine's.
import { describe, open } from "./dist/index.js";
import { chart, short } from "./chart.js";

const get = (id) => document.getElementById(id);
const plot = chart(get("chart"), (words) => { get("cursor").textContent = words; });
const engines = new Map();
const EXAMPLE = "Example: 5 inputs, a noisy sum";
const state = { data: null, name: "", model: null, abort: null };

/** One engine per device name, opened when first asked for. */
async function engine() {
  const device = get("choice").value;
  if (!engines.has(device)) engines.set(device, open({ device }));
  try {
    const opened = await engines.get(device);
    const { device: kind, name, isSoftware } = opened.info;
    get("device").textContent = `${kind}: ${name}${isSoftware ? " (software)" : ""}`;
    return opened;
  } catch (error) {
    engines.delete(device);
    get("device").textContent = "no device";
    throw error;
  }
}

/** Runs `work` and shows what goes wrong. */
async function shown(work) {
  get("error").hidden = true;
  try {
    await work();
  } catch (error) {
    get("error").textContent = error.message;
    get("error").hidden = false;
  }
}

/** 5 inputs N(0, 1); y = 2 x0 + 0.5 x1 - 1.5 x2 + 0.8 x3 - 0.3 x4 + 0.1 e. */
function example(rows = 4000) {
  let seed = 1;
  const uniform = () => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) + 0.5) / 4294967296;
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const weights = [2, 0.5, -1.5, 0.8, -0.3];
  const lines = ["x0,x1,x2,x3,x4,y"];
  for (let row = 0; row < rows; row++) {
    const x = weights.map(() => normal());
    const y = x.reduce((sum, value, at) => sum + weights[at] * value, 0.1 * normal());
    lines.push([...x, y].map((value) => value.toFixed(6)).join(","));
  }
  return lines.join("\n");
}

async function use(data, name) {
  const { rows, columns } = await describe(data);
  Object.assign(state, { data, name });
  get("data-name").textContent = name;
  get("data-size").textContent = `${rows.toLocaleString("en")} rows, ${columns.length} columns`;
  get("example").hidden = typeof data === "string";
  get("target").replaceChildren(...columns.map(({ name }) => new Option(name)));
  get("target").selectedIndex = columns.length - 1;
}

async function train() {
  if (state.abort) return state.abort.abort();
  const abort = state.abort = new AbortController();
  get("train").textContent = "Stop";
  get("figures").hidden = true;
  try {
    await follow(await engine(), abort.signal);
  } finally {
    state.abort = null;
    get("train").textContent = "Train";
  }
}

async function follow(opened, signal) {
  const whole = (id) => get(id).valueAsNumber;
  const hidden = get("hidden").value.split(",").map((width) => width.trim()).filter(Boolean).map(Number);
  const options = { target: get("target").value, epochs: whole("epochs"), seed: whole("seed"), hidden, signal };
  const began = performance.now();
  let start;
  get("status").textContent = "Preparing …";
  for await (const event of opened.train(state.data, options)) {
    if (event.event === "start") {
      start = event;
      plot.start(event.epochs);
    } else if (event.event === "epoch") {
      plot.add(event);
      get("status").textContent = `Epoch ${event.epoch + 1} of ${start.epochs}, training loss ${short(event.trainLoss)}`;
    } else {
      plot.end();
      finish(start, event, (performance.now() - began) / 1000);
    }
  }
}

const ENDS = {
  epochs: "All epochs are done.",
  patience: "Validation loss stopped falling.",
  asked: "Stopped.",
  diverged: "The loss stopped being a number.",
};

function finish(start, end, seconds) {
  const kept = end.bestEpoch === null ? "" : ` Kept epoch ${end.bestEpoch + 1}.`;
  get("status").textContent = `${ENDS[end.stop]}${kept}`;
  const measured = end.test.rows ? end.test : end.validation;
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  const figures = [
    measured.accuracy !== null && ["Test accuracy", percent(measured.accuracy)],
    measured.r2 !== null && ["Test R²", measured.r2.toFixed(4)],
    measured.mae !== null && ["Mean absolute error", short(measured.mae)],
    ["Rows to train on", start.trainRows.toLocaleString("en")],
    ["Steps per second", Math.round(end.steps / seconds).toLocaleString("en")],
    ["Time", `${seconds.toFixed(1)} s`],
  ].filter(Boolean);
  get("figures").replaceChildren(...figures.map(([name, value]) => {
    const entry = document.createElement("div");
    entry.append(Object.assign(document.createElement("dt"), { textContent: name }), Object.assign(document.createElement("dd"), { textContent: value }));
    return entry;
  }));
  get("figures").hidden = false;
  keep(end.model, `trained on ${typeof state.data === "string" ? "the example" : state.name}`);
}

function keep(model, origin) {
  state.model = model;
  const { task, target, columns, parameters } = model.info;
  get("model-name").textContent = `${task} of “${target}”, ${parameters.toLocaleString("en")} parameters, ${origin}`;
  get("save").disabled = false;
  get("predict").hidden = false;
  get("answer").replaceChildren();
  get("inputs").replaceChildren(...columns.map((name, at) => {
    const field = document.createElement("div");
    const input = Object.assign(document.createElement("input"), { id: `input-${at}`, value: "0", required: true });
    field.append(Object.assign(document.createElement("label"), { htmlFor: input.id, textContent: name }), input);
    return field;
  }));
}

const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A CSV of one row goes in: text cells are categories. */
async function predict() {
  const { columns, target } = state.model.info;
  const values = columns.map((_, at) => get(`input-${at}`).value);
  const { value, probability, bottom, gap } = await state.model.predict(`${columns.map(cell).join(",")}\n${values.map(cell).join(",")}\n`);
  const sure = probability ? ` (${(100 * probability[0]).toFixed(1)} %)` : "";
  if (bottom?.[0]) {
    get("answer").textContent = `${target} has no value here: the model is at a pole`;
    return;
  }
  const doubt = gap?.[0] ? " (near a pole: doubtful)" : "";
  get("answer").textContent = `${target} = ${typeof value[0] === "number" ? short(value[0]) : value[0]}${sure}${doubt}`;
}

async function predictTable(file) {
  const { value, bottom, gap } = await state.model.predict(file);
  const name = cell(state.model.info.target);
  const row = (one, at) => (bottom ? `${bottom[at] ? "" : one},${bottom[at]},${gap[at]}` : cell(String(one)));
  const text = `${bottom ? `${name},bottom,gap` : name}\n${Array.from(value, row).join("\n")}\n`;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = "predictions.csv";
  link.textContent = "predictions.csv";
  get("answer").replaceChildren(`${value.length.toLocaleString("en")} rows: `, link);
}

async function save() {
  const url = URL.createObjectURL(new Blob([await state.model.save()]));
  Object.assign(document.createElement("a"), { href: url, download: "model.safetensors" }).click();
  URL.revokeObjectURL(url);
}

/** The chosen file; choosing the same one again counts. */
const chosen = (input, work) => input.addEventListener("change", () => {
  const [file] = input.files;
  if (file) shown(() => work(file)).finally(() => { input.value = ""; });
});

const submitted = (id, work) => get(id).addEventListener("submit", (event) => { event.preventDefault(); shown(work); });
submitted("form", train);
submitted("predict", predict);
chosen(get("file"), (file) => use(file, file.name));
chosen(get("load"), async (file) => keep(await (await engine()).load(file), `from ${file.name}`));
chosen(get("table"), predictTable);
get("save").addEventListener("click", () => shown(save));
get("choice").addEventListener("change", () => shown(engine));
get("example").addEventListener("click", () => shown(() => use(example(), EXAMPLE)));

const drop = get("drop");
for (const kind of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    const file = kind === "drop" && event.dataTransfer.files[0];
    if (file) shown(() => use(file, file.name));
  });
}

await shown(() => Promise.all([use(example(), EXAMPLE), engine()]));
document.documentElement.dataset.ready = "";
