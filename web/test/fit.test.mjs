// `fit`, `predict` and `evaluate` on tables of every form: rows, columns, text, files, URLs, streams; how text is read;
// notes about odd cells.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import * as mero from "../dist/node.js";
import { closedAtTheEnd, test } from "./browser.mjs";

const QUICK = { epochs: 8, hidden: [8], seed: 1 };
const CITIES = ["Oslo", 'Rome, "IT"', "Paris"];
const folder = mkdtempSync(join(tmpdir(), "meromorph-fit-"));
let engine;

/** Houses: two numbers, a category, and a price that follows from them. */
const houses = Array.from({ length: 240 }, (_, row) => {
  const [size, city, year] = [20 + ((row * 7) % 100), CITIES[row % 3], 1950 + ((row * 13) % 70)];
  return { size, city, year, price: 3 * size + 40 * (row % 3) + year / 10 };
});
const NAMES = ["size", "city", "year", "price"];
const cells = houses.map((house) => NAMES.map((name) => house[name]));
const columns = Object.fromEntries(NAMES.map((name) => [name, houses.map((house) => house[name])]));
const quoted = (cell) => (typeof cell === "string" ? `"${cell.replaceAll('"', '""')}"` : String(cell));
const text = [NAMES, ...cells].map((row) => row.map(quoted).join(",")).join("\n");
/** The weights of a model file: what follows its header, which also says how the table was written. */
const weights = async (fit) => {
  const bytes = await fit.model.save();
  return String(bytes.slice(8 + Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true))));
};

before(async () => {
  engine = await mero.open({ device: "cpu" });
});
after(() => {
  engine.dispose();
  rmSync(folder, { recursive: true });
});

test("a table gives the same model in every form", async () => {
  const server = closedAtTheEnd(
    createServer((_, response) => response.setHeader("content-type", "text/csv").end(text)),
  );
  await new Promise((resolve) => server.listen(0, "localhost", resolve));
  const url = new URL(`http://localhost:${server.address().port}/houses.csv`);
  const file = join(folder, "houses.csv");
  writeFileSync(file, text);
  const forms = {
    text,
    bytes: new TextEncoder().encode(text),
    rows: houses,
    "rows with names": [NAMES, ...cells],
    columns,
    "typed columns": {
      size: Int16Array.from(columns.size),
      city: columns.city,
      year: Uint16Array.from(columns.year),
      price: columns.price,
    },
    blob: new Blob([text]),
    File: new File([text], "a.csv"),
    URL: url,
    Response: await fetch(url),
    stream: (await fetch(url)).body,
    "file: URL": pathToFileURL(file),
  };
  const expected = await weights(await engine.fit(text, { target: "price", ...QUICK }));
  for (const [form, data] of Object.entries(forms))
    assert.equal(await weights(await engine.fit(data, { target: "price", ...QUICK })), expected, form);
  const unnamed = await engine.fit(cells, { target: "c3", ...QUICK });
  assert.deepEqual([unnamed.model.info.columns, unnamed.model.info.target], [["c0", "c1", "c2"], "c3"]);
});

test("numbers alone are not written as text, and give the same model", async () => {
  const numbers = houses.map(({ size, year, price }) => ({ size, year, price }));
  const csv = ["size,year,price", ...numbers.map((row) => Object.values(row).join(","))].join("\n");
  const expected = await weights(await engine.fit(csv, { target: "price", ...QUICK }));
  assert.equal(await weights(await engine.fit(numbers, { target: "price", ...QUICK })), expected);
  const typed = Object.fromEntries(
    ["size", "year", "price"].map((name) => [name, Float64Array.from(numbers, (row) => row[name])]),
  );
  assert.equal(await weights(await engine.fit(typed, { target: "price", ...QUICK })), expected);
  const holes = numbers.map((row, at) => (at % 9 ? row : { ...row, size: at % 2 ? null : undefined }));
  assert.match(
    (await engine.fit(holes, { target: "price", missing: "drop", ...QUICK })).gaps,
    /^27 of 240 rows dropped; size: 27 missing/,
  );
});

