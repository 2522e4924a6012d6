// A model that is a function of ops, saved by a Rust program, predicts in Node and in a browser what the command
// predicts: the same bits where a build has fused multiply-add, as the command does, and within 1e-6 of the largest
// value elsewhere.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as mero from "../dist/node.js";
import { test, visit, web } from "./browser.mjs";

const data = join(web, "../tests/data");
const [model, text] = [
  readFileSync(join(data, "function.safetensors")),
  readFileSync(join(data, "function.csv"), "utf8"),
];
const binary = process.env.MERO ?? join(process.env.CARGO_TARGET_DIR ?? join(web, "../target"), "release/mero");
const run = (...words) => execFileSync(binary, words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

/** What the command predicts with one thread. */
const expected = run(
  "predict",
  join(data, "function.safetensors"),
  join(data, "function.csv"),
  "--device",
  "cpu",
  "--threads",
  "1",
)
  .trimEnd()
  .split("\n")
  .slice(1)
  .map((line) => Number(line.split(",")[0]));

function agree(got, where, isExact) {
  assert.equal(got.length, expected.length, where);
  const far = Math.max(...got.map((value, row) => Math.abs(value - expected[row])));
  const bound = isExact ? 0 : 1e-6 * Math.max(...expected.map(Math.abs));
  assert.ok(far <= bound, `${where}: off by ${far}`);
}

test("Chromium predicts with a function of ops", async () => {
  const { page, close } = await visit("/test/blank.html");
  const [relaxed, plain] = await page.evaluate(
    async ([bytes, text]) => {
      const { open } = await import("/dist/index.js");
      const predicted = async (wasm) => {
        const engine = await open({ device: "cpu", wasm });
        const model = await engine.load(new Uint8Array(bytes));
        const { value } = await model.predict(text);
        engine.dispose();
        return [...value];
      };
      return [await predicted("/dist/meromorph.relaxed.wasm"), await predicted("/dist/meromorph.wasm")];
    },
    [[...model], text],
  );
  agree(relaxed, "relaxed SIMD", true);
  agree(plain, "plain SIMD", false);
  await close();
});

test("Node predicts with a function of ops", async () => {
  const engine = await mero.open({ device: "cpu" });
  const loaded = await engine.load(new Uint8Array(model));
  const { value } = await loaded.predict(text);
  agree([...value], "Node", false);
  assert.equal(loaded.info.target, "y");
  engine.dispose();
});

test("a package predicts with a function of ops", async () => {
  const folder = mkdtempSync(join(tmpdir(), "meromorph-function-"));
  run(
    "export",
    join(data, "function.safetensors"),
    "--npm",
    join(folder, "package"),
    "--name",
    "function-of-ops",
    "--web",
    join(web, "dist"),
  );
  const { predict } = await import(pathToFileURL(join(folder, "package", "node.js")));
  const rows = text
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split(",").map(Number))
    .map(([a, b, c]) => ({ a, b, c }));
  agree(
    (await predict(rows)).map(({ value }) => value),
    "package",
    true,
  );
  rmSync(folder, { recursive: true });
});
