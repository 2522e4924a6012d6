// Cases that people reported, each with its right answer worked out by hand. In Node; those that need a page are in the suites of the browser.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before } from "node:test";
import { promisify } from "node:util";
import * as mero from "../dist/node.js";
import { test, web } from "./browser.mjs";

let engine;

before(async () => { engine = await mero.open({ device: "cpu" }); });
after(() => engine.dispose());

/** Runs a script in a Node of its own, with the package's `open` and `gc`. Returns what it prints, as JSON. */
async function script(text) {
  const source = `import * as mero from ${JSON.stringify(join(web, "dist/node.js"))};\n${text}`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", "--input-type=module", "-e", source], { timeout: 60_000 });
  return JSON.parse(stdout);
}

test("forgotten engines and models are freed", async () => {
  const freed = await script(`
    import { Worker } from "node:worker_threads";
    const count = { engines: 0, workers: 0, models: 0 };
    const registry = new FinalizationRegistry((kind) => count[kind]++);
    const { terminate } = Worker.prototype;
    Worker.prototype.terminate = function () { count.workers++; return terminate.call(this); };
    const collect = async () => { for (let i = 0; i < 20; i++) { gc(); await new Promise((done) => setTimeout(done, 20)); } };
    const open = async () => {
      const engine = await mero.open({ device: "cpu" });
      registry.register(engine, "engines");
      return engine;
    };
    const x = Float32Array.from({ length: 40 }, (_, row) => row);
    const train = async (engine) => {
      const { model } = await engine.fit({ x, y: x }, { epochs: 1, hidden: [] });
      await model.predict([1]);
      registry.register(model, "models");
    };
    for (let i = 0; i < 8; i++) await open();
    await collect();
    const kept = await mero.open({ device: "cpu" });
    for (let i = 0; i < 8; i++) await train(kept);
    await collect();
    console.log(JSON.stringify(count));
    kept.dispose();
  `);
  assert.deepEqual(freed, { engines: 8, workers: 8, models: 8 });
});

test("an abort before the first epoch was completed rejects with the signal's reason", async () => {
  const x = Float64Array.from({ length: 300_000 }, (_, at) => Math.sin(at));
  const y = Float64Array.from({ length: 100_000 }, (_, row) => 100 + 50 * x[3 * row]);
  const reason = new Error("changed my mind");
  const abort = new AbortController();
  await assert.rejects(engine.fit({ x, y }, { signal: abort.signal, onStart: () => abort.abort(reason) }), reason);
  const plain = new AbortController();
  await assert.rejects(engine.fit({ x, y }, { signal: plain.signal, onStart: () => plain.abort() }), { name: "AbortError" });
  const third = new AbortController();
  const run = engine.train({ x, y }, { signal: third.signal });
  assert.equal((await run.next()).value.event, "start");
  third.abort(reason);
  await assert.rejects(run.next(), reason);
  // After a completed epoch its model is the result, and a run that is stopped without a signal ends as before.
  const late = new AbortController();
  const few = { x: x.slice(0, 300), y: y.slice(0, 100) };
  const { bestEpoch, stop } = await engine.fit(few, { epochs: 1e6, patience: 0, signal: late.signal, onEpoch: () => late.abort() });
  assert.ok(stop === "asked" && bestEpoch !== null);
  const stopped = engine.train({ x, y }, {});
  await stopped.next();
  stopped.stop();
  let last;
  for await (const event of stopped) last = event;
  assert.deepEqual([last.event, last.stop], ["end", "asked"]);
});