test("fit resolves with model, metrics and the run's figures; callbacks see the events", async () => {
  const seen = [];
  const { model, ...rest } = await engine.fit(houses, {
    target: "price",
    epochs: 60,
    onStart: ({ trainRows }) => seen.push(trainRows),
    onEpoch: ({ epoch }) => seen.push(epoch),
  });
  assert.deepEqual(seen, [168, ...Array.from({ length: 60 }, (_, epoch) => epoch)]);
  assert.ok(rest.test.r2 > 0.95, `R² ${rest.test.r2}`);
  assert.deepEqual(
    [rest.task, rest.epochs, rest.stop, rest.trainRows, rest.warnings, model.is("regression")],
    ["regression", 60, "epochs", 168, [], true],
  );
  const abort = new AbortController();
  const stopped = await engine.fit(houses, {
    target: "price",
    epochs: 1e6,
    patience: 0,
    signal: abort.signal,
    onEpoch: ({ epoch }) => {
      if (epoch === 3) abort.abort();
    },
  });
  assert.deepEqual([stopped.stop, stopped.epochs < 40], ["stopped", true]);
  await assert.rejects(engine.fit(houses, { target: "price", signal: AbortSignal.abort(new Error("no")) }), {
    message: "no",
  });
  await assert.rejects(
    engine.fit(houses, {
      target: "price",
      epochs: 1e6,
      patience: 0,
      onEpoch: () => {
        throw new Error("mine");
      },
    }),
    { message: "mine" },
  );
});

test("rows are predicted as rows, tables as columns, with notes about odd cells", async () => {
  const { model } = await engine.fit(houses, { target: "price", ...QUICK });
  const rows = [
    { city: "Oslo", size: 50, year: 1980 },
    { size: 500, city: "Bern", year: 1980, extra: {} },
    { size: Infinity, city: "Oslo", year: 1980 },
  ];
  const byRow = await model.predict(rows);
  assert.deepEqual(
    byRow.map(({ outside, note }) => [outside, note]),
    [
      [[], ""],
      [["size"], "size: outside the training range; city: not seen in training"],
      [[], "size: is infinite"],
    ],
  );
  assert.deepEqual(
    byRow.map(({ value }) => value === null),
    [false, false, true],
  );
  assert.deepEqual(await model.predict(rows[0]), byRow[0]);
  assert.deepEqual(await model.predict([[50, "Oslo", 1980]]), [byRow[0]]);
  assert.deepEqual(await model.predict([{ size: "big", city: "Oslo", year: 1980 }]), [
    { value: null, outside: [], note: 'size: "big" is not a number' },
  ]);
  const asColumns = await model.predict({ size: [50, 500], city: ["Oslo", "Bern"], year: Int32Array.of(1980, 1980) });
  assert.deepEqual(
    [...asColumns.value],
    byRow.slice(0, 2).map(({ value }) => value),
  );
  assert.deepEqual(asColumns.notes, [
    { row: 1, column: "size", kind: "outside", message: "outside the training range" },
    { row: 1, column: "city", kind: "unseen", message: "not seen in training" },
  ]);
  const skipped = await model.predict("size,city,year\n50,Bern,1980\n", { unknown: "skip" });
  assert.ok(Number.isNaN(skipped.value[0]) && skipped.notes[0].kind === "unusable", JSON.stringify(skipped.notes));
  await assert.rejects(
    model.predict(rows.slice(0, 2), { unknown: "refuse" }),
    /row 2, column "city": unknown value "Bern": expected one of "Oslo"/,
  );
});

test("nested arrays may begin with the names of their columns, which may be in another order and more", async () => {
  const { model } = await engine.fit([NAMES, ...cells], { target: "price", ...QUICK });
  const rows = cells.slice(0, 3).map(([size, city, year, price]) => [price, year, "x", city, size]);
  const named = [["price", "year", "more", "city", "size"], ...rows];
  const expected = await model.predict(houses.slice(0, 3));
  for (const options of [{}, { header: true }]) assert.deepEqual(await model.predict(named, options), expected);
  assert.deepEqual(await model.evaluate(named), await model.evaluate(houses.slice(0, 3)));
  assert.deepEqual(await model.predict(cells.slice(0, 3).map((row) => row.slice(0, 3))), expected);
  const run = engine.train(houses, { target: "price", ...QUICK });
  assert.equal((await run.predict(named)).length, 3);
  run.dispose();
  await assert.rejects(
    model.predict(
      [
        ["size", "town", "year"],
        [50, "Oslo", 1980],
      ],
      { header: true },
    ),
    new mero.InputError('predict: column "city" is missing from the rows; they have "size", "town", "year"'),
  );
  await assert.rejects(
    model.predict(named, { header: false }),
    new mero.InputError('predict: row 1 has 5 cells, expected 3: "size", "city", "year"'),
  );
  // Names that are categories too.
  const { model: names } = await engine.fit(
    ["a", "b"].flatMap((a) => Array(20).fill({ a, y: a === "b" ? 1 : 0 })),
    { target: "y", task: "regression", ...QUICK },
  );
  assert.deepEqual(
    [(await names.predict([["a"], ["b"]])).length, (await names.predict([["a"], ["b"]], { header: false })).length],
    [1, 2],
  );
});

