// The package in a browser: agrees with the native engine, exchanges model files with it, and reports invalid input.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { PARTS } from "../parts.mjs";
import { classes, isFirefox, smooth, test, visit, web } from "./browser.mjs";

const EPOCHS = 5;
const SEED = 3;
const DEVICES = ["webgpu", "cpu"];
const folder = mkdtempSync(join(tmpdir(), "meromorph-"));
/** Tables by name: text, target, further options. */
const tables = {
  smooth: [smooth(3000), "y", {}],
  classes: [classes(1500), "kind", {}],
  formulas: [smooth(3000), "y", { activation: "x*tanh(softplus(x))", loss: "log(cosh(p - y))" }],
};
let browser;

before(async () => {
  for (const [name, [text]] of Object.entries(tables)) writeFileSync(join(folder, `${name}.csv`), text);
  browser = await visit("/test/blank.html");
  await browser.page.evaluate(async () => {
    globalThis.mero = await import("/dist/index.js");
  });
});

after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

/** The lines that the native binary prints. Build it with `cargo build --release`. */
function mero(...words) {
  const target = process.env.CARGO_TARGET_DIR ?? join(web, "../target");
  const binary = process.env.MERO ?? join(target, "release/mero");
  return execFileSync(binary, [...words.map(String), "--device", "cpu"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  })
    .trim()
    .split("\n");
}

/** Trains in the browser: returns the events, the model's bytes, and its predictions for the same table. */
function train(device, text, options) {
  return browser.page.evaluate(
    async ([device, text, options]) => {
      const engine = await mero.open({ device });
      const events = [];
      let model;
      for await (const event of engine.train(text, options)) {
        if (event.event === "end") ({ model } = event);
        events.push({ ...event, model: undefined });
      }
      const { value, probability } = await model.predict(text);
      return {
        info: engine.info,
        events,
        file: [...(await model.save())],
        value: [...value],
        probability: [...(probability ?? [])],
      };
    },
    [device, text, options],
  );
}

/** The numbers in a model file, without the header, which holds the options of the run. */
const numbers = (file) => file.slice(8 + Number(Buffer.from(file).readBigUInt64LE()));

/** Whether each value is within `bound` times its size, or times `floor` if it is smaller. */
function near(got, expected, bound, what, floor = 0) {
  assert.equal(got.length, expected.length, what);
  const worst = Math.max(
    ...got.map((value, at) => Math.abs(value - expected[at]) / Math.max(Math.abs(expected[at]), floor)),
  );
  assert.ok(worst <= bound, `${what}: off by ${worst.toExponential(1)}`);
}

for (const name of Object.keys(tables)) {
  test(`${name}: the browser trains like the native engine, and each reads the other's model`, async () => {
    const [text, target, options] = tables[name];
    const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    const [data, model] = [join(folder, `${name}.csv`), join(folder, `${name}.safetensors`)];
    const run = mero(
      "train",
      data,
      "--target",
      target,
      "--epochs",
      EPOCHS,
      "--seed",
      SEED,
      "--out",
      model,
      "--json",
      ...flags,
    );
    const expected = run.map((line) => JSON.parse(line)).filter(({ event }) => event === "epoch");
    const native = mero("predict", model, data);
    for (const device of DEVICES) {
      const got = await train(device, text, { target, epochs: EPOCHS, seed: SEED, ...options });
      assert.equal(got.info.device, device);
      const epochs = got.events.filter(({ event }) => event === "epoch");
      near(
        epochs.map((e) => e.trainLoss),
        expected.map((e) => e.train_loss),
        1e-3,
        `${device}: training loss`,
      );
      near(
        epochs.map((e) => e.valLoss),
        expected.map((e) => e.val_loss),
        1e-3,
        `${device}: validation loss`,
      );
      const file = join(folder, `${name}-${device}.safetensors`);
      writeFileSync(file, Uint8Array.from(got.file));
      compare(mero("predict", file, data), got, `${device}: a model saved in the browser predicts natively`);
      const back = await browser.page.evaluate(
        async ([device, bytes, text]) => {
          const model = await (await mero.open({ device })).load(Uint8Array.from(bytes));
          const { value, probability } = await model.predict(text);
          return { value: [...value], probability: [...(probability ?? [])] };
        },
        [device, [...readFileSync(model)], text],
      );
      compare(native, back, `${device}: a model saved natively predicts in the browser`);
    }
  });
}

