// The same table, options and seed give the same test figures in the command, in Node and in a browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
    lines.push(`${date},${row % 20 ? size.toFixed(3) : ""},shop ${shop},${price.toFixed(3)},${price > 2.2 ? "high" : "low"}`);
  }
  return `${lines.join("\n")}\n`;
}

const text = table(2500);

const binary = process.env.MERO ?? join(process.env.CARGO_TARGET_DIR ?? join(web, "../target"), "release/mero");

/** What the command prints. */
const run = (...words) => execFileSync(binary, words, { encoding: "utf8", cwd: folder, stdio: ["ignore", "pipe", "ignore"] });

/** The report of the command. */
function commanded(target, ignore) {
  const words = ["train", "table.csv", "--target", target, "--ignore", ignore, "--epochs", OPTIONS.epochs, "--hidden", OPTIONS.hidden, "--seed", OPTIONS.seed,
    "--device", "cpu", "--json", "--out", `${target}.safetensors`];
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

for (const [target, ignore, names] of [["price", "kind", { loss: "loss", mse: "mse", mae: "mae", r2: "r2" }], ["kind", "price", { loss: "loss", accuracy: "accuracy", auc: "auc", f1: "f1", log_loss: "logLoss" }]]) {
  test(`command, Node and browser give the same figures for ${target}`, async () => {
    const wanted = commanded(target, ignore);
    const options = { target, ignore: [ignore], ...OPTIONS };
    const { test: inNode } = await engine.fit(text, options);
    const inBrowser = await browser.page.evaluate(async ([text, options]) => {
      const { open } = await import("/dist/index.js");
      const engine = await open({ device: "cpu" });
      const { test } = await engine.fit(text, options);
      engine.dispose();
      return test;
    }, [text, options]);
    for (const [where, got] of Object.entries({ inNode, inBrowser })) {
      assert.equal(got.rows, wanted.test.rows, where);
      for (const [name, own] of Object.entries(names)) {
        const [figure, expected] = [got[own], wanted.test[name]];
        assert.ok(Math.abs(figure - expected) <= BOUND * Math.abs(expected), `${where}: ${name}: got ${figure}, expected ${expected}`);
      }
    }
  });
}

test("a model that was not trained by the command has a record of its training, and intervals", async () => {
  const { model } = await engine.fit(text, { target: "price", ignore: ["kind"], ...OPTIONS });
  writeFileSync(join(folder, "node.safetensors"), await model.save());
  assert.match(run("info", "node.safetensors"), /settings +adamw, learning rate .*, seed 3\n/);
  const [header, ...rows] = run("predict", "node.safetensors", "table.csv", "--interval", "0.9", "--device", "cpu").trim().split("\n");
  const at = ["prediction", "lower", "upper"].map((name) => header.split(",").indexOf(name));
  assert.ok(rows.length === 2500 && at.every((place) => place >= 0), header);
  const isInside = rows.every((row) => { const [value, lower, upper] = at.map((place) => Number(row.split(",")[place])); return lower < value && value < upper; });
  assert.ok(isInside);
});
