// Several engines that compute each training step together and split the rows of a prediction: the same bits as a
// single engine.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before } from "node:test";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { test, visit, web } from "./browser.mjs";

let chromium;

before(async () => {
  chromium = await visit("/test/blank.html");
  await chromium.page.evaluate(async () => {
    globalThis.mero = await import("/dist/index.js");
    globalThis.engines = await Promise.all([1, 2].map((threads) => mero.open({ device: "cpu", threads })));
    /** y = 1 / x over so many rows, with the pole marked. */
    globalThis.pole = (rows) => {
      const x = Float32Array.from({ length: rows }, (_, row) => (row - (rows >> 1)) / 500);
      return { x, y: x.map((x) => (x === 0 ? Infinity : 1 / x)) };
    };
    globalThis.finish = async (run) => {
      const events = [];
      for await (const { model, ...event } of run) {
        events.push(event);
        if (model) return { events, model };
      }
    };
    globalThis.errorOf = (promise) =>
      promise.then(
        () => "no error",
        (error) => `${error.name}: ${error.message}`,
      );
  });
});

after(() => chromium.close());

test("two threads give the weights of one, and both contribute to the steps", async () => {
  /** Counts the chunks that a worker claims. */
  const count = () => {
    globalThis.claims = 0;
    const { compareExchange } = Atomics;
    Atomics.compareExchange = (state, at, expected, claim) => {
      const found = compareExchange(state, at, expected, claim);
      if (found === expected) globalThis.claims++;
      return found;
    };
  };
  const workers = chromium.page.workers();
  assert.equal(workers.length, 3);
  await Promise.all(workers.map((worker) => worker.evaluate(count)));
  const runs = await chromium.page.evaluate(() =>
    Promise.all(
      [{}, { head: "rational" }, { dropout: 0.1 }, { batch: 1024 }].map(async (options) => {
        const all = await Promise.all(
          engines.map((engine) =>
            finish(
              engine.train(pole(1500), {
                epochs: 40,
                patience: 0,
                seed: 5,
                batch: 128,
                task: "regression",
                ...(options.head ? {} : { missing: "drop" }),
                ...options,
              }),
            ),
          ),
        );
        return Promise.all(all.map(async ({ events, model }) => ({ events, file: [...(await model.save())] })));
      }),
    ),
  );
  for (const [alone, together] of runs) assert.deepEqual(together, alone);
  assert.deepEqual(
    runs.map(
      ([
        {
          events: [{ step }],
        },
      ]) => step,
    ),
    ["fused", "fused", "recorded", "fused"],
  );
  const steps = runs.slice(0, 2).reduce((sum, [{ events }]) => sum + events.at(-1).steps, 0);
  const claims = (await Promise.all(workers.map((worker) => worker.evaluate(() => globalThis.claims)))).sort(
    (a, b) => a - b,
  );
  assert.equal(claims[0], 0, "a single engine shares nothing");
  // Each step has two parts, each claimed once. A follower may join a few steps late, so there are many steps.
  assert.ok(steps > 600 && claims[1] > 0 && claims[1] + claims[2] >= 2 * steps, `${claims} for ${steps} steps`);
});

test("a shared run can be paused, queried, stopped, saved as a checkpoint and resumed like any other", async () => {
  const [alone, together] = await chromium.page.evaluate(() =>
    Promise.all(
      engines.map(async (engine) => {
        // Long enough that the run is still active when its third epoch is read: it is at most 16 events ahead.
        const options = { epochs: 40, patience: 0, seed: 2, head: "rational" };
        const run = engine.train(pole(1500), options);
        let checkpoint;
        let predicted;
        for await (const { event, epoch } of run) {
          if (event !== "epoch" || epoch !== 3) continue;
          run.pause();
          checkpoint = await run.checkpoint();
          predicted = (await run.predict(pole(50).x)).value.length;
          break;
        }
        const resumed = await finish(engine.resume(pole(1500), checkpoint));
        const cut = engine.train(pole(1500), { ...options, epochs: 1_000_000 });
        let stop;
        for await (const event of cut) {
          if (event.event === "epoch" && event.epoch === 1) cut.stop();
          if (event.event === "end") ({ stop } = event);
        }
        return { predicted, stop, end: resumed.events.at(-1), file: [...(await resumed.model.save())] };
      }),
    ),
  );
  assert.equal(alone.stop, "stopped");
  assert.deepEqual(together, alone);
});

