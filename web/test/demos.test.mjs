// The demo site as a person uses it, on WebGPU and without: what is pressed, dragged and typed, and what is seen then.
// Built before by `npm run build` and `npm run demos`. Any error in a console, a breach of the pages' policy too, fails.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { serve } from "../serve.mjs";
import { classes, launch, web } from "./browser.mjs";

const PAGES = ["index", "playground", "poles", "interpolator", "arm", "bench"];
const LONG = { timeout: 60_000 };
const browsers = {};
let server;

before(async () => {
  server = await serve(`${web}/dist/site`);
  [browsers.webgpu, browsers.wasm] = await Promise.all([launch(true), launch(false)]);
});

after(() => Promise.all([browsers.webgpu.close(), browsers.wasm.close(), server.close()]));

/** A demo's page, ready for use; `done` closes it and fails on anything its console complained of. */
async function demo(name, { kind = "wasm", context, ...options } = {}) {
  const page = await (context ?? browsers[kind]).newPage(options);
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (line) => line.type() === "error" && errors.push(line.text()));
  await page.goto(`http://localhost:${server.address().port}/${name}.html`);
  await page.waitForSelector("html[data-ready]");
  const trained = () => page.waitForSelector("html[data-trained]", LONG);
  const done = async () => {
    await page.close();
    assert.deepEqual(errors, []);
  };
  return { page, errors, trained, done };
}

/** Chooses the software adapter where there is one. */
async function onDevice(page, kind) {
  if (kind === "webgpu") await page.selectOption("#device", "webgpu");
}

const device = (kind) => (kind === "webgpu" ? /^runs on webgpu: .*\(software\)$/ : /^runs on cpu: /);

/** Rows of a table's body as texts. */
const cells = (page, id) => page.$$eval(`#${id} tr`, (rows) => rows.map((row) => [...row.children].map(({ textContent }) => textContent)));

/** Figures by name. */
const told = (page, list) => page.$$eval(`${list} > div`, (all) => Object.fromEntries(all.map(({ children: [name, value] }) => [name.textContent, value.firstChild.textContent])));

/** Whether anything but background is drawn on a canvas. */
const isDrawn = (page, selector) => page.$eval(selector, (canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size > 3;
});

