// The demo site as a person uses it, with WebGPU and without: press, drag and type, then check what the page shows.
// Run `npm run build` before. Any console error, also a violation of the content security policy, is a failure.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, web } from "./browser.mjs";
import { address, browsers, cells, demo, device, drawn, figuresOf, LONG, onDevice, shift, texts } from "./site.mjs";

const PAGES = ["index", "playground", "fit", "many", "memory", "poles", "interpolator", "arm", "profile", "bench"];

test("the landing page links to nine demos; every page has a security policy, a menu entry, and fits a phone", async () => {
  const { page, done } = await demo("index", { viewport: { width: 390, height: 844 } });
  assert.deepEqual(await texts(page, ".tile h2"), [
    "Playground",
    "Fit",
    "Many fits",
    "Memory",
    "Poles",
    "Interpolator",
    "Robot arm",
    "Profile",
    "Bench",
  ]);
  assert.match(await page.textContent(".intro"), /not on npm yet/);
  for (const tile of await page.$$eval(".tile", (all) => all.map(({ href }) => href))) {
    assert.equal((await page.request.get(tile)).status(), 200, tile);
  }
  for (const name of PAGES) {
    await page.goto(address(name));
    await page.waitForSelector("html[data-ready]");
    const policy = await page.getAttribute("meta[http-equiv=Content-Security-Policy]", "content");
    assert.match(policy, /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval';/, name);
    const [width, available] = await page.evaluate(() =>
      ["scrollWidth", "clientWidth"].map((which) => document.documentElement[which]),
    );
    assert.ok(width <= available, `${name}: ${width} wide, ${available} available`);
    assert.equal(await page.locator(".bar [aria-current=page]").count(), name === "index" ? 0 : 1, name);
    const unnamed = await page.$$eval("input, select, textarea, button, canvas:not(.plot *), .plot", (all) =>
      all.filter((one) => !(one.labels?.length || one.ariaLabel || one.textContent.trim())).map(({ id }) => id),
    );
    assert.deepEqual(unnamed, [], `${name}: controls without a label`);
    assert.ok((await shift(page)) < 0.1, `${name}: layout shift`);
  }
  await done();
});

test("the theme follows the system until the button is pressed, and is remembered", async () => {
  const context = await browsers.wasm.newContext({ colorScheme: "dark" });
  const { page, done } = await demo("index", { context });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.click("#theme");
  assert.notEqual(await ground(), dark);
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  assert.notEqual(await ground(), dark);
  await done();
  await context.close();
});

test("a page blocks scripts that are not its own", async () => {
  const { page, errors } = await demo("index");
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.hacked = true";
    document.body.append(script);
    document.body.insertAdjacentHTML("beforeend", "<img src='data:,' onerror='window.hacked = true'>");
  });
  await page.waitForTimeout(100);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.ok(errors.length > 0 && errors.every((error) => error.includes("Content Security Policy")), errors.join("\n"));
  await page.close();
});

test("a page whose work fails says so and can be used again", async () => {
  const fail = [
    ["interpolator", "#hidden", "0"],
    ["interpolator", "#lr", "1e9"],
    ["poles", "#rows", "1"],
    ["arm", "#rows", "1"],
    ["many", "#formula", "a*t +"],
  ];
  for (const [name, field, value] of fail) {
    const { page, done } = await demo(name);
    if (name !== "many")
      await page.waitForFunction(() => document.getElementById("device-name").textContent.startsWith("runs on"));
    const usual = await page.inputValue(field);
    await page.fill(field, value);
    if (name !== "many") await page.selectOption("#device", "cpu");
    await page.waitForSelector("#error:not([hidden])");
    assert.match(
      await page.textContent("#status"),
      name === "many" ? /^Not fitted: the maps show the previous fits\.$/ : /^Not trained\.$/,
      name,
    );
    if (field === "#lr")
      assert.equal(await page.textContent("#error"), "The loss diverged: try a smaller learning rate.");
    if (name === "many") {
      await page.selectOption("#shown", "stderrs");
      await page.fill(field, usual);
      await page.waitForFunction(() => / converged$/.test(document.getElementById("status").textContent));
    }
    await done();
  }
});

