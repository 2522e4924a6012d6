// Failures that must not change the result: a lost device, a closed tab. The final weights equal those of an
// undisturbed run.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, serve, smooth, test, visit, web } from "./browser.mjs";

// Long enough that the run is still active when it is disturbed in its sixth epoch: it is at most 16 events ahead of
// those read.
const OPTIONS = { target: "y", epochs: 30, patience: 0, seed: 4, hidden: [16, 16] };
const TEXT = smooth(600);

/**
 * Trains in the page on `device` and captures its GPU devices. Calls `disturb` with every event. Returns events and
 * weights as text.
 */
async function trained(page, device, disturb, options = OPTIONS) {
  return page.evaluate(
    async ([device, text, options, disturb]) => {
      const { open } = await import("/dist/index.js");
      const devices = [];
      globalThis.requestDevice ??= GPUAdapter.prototype.requestDevice;
      GPUAdapter.prototype.requestDevice = async function (...expected) {
        const device = await requestDevice.apply(this, expected);
        devices.push(device);
        return device;
      };
      const act = new Function("event", "devices", disturb);
      const engine = await open({ device, worker: false });
      const epochs = [];
      for await (const event of engine.train(text, options)) {
        await act(event, devices);
        if (event.event === "epoch") epochs.push([event.epoch, event.trainLoss, event.valLoss]);
        if (event.event === "end") {
          const before = await event.model.predict("a,b,c,d,e\n1,1,1,1,1\n");
          devices.at(-1)?.destroy();
          const after = await event.model.predict("a,b,c,d,e\n1,1,1,1,1\n");
          return {
            epochs,
            file: String(await event.model.save()),
            opened: devices.length,
            isSame: before.value[0] === after.value[0],
          };
        }
      }
    },
    [device, TEXT, options, disturb],
  );
}

test("a run recovers from a destroyed device, before, between and in epochs, and ends with the same weights", async () => {
  const { page, close } = await visit("/test/blank.html");
  const expected = await trained(page, "webgpu", "");
  assert.equal(expected.opened, 2, "a model opens a device again for its prediction");
  assert.ok(expected.isSame);
  const disturbed = await trained(
    page,
    "webgpu",
    `
    if (event.event === "start" || event.epoch === 3) devices.at(-1).destroy();
    if (event.epoch === 6) setTimeout(() => devices.at(-1).destroy(), 3);`,
  );
  assert.equal(disturbed.opened, 3 + expected.opened);
  assert.deepEqual(disturbed.epochs, expected.epochs);
  assert.equal(disturbed.file, expected.file);
  await close();
});

test("a device that cannot be opened again ends the run with a DeviceError", async () => {
  const { page, close } = await visit("/test/blank.html");
  const message = await page.evaluate(async (text) => {
    const { open } = await import("/dist/index.js");
    const { requestDevice } = GPUAdapter.prototype;
    let device;
    GPUAdapter.prototype.requestDevice = async function (...expected) {
      return (device = await requestDevice.apply(this, expected));
    };
    const engine = await open({ device: "webgpu", worker: false });
    GPUAdapter.prototype.requestDevice = async () => {
      throw new Error("none left");
    };
    try {
      for await (const event of engine.train(text, { target: "y", epochs: 1000, patience: 0 }))
        if (event.epoch === 2) device.destroy();
    } catch (error) {
      return `${error.name}: ${error.message}`;
    }
  }, TEXT);
  assert.match(message, /^DeviceError: .*none left/);
  await close();
});

