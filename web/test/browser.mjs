// Shared by the tests: a test function with a time limit, a browser with a page of this package, and data. The browser
// is Chromium, or Firefox if FIREFOX is its path.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, test as testOfNode } from "node:test";
import { chromium, firefox } from "playwright-core";
import * as site from "../serve.mjs";

export const web = join(import.meta.dirname, "..");
export const isFirefox = Boolean(process.env.FIREFOX);
const FLAGS = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const GPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

/** The open browsers, pages and servers, in order of opening. Closing one twice does nothing. */
const opened = new Set();

/** Registers an object to be closed at the end of its test, or of the file. Returns it. */
export function closedAtTheEnd(one) {
  opened.add(one);
  return one;
}

/** Closes everything except the objects in `kept`, the latest first. */
async function close(kept = new Set()) {
  for (const one of [...opened].reverse()) {
    if (kept.has(one)) continue;
    opened.delete(one);
    one.closeAllConnections?.();
    try {
      await one.close();
    } catch {
      // A browser that was killed has nothing to close.
    }
  }
}

after(() => close());

/** A longer test is considered to hang. */
const LIMIT = { timeout: 600_000 };

/** Node's `test` with a time limit. Everything that the test opens is closed, however the test ends. */
export function test(name, ...given) {
  const work = given.pop();
  return testOfNode(name, { ...LIMIT, ...given[0] }, async (context) => {
    const before = new Set(opened);
    // A test that hangs would not reach its `finally`.
    context.signal.addEventListener("abort", () => close(before));
    try {
      await work(context);
    } finally {
      await close(before);
    }
  });
}

/** Serves `folder` on any free port. */
export const serve = async (folder) => closedAtTheEnd(await site.serve(folder));

/** Starts a browser with or without WebGPU. With a `profile` folder, the storage of pages survives the browser. */
export async function launch(webgpu = true, profile) {
  const executablePath = process.env.FIREFOX || process.env.CHROMIUM || "/usr/bin/chromium";
  if (!existsSync(executablePath)) throw new Error(`no browser at ${executablePath}; set CHROMIUM or FIREFOX`);
  const args = [...FLAGS, ...(webgpu ? GPU : ["--disable-features=WebGPU"])];
  // On Linux, Firefox uses a GPU only with these settings; here it is llvmpipe.
  const firefoxUserPrefs = { "dom.webgpu.enabled": webgpu, "gfx.webgpu.ignore-blocklist": webgpu };
  const only = isFirefox ? { channel: "moz-firefox", firefoxUserPrefs } : { args };
  const browser = isFirefox ? firefox : chromium;
  const options = { executablePath, headless: true, ...only };
  return closedAtTheEnd(await (profile ? browser.launchPersistentContext(profile, options) : browser.launch(options)));
}

/**
 * Opens `path` in a browser with or without WebGPU. The caller calls `close`. Page errors are collected in `errors`.
 */
export async function visit(path, { webgpu = true, page: options = {} } = {}) {
  const [server, browser] = await Promise.all([serve(web), launch(webgpu)]);
  const page = await browser.newPage(options);
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (line) => line.type() === "error" && errors.push(line.text()));
  await page.goto(`http://localhost:${server.address().port}${path}`);
  return { page, errors, close: () => Promise.all([browser.close(), server.close()]) };
}

/** Random numbers in [0, 1), from the same generator as the benchmarks of other libraries. */
export function uniform(seed) {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296;
}

/** A table of five inputs and a smooth target as CSV. */
export function smooth(rows, seed = 1) {
  const next = uniform(seed);
  const lines = ["a,b,c,d,e,y"];
  for (let row = 0; row < rows; row++) {
    const x = Array.from({ length: 5 }, () => Math.fround(2 * next() - 1));
    const y = Math.sin(x[0]) + 0.5 * Math.cos(x[1]) + x[2] * x[3] + 0.3 * x[4];
    lines.push([...x, y].join(","));
  }
  return `${lines.join("\n")}\n`;
}

/** Two inputs and three named classes as CSV. */
export function classes(rows, seed = 2) {
  const next = uniform(seed);
  const lines = ["u,v,kind"];
  for (let row = 0; row < rows; row++) {
    const [u, v] = [next(), next()];
    lines.push(`${u},${v},${u + v > 1.2 ? "far" : u > v ? "left" : "right"}`);
  }
  return `${lines.join("\n")}\n`;
}