/** Native lines after the first are `value,note` or `class,probability,note`; the targets here are of size 1. */
function compare([, ...lines], { value, probability }, what) {
  if (probability.length === 0)
    return near(
      value,
      lines.map((line) => Number(line.split(",")[0])),
      1e-5,
      what,
      1,
    );
  assert.deepEqual(
    value,
    lines.map((line) => line.split(",")[0]),
    what,
  );
  near(
    probability,
    lines.map((line) => Number(line.split(",")[1])),
    1e-5,
    what,
    1,
  );
}

test("the same seed gives the same bits", async () => {
  for (const device of DEVICES) {
    const runs = [];
    for (let run = 0; run < 2; run++)
      runs.push(await train(device, tables.smooth[0], { target: "y", epochs: 2, seed: 7 }));
    assert.deepEqual(runs[0].events, runs[1].events, device);
    assert.deepEqual(runs[0].file, runs[1].file, device);
  }
});

test("results that are computed again have the same bits, and 16 bits train as well", async () => {
  for (const device of DEVICES) {
    const run = (options) =>
      train(device, tables.smooth[0], { target: "y", epochs: 3, seed: 7, step: "recorded", ...options });
    const [plain, again, half] = [
      await run({}),
      await run({ recompute: "2" }),
      await run({ precision: "f16", clipNorm: 1 }),
    ];
    assert.deepEqual(numbers(again.file), numbers(plain.file), `${device}: recomputation`);
    const losses = [plain, half].map(({ events }) => events.filter(({ event }) => event === "epoch").at(-1));
    assert.equal(losses[0].gradients, null);
    assert.ok(
      Math.abs(losses[1].trainLoss / losses[0].trainLoss - 1) < 0.2,
      `${device}: ${losses.map((loss) => loss.trainLoss)}`,
    );
    const { updates, skipped, largestNorm, lossScale } = losses[1].gradients;
    assert.ok(
      updates > 0 && skipped === 0 && largestNorm > 0 && lossScale === 65536,
      JSON.stringify(losses[1].gradients),
    );
  }
});

test("arrays train, an aborted run keeps its best model, leaving the loop ends the run", async () => {
  const got = await browser.page.evaluate(async () => {
    const engine = await mero.open({ device: "cpu" });
    const y = Float32Array.from({ length: 400 }, (_, row) => Math.sin(row / 40));
    const x = Float32Array.from({ length: 800 }, (_, at) => (at % 2 ? Math.cos(at / 80) : at / 400 - 1));
    const abort = new AbortController();
    let last;
    for await (const event of engine.train({ x, y }, { epochs: 1000, patience: 0, signal: abort.signal })) {
      if (event.event === "epoch" && event.epoch === 3) abort.abort();
      last = event;
    }
    const { value } = await last.model.predict(x.subarray(0, 20));
    for await (const event of engine.train({ x, y }, { epochs: 1000 })) if (event.event === "epoch") break;
    return { stop: last.stop, epochs: last.epochs, info: last.model.info, value: [...value] };
  });
  assert.equal(got.stop, "stopped");
  // A run is at most 16 events ahead of those read, and ends one more epoch early.
  assert.ok(got.epochs >= 4 && got.epochs <= 4 + 16 + 1, `stopped after ${got.epochs}`);
  assert.deepEqual(got.info.columns, ["x0", "x1"]);
  assert.equal(got.value.length, 10);
  assert.ok(got.value.every(Number.isFinite));
});