test("a run can be resumed after its tab was closed, and ends with the same weights", async () => {
  const [server, browser] = await Promise.all([serve(web), launch()]);
  const context = await browser.newContext();
  const options = { target: "y", epochs: 400, patience: 0, seed: 4, hidden: [16, 16], dropout: 0.1 };
  const tab = async () => {
    const page = await context.newPage();
    await page.goto(`http://localhost:${server.address().port}/test/blank.html`);
    await page.evaluate(async () => {
      globalThis.mero = await import("/dist/index.js");
    });
    return page;
  };
  const first = await tab();
  const expected = await first.evaluate(
    async ([text, options]) => {
      const engine = await mero.open({ device: "cpu" });
      for await (const event of engine.train(text, options))
        if (event.event === "end") return String(await event.model.save());
    },
    [TEXT, options],
  );
  // Closed during training, after a checkpoint was stored.
  first
    .evaluate(
      async ([text, options]) => {
        const engine = await mero.open({ device: "cpu" });
        for await (const _ of engine.train(text, { ...options, keep: "mine" }))
          await new Promise((resolve) => setTimeout(resolve, 25));
      },
      [TEXT, options],
    )
    .catch(() => {});
  const second = await tab();
  const list = () => second.evaluate(() => mero.kept());
  while ((await list()).every(({ epoch }) => epoch < 20)) await new Promise((resolve) => setTimeout(resolve, 50));
  await first.close();
  const [{ name, epoch, epochs, savedAt, sizeBytes }] = await list();
  assert.deepEqual([name, epochs, sizeBytes > TEXT.length], ["mine", 400, true]);
  assert.ok(Date.now() - new Date(savedAt) < 60_000);
  const got = await second.evaluate(async () => {
    const engine = await mero.open({ device: "cpu" });
    let start;
    for await (const event of engine.resumeKept("mine")) {
      if (event.event === "start") start = event.epochsDone;
      if (event.event === "end") return [start, String(await event.model.save()), await mero.kept()];
    }
  });
  assert.ok(got[0] >= epoch && got[0] < 400, `resumed at ${got[0]}`);
  assert.equal(got[1], expected);
  assert.deepEqual(got[2], [], "a finished run is deleted");
  const forgotten = await second.evaluate(async () => {
    const engine = await mero.open({ device: "cpu" });
    for await (const event of engine.train("a,y\n1,2\n2,3\n3,4\n4,5\n5,6\n", {
      target: "y",
      keep: "other",
      validation: 0,
      test: 0,
    }))
      if (event.epoch === 3) break;
    const before = (await mero.kept()).map(({ name }) => name);
    await mero.forget("other");
    await mero.forget("never was");
    return [before, await mero.kept()];
  });
  assert.deepEqual(forgotten, [["other"], []]);
  await Promise.all([browser.close(), server.close()]);
});

/** A page of the package in `context`. */
async function tab(context, server) {
  const page = await context.newPage();
  await page.goto(`http://localhost:${server.address().port}/test/blank.html`);
  await page.evaluate(async () => {
    globalThis.mero = await import("/dist/index.js");
  });
  return page;
}

/** Kills a browser, as a crash would. */
async function kill(context) {
  const session = await context.browser().newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const isGone = new Promise((resolve) => context.once("close", resolve));
  process.kill(processInfo.find(({ type }) => type === "browser").id, "SIGKILL");
  await isGone;
}

test("a run is stored once its first epoch is reported, even if its tab is closed or its browser killed at once", async () => {
  const server = await serve(web);
  const profile = mkdtempSync(join(tmpdir(), "meromorph-profile-"));
  let context = await launch(false, profile);
  for (const how of ["closed", "killed", "closed", "killed", "killed"]) {
    const first = await tab(context, server);
    await first.evaluate(async (text) => {
      const engine = await mero.open({ device: "cpu" });
      globalThis.run = engine.train(text, { target: "y", epochs: 1e6, patience: 0, hidden: [16, 16], keep: "mine" });
      for (;;) if ((await run.next()).value.event === "epoch") return;
    }, smooth(3000));
    if (how === "closed") await first.close();
    else {
      await kill(context);
      context = await launch(false, profile);
    }
    const second = await tab(context, server);
    const got = await second.evaluate(async () => {
      const names = (await mero.kept()).map(({ name }) => name);
      const engine = await mero.open({ device: "cpu" });
      const run = engine.resumeKept("mine");
      const { value } = await run.next();
      run.dispose();
      await mero.forget("mine");
      return [names, value.epochsDone > 0];
    });
    assert.deepEqual(got, [["mine"], true], how);
    await second.close();
  }
  await Promise.all([context.close(), server.close()]);
  rmSync(profile, { recursive: true });
});

