// Several engines that make each step of a run together, and deal out the rows of a prediction: the same bits as one alone.
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
    globalThis.said = (promise) => promise.then(() => "no error", (error) => `${error.name}: ${error.message}`);
  });
});

after(() => chromium.close());

test("two threads come to the weights of one, each with its part of every step", async () => {
  /** Counts the pieces that a member claims. */
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
  const runs = await chromium.page.evaluate(() => Promise.all([{}, { head: "rational" }, { dropout: 0.1 }, { batch: 1024 }].map(async (options) => {
    const all = await Promise.all(engines.map((engine) => finish(engine.train(pole(1500), { epochs: 40, patience: 0, seed: 5, batch: 128, task: "regression", ...(options.head ? {} : { missing: "drop" }), ...options }))));
    return Promise.all(all.map(async ({ events, model }) => ({ events, file: [...await model.save()] })));
  })));
  for (const [alone, together] of runs) assert.deepEqual(together, alone);
  assert.deepEqual(runs.map(([{ events: [{ step }] }]) => step), ["fused", "fused", "recorded", "fused"]);
  const steps = runs.slice(0, 2).reduce((sum, [{ events }]) => sum + events.at(-1).steps, 0);
  const claims = (await Promise.all(workers.map((worker) => worker.evaluate(() => globalThis.claims)))).sort((a, b) => a - b);
  assert.equal(claims[0], 0, "one alone shares nothing");
  // Two parts in each step, each claimed once. Whoever follows may join a few steps late, so there are many.
  assert.ok(steps > 600 && claims[1] > 0 && claims[1] + claims[2] >= 2 * steps, `${claims} for ${steps} steps`);
});

test("a shared run is paused, asked, stopped, kept as a checkpoint and taken up like any other", async () => {
  const [alone, together] = await chromium.page.evaluate(() => Promise.all(engines.map(async (engine) => {
    // Long enough to be under way still when the third epoch is taken: a run goes on at most 16 events ahead.
    const options = { epochs: 40, patience: 0, seed: 2, head: "rational" };
    const run = engine.train(pole(1500), options);
    let checkpoint;
    let asked;
    for await (const { event, epoch } of run) {
      if (event !== "epoch" || epoch !== 3) continue;
      run.pause();
      checkpoint = await run.checkpoint();
      asked = (await run.predict(pole(50).x)).value.length;
      break;
    }
    const resumed = await finish(engine.resume(pole(1500), checkpoint));
    const cut = engine.train(pole(1500), { ...options, epochs: 1_000_000 });
    let stop;
    for await (const event of cut) {
      if (event.event === "epoch" && event.epoch === 1) cut.stop();
      if (event.event === "end") ({ stop } = event);
    }
    return { asked, stop, end: resumed.events.at(-1), file: [...await resumed.model.save()] };
  })));
  assert.equal(alone.stop, "asked");
  assert.deepEqual(together, alone);
});

test("a kept run is taken up by two", async () => {
  const [whole, resumed, kept] = await chromium.page.evaluate(async () => {
    const [one, two] = engines;
    const options = { epochs: 30, seed: 6, patience: 0, head: "rational" };
    const whole = await finish(one.train(pole(1500), options));
    for await (const { epoch } of one.train(pole(1500), { ...options, keep: "shared" })) if (epoch === 3) break;
    const resumed = await finish(two.resumeKept("shared"));
    const plain = async ({ model, events }) => [events.at(-1), [...await model.save()]];
    return [await plain(whole), await plain(resumed), await mero.kept()];
  });
  assert.deepEqual(resumed, whole);
  assert.deepEqual(kept, []);
});