test("bad input is an Error with the engine's message", async () => {
  const [text] = tables.smooth;
  const torn = "const m = await best(); const b = await m.save(); await engine.load(b.slice(0, b.length - 9))";
  const cases = [
    ["mero.open({ device: 'gpu' })", 'open: device is "gpu", expected one of "auto", "webgpu", "cpu"'],
    ["mero.open({ device: 7 })", 'open: device is 7, expected one of "auto", "webgpu", "cpu"'],
    ["run('', { target: 'y' })", "data: is empty"],
    ["run(new Uint8Array(0), { target: 'y' })", "data: is empty"],
    ["run(new File([], 'wine.csv'), { target: 'y' })", "wine.csv: is empty"],
    ["run('a,y\\n', { target: 'y' })", "data: has no rows"],
    [
      "run(undefined)",
      "train: data is undefined, expected a table (text, bytes, a file, a URL, rows or columns) or { x, y }",
    ],
    ["run(5)", "train: data is 5, expected a table (text, bytes, a file, a URL, rows or columns) or { x, y }"],
    ["run({ x: 'abc', y: [1] })", 'train: x is "abc", expected a Float32Array or an array of numbers'],
    ["run({ x: [1, 2, 3], y: [1, 2] })", "train: 3 values in x do not fill 2 rows, one for each value in y"],
    ["run(text)", "train: target: got undefined, expected the name of a column as a string"],
    ["run(text, { target: 'price' })", 'column "price" not in data; it has "a", "b", "c", "d", "e", "y"'],
    [
      "run(text, { target: ['y'] })",
      "train: target: got an array: several targets in one model are not possible yet; train one model for each target, and leave the others out with ignore",
    ],
    ["run(text, { target: 'y', epoch: 3 })", 'train: option "epoch" is unknown: did you mean "epochs"?'],
    ["run(text, { target: 'y', epochs: '3' })", 'train: epochs: got "3", expected a whole number from 1 to 4294967295'],
    ["run(text, { target: 'y', epochs: 2.5 })", "train: epochs: got 2.5, expected a whole number from 1 to 4294967295"],
    [
      "run(text, { target: 'y', epochs: 2 ** 32 })",
      "train: epochs: got 4294967296, expected a whole number from 1 to 4294967295",
    ],
    [
      "run(text, { target: 'y', seed: 5n })",
      "train: seed: got bigint, expected a whole number from 0 to 9007199254740992",
    ],
    ["run(text, { target: 'y', epochs: 0 })", "train: epochs: got 0, expected a whole number from 1 to 4294967295"],
    ["run(text, { target: 'y', lr: 0.1, learningRate: 0.1 })", "train: lr is given twice"],
    [
      "run(text, { target: 'y', optimizer: 'adamm' })",
      /^train: optimizer: got "adamm", expected one of "adamw", "adam", .*; did you mean "adamw"\?$/,
    ],
    [
      "run(text, { target: 'y', degrees: [3, 2] })",
      "train: degrees has no effect without a head with poles; set head to rational, projective or angular",
    ],
    [
      "run(text, { target: 'y', head: 'rational', degrees: [3] })",
      "train: degrees: got 1 value, expected an array of 2 whole numbers",
    ],
    ["run(text, { target: 'y', head: 'rational', tauTrain: 0.1 })", "train: tauTrain has no effect without tauInfer"],
    ["run(text, { target: 'y', lr: NaN })", "train: lr: got NaN, expected a finite number above 0"],
    [
      "run(text, { target: 'y', hidden: [64, 0] })",
      "train: hidden[1]: got 0, expected a whole number from 1 to 4294967295",
    ],
    [
      "run(text, { target: 'y', hidden: [1e6, 1e6], bins: 0 })",
      "train: a model with layers up to 1000000 wide has 1000008000001 parameters, which take about 119210 GiB; there are at most 4 GiB; choose a smaller hidden",
    ],
    [
      "run(text, { target: 'y', hidden: [4294967295], bins: 0 })",
      "train: a model with layers up to 4294967295 wide has 30064771066 parameters, which take about 3583 GiB; there are at most 4 GiB; choose a smaller hidden",
    ],
    [
      "run(text, { target: 'y', hidden: [64, 'a'] })",
      'train: hidden[1]: got "a", expected a whole number from 1 to 4294967295',
    ],
    ["run(text, { target: 'y', hidden: 64 })", "train: hidden: got 64, expected an array of whole numbers"],
    ["run(text, { target: 'y', features: ['a', 2] })", "train: features[1]: got 2, expected a string"],
    ["run(text, { target: 'y', features: [] })", 'no column of data is left to learn "y" from'],
    ["run(text, { target: 'y', ignore: 'a' })", 'train: ignore: got "a", expected an array of strings'],
    ["run(text, { target: {} })", "train: target: got an object, expected the name of a column as a string"],
    [
      "run(text, { target: 'y', task: 'x'.repeat(1000) })",
      `train: task: got "${"x".repeat(80)}…", expected one of "regression", "classification"`,
    ],
    [
      "run('a\\ty\\n1,5\\t2\\n2,5\\t3\\n', { target: 'y' })",
      'data: row 1, column "a": "1,5" has a comma, but numbers are written with a point; the options decimal and thousands declare others; if the column holds categories, name it under categorical',
    ],
    ["run(text, { target: 'y', loss: 'msee' })", 'train: loss: unknown name "msee": did you mean "mse"?'],
    [
      "run(text, { target: 'y', loss: 'abs(p - z)' })",
      'train: loss: formula, character 9: unknown name "z": the inputs are "p", "y" (in "abs(p - z)")',
    ],
    [
      "run(text, { target: 'y', activation: 'x*tanhh(x)' })",
      'train: activation: formula, character 3: unknown function "tanhh": did you mean "tanh"? (in "x*tanhh(x)")',
    ],
    [
      "run(text, { target: 'y', loss: '(p - y)^2/0' })",
      'train: loss: formula, character 10: division by a constant zero (in "(p - y)^2/0")',
    ],
    ["run(text, { target: 'y', delta: 2 })", 'train: delta applies only to loss "huber"'],
    [
      "run(text, { target: 'y', loss: 'bce' })",
      /^train: the loss "bce" does not fit the target, which is a number; use mse, mae, .* or a formula$/,
    ],
    ["run(text, 'y')", 'train: options: got "y", expected an object'],
    [
      "run('a,y\\n1,2\\n3\\n', { target: 'y' })",
      "data: row 2 (line 3): got 1 cells, expected 2; is it a line of text below the table? bad_rows skip leaves such rows out",
    ],
    ["engine.load(new Uint8Array(3))", "model: is cut short: 3 bytes hold no safetensors header"],
    ["engine.load(7)", "load: expected the bytes of a model file as a Uint8Array"],
    [torn, /^model: tensor "layers.6.weight" lies at bytes \d+ to \d+, file has \d+ \(cut short\?\)$/],
    ["(await best()).predict('a,b\\n1,2\\n')", 'column "c" is missing from table; it has "a", "b"'],
    // 2^32 and 2^40: numbers that become 0 when truncated to 32 bits.
    [
      "(await best()).predict('a,b,c,d,e\\n1e4294967296,1,1,1,1\\n', { unknown: 'refuse' })",
      'table: row 1, column "a": is infinite',
    ],
    [
      "(await best()).predict('a,b,c,d,e\\n1e1099511627776,1,1,1,1\\n', { unknown: 'refuse' })",
      'table: row 1, column "a": is infinite',
    ],
    ["(await best()).predict(new Float32Array(4))", "predict: got 4 values, expected full rows of 5 columns"],
    [
      "(await best()).predict(3)",
      "predict: x is 3, expected a Float32Array, an array of numbers or a table (text, bytes, a file, a URL, rows or columns)",
    ],
  ];
  const got = await browser.page.evaluate(
    async ([text, works]) => {
      const engine = await mero.open({ device: "cpu" });
      const run = async (data, options) => {
        for await (const event of engine.train(data, options)) if (event.model) return event.model;
      };
      const best = () => run(text, { target: "y", epochs: 1 });
      const errorOf = async (work) => {
        const made = new Function(
          "mero",
          "engine",
          "text",
          "run",
          "best",
          `return (async () => { ${work.includes(";") ? work : `await (${work})`} })()`,
        );
        try {
          await made(mero, engine, text, run, best);
          return "no error";
        } catch (error) {
          return error instanceof Error ? error.message : `no Error: ${error}`;
        }
      };
      const all = [];
      for (const work of works) all.push(await errorOf(work));
      return all;
    },
    [text, cases.map(([work]) => work)],
  );
  const wrong = cases.flatMap(([work, expected], at) =>
    (expected instanceof RegExp ? expected.test(got[at]) : expected === got[at])
      ? []
      : [`${work}\n  got    ${got[at]}\n  expected ${expected}`],
  );
  assert.deepEqual(wrong, [], wrong.join("\n"));
});

