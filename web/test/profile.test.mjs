// Step profiles in a browser and in Node: every launch has a time, shares add up, traces nest. No test says how fast
// anything is.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { test, visit } from "./browser.mjs";

let browser;

before(async () => {
  browser = await visit("/test/blank.html");
  await browser.page.evaluate(async () => {
    const mero = await import("/dist/index.js");
    globalThis.engines = {
      cpu: await mero.open({ device: "cpu" }),
      webgpu: await mero.open({ device: "webgpu" }),
      page: await mero.open({ device: "cpu", worker: false }),
    };
    globalThis.wave = () => {
      const x = Float32Array.from({ length: 600 }, (_, at) => Math.sin(0.7 * at));
      return { x, y: Float32Array.from({ length: 200 }, (_, at) => Math.sin(0.3 * at)) };
    };
    globalThis.errorOf = (promise) =>
      promise.then(
        () => "no error",
        (error) => (error instanceof Error ? `${error.name}: ${error.message}` : error),
      );
  });
});

after(() => browser.close());

const OPTIONS = { hidden: [8, 8], batch: 64, bins: 0, validation: 0, test: 0, steps: 7, windows: 3 };
const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

/** Checks what holds for every profile of a step. */
function check(profile, step, device) {
  const { launches, stepMs } = profile;
  assert.deepEqual([profile.step, profile.device, profile.batch, profile.steps], [step, device, 64, 7]);
  assert.ok(stepMs > 0 && profile.plainMs > 0 && profile.parameters === 113, JSON.stringify(profile));
  assert.ok(Math.abs(sum(launches.map(({ ms }) => ms)) + profile.betweenMs - stepMs) < 1e-9 * stepMs);
  assert.ok(Math.abs(profile.explained - sum(launches.map(({ share }) => share))) < 1e-9);
  assert.equal(profile.flops, sum(launches.map(({ flops }) => flops)));
  assert.equal(profile.bytes, sum(launches.map(({ bytes }) => bytes)));
  assert.ok(profile.flops > 0 && profile.bytes > 0);
  for (const one of launches) {
    assert.ok(
      [one.ms, one.share, one.gflops, one.gbytesPerS, one.rooflineShare].every(
        (value) => value >= 0 && Number.isFinite(value),
      ),
      JSON.stringify(one),
    );
    assert.ok(one.rooflineShare <= 1 + 1e-9, JSON.stringify(one));
    assert.ok(
      ["arithmetic", "traffic"].includes(one.bound) && one.layer && one.op && one.direction,
      JSON.stringify(one),
    );
  }
  for (const groups of [profile.byKernel, profile.byLayer, profile.byOp, profile.byDirection]) {
    assert.ok(Math.abs(sum(groups.map(({ share }) => share)) - 1) < 1e-9);
    assert.equal(sum(groups.map(({ launches }) => launches)), launches.length);
    assert.deepEqual([groups.at(-1).name, groups.at(-1).ms], ["between launches", profile.betweenMs]);
    const times = groups.slice(0, -1).map(({ ms }) => ms);
    assert.deepEqual(
      times,
      [...times].sort((one, other) => other - one),
      "the longest first",
    );
  }
  const kernels = launches.map(({ kernel }) => kernel);
  if (step === "fused") assert.deepEqual(kernels, ["mlp_step", "optimise"]);
  else
    assert.ok(
      kernels.includes("optimise") && kernels.includes("matmul") && !kernels.includes("mlp_step"),
      String(kernels),
    );
  const layers = profile.byLayer.map(({ name }) => name);
  for (const layer of step === "fused" ? ["model", "update"] : ["layers.0", "loss", "update"])
    assert.ok(layers.includes(layer), String(layers));
  const {
    ceilings: { gflops, matmulSize, copies },
  } = profile;
  assert.ok(gflops > 0 && matmulSize >= 128 && copies.length === 6 && copies.every(({ gbytesPerS }) => gbytesPerS > 0));
}

/** Checks that the events of a trace lie within each other or apart. */
function nests({ trace, launches }) {
  const { traceEvents } = JSON.parse(trace);
  const [layers, commands] = [1, 2].map((track) => traceEvents.filter(({ ph, tid }) => ph === "X" && tid === track));
  assert.equal(commands.length, 7 * launches.length);
  assert.equal(layers.filter(({ cat }) => cat === "step").length, 7);
  const ends = ({ ts, dur }) => [Math.round(1e3 * ts), Math.round(1e3 * (ts + dur))];
  for (const command of commands) {
    const [start, end] = ends(command);
    assert.ok(start <= end);
    assert.ok(
      layers.some((layer) => layer.cat !== "step" && ends(layer)[0] <= start && end <= ends(layer)[1]),
      JSON.stringify(command),
    );
  }
  for (let at = 1; at < commands.length; at++) assert.ok(ends(commands[at - 1])[1] <= ends(commands[at])[0]);
}

for (const device of ["cpu", "webgpu"]) {
  for (const step of ["fused", "recorded"]) {
    test(`every launch of a ${step} step on ${device} has a time, shares add up, and the trace nests`, async () => {
      const profile = await browser.page.evaluate(
        ([device, options]) => engines[device].profile(wave(), options),
        [device, { ...OPTIONS, step }],
      );
      check(profile, step, device);
      nests(profile);
    });
  }
}

