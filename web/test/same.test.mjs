// The same table, options and seed give the same figures, predictions, notes and warnings in the command, in Node and
// in a browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before } from "node:test";
import * as mero from "../dist/node.js";
import { test, uniform, visit, web } from "./browser.mjs";

const folder = mkdtempSync(join(tmpdir(), "meromorph-same-"));
const OPTIONS = { epochs: 20, hidden: [16, 16], seed: 3 };
/** The devices add in different orders, and the differences grow from step to step. */
const BOUND = 1e-4;
let browser;
let engine;

/** Dates, numbers with missing cells, a category of 200 levels, a number to predict and a class. */
function table(rows) {
  const next = uniform(5);
  const lines = ["day,size,shop,price,kind"];
  for (let row = 0; row < rows; row++) {
    const day = Math.floor(700 * next());
    const [size, shop] = [next(), Math.floor(200 * next())];
    const price = 3 * size + Math.sin(day / 58) + (shop % 7) / 5 + 0.1 * next();
    const date = new Date(86_400_000 * (19_000 + day)).toISOString().slice(0, 10);
    lines.push(
      `${date},${row % 20 ? size.toFixed(3) : ""},shop ${shop},${price.toFixed(3)},${price > 2.2 ? "high" : "low"}`,
    );
  }
  return `${lines.join("\n")}\n`;
}

const text = table(2500);

const binary = process.env.MERO ?? join(process.env.CARGO_TARGET_DIR ?? join(web, "../target"), "release/mero");

/** What the command prints. */
const run = (...words) =>
  execFileSync(binary, words, { encoding: "utf8", cwd: folder, stdio: ["ignore", "pipe", "ignore"] });

/** The report of the command. */
function commanded(target, ignore) {
  const words = [
    "train",
    "table.csv",
    "--target",
    target,
    "--ignore",
    ignore,
    "--epochs",
    OPTIONS.epochs,
    "--hidden",
    OPTIONS.hidden,
    "--seed",
    OPTIONS.seed,
    "--device",
    "cpu",
    "--json",
    "--out",
    `${target}.safetensors`,
  ];
  const lines = execFileSync(binary, words.map(String), { encoding: "utf8", cwd: folder }).trim().split("\n");
  return JSON.parse(lines.at(-1));
}

before(async () => {
  writeFileSync(join(folder, "table.csv"), text);
  engine = await mero.open({ device: "cpu" });
  browser = await visit("/test/blank.html");
});

after(async () => {
  engine.dispose();
  await browser.close();
  rmSync(folder, { recursive: true });
});

for (const [target, ignore, names] of [
  ["price", "kind", { loss: "loss", mse: "mse", mae: "mae", r2: "r2" }],
  ["kind", "price", { loss: "loss", accuracy: "accuracy", auc: "auc", f1: "f1", log_loss: "logLoss" }],
]) {
  test(`command, Node and browser give the same figures for ${target}`, async () => {
    const expected = commanded(target, ignore);
    const options = { target, ignore: [ignore], ...OPTIONS };
    const { test: inNode } = await engine.fit(text, options);
    const inBrowser = await browser.page.evaluate(
      async ([text, options]) => {
        const { open } = await import("/dist/index.js");
        const engine = await open({ device: "cpu" });
        const { test } = await engine.fit(text, options);
        engine.dispose();
        return test;
      },
      [text, options],
    );
    for (const [where, got] of Object.entries({ inNode, inBrowser })) {
      assert.equal(got.rows, expected.test.rows, where);
      for (const [name, own] of Object.entries(names)) {
        const [figure, native] = [got[own], expected.test[name]];
        assert.ok(
          Math.abs(figure - native) <= BOUND * Math.abs(native),
          `${where}: ${name}: got ${figure}, expected ${native}`,
        );
      }
    }
  });
}

test("a model that was not trained by the command has a record of its training, and intervals", async () => {
  const { model } = await engine.fit(text, { target: "price", ignore: ["kind"], ...OPTIONS });
  writeFileSync(join(folder, "node.safetensors"), await model.save());
  assert.match(run("info", "node.safetensors"), /settings +adamw, learning rate .*, seed 3\n/);
  const [header, ...rows] = run("predict", "node.safetensors", "table.csv", "--interval", "0.9", "--device", "cpu")
    .trim()
    .split("\n");
  const at = ["prediction", "lower", "upper"].map((name) => header.split(",").indexOf(name));
  assert.ok(rows.length === 2500 && at.every((place) => place >= 0), header);
  const isInside = rows.every((row) => {
    const [value, lower, upper] = at.map((place) => Number(row.split(",")[place]));
    return lower < value && value < upper;
  });
  assert.ok(isInside);
});

