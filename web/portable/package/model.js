// The model, independent of how its files are read: checks rows, converts them to columns, and returns one result per row.
import init, { load, on_panic } from "./meromorph.js";

async function start(read) {
  const [engine, weights] = await Promise.all([read("wasm"), read("model")]);
  await init({ module_or_path: engine });
  const crashed = new Promise((_, reject) => on_panic((message) => reject(new Error(message))));
  crashed.catch(() => {});
  const model = load(weights, "model.safetensors");
  return { model, inputs: model.info().inputs, crashed };
}

/** A value as text for a message. JSON would write NaN as null and throw for other values. */
function shown(value) {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

const MAX_SHOWN = 12;

/** A list of texts for a message, shortened if it is long. */
const listed = (texts) => texts.slice(0, MAX_SHOWN).map((text) => JSON.stringify(text)).join(", ") + (texts.length > MAX_SHOWN ? ", …" : "");

const has = (row, name) => Object.hasOwn(row, name);

/** Throws for values that are not rows, and for rows that seem to misspell a column: its value could be imputed without notice. */
function check(names, rows) {
  for (const [at, row] of rows.entries()) {
    if (row === null || typeof row !== "object" || Array.isArray(row)) {
      throw new TypeError(`predict: row ${at + 1} is ${shown(row)}, expected an object with the columns ${listed(names)}`);
    }
    const absent = names.find((name) => !has(row, name));
    const unknown = absent === undefined ? undefined : Object.keys(row).find((key) => !names.includes(key));
    if (unknown === undefined) continue;
    const known = `the model knows ${listed(names)}`;
    throw new TypeError(`predict: row ${at + 1} has no column ${JSON.stringify(absent)}, but ${JSON.stringify(unknown)}; ${known}`);
  }
}

/** The cells of one column, in the order of the rows. The engine imputes a missing cell or throws. */
function cells({ name, levels, isOpen, from, to }, rows) {
  return rows.map((row, at) => {
    const value = has(row, name) ? row[name] : undefined;
    if (value === undefined || value === null) return levels || from ? "" : NaN;
    if (from && value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
    if (from || levels ? typeof value === "string" : Number.isFinite(value)) return value;
    const expected = from ? `a Date or a text such as "${to}"` : isOpen ? "a text" : levels ? `one of ${listed(levels)}` : "a finite number";
    throw new TypeError(`predict: row ${at + 1}, column ${JSON.stringify(name)} is ${shown(value)}, expected ${expected}`);
  });
}

/** The words of `mero predict` for each kind of note. A cell that cannot be used (kind 2) is an error here. */
const MESSAGES = ["outside the training range", "not seen in training", undefined, "missing, a usual value filled in"];

/** One result per row: a number, perhaps with its standard deviation, a class with its probability, or, for a model with poles, a value with flags; and what was noticed. */
function results({ value, deviation, probability, bottom, gap, fault, noteRows, noteColumns, noteKinds, noteTexts }, inputs) {
  const unusable = noteKinds.indexOf(2);
  if (unusable >= 0) throw new TypeError(`predict: row ${noteRows[unusable] + 1}, column ${JSON.stringify(inputs[noteColumns[unusable]].name)}: ${noteTexts[0]}`);
  const one = (at) => {
    if (probability) return { value: value[at], probability: probability[at] };
    if (deviation) return { value: value[at], deviation: deviation[at] };
    if (!bottom) return { value: value[at] };
    const flags = { bottom: bottom[at] === 1, gap: gap[at] === 1, fault: fault[at] === 1 };
    return { value: flags.bottom ? null : value[at], ...flags };
  };
  const all = Array.from(value, (_, at) => ({ ...one(at), outside: [], note: "" }));
  noteRows.forEach((row, at) => {
    const [found, { name }, kind] = [all[row], inputs[noteColumns[at]], noteKinds[at]];
    if (kind === 0) found.outside.push(name);
    found.note += `${found.note && "; "}${name}: ${MESSAGES[kind]}`;
  });
  return all;
}

/** The functions of the package. `read` returns the bytes of `wasm` and of `model`; both are read at the first call. */
export function withFiles(read) {
  let ready;
  const opened = () => {
    // After a failure, the next call tries again.
    ready ??= start(read).catch((error) => {
      ready = undefined;
      throw error;
    });
    return ready;
  };

  async function predict(rows) {
    const { model, inputs, crashed } = await opened();
    // `Array.from` replaces holes by undefined; `map` would skip them.
    const all = Array.isArray(rows) ? Array.from(rows) : [rows];
    if (all.length === 0) return [];
    check(inputs.map(({ name }) => name), all);
    const columns = inputs.map((input) => cells(input, all));
    const found = results(await Promise.race([model.predict(columns, "the rows", { how: { unknown: "other" } }), crashed]), inputs);
    return Array.isArray(rows) ? found : found[0];
  }

  async function describe() {
    const { model } = await opened();
    const { task, target, classes, inputs, parameters } = model.info();
    return { task, target, classes, inputs, parameters };
  }

  return { predict, describe };
}
