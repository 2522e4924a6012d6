// The model whatever brings its files: rows checked and put into columns, answers into one for each row.
import init, { load, on_panic } from "./meromorph.js";

async function start(read) {
  const [engine, weights] = await Promise.all([read("wasm"), read("model")]);
  await init({ module_or_path: engine });
  const dead = new Promise((_, reject) => on_panic((message) => reject(new Error(message))));
  dead.catch(() => {});
  const model = load(weights, "model.safetensors");
  return { model, inputs: model.info().inputs, dead };
}

/** A value in words for a message; JSON would call NaN null and refuse what it cannot write. */
function shown(value) {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

const MOST_SHOWN = 12;

/** Texts for a message; of many the first. */
const listed = (texts) => texts.slice(0, MOST_SHOWN).map((text) => JSON.stringify(text)).join(", ") + (texts.length > MOST_SHOWN ? ", …" : "");

const has = (row, name) => Object.hasOwn(row, name);

/** Refuses what is no row, and rows that seem to misspell a column: left out it might be filled in, and nobody would know. */
function check(names, rows) {
  for (const [at, row] of rows.entries()) {
    if (row === null || typeof row !== "object" || Array.isArray(row)) {
      throw new TypeError(`predict: row ${at + 1} is ${shown(row)}, wanted an object with the columns ${listed(names)}`);
    }
    const absent = names.find((name) => !has(row, name));
    const strange = absent === undefined ? undefined : Object.keys(row).find((key) => !names.includes(key));
    if (strange === undefined) continue;
    const known = `the model knows ${listed(names)}`;
    throw new TypeError(`predict: row ${at + 1} has no column ${JSON.stringify(absent)}, but ${JSON.stringify(strange)}; ${known}`);
  }
}

/** The cells of one column, in the order of the rows. One that is not there is the engine's to fill in or to refuse. */
function cells({ name, levels }, rows) {
  const known = levels && new Set(levels);
  return rows.map((row, at) => {
    const value = has(row, name) ? row[name] : undefined;
    if (value === undefined || value === null) return levels ? "" : NaN;
    if (known ? known.has(value) : Number.isFinite(value)) return value;
    const wanted = levels ? `one of ${listed(levels)}` : "a finite number";
    throw new TypeError(`predict: row ${at + 1}, column ${JSON.stringify(name)} is ${shown(value)}, wanted ${wanted}`);
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

/** The calls of the package. `read` gives the bytes of `wasm` and of `model`; both are read when first needed. */
export function over(read) {
  let ready;
  const opened = () => {
    // What failed may be tried again.
    ready ??= start(read).catch((error) => {
      ready = undefined;
      throw error;
    });
    return ready;
  };

  async function predict(rows) {
    const { model, inputs, dead } = await opened();
    // A copy has no holes, which `map` would skip.
    const all = Array.isArray(rows) ? Array.from(rows) : [rows];
    if (all.length === 0) return [];
    check(inputs.map(({ name }) => name), all);
    const columns = inputs.map((input) => cells(input, all));
    const found = answers(await Promise.race([model.predict(columns, "the rows"), dead]));
    return Array.isArray(rows) ? found : found[0];
  }

  async function describe() {
    const { model } = await opened();
    const { task, target, classes, inputs, parameters } = model.info();
    return { task, target, classes, inputs, parameters };
  }

  return { predict, describe };
}