test("a stored run can be resumed by two threads", async () => {
  const [whole, resumed, kept] = await chromium.page.evaluate(async () => {
    const [one, two] = engines;
    const options = { epochs: 30, seed: 6, patience: 0, head: "rational" };
    const whole = await finish(one.train(pole(1500), options));
    for await (const { epoch } of one.train(pole(1500), { ...options, keep: "shared" })) if (epoch === 3) break;
    const resumed = await finish(two.resumeKept("shared"));
    const plain = async ({ model, events }) => [events.at(-1), [...(await model.save())]];
    return [await plain(whole), await plain(resumed), await mero.kept()];
  });
  assert.deepEqual(resumed, whole);
  assert.deepEqual(kept, []);
});

test("a run that is paused, or whose events are not read, does not block other runs", async () => {
  const got = await chromium.page.evaluate(async () => {
    const [, engine] = engines;
    const idle = [
      engine.train(pole(1500), { epochs: 1e6, patience: 0 }),
      engine.train(pole(1500), { epochs: 1e6, patience: 0 }),
    ];
    for (let event = 0; event < 4; event++) await Promise.all(idle.map((run) => run.next()));
    idle[0].pause();
    const { events, model } = await finish(engine.train(pole(1500), { epochs: 3, head: "rational" }));
    const { value } = await model.predict(new Float32Array(50_000));
    idle[0].resume();
    const on = [];
    for (let event = 0; event < 30; event++) on.push((await idle[0].next()).value.event);
    idle.forEach((run) => run.dispose());
    return [events.at(-1).event, value.length, on.every((event) => event === "epoch")];
  });
  assert.deepEqual(got, ["end", 50_000, true]);
});

test("split rows give the predictions of one engine, and an error names the row by its number in the whole input", async () => {
  const [alone, together] = await chromium.page.evaluate(() =>
    Promise.all(
      engines.map(async (engine) => {
        const { model } = await finish(engine.train(pole(1500), { epochs: 3, seed: 1, head: "rational" }));
        const { x } = pole(50_001);
        const plain = (prediction) =>
          Object.entries(prediction).map(([key, array]) => [key, array.constructor.name, [...array]]);
        const bytes = plain(await model.predict(x));
        const words = plain(await model.predict(Array.from(x), { masks: "words" }));
        const wrong = await errorOf(model.predict(x, { masks: "bits" }));
        x[40_000] = NaN;
        return { bytes, words, wrong, unknown: await errorOf(model.predict(x, { unknown: "refuse" })) };
      }),
    ),
  );
  assert.equal(alone.bytes[0][2].length, 50_001);
  assert.deepEqual(together, alone);
  assert.match(together.wrong, /^InputError: predict: masks is "bits"/);
  assert.match(together.unknown, /^InputError: predict: row 40001, column "x0": is missing/);
});

test("a wasm response, which can be read only once, serves all threads", async () => {
  const got = await chromium.page.evaluate(async () => {
    const engine = await mero.open({ device: "cpu", threads: 3, wasm: await fetch("/dist/meromorph.wasm") });
    const { events } = await finish(engine.train(pole(1500), { epochs: 2, head: "rational" }));
    engine.dispose();
    return events.at(-1).event;
  });
  assert.equal(got, "end");
});

test("invalid thread counts are rejected", async () => {
  const refusals = await chromium.page.evaluate(() =>
    Promise.all([0, 1.5, 17, "2"].map((threads) => errorOf(mero.open({ threads })))),
  );
  assert.deepEqual(
    refusals,
    ["0", "1.5", "17", '"2"'].map(
      (threads) => `InputError: open: threads is ${threads}, expected a whole number from 1 to 16`,
    ),
  );
  assert.equal(
    await chromium.page.evaluate(() => errorOf(mero.open({ threads: 2, worker: false }))),
    "InputError: open: threads is 2, which needs workers: leave out worker: false",
  );
  const without = await chromium.page.evaluate(async () => {
    const { SharedArrayBuffer } = globalThis;
    delete globalThis.SharedArrayBuffer;
    const message = await errorOf(mero.open({ threads: 2 }));
    globalThis.SharedArrayBuffer = SharedArrayBuffer;
    return message;
  });
  assert.equal(without, "InputError: open: threads is 2, which needs SharedArrayBuffer, which this browser lacks");
  const page = await chromium.page.context().browser().newPage();
  await page.route("**/*", async (route) => {
    const response = await route.fetch();
    const headers = Object.fromEntries(
      Object.entries(response.headers()).filter(([name]) => !name.startsWith("cross-origin")),
    );
    await route.fulfill({ response, headers });
  });
  await page.goto(chromium.page.url());
  const message = await page.evaluate(() =>
    import("/dist/index.js")
      .then(({ open }) => open({ device: "cpu", threads: 2 }))
      .then(
        () => "no error",
        (error) => `${error.name}: ${error.message}`,
      ),
  );
  assert.match(
    message,
    /^InputError: open: threads is 2, which needs a page that is cross-origin isolated: send Cross-Origin-Opener-Policy/,
  );
  await page.close();
});