test("a profile works in the page's own thread, with the number of steps left open, and the engine trains as before", async () => {
  const [profile, stop] = await browser.page.evaluate(async ({ steps, ...options }) => {
    const profile = await engines.page.profile(wave(), { ...options, windows: 1 });
    const { stop } = await engines.page.fit(wave(), { epochs: 2 });
    return [profile, stop];
  }, OPTIONS);
  assert.ok(profile.steps >= 4 && profile.steps <= 2000 && stop === "epochs");
  assert.deepEqual(browser.errors, []);
});

test("a table is profiled as it is trained; options, data and sizes that are wrong have clear errors", async () => {
  const errors = await browser.page.evaluate(async (options) => {
    const csv = `a,y\n${Array.from({ length: 90 }, (_, row) => `${row},${row % 7}`).join("\n")}\n`;
    const { cpu } = engines;
    const tabular = await cpu.profile(csv, { ...options, target: "y" });
    return [
      tabular.device,
      await errorOf(cpu.profile(wave(), { windows: 0 })),
      await errorOf(cpu.profile(wave(), { steps: 2.5 })),
      await errorOf(cpu.profile(wave(), { steps: "many" })),
      await errorOf(cpu.profile(wave(), { hiden: [8] })),
      await errorOf(cpu.profile(wave(), { keep: "me" })),
      await errorOf(cpu.profile(wave(), 5)),
      await errorOf(cpu.profile(csv, { target: "z" })),
      await errorOf(cpu.profile({ x: [1, 2], y: [1, 2], bottom: new Uint8Array(2) })),
    ];
  }, OPTIONS);
  const answers = [
    "cpu",
    "InputError: profile: windows: got 0, expected a whole number from 1 to 1000000",
    "InputError: profile: steps: got 2.5, expected a whole number from 1 to 1000000",
    'InputError: profile: steps: got "many", expected a whole number from 1 to 1000000',
    /^InputError: profile: .*hiden.*hidden/,
    /^InputError: profile: .*keep/,
    "InputError: profile: options: got 5, expected an object",
    /^InputError: .*"?z"?/,
    /^InputError: profile: bottom marks rows/,
  ];
  for (const [at, expected] of answers.entries()) {
    if (typeof expected === "string") assert.equal(errors[at], expected);
    else assert.match(errors[at], expected);
  }
});

test("an aborted signal ends a profile with its reason, and another one can follow", async () => {
  const [before, during, again] = await browser.page.evaluate(async (options) => {
    const { cpu } = engines;
    const before = await errorOf(cpu.profile(wave(), { ...options, signal: AbortSignal.abort("too early") }));
    const began = performance.now();
    const long = cpu.profile(wave(), { ...options, windows: 10_000, signal: AbortSignal.timeout(300) });
    const during = await long.catch(({ name }) => name);
    const again = await cpu.profile(wave(), options);
    return [before, during, again.steps, performance.now() - began];
  }, OPTIONS);
  assert.deepEqual([before, during, again], ["too early", "TimeoutError", 7]);
});

test("the device that is measured is freed, and one without timestamps is an error that says so", async () => {
  const [ends, error, stop] = await browser.page.evaluate(async (options) => {
    const { open } = await import("/dist/index.js");
    const { prototype } = GPUAdapter;
    const { requestDevice } = prototype;
    const devices = [];
    prototype.requestDevice = async function (expected) {
      devices.push(await requestDevice.call(this, expected));
      return devices.at(-1);
    };
    const engine = await open({ device: "webgpu", worker: false });
    await engine.profile(wave(), { ...options, windows: 1 });
    const has = devices.map(({ features }) => features.has("timestamp-query"));
    const ended = await Promise.race([
      devices[1].lost.then(({ reason }) => reason),
      new Promise((resolve) => setTimeout(resolve, 5000, "in use")),
    ]);
    const features = Object.getOwnPropertyDescriptor(prototype, "features");
    Object.defineProperty(prototype, "features", {
      ...features,
      get() {
        return new Set([...features.get.call(this)].filter((name) => name !== "timestamp-query"));
      },
    });
    const error = await errorOf(engine.profile(wave(), options));
    Object.defineProperty(prototype, "features", features);
    prototype.requestDevice = requestDevice;
    const { stop } = await engine.fit(wave(), { epochs: 2 });
    engine.dispose();
    return [[...has, ended], error, stop];
  }, OPTIONS);
  assert.deepEqual(ends, [false, true, "destroyed"]);
  assert.match(
    error,
    /^InputError: profile: device "webgpu" \(.*\) cannot measure launches: got no timestamps, expected /,
  );
  assert.equal(stop, "epochs");
  assert.deepEqual(browser.errors, []);
});

test("a profile works in Node", async () => {
  const { open } = await import("../dist/node.js");
  const engine = await open({ device: "cpu" });
  const x = Float32Array.from({ length: 600 }, (_, at) => Math.sin(0.7 * at));
  const profile = await engine.profile({ x, y: x.slice(0, 200) }, OPTIONS);
  engine.dispose();
  check(profile, "fused", "cpu");
  nests(profile);
});