test("a name belongs to one run at a time, in all tabs", async () => {
  const [server, browser] = await Promise.all([serve(web), launch(false)]);
  const context = await browser.newContext();
  const [first, second] = [await tab(context, server), await tab(context, server)];
  const begin = () =>
    first.evaluate(async (text) => {
      const engine = await mero.open({ device: "cpu" });
      globalThis.run = engine.train(text, { target: "y", epochs: 1e6, patience: 0, hidden: [16, 16], keep: "mine" });
      for (;;) if ((await run.next()).value.event === "epoch") return;
    }, smooth(3000));
  const attempts = () =>
    second.evaluate(async () => {
      globalThis.engine ??= await mero.open({ device: "cpu" });
      const resultOf = (promise) =>
        promise.then(
          () => "done",
          ({ name, message }) => `${name}: ${message}`,
        );
      const resumed = engine.resumeKept("mine");
      const results = [
        (await mero.kept()).map(({ name, isRunning }) => [name, isRunning]),
        ...(await Promise.all([
          resultOf(resumed.next()),
          resultOf(engine.train("a,y\n1,2\n", { keep: "mine" }).next()),
          resultOf(mero.forget("mine")),
        ])),
      ];
      resumed.dispose();
      return results;
    });
  await begin();
  const refused = 'InputError: keep: the run "mine" is active, here or in another tab';
  assert.deepEqual(await attempts(), [[["mine", true]], refused, refused, refused]);
  // A disposed run, and a run whose tab was closed, can be resumed or deleted at once.
  const left = () =>
    second.evaluate(async () => {
      const run = engine.resumeKept("mine");
      const { value } = await run.next();
      run.dispose();
      return [value.epochsDone > 0, (await mero.kept()).length];
    });
  await first.evaluate(() => run.dispose());
  assert.deepEqual(await left(), [true, 1]);
  await second.evaluate(() => mero.forget("mine"));
  await begin();
  await first.close();
  assert.deepEqual(await left(), [true, 1]);
  await second.evaluate(() => mero.forget("mine"));
  assert.deepEqual(await second.evaluate(() => mero.kept()), []);
  await Promise.all([browser.close(), server.close()]);
});

test("a name is released at once when its run has ended, was rejected, failed or was disposed of", async () => {
  const { page } = await visit("/test/blank.html");
  const got = await page.evaluate(async (text) => {
    const { open, kept, forget } = await import("/dist/index.js");
    const results = [];
    // One engine for all runs: disposing of an engine would release the names of its runs.
    const engine = await open({ device: "cpu" });
    /** Trains to the end under the name. If another run holds the name, this fails after two seconds. */
    const again = async (how, options = {}) => {
      const began = performance.now();
      let last;
      try {
        for await (const { event } of engine.train(text, {
          target: "y",
          epochs: 3,
          patience: 0,
          hidden: [4],
          keep: "mine",
          ...options,
        }))
          last = event;
      } catch (error) {
        last = `${error.name}: ${error.message}`;
      }
      results.push([
        how,
        last,
        performance.now() - began < 2000,
        (await kept()).filter(({ isRunning }) => isRunning).length,
      ]);
    };
    await again("first");
    await again("after an end");
    await again("refused", { target: "nothing" });
    await again("after a refusal");
    // A lost device that cannot be opened again ends its run.
    const { requestDevice } = GPUAdapter.prototype;
    let device;
    GPUAdapter.prototype.requestDevice = async function (...expected) {
      return (device = await requestDevice.apply(this, expected));
    };
    const gpu = await open({ device: "webgpu", worker: false });
    GPUAdapter.prototype.requestDevice = async () => {
      throw new Error("none left");
    };
    const failing = gpu.train(text, { target: "y", epochs: 1e6, patience: 0, hidden: [4], keep: "mine" });
    try {
      for await (const event of failing) if (event.epoch === 2) device.destroy();
    } catch (error) {
      results.push(["failing", error.name]);
    }
    await again("after a failure");
    const left = engine.train(text, { target: "y", epochs: 1e6, patience: 0, hidden: [4], keep: "mine" });
    await left.next();
    await left.next();
    left.dispose();
    await again("after one that was disposed of");
    await forget("mine");
    return [results, await kept()];
  }, smooth(200));
  const ended = ["first", "after an end", "after a refusal", "after a failure", "after one that was disposed of"];
  const [results, left] = got;
  assert.deepEqual(
    results.filter(([how]) => ended.includes(how)),
    ended.map((how) => [how, "end", true, 0]),
  );
  assert.match(results.find(([how]) => how === "refused")[1], /^InputError: .*nothing/);
  assert.deepEqual(
    results.find(([how]) => how === "failing"),
    ["failing", "DeviceError"],
  );
  assert.deepEqual(left, [], "a finished run is deleted");
});