test("a run that is paused, or whose events nobody takes, holds up nobody else", async () => {
  const got = await chromium.page.evaluate(async () => {
    const [, engine] = engines;
    const idle = [engine.train(pole(1500), { epochs: 1e6, patience: 0 }), engine.train(pole(1500), { epochs: 1e6, patience: 0 })];
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

test("rows dealt out are predicted as by one, and a wrong one is named by its number", async () => {
  const [alone, together] = await chromium.page.evaluate(() => Promise.all(engines.map(async (engine) => {
    const { model } = await finish(engine.train(pole(1500), { epochs: 3, seed: 1, head: "rational" }));
    const { x } = pole(50_001);
    const plain = (prediction) => Object.entries(prediction).map(([key, array]) => [key, array.constructor.name, [...array]]);
    const bytes = plain(await model.predict(x));
    const words = plain(await model.predict(Array.from(x), { masks: "words" }));
    const wrong = await said(model.predict(x, { masks: "bits" }));
    x[40_000] = NaN;
    return { bytes, words, wrong, unknown: await said(model.predict(x)) };
  })));
  assert.equal(alone.bytes[0][2].length, 50_001);
  assert.deepEqual(together, alone);
  assert.match(together.wrong, /^InputError: predict: masks is "bits"/);
  assert.match(together.unknown, /^InputError: predict: row 40001, column "x0": is missing/);
});

test("wasm that can be read but once is enough for all threads", async () => {
  const got = await chromium.page.evaluate(async () => {
    const engine = await mero.open({ device: "cpu", threads: 3, wasm: await fetch("/dist/meromorph.wasm") });
    const { events } = await finish(engine.train(pole(1500), { epochs: 2, head: "rational" }));
    engine.dispose();
    return events.at(-1).event;
  });
  assert.equal(got, "end");
});

test("threads that cannot be are refused", async () => {
  const refusals = await chromium.page.evaluate(() => Promise.all([0, 1.5, 17, "2"].map((threads) => said(mero.open({ threads })))));
  assert.deepEqual(refusals, ["0", "1.5", "17", '"2"'].map((threads) => `InputError: open: threads is ${threads}, wanted a whole number from 1 to 16`));
  assert.equal(await chromium.page.evaluate(() => said(mero.open({ threads: 2, worker: false }))), "InputError: open: threads is 2, which needs workers: leave out worker: false");
  const without = await chromium.page.evaluate(async () => {
    const { SharedArrayBuffer } = globalThis;
    delete globalThis.SharedArrayBuffer;
    const told = await said(mero.open({ threads: 2 }));
    globalThis.SharedArrayBuffer = SharedArrayBuffer;
    return told;
  });
  assert.equal(without, "InputError: open: threads is 2, which needs SharedArrayBuffer, which this browser has not");
  const page = await chromium.page.context().browser().newPage();
  await page.route("**/*", async (route) => {
    const response = await route.fetch();
    const headers = Object.fromEntries(Object.entries(response.headers()).filter(([name]) => !name.startsWith("cross-origin")));
    await route.fulfill({ response, headers });
  });
  await page.goto(chromium.page.url());
  const told = await page.evaluate(() => import("/dist/index.js").then(({ open }) => open({ device: "cpu", threads: 2 })).then(() => "no error", (error) => `${error.name}: ${error.message}`));
  assert.match(told, /^InputError: open: threads is 2, which needs a page that is cross-origin isolated: send Cross-Origin-Opener-Policy/);
  await page.close();
});

/** More than there are members. */
const PIECES = 5;

/** What each of three has in every list of pieces, where the members behave as told, and how many it made. */
async function lists(members, count = 300) {
  const { outputFiles: [{ text }] } = await build({ entryPoints: [join(web, "src/serve/share.ts")], bundle: true, write: false, format: "esm" });
  const source = `${text}
    import { parentPort, workerData } from "node:worker_threads";
    const { shared, own, count, member } = workerData;
    const share = new Share(shared, own, () => { isTold = true; });
    let isTold = false;
    const sums = [];
    let made = 0;
    const make = (list, piece) => new Float32Array(1000).fill(list * 10 + piece);
    const PIECES = ${PIECES};
    const idle = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    for (let list = 0; list < count; list++) {
      if (member.stopsAt === list) process.exit();
      if (member.leavesAt === list) share.leave();
      const pieces = [];
      const isShared = share.begin(PIECES, 1000);
      for (let piece; isShared && (piece = share.claim()) < PIECES;) {
        if (list % 50 === member.dozesAt) idle(member.forMs);
        if (list >= member.diesAt) process.exit();
        share.give(piece, pieces[piece] = make(list, piece));
        made++;
      }
      for (let piece = 0; piece < PIECES; piece++) {
        if (pieces[piece]) continue;
        pieces[piece] = new Float32Array(1000);
        if (isShared && share.take(piece, pieces[piece])) continue;
        pieces[piece] = make(list, piece);
        made++;
        if (isShared) share.give(piece, pieces[piece]);
      }
      sums.push(pieces.flatMap((piece) => [piece[0], piece[999]]).join());
    }
    share.leave();
    parentPort.postMessage({ sums, made, isTold });`;
  const { memory } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  const shared = memory(3, PIECES * 1000);
  const answers = await Promise.all(members.map((member, own) => new Promise((resolve, reject) => {
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), { workerData: { shared, own, count, member } });
    let answer;
    worker.on("message", (message) => { answer = message; });
    worker.on("error", reject);
    worker.on("exit", () => resolve(answer));
  })));
  const wanted = Array.from({ length: count }, (_, list) => Array.from({ length: PIECES }, (_, piece) => [list * 10 + piece, list * 10 + piece]).join());
  for (const [own, answer] of answers.entries()) {
    const { stopsAt, diesAt } = members[own];
    if ((stopsAt ?? diesAt) === undefined) assert.deepEqual(answer.sums, wanted, `member ${own}`);
  }
  return answers;
}

test("members share their pieces", async () => {
  const members = await lists([{}, {}, {}], 3000);
  for (const { made } of members) assert.ok(made > 0 && made < 3000 * PIECES, `a member made ${made} pieces`);
});

test("a member that dozes is not waited for, and finds made what it missed", async () => {
  const [leader, late] = await lists([{}, { dozesAt: 3, forMs: 30 }, {}]);
  assert.ok(leader.made > 0 && late.sums.length === 300);
});

test("a member that is gone is done without", async () => {
  const [leader] = await lists([{}, {}, { stopsAt: 100 }]);
  assert.ok(leader.made > 0);
});

test("a member that is gone in the middle of a piece keeps nobody, not the other followers either", async () => {
  const [leader, follower] = await lists([{}, {}, { diesAt: 100 }]);
  assert.ok(leader.made > 0 && follower.made > 0);
});

test("a leader that is gone leaves everyone to themselves, and they are told", async () => {
  const [, ...followers] = await lists([{ leavesAt: 100 }, {}, {}]);
  for (const { isTold, sums } of followers) assert.ok(isTold && sums.length === 300);
});