test("without WebGPU the CPU is used, and the error names the absent device", async () => {
  const { page, close } = await visit("/test/blank.html", { webgpu: false });
  const got = await page.evaluate(async () => {
    const mero = await import("/dist/index.js");
    const auto = await mero.open();
    return [auto.info.device, await mero.open({ device: "webgpu" }).catch((error) => error.message)];
  });
  await close();
  assert.equal(got[0], "cpu");
  assert.match(got[1], /^device "webgpu" is absent: no adapter found/);
});

test("auto prefers the CPU to a software adapter, which can be chosen by name", async () => {
  const infos = await browser.page.evaluate(() =>
    Promise.all([{}, { device: "webgpu" }].map(async (options) => (await mero.open(options)).info)),
  );
  assert.deepEqual(
    infos.map(({ device, isSoftware }) => [device, isSoftware]),
    [
      ["cpu", false],
      ["webgpu", true],
    ],
  );
  assert.match(infos[1].name, isFirefox ? /^browser WebGPU adapter$/ : /swiftshader/i);
});

for (const { name, folder, budget } of PARTS.filter((part) => part.budget)) {
  test(`the wasm part ${name} keeps to its budget`, () => {
    const bytes = readFileSync(join(web, folder, "meromorph_bg.wasm"));
    const sizes = { gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotliCompressSync(bytes).length };
    console.log(name, bytes.length, sizes);
    for (const kind in budget)
      assert.ok(sizes[kind] <= budget[kind], `${sizes[kind]} bytes by ${kind}, at most ${budget[kind]}`);
  });
}