test("the first page leads to five demos; every page has its policy, its name in the menu and room on a telephone", async () => {
  const { page, done } = await demo("index", { viewport: { width: 390, height: 844 } });
  assert.deepEqual(await page.$$eval(".tile h2", (all) => all.map(({ textContent }) => textContent)), ["Playground", "Poles", "Interpolator", "Robot arm", "Bench"]);
  for (const tile of await page.$$eval(".tile", (all) => all.map(({ href }) => href))) assert.equal((await page.request.get(tile)).status(), 200);
  for (const name of PAGES) {
    await page.goto(`http://localhost:${server.address().port}/${name}.html`);
    await page.waitForSelector("html[data-ready]");
    const policy = await page.getAttribute("meta[http-equiv=Content-Security-Policy]", "content");
    assert.match(policy, /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval';/, name);
    const { scroll, client } = await page.evaluate(() => ({ scroll: document.documentElement.scrollWidth, client: document.documentElement.clientWidth }));
    assert.ok(scroll <= client, `${name}: ${scroll} in ${client}`);
    assert.equal(await page.locator(".bar [aria-current=page]").count(), name === "index" ? 0 : 1, name);
    const unnamed = await page.$$eval("input, select, textarea, button, canvas:not(.plot *), .plot", (all) =>
      all.filter((one) => !(one.labels?.length || one.ariaLabel || one.textContent.trim())).map(({ id }) => id));
    assert.deepEqual(unnamed, [], `${name}: without a name`);
  }
  await done();
});

test("the theme follows the system, then the button, and is remembered", async () => {
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

test("a page refuses scripts that are not its own", async () => {
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

for (const kind of ["wasm", "webgpu"]) {
  test(`Poles on ${kind}: both models train, the rational one leaves a gap`, async () => {
    const { page, trained, done } = await demo("poles", { kind });
    if (kind === "webgpu") {
      await page.fill("#epochs", "60");
      await onDevice(page, kind);
    }
    await trained();
    assert.match(await page.textContent("#device-name"), device(kind));
    const [[pole, found, off, perceptron]] = await cells(page, "poles");
    assert.equal(pole, "0.4000");
    assert.ok(Number.isFinite(Number(perceptron.replace("−", "-"))), `the perceptron says ${perceptron}`);
    assert.ok(await isDrawn(page, "#curve canvas"));
    if (kind === "webgpu") return done();
    assert.ok(Number(off) < 0.03 && Math.abs(Number(found) - 0.4) < 0.03, `found at ${found}`);
    assert.match(await page.textContent("#dropped"), /^\d+ of 800 rows dropped/);
    // Another function, its pole moved by the keyboard; the values as a table, a cursor by arrow keys.
    await page.fill("#epochs", "300");
    await page.selectOption("#function", "resonance");
    await page.focus("#place");
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.textContent("#place-value"), "1.31");
    await page.waitForFunction(() => document.querySelector("#poles td").textContent === "1.3100", null, LONG);
    await page.click("#curve summary");
    assert.ok(await page.locator("#curve tbody tr").count() > 40);
    await page.focus("#curve .plot");
    await page.keyboard.press("End");
    assert.match(await page.textContent("#curve output"), /^drive frequency ω in rad\/s 3, true −0\.13/);
    await done();
  });

  test(`Interpolator on ${kind}: five slices follow five sliders`, async () => {
    const { page, trained, done } = await demo("interpolator", { kind });
    await page.fill("#rows", kind === "webgpu" ? "1000" : "8000");
    await page.fill("#epochs", kind === "webgpu" ? "4" : "100");
    if (kind === "webgpu") await onDevice(page, kind);
    else await page.click("button.main");
    await trained();
    assert.match(await page.textContent("#device-name"), device(kind));
    const figures = await told(page, "#figures");
    assert.equal(figures.Parameters, "8,769");
    if (kind === "wasm") assert.ok(Number(figures["R²"]) > 0.99, `R² ${figures["R²"]}`);
    for (let input = 0; input < 5; input++) assert.ok(await isDrawn(page, `#slice-${input} canvas`));
    const before = await told(page, "#here");
    await page.focus("#x2");
    await page.keyboard.press("End");
    // -0.3 x2 from 0.2 to 1.
    const wanted = (Number(before.True) - 0.24).toFixed(4);
    await page.waitForFunction((wanted) => document.querySelectorAll("#here dd")[1].textContent === wanted, wanted);
    await done();
  });

  test(`Robot arm on ${kind}: refusals and misses follow the target`, async () => {
    const { page, trained, done } = await demo("arm", { kind });
    if (kind === "webgpu") {
      await page.fill("#epochs", "3");
      await page.fill("#rows", "500");
      await onDevice(page, kind);
    }
    await trained();
    assert.match(await page.textContent("#device-name"), device(kind));
    assert.ok(await isDrawn(page, "#floor"));
    assert.match(await page.textContent("#plain-says"), /^Misses by \d/);
    if (kind === "webgpu") return done();
    const [outside, inside, miss] = await cells(page, "scores");
    assert.ok(parseFloat(outside[1]) > 80 && outside[2] === "0.0 %", `refused out of reach: ${outside}`);
    assert.ok(parseFloat(inside[1]) < 4, `refused within reach: ${inside}`);
    assert.ok(parseFloat(miss[1]) < 5, `misses within reach: ${miss}`);
    assert.match(await page.textContent("#strict-says"), /^No: the square is negative/);
    const box = await page.locator("#floor").boundingBox();
    const at = (x, y) => [box.x + box.width * (0.5 + x / 4), box.y + box.height * (0.5 - y / 4)];
    await page.mouse.move(...at(1.4, 0.95));
    await page.mouse.down();
    await page.mouse.move(...at(1, -0.5), { steps: 5 });
    await page.mouse.up();
    await page.waitForFunction(() => /^Misses by \d/.test(document.getElementById("strict-says").textContent));
    assert.match(await page.textContent("#truth"), /within reach/);
    const x = Number(await page.inputValue("#x"));
    await page.focus("#floor");
    await page.keyboard.press("ArrowLeft");
    await page.waitForFunction((x) => Math.abs(Number(document.getElementById("x").value) - x + 0.02) < 0.011, x);
    await page.fill("#x", "0");
    await page.fill("#y", "0.1");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /^(No|⊥)/.test(document.getElementById("strict-says").textContent));
    assert.match(await page.textContent("#truth"), /too near/);
    await page.selectOption("#shade", "plain");
    await done();
  });

  test(`Bench on ${kind}: every device is measured or said to be absent, and the table can be copied`, async () => {
    const { page, trained, done } = await demo("bench", { kind });
    await page.selectOption("#seconds", "0.3");
    await page.click("#run");
    await trained();
    assert.equal(await page.textContent("#status"), "Done.");
    const rows = await cells(page, "figures");
    assert.equal(rows.length, 4);
    for (const [name, cpu, gpu] of rows) {
      assert.match(cpu, /^[\d.]+ (ms|steps\/s)/, name);
      assert.match(gpu, kind === "webgpu" ? /^[\d.]+ (ms|steps\/s)/ : /^absent/, name);
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

  test(`Playground on ${kind}: the example trains by keyboard beside a perceptron`, async () => {
    const { page, trained, done } = await demo("playground", { kind });
    await onDevice(page, kind);
    await page.fill("#epochs", "12");
    assert.ok(await page.isChecked("#compare"));
    await page.focus("#train");
    await page.keyboard.press("Enter");
    await trained();
    assert.equal(await page.textContent("#status"), "Done.");
    assert.match(await page.textContent("#device-name"), device(kind));
    assert.deepEqual(await page.$$eval(".panel h2", (all) => all.map(({ textContent }) => textContent)), ["Rational head", "Plain perceptron"]);
    const figures = await told(page, ".panel:first-child .figures");
    assert.match(figures.Coverage, /^\d+\.\d %$/);
    assert.ok(Number(figures["Median error"]) < 0.5, `median error ${figures["Median error"]}`);
    assert.equal(figures["Rows to train on"], "1,400");
    const states = await page.$$eval(".panel .status", (all) => all.map(({ textContent }) => textContent));
    assert.match(states[0], /^All epochs are done\. Kept epoch \d+\./);
    assert.match(states[1], /55 of 2000 rows dropped; y: 0 missing, 55 infinite$/);
    for (const canvas of await page.$$(".panel canvas")) assert.ok(await canvas.evaluate((one) => one.width > 100));
    await done();
  });
}

/** Lets go of a file over the drop zone. */
const drop = (page, name, text) => page.evaluate(([name, text]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name));
  document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}, [name, text]);

const named = (page, name) => page.waitForFunction((name) => document.getElementById("data-name").textContent === name, name);

test("Playground: a device that is absent is named, and another can be chosen", async () => {
  const { page, trained, done } = await demo("playground");
  await page.selectOption("#device", "webgpu");
  await page.waitForSelector("#error:not([hidden])");
  assert.match(await page.textContent("#error"), /^device "webgpu" is absent: no adapter found/);
  assert.equal(await page.textContent("#device-name"), "no device");
  await page.selectOption("#device", "cpu");
  await page.fill("#epochs", "2");
  await page.click("#train");
  await trained();
  assert.match(await page.textContent("#device-name"), device("wasm"));
  assert.ok(await page.isHidden("#error"));
  await done();
});

test("Playground: a run is paused, goes on, and is stopped with its best model", async () => {
  const { page, trained, done } = await demo("playground");
  await page.uncheck("#compare");
  await page.fill("#epochs", "100000");
  await page.click("#train");
  await page.waitForFunction(() => /^Epoch [1-9]/.test(document.querySelector(".panel .status")?.textContent));
  await page.click("#pause");
  assert.equal(await page.textContent("#status"), "Paused.");
  // Epochs that were trained ahead are still drawn.
  await page.waitForTimeout(700);
  const held = await page.textContent(".panel .status");
  await page.waitForTimeout(500);
  assert.equal(await page.textContent(".panel .status"), held);
  await page.click("#pause");
  await page.waitForFunction((held) => document.querySelector(".panel .status").textContent !== held, held);
  await page.click("#stop");
  await trained();
  assert.match(await page.textContent("#status"), /^Stopped\./);
  assert.match(await page.textContent("#model-name"), /^regression of “y”/);
  assert.equal(await page.locator(".panel figure").count(), 4);
  await done();
});

test("Playground: a saved model, loaded in a fresh page, predicts the same; a torn one is refused", async () => {
  const first = await demo("playground");
  await first.page.selectOption("#example", "sum");
  await first.page.waitForFunction(() => document.getElementById("data-size").textContent === "2,000 rows, 6 columns");
  await first.page.fill("#epochs", "4");
  await first.page.click("#train");
  await first.trained();
  const predict = async (page) => {
    for (let input = 0; input < 5; input++) await page.fill(`#input-${input}`, "0.5");
    await page.click("#ask");
    await page.waitForFunction(() => document.getElementById("answer").textContent);
    return page.textContent("#answer");
  };
  const wanted = await predict(first.page);
  assert.match(wanted, /^y = [−\d.]+$/);
  await first.page.setInputFiles("#table", { name: "new.csv", mimeType: "text/csv", buffer: Buffer.from("x0,x1,x2,x3,x4\n1,2,3,4,5\n0,0,0,0,0\n") });
  await first.page.waitForSelector("#answer a");
  const [table] = await Promise.all([first.page.waitForEvent("download"), first.page.click("#answer a")]);
  assert.match(readFileSync(await table.path(), "utf8"), /^y\n-?[\d.]+\n-?[\d.]+\n$/);
  const [download] = await Promise.all([first.page.waitForEvent("download"), first.page.click("#save")]);
  const file = { name: "model.safetensors", mimeType: "application/octet-stream", buffer: readFileSync(await download.path()) };
  await first.done();
  const second = await demo("playground");
  await second.page.setInputFiles("#load", file);
  await second.page.waitForSelector("#predict:not([hidden])");
  assert.match(await second.page.textContent("#model-name"), /^regression of “y”, 1,281 parameters, from model\.safetensors$/);
  assert.equal(await predict(second.page), wanted);
  await second.page.setInputFiles("#load", { ...file, buffer: file.buffer.subarray(0, 500) });
  await second.page.waitForSelector("#error:not([hidden])");
  assert.match(await second.page.textContent("#error"), /^model\.safetensors: /);
  await second.done();
});

test("Playground: a dropped CSV is described, its classes learnt and drawn; a bad one is refused in words", async () => {
  const { page, trained, done } = await demo("playground");
  await drop(page, "kinds.csv", classes(600));
  await named(page, "kinds.csv");
  assert.equal(await page.textContent("#data-size"), "600 rows, 3 columns");
  assert.deepEqual(await page.$$eval("#target option", (all) => all.map(({ value }) => value)), ["u", "v", "kind"]);
  assert.equal(await page.inputValue("#target"), "kind");
  assert.equal(await page.inputValue("#head"), "linear");
  assert.ok(await page.isDisabled("#compare"));
  await page.selectOption("#head", "rational");
  await page.click("#train");
  await page.waitForSelector("#error:not([hidden])");
  assert.equal(await page.textContent("#error"), 'kinds.csv: row 1, column "kind": "right" is not a number');
  await page.selectOption("#head", "linear");
  await page.fill("#epochs", "40");
  await page.click("#train");
  await trained();
  const figures = await told(page, ".panel .figures");
  assert.ok(parseFloat(figures["Test accuracy"]) > 85, figures["Test accuracy"]);
  assert.ok(await isDrawn(page, ".map"));
  assert.deepEqual(await page.$$eval(".panel .stack tr:first-child th", (all) => all.map(({ textContent }) => textContent)), ["kind", "far", "left", "right"]);
  await drop(page, "torn.csv", "a,b\n1,2\n3\n");
  await page.waitForSelector("#error:not([hidden])");
  assert.equal(await page.textContent("#error"), "torn.csv: row 2 (line 3) has 1 cells, wanted 2");
  await page.selectOption("#example", "sine");
  await page.waitForFunction(() => document.getElementById("data-size").textContent === "2,000 rows, 2 columns");
  assert.ok(await page.isHidden("#error"));
  await done();
});

test("Playground: markup in names, classes and a model's metadata stays text", async () => {
  const { page, trained, done } = await demo("playground");
  const [input, level, script] = ["<img src=x onerror=hacked=1>", "<b onclick=hacked=1>far</b>", "<script>hacked=1</script>"];
  const lines = Array.from({ length: 120 }, (_, row) => `${row / 60 - 1},${(row * 7) % 11},${row > 60 ? level : script}`);
  await drop(page, `${script}.csv`, `${input},v,${script}\n${lines.join("\n")}\n`);
  await named(page, `${script}.csv`);
  await page.fill("#epochs", "5");
  await page.click("#train");
  await trained();
  await page.click("#ask");
  await page.waitForFunction(() => document.getElementById("answer").textContent);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
  const buffer = readFileSync(await download.path());
  assert.ok(buffer.includes("<script>"), "the file has the script in its metadata");
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  await page.setInputFiles("#load", { name: `${input}.safetensors`, mimeType: "application/octet-stream", buffer });
  await page.waitForSelector("#predict:not([hidden])");
  assert.equal(await page.textContent("#model-name"), `classification of “${script}”, 1,218 parameters, from ${input}.safetensors`);
  assert.equal(await page.textContent("#inputs label"), input);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(await page.$$eval("main img, main script, main b, main iframe", (all) => all.map(({ outerHTML }) => outerHTML)), []);
  await done();
});

test("Playground: a run that a closed tab left is taken up to its end", async () => {
  const context = await browsers.wasm.newContext();
  const first = await demo("playground", { context });
  await first.page.selectOption("#example", "sine");
  await first.page.waitForFunction(() => document.getElementById("data-name").textContent === "A noisy sine");
  await first.page.fill("#epochs", "4000");
  await first.page.click("#train");
  await first.page.waitForFunction(async () => {
    // Opening it before the engine does would make it without its store.
    if (!(await indexedDB.databases()).length) return false;
    const request = indexedDB.open("meromorph");
    const database = await new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
    try {
      const all = database.transaction("runs").objectStore("runs").getAllKeys();
      return await new Promise((resolve) => { all.onsuccess = () => resolve(all.result.length >= 3); });
    } catch {
      return false;
    } finally {
      database.close();
    }
  }, null, { polling: 300, timeout: 20_000 });
  await first.done();
  const second = await demo("playground", { context });
  await second.page.waitForSelector("#left:not([hidden])");
  assert.match(await second.page.textContent("#left-words"), /^A run on A noisy sine was left at epoch \d+ of 4000\.$/);
  await second.page.click("#go-on");
  await second.page.waitForFunction(() => /^Epoch /.test(document.querySelector(".panel .status")?.textContent));
  await second.page.click("#stop");
  await second.trained();
  assert.match(await second.page.textContent("#model-name"), /^regression of “y”, .* trained on A noisy sine$/);
  await second.done();
  await context.close();
});