test("a run that diverges is an error with advice, or a warning if it has a best epoch; its end event says why it ended", async () => {
  const advice = (epoch, lr) => `the loss diverged in epoch ${epoch}; try a smaller learning rate, lr: ${lr}`;
  const diverging = { target: "price", ...QUICK, epochs: 60, patience: 0, optimizer: "sgd", schedule: "constant" };
  await assert.rejects(
    engine.fit(houses, { ...diverging, lr: 7e6 }),
    new mero.InputError(`fit: ${advice(0, 7e5)}`, "usage"),
  );
  await assert.rejects(engine.fit(houses, { ...diverging, learningRate: 3e6 }), { message: `fit: ${advice(0, 3e5)}` });
  const later = await engine.fit(houses, { ...diverging, lr: 10, warmup: 400 });
  assert.ok(later.stop === "diverged" && later.bestEpoch < later.epochs, JSON.stringify(later));
  assert.deepEqual(later.warnings, [{ column: "price", message: advice(later.epochs, 1), cells: [] }]);
  const events = [];
  for await (const event of engine.train(houses, { ...diverging, lr: 7e6 })) events.push(event);
  assert.deepEqual(
    events.map(({ event, stop, bestEpoch }) => [event, stop, bestEpoch]),
    [
      ["start", undefined, undefined],
      ["end", "diverged", null],
    ],
  );
});

test("rows without a prediction of a model with poles are ⊥, and no number", async () => {
  const x = Float64Array.from({ length: 300 }, (_, row) => (row - 149.5) / 75);
  const { model } = await engine.fit({ x, y: x.map((x) => 1 / x) }, { head: "rational", hidden: [8], epochs: 5 });
  const { value, bottom, gap, fault } = await model.predict("x0\n1\nbad\n");
  assert.deepEqual([Number.isNaN(value[1]), bottom[1], gap[1], fault[1], bottom.length], [true, 1, 0, 1, 2]);
  const [, row] = await model.predict([[1], ["bad"]]);
  assert.deepEqual([row.value, row.bottom, row.fault], [null, true, true]);
});

test("counts are predicted as rates, numbers with deviations, shares by column", async () => {
  const x = Array.from({ length: 400 }, (_, row) => ((row * 37) % 101) / 50 - 1);
  const count = x.map((x, row) => Math.round(Math.exp(1 + x) * (1 + (((row * 53) % 7) - 3) / 6)));
  const number = x.map((x, row) => 100 + 20 * x + (((row * 71) % 11) - 5));
  const low = x.map((x) => 1 / (1 + Math.exp(-2 * x)));
  const data = { x, count, number, low, high: low.map((low) => 1 - low) };
  const options = { features: ["x"], hidden: [8], epochs: 60, lr: 0.02, seed: 1 };
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

  const counts = await engine.fit(data, { ...options, target: "count", loss: "poisson" });
  assert.equal(counts.task, "regression");
  const rates = (await counts.model.predict({ x })).value;
  assert.ok(rates.every((rate) => rate > 0) && Math.abs(mean([...rates]) / mean(count) - 1) < 0.1);

  const normal = await engine.fit(data, { ...options, target: "number", loss: "gaussian_nll" });
  const { value, deviation } = await normal.model.predict({ x });
  assert.ok(
    value.length === 400 && deviation.length === 400 && deviation.every((deviation) => deviation > 2 && deviation < 5),
  );
  assert.ok(normal.test.rmse > 2 && normal.test.rmse < 5 && Number.isFinite(normal.test.nll));
  const [first] = await normal.model.predict([{ x: x[0] }]);
  assert.deepEqual([first.value, first.deviation], [value[0], deviation[0]]);

  const shares = await engine.fit(data, { ...options, target: "low", moreTargets: ["high"], loss: "kl" });
  const { probabilities } = await shares.model.predict({ x });
  assert.deepEqual(Object.keys(probabilities), ["low", "high"]);
  assert.ok(low.every((low, row) => Math.abs(probabilities.low[row] - low) < 0.05));

  const negative = { ...data, count: count.map((count) => -count) };
  await assert.rejects(
    engine.fit(negative, { ...options, target: "count", loss: "poisson" }),
    /loss "poisson": .*row \d+, column "count": got -\d+, expected a count of at least 0/,
  );
});

