// The package in Node: the same API, the same bits as in Chromium, and a process that ends when nothing is running.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import * as mero from "../dist/node.js";
import { smooth, test, visit, web } from "./browser.mjs";

const OPTIONS = { target: "y", epochs: 3, seed: 2, hidden: [16] };
const TEXT = smooth(500);

async function trained(engine) {
  for await (const event of engine.train(TEXT, OPTIONS)) if (event.event === "end") return event.model;
}

test("Node trains the same model as Chromium, in a worker thread or in the calling thread", async () => {
  const { page, close } = await visit("/test/blank.html");
  // A Node without relaxed SIMD agrees with Chromium's plain build.
  const expected = await page.evaluate(
    async ([text, options]) => {
      const { open } = await import("/dist/index.js");
      const trainedWith = async (wasm) => {
        const engine = await open({ device: "cpu", wasm });
        for await (const event of engine.train(text, options))
          if (event.event === "end") return String(await event.model.save());
      };
      return Promise.all(["/dist/meromorph.relaxed.wasm", "/dist/meromorph.wasm"].map(trainedWith));
    },
    [TEXT, OPTIONS],
  );
  await close();
  for (const worker of [true, false]) {
    const engine = await mero.open({ device: "cpu", worker });
    const model = await trained(engine);
    const file = await model.save();
    assert.ok(expected.includes(String(file)), `worker: ${worker}`);
    // A Node Buffer can share its memory with others, so it must not be detached.
    const bytes = Buffer.from(file);
    const again = await engine.load(bytes);
    assert.deepEqual(await again.predict(TEXT), await model.predict(TEXT));
    assert.equal(Buffer.compare(bytes, Buffer.from(file)), 0);
    engine.dispose();
    await assert.rejects(model.save(), new mero.InputError("engine: was disposed of", "usage"));
  }
});

test("tables are described, and invalid input is rejected with the right error class", async () => {
  assert.equal((await mero.describe("a,b\n1,2\n")).rows, 1);
  const engine = await mero.open({ device: "cpu" });
  await assert.rejects(engine.train(5).next(), mero.InputError);
  await assert.rejects(engine.train(TEXT, { target: "none" }).next(), { name: "InputError", kind: "input" });
  await assert.rejects(engine.train(TEXT, { ...OPTIONS, epochs: -1 }).next(), { name: "InputError", kind: "usage" });
  await assert.rejects(engine.train(TEXT, { ...OPTIONS, loss: "nope" }).next(), { name: "InputError", kind: "usage" });
  await assert.rejects(
    engine
      .train(TEXT, { ...OPTIONS, keep: "x" })
      .return()
      .then(() => mero.kept()),
    /there is no IndexedDB here/,
  );
  await assert.rejects(mero.open({ device: "gpu" }), {
    name: "InputError",
    kind: "usage",
    message: 'open: device is "gpu", expected one of "auto", "webgpu", "cpu"',
  });
  await assert.rejects(mero.open({ signal: AbortSignal.abort(new Error("no")) }), { message: "no" });
  await assert.rejects(engine.load("http://localhost:1/model"), {
    name: "LoadError",
    kind: "input",
    message: "load: http://localhost:1/model cannot be fetched: fetch failed: bad port",
  });
  engine.dispose();
});

test("every entry point recognises the errors of the others", async () => {
  const points = [mero, await import("../dist/fit.js"), await import("../dist/index.js")];
  const [fit, { html, onnx }] = [points[1], await import("../dist/export.js")];
  const errors = await Promise.all(
    [fit.fit({ x: [1, 2] }, 5), html({}), onnx(), mero.describe("")].map((promise) =>
      promise.then(
        () => assert.fail(),
        (error) => error,
      ),
    ),
  );
  assert.deepEqual(errors.slice(1, 3).map(String), [
    "InputError: html: model is of type Object, expected a model of this package",
    "InputError: onnx: model is undefined, expected a model of this package",
  ]);
  class Mine extends mero.InputError {}
  for (const error of [...errors, new Mine("mine")]) {
    for (const { InputError, MeromorphError, LoadError } of points) {
      assert.deepEqual(
        [InputError, MeromorphError, LoadError, Mine, Error].map((Class) => error instanceof Class),
        [true, true, false, error.message === "mine", true],
        String(error),
      );
    }
  }
  for (const other of [undefined, null, 5, new Error("x"), { name: "InputError", kind: "input" }])
    assert.ok(!(other instanceof mero.MeromorphError) && !(other instanceof mero.InputError));
});

test("the error names missing files that a bundler left behind", async () => {
  const folder = mkdtempSync(join(tmpdir(), "meromorph-left-"));
  cpSync(join(web, "dist/node.js"), join(folder, "node.mjs"));
  const { open, LoadError } = await import(pathToFileURL(join(folder, "node.mjs")));
  const expected =
    /^open: the engine's files cannot be loaded; if the program is bundled, mark meromorph as external: .*(node-worker|meromorph)/;
  for (let again = 0; again < 2; again++)
    await assert.rejects(
      open({ device: "cpu" }),
      (error) => error instanceof LoadError && expected.test(error.message),
    );
  rmSync(folder, { recursive: true });
});

test("without the package webgpu, the error says how to install it", async (context) => {
  if (await import("webgpu").catch(() => undefined)) return context.skip("the package webgpu is installed here");
  await assert.rejects(
    mero.open({ device: "webgpu" }),
    (error) => error instanceof mero.DeviceError && /npm install webgpu$/.test(error.message),
  );
});

test("a process ends by itself when nothing is running, and not before", async () => {
  const entry = JSON.stringify(join(web, "dist/node.js"));
  const cases = {
    idle: "console.log('done');",
    "a run whose events are not read":
      "engine.train(data, { epochs: 1e6, patience: 0 }); await new Promise((r) => setTimeout(r, 200)); console.log('done');",
    "an active run":
      "for await (const { event } of engine.train(data, { epochs: 50, patience: 0 })) if (event === 'end') console.log('done');",
    "an active prediction":
      "for await (const { model } of engine.train(data, { epochs: 1 })) model?.predict(new Float32Array(2e5)).then(({ value }) => console.log('done', value.length));",
  };
  for (const [what, work] of Object.entries(cases)) {
    for (const where of ["worker: true", "worker: false", "threads: 2"]) {
      const script = `import { open } from ${entry}; const engine = await open({ device: "cpu", ${where} });
        const x = Float32Array.from({ length: 100 }, (_, row) => row / 100); const data = { x, y: x }; ${work}`;
      const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
        timeout: 20_000,
      });
      assert.match(stdout, /^done/, `${what}, ${where}`);
    }
  }
});
