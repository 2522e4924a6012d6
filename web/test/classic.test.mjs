// The classic script in a page that is opened from disk by a double click: no server, no modules, no requests but the
// page's own files.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, test, web } from "./browser.mjs";

const PAGE = `<!doctype html><title>houses</title>
<input type="file" id="file">
<p id="out"></p>
<script src="meromorph.classic.js"></script>
<script>
  async function learn(worker) {
    const rows = Array.from({ length: 200 }, (_, row) => ({ size: 20 + row % 90, city: ["Oslo", "Rome"][row % 2], price: 3 * (row % 90) + 40 * (row % 2) }));
    const engine = await Meromorph.open({ worker });
    const { model, test } = await engine.fit(rows, { target: "price", epochs: 60 });
    const [{ value }] = await model.predict([{ size: 50, city: "Oslo" }]);
    return { device: engine.info.device, r2: test.r2, value };
  }
  document.getElementById("file").onchange = async ({ target }) => {
    document.getElementById("out").textContent = JSON.stringify(await Meromorph.describe(target.files[0]));
  };
</script>`;

test("a page from disk trains and predicts with the classic script", async () => {
  const folder = mkdtempSync(join(tmpdir(), "meromorph-disk-"));
  copyFileSync(join(web, "dist/meromorph.classic.js"), join(folder, "meromorph.classic.js"));
  writeFileSync(join(folder, "page.html"), PAGE);
  writeFileSync(join(folder, "small.csv"), "a,y\n1,2\n3,4\n");
  const browser = await launch();
  const page = await browser.newPage();
  const [errors, requests] = [[], []];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (line) => line.type() === "error" && errors.push(line.text()));
  page.on("request", (request) => requests.push(new URL(request.url()).protocol));
  try {
    await page.goto(pathToFileURL(join(folder, "page.html")).href);
    for (const worker of [true, false]) {
      const { r2, value } = await page.evaluate(`learn(${worker})`);
      assert.ok(r2 > 0.95 && Math.abs(value - 90) < 25, `worker: ${worker}: ${r2}, ${value}`);
    }
    await page.setInputFiles("#file", join(folder, "small.csv"));
    await page.waitForFunction(() => document.getElementById("out").textContent !== "");
    assert.deepEqual(JSON.parse(await page.textContent("#out")), {
      rows: 2,
      columns: [
        { name: "a", isNumeric: true },
        { name: "y", isNumeric: true },
      ],
    });
    assert.deepEqual(errors, []);
    assert.deepEqual([...new Set(requests)].sort(), ["blob:", "file:"]);
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
});