test("a model with poles says where it has no value", async () => {
  const result = await browser.page.evaluate(async () => {
    const rows = Array.from({ length: 600 }, (_, i) => (i - 300) / 150);
    const cell = (x) => (Math.abs(1 / (x - 0.25)) > 20 ? (x < 0.25 ? "-inf" : "inf") : String(1 / (x - 0.25)));
    const table = `x,y\n${rows.map((x) => `${x},${cell(x)}`).join("\n")}`;
    const engine = await mero.open({ device: "cpu" });
    let end;
    const options = { target: "y", head: "rational", hidden: [16, 16], epochs: 120, lr: 3e-3, weightDecay: 0 };
    for await (const event of engine.train(table, options)) if (event.event === "end") end = event;
    const { value, bottom, gap } = await end.model.predict("x\n-1\n0.25\n1.25\n");
    return { value: [...value], bottom: [...bottom], gap: [...gap], coverage: end.test.coverage };
  });
  assert.deepEqual(result.bottom, [0, 1, 0]);
  assert.equal(result.value[1], 0);
  assert.ok(Math.abs(result.value[0] + 0.8) < 0.15 && Math.abs(result.value[2] - 1) < 0.15, result.value.join());
  assert.ok(result.coverage > 0.8 && result.coverage < 1, `${result.coverage}`);
});

