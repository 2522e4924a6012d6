// usage: node bench/race.mjs [--hidden 256,256,256] [--batch 256] [--device wasm|webgpu] [--rounds 4] [--steps 16]
// [--epochs 3]        [--threads 1] [--step fused|recorded] [--predict ROWS] [--only NAME,NAME] Races this package
// against TensorFlow.js, jax-js and, with --predict, onnxruntime-web in Chromium: equal work, engines by turns, each
// turn in a browser of its own; prints ratios of medians with their spread. First: npm install --prefix bench
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { visit } from "../test/browser.mjs";

const { values: given } = parseArgs({ options: {
  hidden: { type: "string", default: "64,64,64" }, batch: { type: "string", default: "256" }, device: { type: "string", default: "wasm" },
  rounds: { type: "string", default: "4" }, steps: { type: "string", default: "16" }, epochs: { type: "string", default: "3" },
  threads: { type: "string", default: "1" }, predict: { type: "string" }, step: { type: "string" }, only: { type: "string" },
} });
const [batch, rounds, steps, epochs, threads] = ["batch", "rounds", "steps", "epochs", "threads"].map((name) => Number(given[name]));
const hidden = given.hidden.split(",").map(Number);
const work = { hidden, batch, steps, epochs, threads, device: given.device };
const ours = { ...work, step: given.step, device: given.device === "wasm" ? "cpu" : given.device };

async function turn(page, name, options) {
  const { page: tab, close, errors } = await visit(`/bench/${page}.html`);
  try {
    await tab.waitForFunction("globalThis.ready", undefined, { timeout: 60_000 }).catch(() => { throw new Error(errors.join("\n")); });
    return await tab.evaluate(([name, options]) => globalThis[name](options), [name, options]);
  } finally {
    await close();
  }
}

async function bundlePeers() {
  const { build } = await import(join(import.meta.dirname, "node_modules/esbuild/lib/main.js")).catch(() => {
    throw new Error("race: the peers are not installed: run npm install --prefix bench");
  });
  mkdirSync(join(import.meta.dirname, "made"), { recursive: true });
  await build({ entryPoints: [join(import.meta.dirname, "peers.mjs")], bundle: true, format: "esm", logLevel: "error",
    outfile: join(import.meta.dirname, "made/peers.js"), define: { global: "globalThis" }, external: ["/bench/*"] });
}

/** Functions that take one turn each and resolve to a rate: more is better. */
async function racers() {
  if (given.predict) {
    const rows = Number(given.predict);
    const bytes = await turn("ours", "exported", { hidden });
    const peer = (kind) => async () => 1e3 * rows / (await turn("peers", "predict", { bytes, rows, threads }))[kind];
    return {
      meromorph: async () => 1e3 * rows / await turn("ours", "predict", { ...ours, rows }),
      "onnxruntime-web": peer("whole"),
      "onnxruntime-web, 4096 rows a call": peer("chunks"),
    };
  }
  return {
    meromorph: () => turn("ours", "train", ours),
    "jax-js": () => turn("peers", "train", { ...work, engine: "jaxjs" }),
    tfjs: () => turn("peers", "train", { ...work, engine: "tfjs" }),
  };
}

const middle = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const figure = (x) => Number(x.toPrecision(3));
await bundlePeers();
const only = given.only?.split(",");
const all = Object.entries(await racers()).filter(([name]) => !only || only.includes(name));
const seen = new Map(all.map(([name]) => [name, []]));
for (let round = 0; round < rounds; round++) {
  for (const [name, run] of all) seen.get(name).push(await run());
}
const what = given.predict ? "rows/s" : "steps/s";
console.log(`${given.device}, ${hidden.join("-")}, ${given.predict ? `${given.predict} rows` : `batch ${batch}`}, threads ${threads}, ${rounds} rounds by turns`);
console.log(`| engine | ${what}, median | from – to | ours is … times as fast |\n| --- | --- | --- | --- |`);
for (const [name, rates] of seen) {
  const ratio = seen.has("meromorph") ? figure(middle(seen.get("meromorph")) / middle(rates)) : "";
  console.log(`| ${name} | ${figure(middle(rates))} | ${figure(Math.min(...rates))} – ${figure(Math.max(...rates))} | ${ratio} |`);
}
// The browsers of the tests come with hooks of the test runner, which has nothing to report.
process.exit();