const cases = join(web, "../tests/cases");
/** Tables as people write them. `crates/mero/tests/command/cases/faces.rs` compares the command with Rust on them. */
const odd = JSON.parse(readFileSync(join(cases, "odd.json"), "utf8"));
const SHAPE = { hidden: [4], epochs: 2, seed: 3 };
const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** What the command answers: its warnings, and what it predicts for the table's own rows. */
function commandedOdd({ file, target, options }) {
  const reading = Object.entries(options).flatMap(([name, value]) => [
    `--${name.replaceAll("_", "-")}`,
    ...(value === true ? [] : [String(value)]),
  ]);
  const words = [
    "train",
    join(cases, file),
    "--target",
    target,
    "--hidden",
    "4",
    "--epochs",
    "2",
    "--seed",
    "3",
    "--device",
    "cpu",
    "--json",
    "--out",
    "m",
    "--force",
    ...reading,
  ];
  const { warnings } = JSON.parse(run(...words).split("\n")[0]);
  const [header, ...rows] = run("predict", "m", join(cases, file), "--device", "cpu")
    .trimEnd()
    .split("\n")
    .map((line) => line.split(","));
  return {
    warnings,
    values: rows.map((cells) => cells[0]),
    shares: header.includes("probability") ? rows.map((cells) => Number(cells[1])) : undefined,
    noted: rows.flatMap((cells, row) => (cells.at(-1) ? [row] : [])),
  };
}

/** The same of an engine. It runs in Node, and by its source text in the page. */
async function answered(engine, data, options) {
  const { model, warnings } = await engine.fit(data, options);
  const { value, probability, notes } = await model.predict(data);
  return {
    warnings,
    values: Array.from(value, String),
    shares: probability && Array.from(probability),
    noted: [...new Set(notes.map(({ row }) => row))].sort((a, b) => a - b),
  };
}

/** Asserts that numbers agree within rounding, and all else exactly. */
function agree(got, expected, where) {
  assert.deepEqual(got.warnings, expected.warnings, where);
  assert.equal(got.values.length, expected.values.length, where);
  assert.deepEqual(got.noted, expected.noted, where);
  const near = (a, b, row) =>
    assert.ok(Math.abs(a - b) <= BOUND * (1 + Math.abs(b)), `${where}, row ${row}: got ${a}, expected ${b}`);
  for (const [row, value] of expected.values.entries()) {
    if (expected.shares) {
      assert.equal(got.values[row], value, `${where}, row ${row}`);
      near(got.shares[row], expected.shares[row], row);
    } else {
      near(Number(got.values[row]), Number(value), row);
    }
  }
}

test("odd tables give the same answers in the command, in Node and in a browser", { timeout: 240_000 }, async () => {
  assert.ok(odd.filter(({ file }) => !file.endsWith(".xlsx")).length >= 30);
  for (const table of odd) {
    const expected = commandedOdd(table);
    const options = {
      target: table.target,
      ...SHAPE,
      ...Object.fromEntries(Object.entries(table.options).map(([name, value]) => [camel(name), value])),
    };
    const bytes = readFileSync(join(cases, table.file));
    const name = basename(table.file);
    if (name.endsWith(".xlsx")) {
      await assert.rejects(
        engine.fit(new File([bytes], name), options),
        /spreadsheet\), which is not read here; save it as CSV or NPY$/,
      );
      continue;
    }
    agree(await answered(engine, new File([bytes], name), options), expected, `${table.file} in Node`);
    const inPage = await browser.page.evaluate(
      async ([source, text, name, options]) => {
        const { open } = await import("/dist/index.js");
        const engine = (globalThis.engine ??= await open({ device: "cpu" }));
        const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
        return (0, eval)(`(${source})`)(engine, new File([bytes], name), options);
      },
      [answered.toString(), bytes.toString("base64"), name, options],
    );
    agree(inPage, expected, `${table.file} in the browser`);
  }
});
