// Opens the built demo site in two browsers, one with WebGPU and one without. Helpers for its tests.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { closedAtTheEnd, launch, serve, web } from "./browser.mjs";

export const LONG = { timeout: 60_000 };
export const browsers = {};
let server;

before(async () => {
  server = await serve(`${web}/dist/site`);
  [browsers.webgpu, browsers.wasm] = await Promise.all([launch(true), launch(false)]);
});

after(() => Promise.all([browsers.webgpu.close(), browsers.wasm.close(), server.close()]));

/** The address of a page. */
export const address = (name) => `http://localhost:${server.address().port}/${name}.html`;

/** Opens a demo and waits until it is ready. `done` closes the page and fails if its console had errors. */
export async function demo(name, { kind = "wasm", context, ...options } = {}) {
  const page = closedAtTheEnd(await (context ?? browsers[kind]).newPage(options));
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (line) => line.type() === "error" && errors.push(line.text()));
  await page.goto(address(name));
  await page.waitForSelector("html[data-ready]");
  const trained = () => page.waitForSelector("html[data-trained]", LONG);
  const done = async () => {
    await page.close();
    assert.deepEqual(errors, []);
  };
  return { page, errors, trained, done };
}

/** Chooses the software adapter in the browser that has WebGPU. */
export async function onDevice(page, kind) {
  if (kind === "webgpu") await page.selectOption("#device", "webgpu");
}

export const device = (kind) => (kind === "webgpu" ? /^runs on webgpu: .*\(software\)$/ : /^runs on cpu: /);

/** The rows of a table's body as texts. */
export const cells = (page, id) =>
  page.$$eval(`#${id} tr`, (rows) => rows.map((row) => [...row.children].map(({ textContent }) => textContent)));

/** The figures of a list, by name. */
export const figuresOf = (page, list) =>
  page.$$eval(`${list} > div`, (all) =>
    Object.fromEntries(all.map(({ children: [name, value] }) => [name.textContent, value.firstChild.textContent])),
  );

/** The texts of all elements that match a selector. */
export const texts = (page, selector) => page.$$eval(selector, (all) => all.map(({ textContent }) => textContent));

/** The layout shift of the page, as browsers measure it. People begin to notice 0.1. */
export const shift = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        let sum = 0;
        const observer = new PerformanceObserver((list) => {
          for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) sum += value;
        });
        observer.observe({ type: "layout-shift", buffered: true });
        setTimeout(() => resolve(sum), 200);
      }),
  );

/** Waits until a canvas shows more than its background. */
export const drawn = (page, selector) =>
  page.waitForFunction(
    (selector) => {
      const canvas = document.querySelector(selector);
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size > 3;
    },
    selector,
    { timeout: 5000 },
  );
