// The page as a person uses it: trains, draws, saves, loads, predicts, takes a dropped file, says what is wrong.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { classes, visit } from "./browser.mjs";

async function ready(options) {
  const visited = await visit("/index.html", options);
  await visited.page.waitForSelector("html[data-ready]");
  return visited;
}

/** Trains by keyboard and waits for the figures, which it returns by name. */
async function trained(page, epochs) {
  await page.fill("#epochs", String(epochs));
  await page.focus("#train");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#figures:not([hidden])", { timeout: 120_000 });
  return Object.fromEntries(await page.$$eval("#figures div", (all) => all.map((one) => [...one.children].map((part) => part.textContent))));
}

/** Lets go of a file over the page's drop zone. */
function drop(page, name, text) {
  return page.evaluate(([name, text]) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], name));
    document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }, [name, text]);
}

for (const [device, webgpu] of [["webgpu", true], ["cpu", true], ["cpu", false]]) {
  test(`the example trains on ${device}${webgpu ? "" : " in a browser without WebGPU"}`, async () => {
    const { page, errors, close } = await ready({ webgpu });
    if (webgpu) await page.selectOption("#choice", device);
    const figures = await trained(page, 10);
    assert.ok(Number(figures["Test R²"]) > 0.98, `R² ${figures["Test R²"]}`);
    assert.equal(figures["Rows to train on"], "2,800");
    assert.equal(await page.textContent("#status"), "All epochs are done. Kept epoch 10.");
    assert.match(await page.textContent("#device"), new RegExp(`^${device}: `));
    assert.equal(await page.locator("#chart polyline").count(), 2);
    assert.equal((await page.locator("#chart polyline.train").getAttribute("points")).split(" ").length, 10);
    assert.match(await page.getAttribute("#chart", "aria-label"), /^Loss over 10 epochs\. epoch 10: training [\d.]+, validation [\d.]+$/);
    await page.focus("#chart");
    await page.keyboard.press("Home");
    assert.match(await page.textContent("#cursor"), /^epoch 1: training/);
    assert.deepEqual(errors, []);
    await close();
  });
}

test("a saved model, loaded in a fresh page, predicts the same", async () => {
  const first = await ready({ webgpu: false });
  await trained(first.page, 4);
  const predict = async (page) => {
    await page.fill("#input-0", "1");
    await page.click("#ask");
    await page.waitForFunction("document.getElementById('answer').textContent");
    return page.textContent("#answer");
  };
  const wanted = await predict(first.page);
  assert.match(wanted, /^y = [\d.]+$/);
  const [download] = await Promise.all([first.page.waitForEvent("download"), first.page.click("#save")]);
  const file = { name: "model.safetensors", mimeType: "application/octet-stream", buffer: readFileSync(await download.path()) };
  await first.close();
  const second = await ready({ webgpu: false });
  await second.page.setInputFiles("#load", file);
  await second.page.waitForSelector("#predict:not([hidden])");
  assert.match(await second.page.textContent("#model-name"), /^regression of “y”, 8,769 parameters, from model\.safetensors$/);
  assert.equal(await predict(second.page), wanted);
  await second.page.setInputFiles("#load", { ...file, buffer: file.buffer.subarray(0, 500) });
  await second.page.waitForSelector("#error:not([hidden])");
  assert.match(await second.page.textContent("#error"), /^model\.safetensors: /);
  await second.close();
});

test("a dropped CSV is described, its target chosen and learnt; a bad one is refused in words", async () => {
  const { page, close } = await ready({ webgpu: false });
  await drop(page, "kinds.csv", classes(600));
  await page.waitForFunction("document.getElementById('data-name').textContent === 'kinds.csv'");
  assert.equal(await page.textContent("#data-size"), "600 rows, 3 columns");
  assert.deepEqual(await page.$$eval("#target option", (all) => all.map(({ value }) => value)), ["u", "v", "kind"]);
  assert.equal(await page.inputValue("#target"), "kind");
  const figures = await trained(page, 30);
  assert.ok(parseFloat(figures["Test accuracy"]) > 85, figures["Test accuracy"]);
  await drop(page, "torn.csv", "a,b\n1,2\n3\n");
  await page.waitForSelector("#error:not([hidden])");
  assert.equal(await page.textContent("#error"), "torn.csv: row 2 (line 3) has 1 cells, wanted 2");
  await page.click("#example");
  await page.waitForFunction("document.getElementById('error').hidden");
  await close();
});

test("a run is stopped by the button that started it, and the page fits a telephone", async () => {
  const { page, close } = await ready({ webgpu: false, page: { viewport: { width: 390, height: 800 } } });
  await page.fill("#epochs", "100000");
  await page.fill("#hidden", "128, 128, 128");
  await page.click("#train");
  await page.waitForFunction("document.querySelector('#chart polyline')");
  assert.equal(await page.textContent("#train"), "Stop");
  await page.click("#train");
  await page.waitForSelector("#figures:not([hidden])");
  assert.match(await page.textContent("#status"), /^Stopped\./);
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390);
  await close();
});