/** More chunks than workers. */
const CHUNKS = 5;

/**
 * Runs three workers with the given behaviours. Checks every list of chunks, and returns how many chunks each worker
 * computed.
 */
async function lists(behaviours, count = 300) {
  const {
    outputFiles: [{ text }],
  } = await build({ entryPoints: [join(web, "src/serve/share.ts")], bundle: true, write: false, format: "esm" });
  const source = `${text}
    import { parentPort, workerData } from "node:worker_threads";
    const { shared, index, count, behaviour } = workerData;
    const share = new Share(shared, index, () => { wasDropped = true; });
    let wasDropped = false;
    const sums = [];
    let computed = 0;
    const make = (list, chunk) => new Float32Array(1000).fill(list * 10 + chunk);
    const CHUNKS = ${CHUNKS};
    const idle = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    for (let list = 0; list < count; list++) {
      if (behaviour.stopsAt === list) process.exit();
      if (behaviour.leavesAt === list) share.leave();
      const chunks = [];
      const isShared = share.begin(CHUNKS, 1000);
      for (let chunk; isShared && (chunk = share.claim()) < CHUNKS;) {
        if (list % 50 === behaviour.sleepsAt) idle(behaviour.forMs);
        if (list >= behaviour.diesAt) process.exit();
        share.give(chunk, chunks[chunk] = make(list, chunk));
        computed++;
      }
      for (let chunk = 0; chunk < CHUNKS; chunk++) {
        if (chunks[chunk]) continue;
        chunks[chunk] = new Float32Array(1000);
        if (isShared && share.take(chunk, chunks[chunk])) continue;
        chunks[chunk] = make(list, chunk);
        computed++;
        if (isShared) share.give(chunk, chunks[chunk]);
      }
      sums.push(chunks.flatMap((chunk) => [chunk[0], chunk[999]]).join());
    }
    share.leave();
    parentPort.postMessage({ sums, computed, wasDropped });`;
  const { memory } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  const shared = memory(3, CHUNKS * 1000);
  const answers = await Promise.all(
    behaviours.map(
      (behaviour, index) =>
        new Promise((resolve, reject) => {
          const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
            workerData: { shared, index, count, behaviour },
          });
          let answer;
          worker.on("message", (message) => {
            answer = message;
          });
          worker.on("error", reject);
          worker.on("exit", () => resolve(answer));
        }),
    ),
  );
  const expected = Array.from({ length: count }, (_, list) =>
    Array.from({ length: CHUNKS }, (_, chunk) => [list * 10 + chunk, list * 10 + chunk]).join(),
  );
  for (const [index, answer] of answers.entries()) {
    const { stopsAt, diesAt } = behaviours[index];
    if ((stopsAt ?? diesAt) === undefined) assert.deepEqual(answer.sums, expected, `worker ${index}`);
  }
  return answers;
}

test("workers share their chunks", async () => {
  const workers = await lists([{}, {}, {}], 3000);
  for (const { computed } of workers)
    assert.ok(computed > 0 && computed < 3000 * CHUNKS, `a worker computed ${computed} chunks`);
});

test("the leader does not wait for a sleeping worker, which then copies what it missed", async () => {
  const [leader, late] = await lists([{}, { sleepsAt: 3, forMs: 30 }, {}]);
  assert.ok(leader.computed > 0 && late.sums.length === 300);
});

test("the others continue without a worker that ended", async () => {
  const [leader] = await lists([{}, {}, { stopsAt: 100 }]);
  assert.ok(leader.computed > 0);
});

test("a worker that ends in the middle of a chunk blocks neither the leader nor the other followers", async () => {
  const [leader, follower] = await lists([{}, {}, { diesAt: 100 }]);
  assert.ok(leader.computed > 0 && follower.computed > 0);
});

test("if the leader ends, the followers are notified and continue alone", async () => {
  const [, ...followers] = await lists([{ leavesAt: 100 }, {}, {}]);
  for (const { wasDropped, sums } of followers) assert.ok(wasDropped && sums.length === 300);
});