test("classes come with all probabilities by name", async () => {
  const { model, task } = await engine.fit(houses, { target: "city", ...QUICK, epochs: 30 });
  assert.equal(task, "classification");
  const { value, probability, probabilities } = await model.predict(columns);
  assert.deepEqual(Object.keys(probabilities), model.info.classes);
  value.forEach((name, row) => {
    assert.equal(probabilities[name][row], probability[row]);
    assert.ok(Math.abs(CITIES.reduce((sum, city) => sum + probabilities[city][row], 0) - 1) < 1e-9);
  });
  const [first] = await model.predict(houses.slice(0, 1));
  assert.deepEqual(
    [first.value, first.probability, first.probabilities.Oslo],
    [value[0], probability[0], probabilities.Oslo[0]],
  );
});

test("evaluate measures a model on any table with the target", async () => {
  const { model, validation, test: tested } = await engine.fit(houses, { target: "price", ...QUICK, epochs: 40 });
  const whole = await model.evaluate(houses);
  assert.deepEqual([whole.rows, whole.dropped, validation.rows + tested.rows], [240, 0, 72]);
  assert.ok(whole.r2 > whole.baseline.r2);
  assert.deepEqual(await model.evaluate(text), whole);
  assert.deepEqual((await model.evaluate([...houses, { ...houses[0], price: null }])).dropped, 1);
  await assert.rejects(
    model.evaluate([{ size: 1 }]),
    /^InputError: evaluate: column "city" is missing from the rows; they have "size"$/,
  );
  const arrays = await engine.fit({ x: cells.map(([size, , year]) => [size, year]), y: columns.price }, QUICK);
  assert.equal((await arrays.model.evaluate({ x: [50, 1980, 60, 1990], y: [1, 2] })).rows, 2);
  const named = await engine.fit({ x: cells.map(([size, city]) => [size, city]), y: columns.city.map(String) }, QUICK);
  assert.deepEqual([named.task, named.model.info.columns], ["classification", ["x0", "x1"]]);
});

test("options say how text is written; messages name them", async () => {
  const german = houses.map(
    ({ size, city, price }) =>
      `${size},5|${city.replace(/"/g, "")}|${price > 450 ? "k.A." : `1.${String(100 + Math.round(price)).padStart(3, "0")},25`}`,
  );
  const csv = ["größe|ort|preis", ...german].join("\n");
  const reading = { delimiter: "|", decimal: ",", thousands: ".", na: ["k.A."] };
  const { model, gaps } = await engine.fit(csv, { target: "preis", ...reading, ...QUICK });
  assert.match(gaps, /rows dropped; preis: \d+ missing/);
  assert.deepEqual(model.info.inputs[0].min % 1, 0.5);
  const given = await model.predict("größe|ort\n50,5|Oslo\n", reading);
  assert.deepEqual(given.notes, []);
  assert.equal((await model.predict([{ größe: "50,5", ort: "Oslo" }], reading))[0].value, given.value[0]);
  assert.equal((await model.predict([{ größe: 50.5, ort: "Oslo" }], reading))[0].value, given.value[0]);
  assert.equal((await model.evaluate(csv, reading)).dropped, Number(gaps.match(/^\d+/)[0]));
  assert.deepEqual(
    (await mero.describe("1,2\n3,4\n", { header: true })).columns.map(({ name }) => name),
    ["1", "2"],
  );
  const refused = [
    [
      () => engine.fit("a;y\n1,5;2\n2,5;3\n", { target: "y" }),
      /"1,5" has a comma, but numbers are written with a point; the options decimal and thousands declare others/,
    ],
    [
      () => engine.fit(csv, { target: "preis", delimiter: "ab" }),
      /^InputError: fit: delimiter: got "ab", expected one character/,
    ],
    [
      () => engine.fit(csv, { target: "preis", na: "x" }),
      /^InputError: fit: na: got "x", expected an array of strings/,
    ],
    [() => model.predict(csv, { header: 1 }), /^InputError: predict: header: got 1, expected true or false/],
    [
      () => model.predict(csv, { unknown: "ignore" }),
      /^InputError: predict: unknown: got "ignore", expected one of "other", "skip", "refuse"/,
    ],
    [
      () => model.predict([{ größe: 1, ort: {} }]),
      /^InputError: predict: row 1, column "ort" is of type Object, expected a number, a text, true, false, a Date or null$/,
    ],
    [
      () => engine.fit(csv, { target: "preis", ...reading, epoch: 3 }),
      /^InputError: fit: option "epoch" is unknown: did you mean "epochs"\?/,
    ],
    [
      () => engine.fit(csv, { target: "preis", ...reading, loss: "bce" }),
      /^InputError: fit: the loss "bce" does not fit the target/,
    ],
    [
      () => engine.train(csv, { target: "preis", ...reading, loss: "bce" }).next(),
      /^InputError: train: the loss "bce" does not fit the target/,
    ],
    [() => engine.fit([[1, 2], [3]], { target: "c1" }), /^InputError: fit: row 2 has 1 cells, expected 2 as in row 1$/],
    [
      () => engine.fit({ a: [1], y: [1, 2] }, { target: "y" }),
      /^InputError: fit: column "y" has 2 rows, the first column 1$/,
    ],
  ];
  for (const [work, message] of refused)
    await assert.rejects(work, (error) => message.test(String(error)) || assert.fail(`${error}\nwanted ${message}`));
  const { warnings } = await engine.fit(
    ["x,y", ...Array.from({ length: 40 }, (_, row) => `${row === 7 ? "-" : row},${row}`)].join("\n"),
    { target: "y", ...QUICK },
  );
  assert.deepEqual(
    warnings.map(({ column, cells }) => [column, cells]),
    [["x", ["-"]]],
  );
});