test("Memory: it learns what counts, names drawings, learns new names, and says that something is unlike anything it knows", async () => {
  const { page, trained, done } = await demo("memory");
  await trained();
  const answer = () => page.textContent("#answer strong");
  const said = (text) =>
    page.waitForFunction((text) => document.querySelector("#answer strong").textContent === text, text);
  assert.match(await page.textContent("#status"), /^64 drawings with 4 names, learned in [\d.]+ s\. Draw something\.$/);
  const figures = await figuresOf(page, "#figures");
  assert.deepEqual([figures.Epoch, figures["Held out, found"]], ["60", "100 %"]);
  assert.ok(Number(figures.Loss) < 0.1 && Number(figures.Reach) > 0.5, JSON.stringify(figures));
  // The mouth is in the sixth and the seventh row of the grid.
  assert.match(await page.getAttribute("#cells", "aria-label"), /most in row [67], column [3-6]$/);
  assert.match(await page.getAttribute("#weights .plot", "aria-label"), /64 weights from 0\.\d+ to \d/);
  assert.match(await page.getAttribute("#angles .plot", "aria-label"), /192 angles up to \d/);
  await drawn(page, "#plane");
  assert.equal(await answer(), "calm");
  assert.equal(await page.locator("#nearest li").count(), 5);
  for (const name of ["happy", "sad", "surprised", "Unlike anything I know"]) {
    await page.click("#sample");
    await said(name);
  }
  assert.match(
    await page.textContent("#answer small"),
    /^The nearest is a drawing of “\w+”, [\d.]+ away: beyond the reach/,
  );

  // Strokes of a mouse: a star is none of the faces until it was taught.
  const star = async (turn) => {
    await page.click("#clear");
    await page.locator("#pad").scrollIntoViewIfNeeded();
    const { x, y, width } = await page.locator("#pad").boundingBox();
    for (let ray = 0; ray < 5; ray++) {
      const angle = turn + (2 * Math.PI * ray) / 5;
      await page.mouse.move(x + width / 2, y + width / 2);
      await page.mouse.down();
      await page.mouse.move(x + width * (0.5 + 0.4 * Math.cos(angle)), y + width * (0.5 + 0.4 * Math.sin(angle)), {
        steps: 4,
      });
      await page.mouse.up();
    }
  };
  await page.click("#add");
  await page.waitForSelector("#error:not([hidden])");
  assert.equal(await page.textContent("#error"), "Give the drawing a name first.");
  await page.fill("#name", "star");
  for (let turn = 0; turn < 6; turn++) {
    await star(turn / 20);
    if (turn === 0) await said("Unlike anything I know");
    await page.click("#add");
  }
  assert.match(await page.textContent("#status"), /^6 added since the memory was learned: press Learn\.$/);
  await page.evaluate(() => delete document.documentElement.dataset.trained);
  await page.click("#learn");
  await trained();
  await star(0.13);
  await said("star");

  // A drop of images; other maps; a memory of one name is none.
  const png = await page.evaluate(() => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 40, height: 30 });
    canvas.getContext("2d").fillRect(12, 8, 10, 10);
    return canvas.toDataURL().split(",")[1];
  });
  await page.fill("#name", "");
  const file = { name: "box-1.png", mimeType: "image/png", buffer: Buffer.from(png, "base64") };
  await page.setInputFiles("#file", [file, { ...file, name: "box-2.png" }]);
  await page.waitForFunction(() => document.querySelectorAll("#examples h3").length === 6);
  for (const [map, expected] of [
    ["diagonal", /64 weights/],
    ["linear", /a matrix has none/],
  ]) {
    await page.selectOption("#map", map);
    await page.waitForSelector("html:not([data-trained])", { state: "attached" });
    await trained();
    assert.match(await page.getAttribute("#weights .plot", "aria-label"), expected);
  }
  await page.setInputFiles("#file", { ...file, name: "x.png", buffer: Buffer.from("no image") });
  await page.waitForSelector("#error:not([hidden])");
  assert.equal(await page.textContent("#error"), "x.png: it cannot be read as an image");
  const download = page.waitForEvent("download");
  await page.click("#save");
  assert.equal((await download).suggestedFilename(), "drawings.memory");
  await page.click("#empty");
  await page.click("#learn");
  await page.waitForFunction(() => document.getElementById("status").textContent === "Not learned.");
  assert.match(await page.textContent("#error"), /^There is nothing to tell apart/);
  await page.click("#faces");
  await trained();
  await done();
});

test("on a phone, what a page is about is in view", async () => {
  const viewport = { width: 390, height: 844 };
  const poles = await demo("poles", { viewport });
  const { y, height } = await poles.page.locator("#curve .plot").boundingBox();
  assert.ok(y + height <= 844, `the chart ends at ${y + height}`);
  await poles.done();
  const interpolator = await demo("interpolator", { viewport });
  await interpolator.page.locator("#slice-4").scrollIntoViewIfNeeded();
  const slider = await interpolator.page.locator("#x4").boundingBox();
  assert.ok(slider.y > 0 && slider.y < 200, `a slider is at ${slider.y}`);
  await interpolator.done();
  const profile = await demo("profile", { viewport });
  await profile.trained();
  const [width, available] = await profile.page.$eval(".scroll.tall", ({ scrollWidth, clientWidth }) => [
    scrollWidth,
    clientWidth,
  ]);
  assert.ok(
    width <= available && (await profile.page.locator("#launches td:last-child").first().isVisible()),
    `${width} wide, ${available} available`,
  );
  await profile.done();
});

