// Odd tables give the same predictions, notes and warnings in the command, in Node and in a browser. `tests/cases/odd.json` lists the tables;
// `crates/mero/tests/command/cases/faces.rs` compares the command with Rust.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before } from "node:test";
import * as mero from "../dist/node.js";
import { test, visit, web } from "./browser.mjs";

const cases = join(web, "../tests/cases");
const odd = JSON.parse(readFileSync(join(cases, "odd.json"), "utf8"));
const binary = process.env.MERO ?? join(process.env.CARGO_TARGET_DIR ?? join(web, "../target"), "release/mero");
const folder = mkdtempSync(join(tmpdir(), "meromorph-odd-"));
/** The devices add in different orders, and the differences grow from step to step. */
const BOUND = 1e-4;
const SHAPE = { hidden: [4], epochs: 2, seed: 3 };
let browser;
let engine;

before(async () => {
  engine = await mero.open({ device: "cpu" });
  browser = await visit("/test/blank.html");
});
after(async () => {
  engine.dispose();
  await browser.close();
  rmSync(folder, { recursive: true });
});

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** What the command answers: its warnings, and what it predicts for the table's own rows. */
function commanded({ file, target, options }) {
  const reading = Object.entries(options).flatMap(([name, value]) => [`--${name.replaceAll("_", "-")}`, ...(value === true ? [] : [String(value)])]);
  const words = ["train", join(cases, file), "--target", target, "--hidden", "4", "--epochs", "2", "--seed", "3", "--device", "cpu", "--json", "--out", "m", "--force", ...reading];
  const run = (words) => execFileSync(binary, words, { encoding: "utf8", cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  const { warnings } = JSON.parse(run(words).split("\n")[0]);
  const [header, ...rows] = run(["predict", "m", join(cases, file), "--device", "cpu"]).trimEnd().split("\n").map((line) => line.split(","));
  return { warnings, values: rows.map((cells) => cells[0]), shares: header.includes("probability") ? rows.map((cells) => Number(cells[1])) : undefined, noted: rows.flatMap((cells, row) => (cells.at(-1) ? [row] : [])) };
}

/** The same of an engine. It runs in Node, and by its source text in the page. */
async function answered(engine, data, options) {
  const { model, warnings } = await engine.fit(data, options);
  const { value, probability, notes } = await model.predict(data);
  return { warnings, values: Array.from(value, String), shares: probability && Array.from(probability), noted: [...new Set(notes.map(({ row }) => row))].sort((a, b) => a - b) };
}

/** Asserts that numbers agree within rounding, and all else exactly. */
function agree(got, expected, where) {
  assert.deepEqual(got.warnings, expected.warnings, where);
  assert.equal(got.values.length, expected.values.length, where);
  assert.deepEqual(got.noted, expected.noted, where);
  const near = (a, b, row) => assert.ok(Math.abs(a - b) <= BOUND * (1 + Math.abs(b)), `${where}, row ${row}: got ${a}, expected ${b}`);
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
    const expected = commanded(table);
    const options = { target: table.target, ...SHAPE, ...Object.fromEntries(Object.entries(table.options).map(([name, value]) => [camel(name), value])) };
    const bytes = readFileSync(join(cases, table.file));
    const name = basename(table.file);
    if (name.endsWith(".xlsx")) {
      await assert.rejects(engine.fit(new File([bytes], name), options), /spreadsheet\), which is not read here; save it as CSV or NPY$/);
      continue;
    }
    agree(await answered(engine, new File([bytes], name), options), expected, `${table.file} in Node`);
    const inPage = await browser.page.evaluate(async ([source, text, name, options]) => {
      const { open } = await import("/dist/index.js");
      const engine = (globalThis.engine ??= await open({ device: "cpu" }));
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      return (0, eval)(`(${source})`)(engine, new File([bytes], name), options);
    }, [answered.toString(), bytes.toString("base64"), name, options]);
    agree(inPage, expected, `${table.file} in the browser`);
  }
});
