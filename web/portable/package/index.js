// One model: `predict` for a row or for many. Engine and weights are files beside this one, read when first needed.
import init, { load, on_panic } from "./meromorph.js";
import { read } from "#read";

let ready;

async function start() {
  const [engine, weights] = await Promise.all([read("wasm"), read("model")]);
  await init({ module_or_path: engine });
  const dead = new Promise((_, reject) => on_panic((message) => reject(new Error(message))));
  dead.catch(() => {});
  const model = load(weights, "model.safetensors");
  const { inputs, classes } = model.info();
  return { model, inputs, classes, dead };
}

/** What was trained on, opened once; a failure may be tried again. */
function opened() {
  ready ??= start().catch((error) => {
    ready = undefined;
    throw error;
  });
  return ready;
}

/** The cells of one column, in the order of the rows. */
function cells({ name, levels }, rows) {
  const known = levels && new Set(levels);
  return rows.map((row, at) => {
    const value = row !== null && typeof row === "object" && Object.hasOwn(row, name) ? row[name] : undefined;
    if (value === undefined || value === null) return levels ? "" : NaN;
    const isFine = known ? known.has(value) : typeof value === "number";
    if (isFine) return value;
    const wanted = levels ? `one of ${levels.map((level) => JSON.stringify(level)).join(", ")}` : "a number";
    throw new TypeError(`predict: row ${at + 1}, column ${JSON.stringify(name)} is ${JSON.stringify(value)}, wanted ${wanted}`);
  });
}

/** Each row's answer: a number, a class, or of a model with poles what is known of the value. */
function answers({ value, probability, bottom, gap, fault }) {
  const one = (at) => {
    if (probability) return { value: value[at], probability: probability[at] };
    if (!bottom) return value[at];
    const flags = { bottom: bottom[at] === 1, gap: gap[at] === 1, fault: fault[at] === 1 };
    return { value: flags.bottom ? null : value[at], ...flags };
  };
  return Array.from(value, (_, at) => one(at));
}

export async function predict(rows) {
  const { model, inputs, dead } = await opened();
  const all = Array.isArray(rows) ? rows : [rows];
  if (all.length === 0) return [];
  const columns = inputs.map((input) => cells(input, all));
  const found = answers(await Promise.race([model.predict(columns, "the rows"), dead]));
  return Array.isArray(rows) ? found : found[0];
}

export async function describe() {
  const { model } = await opened();
  const { task, target, classes, inputs, parameters } = model.info();
  return { task, target, classes, inputs, parameters };
}