test("a model with poles accepts the options of the command line", async () => {
  const result = await browser.page.evaluate(async () => {
    const rows = Array.from({ length: 600 }, (_, i) => (i - 300) / 150);
    const cell = (x) => (Math.abs(1 / (x - 0.25)) > 20 ? (x < 0.25 ? "-inf" : "inf") : String(1 / (x - 0.25)));
    const table = `x,y\n${rows.map((x) => `${x},${cell(x)}`).join("\n")}`;
    const engine = await mero.open({ device: "cpu" });
    const run = async (options) => {
      let end;
      for await (const event of engine.train(table, {
        target: "y",
        head: "rational",
        hidden: [8],
        epochs: 4,
        ...options,
      })) {
        if (event.event === "end") end = event;
      }
      return { step: end.step, header: new TextDecoder().decode(await end.model.save()) };
    };
    const errorOf = async (options) =>
      run(options).then(
        () => "nothing",
        (error) => error.message,
      );
    const policy = { scm_norm: "project", "layers.1": "clamp(-2..2)" };
    const all = {
      activation: "rational-poles",
      norm: "batch",
      policy,
      term: { chordal: 1, decoded: "0..0.5@1..3" },
      holdCoverage: 0.9,
      samplePoles: true,
      degrees: [2, 1],
      tauInfer: 0.01,
      tauTrain: 0,
      threshold: "denominator",
      minCoverage: 0,
      schedule: "step",
      learningRate: 1e-3,
      batchSize: 64,
    };
    return {
      ...(await run(all)),
      errors: [
        await errorOf({ term: { chordal: -1 } }),
        await errorOf({ policy: { scm_norm: "clamp" } }),
        await errorOf({ samplePoles: 1 }),
        await errorOf({ norm: "instance" }),
        await errorOf({ head: "linear", term: { decoded: 1 } }),
        await errorOf({ term: { decode: 1 } }),
        await errorOf({ term: [1] }),
        await errorOf({ policy: { scm_norm: 1 } }),
        await errorOf({ policy: { scm_norm: "clip" } }),
        await errorOf({ term: new Map([["decoded", 5]]) }),
        await errorOf({ policy: new Date() }),
      ],
    };
  });
  assert.match(result.header, /masked_norm/);
  assert.match(result.header, /"is_safe\\?":false/);
  assert.match(result.header, /"decoded\\?":0\.5/);
  assert.equal(
    result.errors[0],
    "train: term.chordal: got -1, expected a finite number of at least 0, or a ramp such as 0..1@10..50",
  );
  assert.match(result.errors[1], /^train: policy: only rational and masked layers have one/);
  assert.match(result.errors[2], /^train: samplePoles: got 1, expected true or false$/);
  assert.equal(result.errors[3], 'train: norm: got "instance", expected one of "layer", "group", "batch"');
  assert.equal(
    result.errors[4],
    "train: term has no effect without a head with poles; set head to rational, projective or angular",
  );
  assert.equal(result.errors[5], 'train: term: "decode" is unknown: did you mean "decoded"?');
  assert.equal(result.errors[6], "train: term: got an array, expected an object such as { decoded: 0.5 }");
  assert.equal(result.errors[9], "train: term: got an object of type Map, expected an object such as { decoded: 0.5 }");
  assert.equal(
    result.errors[10],
    'train: policy: got an object of type Date, expected an object such as { scm_rational: "clamp" }',
  );
  assert.equal(result.errors[7], "train: policy.scm_norm: got 1, expected a string");
  assert.equal(
    result.errors[8],
    'train: policy: unknown policy "clip": expected clamp, clamp(low..high), project, reject or pass',
  );
});

/**
 * Browsers compile shaders slowly: each fourth case of a kernel runs on WebGPU, all with PATIENT=1.
 * `tests/engine/kernels.rs` runs all of them natively.
 */
