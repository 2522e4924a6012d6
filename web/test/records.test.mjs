// Losses, an optimiser, a metric and an encoding that are one file of the engine each, in Node: options of JavaScript
// reach them, and saved models predict what the command predicts.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as mero from "../dist/node.js";
import { test, web } from "./browser.mjs";

const binary = process.env.MERO ?? join(process.env.CARGO_TARGET_DIR ?? join(web, "../target"), "release/mero");
const quick = { hidden: [8], bins: 0, epochs: 40, lr: 0.02, weightDecay: 0 };

/** A number in [0, 1) for each place. */
const noise = (at) => {
  const x = Math.sin(12.9898 * at + 4.1) * 43758.5453;
  return x - Math.floor(x);
};
const rows = Array.from({ length: 600 }, (_, at) => {
  const [a, unit] = [2 * noise(at) - 1, `unit-${at % 40}`];
  const rain = noise(at + 1000) < 0.5 ? 0 : 4 * Math.exp(a) * noise(at + 2000);
  const score = a + 0.4 * (noise(at + 3000) - 0.5);
  return { a, unit, rain, rating: score < -0.3 ? "low" : score < 0.3 ? "middle" : "high", size: 0.1 * (at % 40) + a };
});
const only = (...names) => rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));

/** What the command predicts with a model, in its first columns. */
function command(model, table, names, ...flags) {
  const folder = mkdtempSync(join(tmpdir(), "meromorph-records-"));
  writeFileSync(join(folder, "m"), model);
  writeFileSync(
    join(folder, "t.csv"),
    `${names.join(",")}\n${table.map((row) => names.map((name) => row[name]).join(",")).join("\n")}\n`,
  );
  const said = execFileSync(
    binary,
    ["predict", join(folder, "m"), join(folder, "t.csv"), "--device", "cpu", "--threads", "1", ...flags],
    { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
  );
  rmSync(folder, { recursive: true });
  return said
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split(","));
}

test("means of amounts, with the optimiser of norms", async () => {
  const engine = await mero.open({ device: "cpu" });
  const { model, test: quality } = await engine.fit(only("a", "rain"), {
    target: "rain",
    loss: "tweedie",
    power: 1.6,
    optimizer: "novograd",
    ...quick,
  });
  assert.ok(quality.r2 > 0 && quality.rmse > 0 && quality.rmse ** 2 / quality.mse - 1 < 1e-6, JSON.stringify(quality));
  const { value } = await model.predict({ a: [-0.5, 0.5] });
  assert.ok(value[0] > 0 && value[1] > 1.5 * value[0], String(value));
  const expected = command(await model.save(), [{ a: -0.5 }, { a: 0.5 }], ["a"]).map(([first]) => Number(first));
  assert.ok(
    value.every((one, at) => Math.abs(one / expected[at] - 1) < 1e-5),
    `${value} ${expected}`,
  );
  engine.dispose();
});

test("classes in order have one output less", async () => {
  const engine = await mero.open({ device: "cpu" });
  const order = ["low", "middle", "high"];
  const { model, test: quality } = await engine.fit(only("a", "rating"), {
    target: "rating",
    loss: "ordinal",
    classes: order,
    ...quick,
  });
  assert.deepEqual(model.info.classes, order);
  assert.ok(quality.accuracy > 0.75 && quality.mcc > 0.6, JSON.stringify(quality));
  const { value, probabilities } = await model.predict({ a: [-0.9, 0, 0.9] });
  assert.deepEqual([...value], order);
  const expected = command(await model.save(), [{ a: -0.9 }, { a: 0 }, { a: 0.9 }], ["a"], "--proba").flatMap((cells) =>
    cells.slice(2, 5).map(Number),
  );
  const chances = [0, 1, 2].flatMap((row) => order.map((name) => probabilities[name][row]));
  assert.ok(
    chances.every((one, at) => Math.abs(one - expected[at]) < 1e-5),
    `${chances} ${expected}`,
  );
  await assert.rejects(
    engine.fit(only("a", "rating"), { target: "rating", loss: "ordinal", ...quick }),
    /^InputError: fit: the loss "ordinal" needs the order of the classes of "rating": got "high", "low", "middle", expected them from lowest to highest under classes$/,
  );
  engine.dispose();
});

test("hashed texts, also those that training did not see", async () => {
  const engine = await mero.open({ device: "cpu" });
  const { model, test: quality } = await engine.fit(only("a", "unit", "size"), {
    target: "size",
    encode: { unit: "hashed" },
    ...quick,
    hidden: [32],
    epochs: 150,
    patience: 0,
  });
  // Some of the forty share an input.
  assert.ok(quality.r2 > 0.6, JSON.stringify(quality));
  assert.deepEqual(model.info.inputs.find(({ name }) => name === "unit").isOpen, true);
  const table = [
    { a: 0, unit: "unit-30" },
    { a: 0, unit: "another" },
  ];
  const { value, notes } = await model.predict({ a: [0, 0], unit: table.map(({ unit }) => unit) });
  assert.deepEqual(notes, []);
  const expected = command(await model.save(), table, ["a", "unit"]).map(([first]) => Number(first));
  assert.ok(
    value.every((one, at) => Math.abs(one - expected[at]) < 1e-5),
    `${value} ${expected}`,
  );
  engine.dispose();
});

test("several models at once", async () => {
  const engine = await mero.open({ device: "cpu" });
  const { model } = await engine.fit(only("a", "size"), { target: "size", members: 3, ...quick });
  assert.equal(model.info.members, 3);
  const { value, deviation } = await model.predict({ a: [0, 9] });
  assert.ok(deviation[0] > 0 && deviation[1] > deviation[0], String(deviation));
  const expected = command(await model.save(), [{ a: 0 }, { a: 9 }], ["a"]).map((cells) =>
    cells.slice(0, 2).map(Number),
  );
  const near = (one, at) => Math.abs(one - at) <= 1e-5 * Math.max(1, Math.abs(at));
  assert.ok(
    expected.every(([mean, spread], row) => near(value[row], mean) && near(deviation[row], spread)),
    `${value} ${deviation} ${expected}`,
  );
  engine.dispose();
});

test("intervals are those of the command, as arrays and in rows", async () => {
  const engine = await mero.open({ device: "cpu" });
  const { model } = await engine.fit(only("a", "size"), { target: "size", ...quick });
  const asked = [{ a: -0.5 }, { a: 0.5 }];
  const { value, lower, upper } = await model.predict({ a: [-0.5, 0.5] }, { interval: 0.8 });
  const expected = command(await model.save(), asked, ["a"], "--interval", "0.8");
  for (const [row, cells] of expected.entries()) {
    const near = [value, lower, upper].every((column, at) => Math.abs(column[row] - Number(cells[at])) < 1e-5);
    assert.ok(near, `${value} ${lower} ${upper}: ${cells}`);
    assert.ok(lower[row] < value[row] && value[row] < upper[row]);
  }
  const [first] = await model.predict(asked, { interval: 0.8 });
  assert.deepEqual([first.lower, first.upper], [lower[0], upper[0]]);
  assert.equal((await model.predict(asked))[0].lower, undefined);
  await assert.rejects(
    model.predict(asked, { interval: 1 }),
    /^InputError: predict: interval: got 1, expected a probability between 0 and 1$/,
  );
  const { model: classes } = await engine.fit(only("a", "rating"), { target: "rating", ...quick });
  await assert.rejects(
    classes.predict(asked, { interval: 0.8 }),
    /^InputError: predict: interval: only predictions of numbers/,
  );
  engine.dispose();
});
