// `meromorph/export` writes the files that `mero export` writes, byte for byte.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { html, onnx } from "../dist/export.js";
import { open } from "../dist/node.js";
import { test, web } from "./browser.mjs";

test("the page and the ONNX file are those of the native program", async () => {
  const folder = mkdtempSync(join(tmpdir(), "meromorph-export-"));
  const binary = process.env.MERO ?? join(process.env.CARGO_TARGET_DIR ?? join(web, "../target"), "release/mero");
  const engine = await open({ device: "cpu" });
  const x = Float64Array.from({ length: 300 }, (_, row) => (row - 149.5) / 75);
  const cities = Array.from(x, (x) => (x > 0.3 ? "Oslo" : "Rome"));
  const cases = {
    numbers: [{ x, y: x.map(Math.sin) }, { activation: "x*tanh(softplus(x))" }],
    poles: [{ x, y: x.map((x) => 1 / x) }, { head: "rational" }],
    classes: [{ x, y: cities }, { norm: "layer" }],
  };
  try {
    for (const [name, [data, options]] of Object.entries(cases)) {
      const { model } = await engine.fit(data, { epochs: 3, hidden: [8], ...options });
      const file = (kind) => join(folder, `${name}.${kind}`);
      writeFileSync(file("safetensors"), await model.save());
      execFileSync(
        binary,
        ["export", file("safetensors"), "--html", file("html"), "--onnx", file("onnx"), "--web", join(web, "dist")],
        { stdio: ["ignore", "ignore", "inherit"] },
      );
      assert.equal(await html(model), readFileSync(file("html"), "utf8"), name);
      assert.equal(Buffer.compare(await onnx(model), readFileSync(file("onnx"))), 0, name);
    }
  } finally {
    engine.dispose();
    rmSync(folder, { recursive: true });
  }
});