const EVERY = process.env.PATIENT ? 1 : 4;

for (const [device, build] of [
  ["webgpu", "evidence"],
  ["cpu", "evidence"],
  ["cpu", "evidence/relaxed"],
]) {
  // Firefox's GPU is llvmpipe, on which `tests/engine/kernels.rs` runs them.
  const skip =
    isFirefox && device === "webgpu" && !process.env.PATIENT && "llvmpipe compiles them for minutes; PATIENT=1 waits";
  test(`every kernel's cases agree with the oracle on ${device}, ${build}`, {
    skip,
    timeout: 1_800_000,
  }, async (context) => {
    const { page, close } = await visit("/test/blank.html");
    await page.evaluate(async (build) => {
      globalThis.evidence = await import(`/pkg/${build}/meromorph.js`);
      await evidence.default();
    }, build);
    for (const kernel of await page.evaluate(() => evidence.kernel_names())) {
      await context.test(kernel, { timeout: 300_000 }, async () => {
        // A panic stops the engine inside the page, and the call never returns.
        const panic = page.waitForEvent("pageerror", { timeout: 0 }).then((error) => [1, String(error)]);
        const checked = page.evaluate(
          ([device, kernel, every]) => evidence.check_kernel(device, kernel, every),
          [device, kernel, device === "webgpu" ? EVERY : 1],
        );
        const [count, ...failures] = await Promise.race([checked, panic]);
        assert.deepEqual(failures, []);
        assert.ok(Number(count) > 0, "no case was run");
      });
    }
    await close();
  });
}

test("subgroups are used if the browser has them, and change no bit", async () => {
  const { page, close } = await visit("/test/blank.html");
  const got = await page.evaluate(async (every) => {
    const evidence = await import("/pkg/evidence/meromorph.js");
    await evidence.default();
    const { info, features } = await navigator.gpu.requestAdapter();
    const { requestDevice } = GPUAdapter.prototype;
    const result = await Promise.all(
      ["reduce", "softmax", "layer_norm"].map((kernel) => evidence.told_by_subgroups(kernel, every)),
    );
    const engine = await (await import("/dist/index.js")).open({ device: "webgpu" });
    return {
      result,
      lanes: features.has("subgroups") ? info.subgroupMinSize : 1,
      info: engine.info,
      isAsBefore: GPUAdapter.prototype.requestDevice === requestDevice,
    };
  }, EVERY);
  await close();
  for (const [count, used, unused, ...names] of got.result) {
    assert.ok(Number(count) > 0, "no case was run");
    assert.deepEqual([used, unused, names], [String(got.lanes), "1", []]);
  }
  assert.equal(got.info.subgroup, got.lanes);
  assert.ok(got.isAsBefore, "the page's own adapters are left as they are");
});

test("numbers are formatted as by the native engine", async () => {
  const wrong = await browser.page.evaluate(async () => {
    const evidence = await import("/pkg/evidence/meromorph.js?texts");
    await evidence.default();
    return evidence.wrong_texts();
  });
  assert.deepEqual(wrong, []);
});

test("exported pages compute fused multiply-add with one rounding", async () => {
  const wrong = await browser.page.evaluate(async () => {
    const evidence = await import("/pkg/evidence/meromorph.js?products");
    await evidence.default();
    return evidence.wrong_products(200_000);
  });
  assert.deepEqual(wrong.slice(0, 5), [], `${wrong.length} are wrong`);
});

test("a panic is reported to the listener", async () => {
  const errorOf = await browser.page.evaluate(async () => {
    const evidence = await import("/pkg/evidence/meromorph.js?again");
    await evidence.default();
    const result = new Promise((resolve) => evidence.on_panic(resolve));
    evidence.panic_to_order();
    return result;
  });
  assert.match(errorOf, /^meromorph: internal error: panicked at .*as ordered$/s);
});