test("the server says what is missing if the site is not built", () => {
  const folder = mkdtempSync(join(tmpdir(), "meromorph-serve-"));
  copyFileSync(join(web, "serve.mjs"), join(folder, "serve.mjs"));
  const { status, stderr } = spawnSync(process.execPath, [join(folder, "serve.mjs"), "0"], { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  assert.deepEqual([status, stderr], [1, "no site here: run npm run demos\n"]);
});

/**
 * The number of pixels of the true function's colour around the pole at 0.4, above the axis, where only the
 * perceptron's line is.
 */
const truthAtPole = (page) =>
  page.$eval("#curve canvas", (canvas) => {
    const scale = canvas.width / canvas.clientWidth;
    const [left, right] = [64 * scale, canvas.width - 12 * scale];
    const pole = left + ((right - left) * 2.4) / 4;
    const { data } = canvas
      .getContext("2d")
      .getImageData(pole - 8 * scale, canvas.height * 0.2, 16 * scale, canvas.height * 0.2);
    return Array.from({ length: data.length / 4 }, (_, at) =>
      [189, 187, 179].every((part, channel) => Math.abs(data[4 * at + channel] - part) < 4),
    ).filter(Boolean).length;
  });

for (const kind of ["wasm", "webgpu"]) {
  test(`Poles on ${kind}: both models train, and the rational head finds the pole`, async () => {
    const { page, trained, done } = await demo("poles", { kind });
    if (kind === "webgpu") {
      await page.fill("#epochs", "60");
      await onDevice(page, kind);
    }
    await trained();
    assert.match(await page.textContent("#device-name"), device(kind));
    const [[pole, found, off, perceptron]] = await cells(page, "poles");
    assert.equal(pole, "0.4000");
    assert.ok(Number.isFinite(Number(perceptron.replace("−", "-"))), `the perceptron predicts ${perceptron}`);
    await drawn(page, "#curve canvas");
    if (kind === "webgpu") return done();
    assert.ok(Number(off) < 0.03 && Math.abs(Number(found) - 0.4) < 0.03, `found at ${found}`);
    assert.match(await page.textContent("#dropped"), /^Here these are \d+ of 800 rows\.$/);
    assert.match(await page.textContent("#figures dd small"), /^largest outside of marked places: [\d.]+$/);
    assert.equal(await truthAtPole(page), 0);
    // Another function, with its pole moved by keyboard; the values as a table; the cursor by arrow keys.
    await page.fill("#epochs", "300");
    await page.selectOption("#function", "resonance");
    await page.focus("#place");
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.textContent("#place-value"), "1.31");
    await page.waitForFunction(() => document.querySelector("#poles td").textContent === "1.3100", null, LONG);
    await page.click("#curve summary");
    await page.waitForFunction(() => document.querySelectorAll("#curve tbody tr").length > 40);
    await page.focus("#curve .plot");
    await page.keyboard.press("End");
    assert.match(await page.textContent("#curve output"), /^drive frequency ω in rad\/s 3, true −0\.13/);
    await done();
  });

  test(`Interpolator on ${kind}: five charts follow five sliders`, async () => {
    const { page, trained, done } = await demo("interpolator", { kind });
    await page.fill("#rows", kind === "webgpu" ? "1000" : "8000");
    await page.fill("#epochs", kind === "webgpu" ? "4" : "100");
    if (kind === "webgpu") await onDevice(page, kind);
    else await page.click("button.main");
    await trained();
    assert.match(await page.textContent("#device-name"), device(kind));
    const figures = await figuresOf(page, "#figures");
    assert.equal(figures.Parameters, "8,769");
    if (kind === "wasm") assert.ok(Number(figures["R²"]) > 0.99, `R² ${figures["R²"]}`);
    for (let input = 0; input < 5; input++) await drawn(page, `#slice-${input} canvas`);
    const before = await figuresOf(page, "#here");
    await page.focus("#x2");
    await page.keyboard.press("End");
    // -0.3 x2 from 0.2 to 1.
    const expected = (Number(before.True) - 0.24).toFixed(4);
    await page.waitForFunction(
      (expected) => document.querySelectorAll("#here dd")[1].textContent === expected,
      expected,
    );
    await done();
  });

  test(`Robot arm on ${kind}: the answers follow the target`, async () => {
    const { page, trained, done } = await demo("arm", { kind });
    if (kind === "webgpu") {
      await page.fill("#epochs", "3");
      await page.fill("#rows", "500");
      await onDevice(page, kind);
    }
    await trained();
    assert.match(await page.textContent("#device-name"), device(kind));
    await drawn(page, "#floor");
    assert.match(await page.textContent("#plain-says"), /^(Misses by|Reaches it \() ?\d/);
    if (kind === "webgpu") return done();
    const [outside, inside, miss] = await cells(page, "scores");
    assert.ok(parseFloat(outside[1]) > 80 && outside[2] === "0.0 %", `refused out of reach: ${outside}`);
    assert.ok(parseFloat(inside[1]) < 4, `refused within reach: ${inside}`);
    assert.ok(parseFloat(miss[1]) < 5, `misses within reach: ${miss}`);
    assert.match(await page.textContent("#strict-says"), /^Out of reach: the predicted square is negative/);
    const box = await page.locator("#floor").boundingBox();
    const at = (x, y) => [box.x + box.width * (0.5 + x / 4), box.y + box.height * (0.5 - y / 4)];
    await page.mouse.move(...at(1.4, 0.95));
    await page.mouse.down();
    await page.mouse.move(...at(1, -0.5), { steps: 5 });
    await page.mouse.up();
    await page.waitForFunction(() =>
      /^Reaches it \(\d.* mm off\)/.test(document.getElementById("strict-says").textContent),
    );
    assert.match(await page.textContent("#truth"), /within reach/);
    const x = Number(await page.inputValue("#x"));
    await page.focus("#floor");
    await page.keyboard.press("ArrowLeft");
    await page.waitForFunction((x) => Math.abs(Number(document.getElementById("x").value) - x + 0.02) < 0.011, x);
    await page.fill("#x", "0");
    await page.fill("#y", "0.1");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /^(Out of reach|⊥)/.test(document.getElementById("strict-says").textContent));
    assert.match(await page.textContent("#truth"), /too near/);
    await page.selectOption("#shade", "plain");
    await done();
  });

  test(`Profile on ${kind}: a sentence, bars and a table say where the time of a step goes, and the trace can be saved`, async () => {
    const { page, trained, done } = await demo("profile", { kind });
    await trained();
    if (kind === "webgpu") {
      await page.selectOption("#windows", "3");
      await onDevice(page, kind);
      await page.waitForFunction(() => document.documentElement.dataset.trained === undefined);
      await trained();
    }
    assert.match(await page.textContent("#device-name"), device(kind));
    assert.match(
      await page.textContent("#summary"),
      /^The kernel mlp_step takes \d+\s% of a step: [\d.]+ (ms|µs) in 2 launches, for 8,769 parameters\.$/,
    );
    assert.deepEqual((await cells(page, "launches")).map(([kernel]) => kernel.replace(/model.*|update.*/, "")).sort(), [
      "mlp_step",
      "optimise",
    ]);
    const shares = await texts(page, "#kernels .value");
    assert.ok(
      shares.length === 3 && Math.abs(shares.reduce((sum, text) => sum + parseFloat(text), 0) - 100) < 0.3,
      String(shares),
    );
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
    assert.equal(download.suggestedFilename(), "trace.json");
    if (kind === "webgpu") return done();
    await page.fill("#hidden", "16");
    await page.selectOption("#step", "recorded");
    await page.waitForFunction(() => document.querySelectorAll("#layers li").length > 4, null, LONG);
    const layers = await texts(page, "#layers .label");
    for (const name of ["layers.0", "loss", "update", "between launches"])
      assert.ok(
        layers.some((label) => label.startsWith(name)),
        String(layers),
      );
    await page.fill("#batch", "0");
    await page.fill("#hidden", "16, 0");
    await page.evaluate(() => document.getElementById("form").dispatchEvent(new Event("submit", { cancelable: true })));
    await page.waitForSelector("#error:not([hidden])");
    assert.match(await page.textContent("#error"), /^profile: /);
    await done();
  });

  test(`Bench on ${kind}: every device is measured or reported as not available, and the table can be copied`, async () => {
    const { page, trained, done } = await demo("bench", { kind });
    await page.selectOption("#seconds", "0.3");
    await page.click("#run");
    await trained();
    assert.equal(await page.textContent("#status"), "Done.");
    const rows = await cells(page, "figures");
    assert.equal(rows.length, 4);
    for (const [name, cpu, gpu] of rows) {
      assert.match(cpu, /^[\d.]+ (ms|steps\/s)/, name);
      assert.match(gpu, kind === "webgpu" ? /^[\d.]+ (ms|steps\/s)/ : /^not available/, name);
    }
    await page.click("#markdown");
    const markdown = await page.inputValue("#copied");
    assert.match(markdown, /^\| 5-64-64-64-1 \| cpu: /);
    assert.match(markdown, /\| Train, batch 256 \| [\d.]+ steps\/s, [\d.]+ GFLOP\/s \|/);
    assert.match(markdown, /Engine: meromorph \d.*; Browser: \S+ \d/);
    await page.click("#tabbed");
    assert.match(await page.inputValue("#copied"), /^5-64-64-64-1\tcpu: /);
    await done();
  });
}