test("a resumed run reads the text as before", async () => {
  const csv = ["x;y", ...Array.from({ length: 60 }, (_, row) => `${row},5;${row * 2},25`)].join("\n");
  const run = engine.train(csv, { target: "y", decimal: ",", ...QUICK, epochs: 50, patience: 0 });
  for (let read = 0; read < 5; read++) await run.next();
  const checkpoint = await run.checkpoint();
  run.dispose();
  for await (const event of engine.resume(csv, checkpoint))
    if (event.event === "end") assert.equal(event.model.info.inputs[0].min % 1, 0.5);
});

test("a model loads from a path and from a file: URL", async () => {
  const file = join(folder, "model.safetensors");
  const { model } = await engine.fit(houses, { target: "price", ...QUICK });
  writeFileSync(file, await model.save());
  for (const source of [file, pathToFileURL(file), String(pathToFileURL(file))])
    assert.deepEqual((await engine.load(source)).info, model.info);
  await assert.rejects(engine.load("none.safetensors"), {
    name: "LoadError",
    message: /^load: none.safetensors cannot be fetched: ENOENT/,
  });
  // A text of somebody else must not name a file, so a path is no table.
  const message = (call) => `${call}: data: got "houses.csv", expected a table; read a file first: await readFile(…)`;
  await assert.rejects(engine.fit("houses.csv", { target: "price" }), new mero.InputError(message("fit")));
  await assert.rejects(model.predict("houses.csv"), new mero.InputError(message("predict")));
  await assert.rejects(mero.describe("houses.csv"), new mero.InputError(message("describe")));
});

test("the events of a run can be read once, and a second time is an error", async () => {
  const run = engine.train(houses, { target: "price", ...QUICK });
  assert.equal((await run.next()).value.event, "start");
  let count = 0;
  for await (const _ of run) count++;
  assert.equal(count, QUICK.epochs + 1);
  assert.deepEqual(await run.next(), { done: true, value: undefined });
  const again = async (run) => {
    for await (const _ of run) assert.fail("an event");
  };
  await assert.rejects(again(run), /^InputError: run: it was read to its end, and its events can be read once/);
  const left = engine.train(houses, { target: "price", ...QUICK });
  for await (const _ of left) break;
  await assert.rejects(again(left), /^InputError: run: it was left before its end/);
});

test("a run predicts rows while it trains", async () => {
  const run = engine.train(houses, { target: "price", ...QUICK, epochs: 200, patience: 0 });
  const early = run.predict(houses.slice(0, 2));
  assert.equal(typeof (await early)[1].value, "number");
  assert.equal((await run.predict(columns)).value.length, 240);
  run.dispose();
});

test("predictions of several workers keep their notes", async () => {
  const shared = await mero.open({ device: "cpu", threads: 2 });
  const x = Float32Array.from({ length: 20_000 }, (_, row) => (row === 17_000 ? 99 : row / 20_000));
  const { model } = await shared.fit(
    { x: x.map((x) => Math.min(x, 1)), y: x.map(Math.sin) },
    { epochs: 1, hidden: [8] },
  );
  const { value, notes } = await model.predict(x);
  shared.dispose();
  assert.deepEqual([value.length, notes.map(({ row, column }) => [row, column])], [20_000, [[17_000, "x0"]]]);
});