test("a run stays stored if it is left in the middle of an epoch, or if its end event is not read", async () => {
  const { page, close } = await visit("/test/blank.html");
  const got = await page.evaluate(
    async ([text, small]) => {
      const { open, kept } = await import("/dist/index.js");
      const engine = await open({ device: "webgpu" });
      const names = async () => (await kept()).map(({ name }) => name).sort();
      for await (const { event } of engine.train(text, {
        target: "y",
        epochs: 1e6,
        patience: 0,
        hidden: [64, 64],
        batch: 32,
        keep: "left",
      }))
        if (event === "epoch") break;
      const run = engine.train(small, { target: "y", epochs: 4, patience: 0, keep: "ended" });
      // Only a finished run has no checkpoint.
      while (await run.checkpoint().catch(() => undefined));
      const before = await names();
      let last;
      for await (const { event } of run) last = event;
      // Time for the interrupted epoch to end.
      await new Promise((resolve) => setTimeout(resolve, 2000));
      return [before, last, await names()];
    },
    [smooth(30_000), smooth(100)],
  );
  await close();
  assert.deepEqual(got, [["ended", "left"], "end", ["left"]]);
});

test("if an engine crashes, pending and later calls are rejected", async () => {
  const { page, close } = await visit("/test/blank.html");
  const got = await page.evaluate(async () => {
    const { open, InternalError } = await import("/dist/index.js");
    const { Worker, MessageChannel } = globalThis;
    let worker, port;
    globalThis.Worker = function (...given) {
      return (worker = new Worker(...given));
    };
    globalThis.MessageChannel = function () {
      const channel = new MessageChannel();
      port = channel.port2;
      return channel;
    };
    const data = { x: [1, 2, 3, 4, 5, 6, 7, 8], y: [1, 2, 3, 4, 5, 6, 7, 8] };
    const crashes = {
      failed: [true, () => worker.dispatchEvent(new ErrorEvent("error", { message: "out of memory" }))],
      panicked: [
        false,
        () => port.postMessage({ crash: { name: "InternalError", message: "meromorph: internal error: as ordered" } }),
      ],
    };
    const all = [];
    for (const [isApart, crash] of Object.values(crashes)) {
      const engine = await open({ device: "cpu", worker: isApart });
      const run = engine.train(data, { epochs: 1e6, patience: 0 });
      await run.next();
      run.pause();
      const waiting = Promise.all(Array.from({ length: 30 }, () => run.next())).catch((error) => error);
      crash();
      const errors = [
        await waiting,
        await engine
          .train(data)
          .next()
          .catch((error) => error),
      ];
      all.push(...errors.map((error) => [error instanceof InternalError, error.message]));
    }
    return all;
  });
  await close();
  const [failed, panicked] = ["the engine's worker failed: out of memory", "meromorph: internal error: as ordered"];
  assert.deepEqual(
    got,
    [failed, failed, panicked, panicked].map((message) => [true, message]),
  );
});
