// The package's API in a browser, with the engine in a worker and in the page's own thread: same events, results and
// errors.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before } from "node:test";
import { closedAtTheEnd, isFirefox, smooth, test, visit, web } from "./browser.mjs";

let browser;

before(async () => {
  browser = await visit("/test/blank.html");
  await browser.page.evaluate(async () => {
    globalThis.mero = await import("/dist/index.js");
    globalThis.engines = {
      worker: await mero.open({ device: "cpu" }),
      page: await mero.open({ device: "cpu", worker: false }),
    };
    /** y = sin x over 400 rows. */
    globalThis.wave = () => {
      const x = Float32Array.from({ length: 400 }, (_, row) => row / 50 - 4);
      return { x, y: x.map(Math.sin) };
    };
    /** All events of a run, and its model. */
    globalThis.finish = async (run) => {
      const events = [];
      for await (const { model, ...event } of run) {
        events.push(event);
        if (model) return { events, model };
      }
      return { events };
    };
    /** An array whose buffer is detached. */
    globalThis.detached = () => {
      const array = new Float32Array(4);
      structuredClone(array, { transfer: [array.buffer] });
      return array;
    };
    globalThis.errorOf = (promise) =>
      promise.then(
        () => "no error",
        (error) => (error instanceof Error ? `${error.name}: ${error.message}` : error),
      );
  });
});

after(() => browser.close());

/** Runs `work` in the page for each engine and compares the results with `expected`. */
async function both(work, expected) {
  for (const where of ["worker", "page"]) {
    const got = await browser.page.evaluate(`(${work})(engines.${where})`);
    if (typeof expected === "function") expected(got, where);
    else assert.deepEqual(got, expected, where);
  }
}

test("worker and page give the same events, weights and predictions", async () => {
  const [worker, page] = await browser.page.evaluate(() =>
    Promise.all(
      Object.values(engines).map(async (engine) => {
        const { events, model } = await finish(engine.train(wave(), { epochs: 5, seed: 3 }));
        return {
          events,
          file: [...(await model.save())],
          value: [...(await model.predict([0.5, 1, 1.5])).value],
          info: model.info,
        };
      }),
    ),
  );
  assert.equal(worker.events.length, 7);
  assert.deepEqual(worker, page);
});

test("arrays of every number type are accepted and not detached", () =>
  both(
    async (engine) => {
      const { x, y } = wave();
      const kinds = [Float32Array, Float64Array, globalThis.Float16Array, Array, Int8Array, Int32Array].filter(Boolean);
      const files = [];
      for (const kind of kinds) {
        const [a, b] = [kind.from(x, (x) => 8 * x), kind.from(y, (y) => 8 * y)];
        const { model } = await finish(engine.train({ x: a, y: b }, { epochs: 2, task: "regression" }));
        const { value } = await model.predict(a);
        files.push([kind.name, a.length, b.length, value.length]);
      }
      // Only a view's own part of the buffer is copied, and the buffer is not detached.
      const large = new Float32Array(1e6);
      large.set(x, 7);
      const { model } = await finish(engine.train({ x: large.subarray(7, 407), y }, { epochs: 1 }));
      files.push(["part", large.length, (await model.predict(large.subarray(7, 17))).value.length]);
      return files;
    },
    [
      ["Float32Array", 400, 400, 400],
      ["Float64Array", 400, 400, 400],
      ["Float16Array", 400, 400, 400],
      ["Array", 400, 400, 400],
      ["Int8Array", 400, 400, 400],
      ["Int32Array", 400, 400, 400],
      ["part", 1e6, 10],
    ],
  ));

test("losses and activations can be formulas, on every device, and are saved with the model", () =>
  both(
    async (engine) => {
      const data = wave();
      const options = {
        epochs: 3,
        hidden: [8],
        seed: 4,
        activation: "x*tanh(softplus(x))",
        loss: "log(cosh(p - y))",
        optimizer: "lion",
        lr: 1e-3,
      };
      const trained = async (options) => {
        const { events, model } = await finish(engine.train(data, options));
        return { model, loss: events.filter(({ event }) => event === "epoch").at(-1).valLoss };
      };
      const formulas = await trained(options);
      const named = await trained({ ...options, activation: "mish", loss: "log_cosh" });
      const again = await engine.load(await formulas.model.save());
      const [one, other] = [await formulas.model.predict(data.x), await again.predict(data.x)];
      const isNear = Math.abs(formulas.loss / named.loss - 1) < 1e-3;
      return { isSame: String(one.value) === String(other.value), isNear, isFinite: Number.isFinite(one.value[0]) };
    },
    { isSame: true, isNear: true, isFinite: true },
  ));

test("changes of the data after the call have no effect", () =>
  both(async (engine) => {
    const files = [];
    for (const isChanged of [false, true]) {
      const data = wave();
      const run = engine.train(data, { epochs: 2 });
      if (isChanged) data.y.fill(9);
      files.push([...(await (await finish(run)).model.save())].join());
    }
    return files[0] === files[1];
  }, true));

test("rows without a value are learned the same from bytes, from words and from infinite targets", () =>
  both(
    async (engine) => {
      const x = Float32Array.from({ length: 1000 }, (_, row) => (row - 499.5) / 250);
      const y = x.map((x) => 1 / x);
      const isNear = (x) => Math.abs(x) < 0.05;
      const bytes = Uint8Array.from(x, (x) => (isNear(x) ? 7 : 0));
      const words = new Uint32Array(Math.ceil(1000 / 32));
      x.forEach((x, row) => {
        if (isNear(x)) words[row >> 5] |= 1 << (row & 31);
      });
      const options = { head: "rational", hidden: [16, 16], epochs: 60, weightDecay: 0, patience: 0 };
      const data = [
        { x, y, bottom: bytes },
        { x, y, bottom: words },
        { x, y: y.map((y, row) => (isNear(x[row]) ? Infinity : y)) },
      ];
      const models = [];
      for (const one of data) models.push((await finish(engine.train(one, options))).model);
      const files = await Promise.all(models.map((model) => model.save().then(String)));
      const results = [await models[0].predict(x), await models[0].predict(x, { masks: "words" })];
      const unpacked = Uint8Array.from(x, (_, row) => (results[1].bottom[row >> 5] >>> (row & 31)) & 1);
      return {
        isSame: files.every((file) => file === files[0]),
        kinds: results.map(({ bottom, gap }) => [bottom.constructor.name, bottom.length, gap.length]),
        isPacked: String(unpacked) === String(results[0].bottom),
        hasPoles: results[0].bottom.includes(1),
      };
    },
    {
      isSame: true,
      kinds: [
        ["Uint8Array", 1000, 1000],
        ["Uint32Array", 32, 32],
      ],
      isPacked: true,
      hasPoles: true,
    },
  ));

test("f16 activations give nearly the same predictions on a GPU, and the CPU always uses f32", async () => {
  const [cpu, gpu] = await browser.page.evaluate(async () => {
    const { model } = await finish(engines.worker.train(wave(), { epochs: 3 }));
    const file = await model.save();
    const x = Float32Array.from({ length: 1000 }, (_, row) => row / 500 - 1);
    return Promise.all(
      ["cpu", "webgpu"].map(async (device) => {
        const engine = await mero.open({ device });
        const there = await engine.load(file);
        const [whole, half] = [await there.predict(x), await there.predict(x, { precision: "f16" })];
        const apart = Math.max(...whole.value.map((value, row) => Math.abs(value - half.value[row])));
        const beyond = await errorOf(there.predict([1e6], { precision: "f16" }));
        engine.dispose();
        return { apart, beyond };
      }),
    );
  });
  assert.deepEqual(cpu, { apart: 0, beyond: "no error" });
  assert.ok(gpu.apart > 0 && gpu.apart < 4e-3, `off by ${gpu.apart}`);
  assert.equal(gpu.beyond, "InputError: precision: a row goes beyond 65504, where f16 ends; predict in f32");
});

test("a run continues only while its events are read", () =>
  both(async (engine) => {
    const run = engine.train(wave(), { epochs: 100000, patience: 0 });
    await run.next();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const checkpoint = await run.checkpoint();
    run.dispose();
    // A resumed run reports the epochs done.
    const again = engine.resume(wave(), checkpoint);
    const { value } = await again.next();
    again.dispose();
    return value.epochsDone;
  }, 16));

test("a run can be paused and resumed, and ends with its best weights when stopped", () =>
  both(
    async (engine) => {
      const run = engine.train(wave(), { epochs: 100000, patience: 0 });
      for (let read = 0; read < 20; read++) await run.next();
      run.pause();
      await run.predict([0]);
      let read = 0;
      let last;
      const follow = (async () => {
        for await (const event of run) {
          read++;
          last = event;
        }
      })();
      await new Promise((resolve) => setTimeout(resolve, 200));
      const held = read;
      await new Promise((resolve) => setTimeout(resolve, 200));
      const isHeld = read === held && held <= 16;
      run.resume();
      await new Promise((resolve) => setTimeout(resolve, 300));
      const wentOn = read > held;
      run.pause();
      run.stop();
      await follow;
      return {
        isHeld,
        wentOn,
        event: last.event,
        stop: last.stop,
        value: (await last.model.predict([0])).value.length,
      };
    },
    { isHeld: true, wentOn: true, event: "end", stop: "stopped", value: 1 },
  ));

test("a run predicts during training and afterwards", () =>
  both(
    async (engine) => {
      const run = engine.train(wave(), { epochs: 300, patience: 0 });
      const errors = [];
      let model;
      for await (const event of run) {
        if (event.event === "epoch" && event.epoch % 100 === 0) {
          const { value } = await run.predict(wave().x);
          errors.push(Math.max(...value.map((value, row) => Math.abs(value - wave().y[row]))));
        }
        if (event.event === "end") ({ model } = event);
      }
      const [late, own] = [await run.predict([1]), await model.predict([1])];
      return { isLearning: errors.length === 3 && errors[2] < errors[0], isSame: late.value[0] === own.value[0] };
    },
    { isLearning: true, isSame: true },
  ));

test("a checkpoint resumes bit for bit, in another engine and in another thread", async () => {
  const files = await browser.page.evaluate(async () => {
    const options = { epochs: 30, patience: 0, seed: 5, dropout: 0.1 };
    const whole = await finish(engines.worker.train(wave(), options));
    const run = engines.worker.train(wave(), options);
    for (let read = 0; read < 10; read++) await run.next();
    const checkpoint = await run.checkpoint();
    run.dispose();
    const rest = await finish(engines.page.resume(wave(), checkpoint));
    return [
      String(await whole.model.save()),
      String(await rest.model.save()),
      rest.events[0].epochsDone,
      rest.events[1].epoch,
    ];
  });
  assert.equal(files[0], files[1]);
  assert.ok(files[2] >= 9 && files[2] === files[3], `${files.slice(2)}`);
});

test("tables and files are described, and errors name the file", () =>
  both(
    async (engine) => {
      const file = new File(["a,y\n1,2\n3,4\n"], "small.csv");
      const torn = engine.train(new File(["a,y\n1\n"], "torn.csv"), { target: "y" });
      return [await mero.describe(file), await errorOf(torn.next())];
    },
    [
      {
        rows: 2,
        columns: [
          { name: "a", isNumeric: true },
          { name: "y", isNumeric: true },
        ],
      },
      "InputError: torn.csv: row 1 (line 2): got 1 cells, expected 2; is it a line of text below the table? bad_rows skip leaves such rows out",
    ],
  ));

test("invalid input is rejected with a message", async () => {
  const cases = [
    ["engine.train(() => 1).next()", "InputError: train: data: got a Function, expected a table"],
    [
      "engine.fit(fetch('/dist/web.json'), { target: 'y' })",
      "InputError: fit: data: got a Promise, expected a table; did you forget await?",
    ],
    [
      "model.predict(Promise.resolve([1]))",
      "InputError: predict: data: got a Promise, expected a table; did you forget await?",
    ],
    [
      "engine.load(Promise.resolve())",
      "InputError: load: data: got a Promise, expected a model file; did you forget await?",
    ],
    [
      "engine.resume(wave(), Promise.resolve())",
      "InputError: resume: checkpoint: got a Promise, expected its bytes; did you forget await?",
    ],
    [
      "engine.fit(wave(), { activation: (x) => x })",
      "InputError: fit: activation: got a Function, expected data; onStart and onEpoch are for fit",
    ],
    [
      "engine.train(wave(), { onEpoch() {} })",
      "InputError: train: onEpoch: got a Function, expected data; onStart and onEpoch are for fit",
    ],
    ["engine.train(wave(), { hidden: [() => 1] })", /^InputError: train: the input cannot be sent to the engine: /],
    ["engine.train(wave(), { signal: 5 })", "InputError: train: signal: got 5, expected an AbortSignal"],
    ["engine.train(wave(), 'y')", 'InputError: train: options: got "y", expected an object'],
    [
      "engine.train(wave(), { epoch: 3 }).next()",
      /^InputError: train: option "epoch" is unknown: did you mean "epochs"\?/,
    ],
    ["engine.train([{}, {}], { target: 'y' }).next()", "InputError: train: the rows have no cells"],
    ["engine.train({ x: detached(), y: [1] }).next()", /^InputError: train: the input cannot be sent to the engine: /],
    ["engine.resume(wave(), detached())", /^InputError: resume: the input cannot be sent to the engine: /],
    [
      "engine.resume(wave(), new Uint8Array(9), { epochs: 3 })",
      'InputError: resume: option "epochs" is unknown: expected one of signal, keep',
    ],
    [
      "engine.resumeKept('x', { keep: 'x' })",
      'InputError: resumeKept: option "keep" is unknown: expected one of signal',
    ],
    ["engine.resumeKept().next()", "InputError: keep: the name is null, expected a string"],
    [
      "model.predict(new Float32Array(100_000_001))",
      "InputError: predict: x has 100000001 numbers; at most 100000000 are taken at once",
    ],
    [
      "engine.train({ x: new Float32Array(100_000_001), y: [1] }).next()",
      "InputError: train: x has 100000001 numbers; at most 100000000 are taken at once",
    ],
    ["engine.train('./data.csv').next()", /^LoadError: train: http:.*data.csv answered 404 Not Found$/],
    [
      "engine.train(new URL('/test/blank.html', location)).next()",
      /^LoadError: train: http:.*blank.html is a web page, expected a table$/,
    ],
    [
      "engine.train([[1, 2], [3, 4]]).next()",
      "InputError: train: target: got undefined, expected the name of a column as a string",
    ],
    [
      "engine.train([1, 2]).next()",
      "InputError: train: data is an array, which has no columns: expected rows, columns or { x, y }",
    ],
    [
      "engine.train(new Float32Array(2)).next()",
      "InputError: train: data is of type Float32Array, which has no columns: expected rows, columns or { x, y }",
    ],
    [
      "engine.train(new DataView(new ArrayBuffer(8))).next()",
      "InputError: train: data is of type DataView, expected a table (text, bytes, a file, a URL, rows or columns) or { x, y }",
    ],
    [
      "engine.train(new Map()).next()",
      "InputError: train: data is of type Map, expected a table (text, bytes, a file, a URL, rows or columns) or { x, y }",
    ],
    [
      "engine.train({ ...wave(), bottoms: new Uint8Array(400) }, { head: 'rational' }).next()",
      'InputError: train: data has "bottoms", which is unknown; there are x, y, bottom',
    ],
    ["mero.forget('')", 'InputError: keep: the name is "", expected a string'],
    ["mero.forget(5)", "InputError: keep: the name is 5, expected a string"],
    ["engine.train({ x: [1, , 3], y: [1, 2, 3] }).next()", "InputError: train: x[1] is undefined, expected a number"],
    ["model.predict([[1, 2]])", 'InputError: predict: row 1 has 2 cells, expected 1: "x0"'],
    ["model.predict([{ x1: 2 }])", 'InputError: predict: column "x0" is missing from the rows; they have "x1"'],
    ["model.predict([[1], { x0: 2 }])", "InputError: predict: row 2 is of type Object, expected an array as in row 1"],
    ["engine.train(wave(), { keep: 5 }).next()", "InputError: keep: the name is 5, expected a string"],
    [
      "engine.train({ x: new DataView(new ArrayBuffer(8)), y: [1] }).next()",
      "InputError: train: x is of type DataView, expected a Float32Array or an array of numbers",
    ],
    [
      "engine.train({ ...wave(), bottom: new Uint8Array(400) }).next()",
      'InputError: train: bottom marks rows without a value, which only a head with poles can learn; give head: "rational"',
    ],
    [
      "engine.train({ ...wave(), bottom: new Uint8Array(3) }, { head: 'rational' }).next()",
      "InputError: train: bottom is Uint8Array of 3, expected a Uint8Array of 400 or a Uint32Array of 13 for 400 rows",
    ],
    [
      "engine.train({ ...wave(), bottom: [1] }, { head: 'rational' }).next()",
      "InputError: train: bottom is Float64Array of 1, expected a Uint8Array of 400 or a Uint32Array of 13 for 400 rows",
    ],
    ["engine.resume(wave(), new Uint8Array(9)).next()", /^InputError: checkpoint: /],
    ["engine.resume(wave(), 'text').next()", 'InputError: resume: checkpoint is "text", expected its bytes'],
    ["engine.load(new Uint8Array([0, 0, 0, 128, 0, 0, 0, 0, 123]))", /^InputError: model: .*header/],
    ["engine.load(new Uint8Array([0, 0, 0, 0, 1, 0, 0, 0, 123]))", /^InputError: model: .*header/],
    ["engine.load('/nowhere.safetensors')", /^LoadError: load: http:.*nowhere.safetensors answered 404 Not Found$/],
    ["engine.load(new URL('http://localhost:1/'))", /^LoadError: load: http:\/\/localhost:1\/ cannot be fetched: /],
    ["model.predict([1], { masks: 'bits' })", 'InputError: predict: masks is "bits", expected one of "bytes", "words"'],
    [
      "model.predict([{ x0: 1 }], { masks: 'bits' })",
      'InputError: predict: masks is "bits", expected one of "bytes", "words"',
    ],
    [
      "model.predict([1], { precision: 'f8' })",
      'InputError: predict: precision: got "f8", expected one of "f32", "f16"',
    ],
    ["model.predict(Symbol())", /^InputError: predict: the input cannot be sent to the engine: /],
    ["model.predict([1], { mask: 'words' })", 'InputError: predict: option "mask" is unknown: did you mean "masks"?'],
    ["model.predict([1], ['words'])", "InputError: predict: options: got an array, expected an object"],
    ["engine.load('/test/blank.html')", /^LoadError: load: http:.*blank.html is a web page, expected a model file$/],
    ["engine.load('/x', { onProgress: {} })", "InputError: load: onProgress is of type Object, expected a function"],
    ["engine.load('/dist/meromorph.wasm', { onProgress() { throw new Error('mine'); } })", "Error: mine"],
    ["mero.open({ devise: 'cpu' })", 'InputError: open: option "devise" is unknown: did you mean "device"?'],
    ["mero.open({ worker: 'no' })", 'InputError: open: worker is "no", expected true or false'],
    ["mero.describe('a\\n1\\n', { worker: 1 })", "InputError: describe: worker is 1, expected true or false"],
    ["mero.open('cpu')", 'InputError: open: options: got "cpu", expected an object'],
    ["mero.open({ wasm: '/test/blank.html' })", /^LoadError: open: the engine's WebAssembly cannot be loaded: /],
    [
      "mero.open({ wasm: new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]) })",
      "LoadError: open: the engine's WebAssembly cannot be loaded: it belongs to another version of the package",
    ],
    ["mero.open({ wasm: 7 })", /^LoadError: open: the engine's WebAssembly cannot be loaded: /],
    [
      "mero.open({ wasm: '/nowhere.wasm' })",
      /^LoadError: open: the engine's WebAssembly cannot be loaded: .* answered 404 Not Found$/,
    ],
    ["mero.open({ device: 'webgpu', signal: AbortSignal.abort('no') })", "no"],
    ["engine.resumeKept('nothing').next()", 'InputError: resumeKept: no run is stored under "nothing"'],
  ];
  for (const where of ["worker", "page"]) {
    const got = await browser.page.evaluate(
      async ([where, works]) => {
        const engine = engines[where];
        const { model } = await finish(engine.train(wave(), { epochs: 1 }));
        const all = [];
        for (const work of works)
          all.push(
            await errorOf(new Function("engine", "model", `return (async () => { await (${work}) })()`)(engine, model)),
          );
        return all;
      },
      [where, cases.map(([work]) => work)],
    );
    const wrong = cases.flatMap(([work, expected], at) =>
      (expected instanceof RegExp ? expected.test(got[at]) : expected === got[at])
        ? []
        : [`${work}\n  got    ${got[at]}\n  expected ${expected}`],
    );
    assert.deepEqual(wrong, [], `${where}:\n${wrong.join("\n")}`);
  }
});

test("objects of another frame are accepted", async () => {
  const got = await browser.page.evaluate(async () => {
    const frame = document.body.appendChild(document.createElement("iframe")).contentWindow;
    const engine = await mero.open({ device: "cpu" });
    const abort = new frame.AbortController();
    const { events } = await finish(
      engine.train(new frame.File(["a,y\n", "1,2\n2,4\n3,6\n4,8\n5,10\n6,12\n".repeat(20)], "far.csv"), {
        target: "y",
        epochs: 2,
        signal: abort.signal,
      }),
    );
    const loading = errorOf(engine.load(new Response(new ReadableStream()), { signal: abort.signal }));
    abort.abort("enough");
    const results = [events.at(-1).event, await loading];
    engine.dispose();
    return results;
  });
  assert.deepEqual(got, ["end", "enough"]);
});

test("a stopped run reaches its end event even if it is paused afterwards", () =>
  both(
    async (engine) => {
      const ends = [];
      for (const abort of [undefined, new AbortController()]) {
        const run = engine.train(wave(), { epochs: 1e6, patience: 0, signal: abort?.signal });
        await run.next();
        if (abort) abort.abort();
        else run.stop();
        run.pause();
        ends.push((await finish(run)).events.at(-1).stop);
      }
      return ends;
    },
    ["stopped", "stopped"],
  ));

test("the prediction of no rows is empty", () =>
  both(
    async (engine) => {
      const { events } = await finish(engine.train(wave(), { epochs: 1, validation: 0, test: 0 }));
      const { validation, test } = events.at(-1);
      return [validation, test].map(({ rows, ...figures }) => [
        rows,
        Object.values(figures).every((figure) => figure === null),
      ]);
    },
    [
      [0, true],
      [0, true],
    ],
  ));

test("null counts as unset, and later changes of the options have no effect", () =>
  both(async () => {
    const signal = null;
    const engine = await mero.open({ device: "cpu", threads: null, worker: null, wasm: null, signal });
    const options = { epochs: 2, hidden: [4], keep: null, signal };
    const run = engine.train(wave(), options);
    options.epochs = 7;
    options.hidden.push(1e9);
    const { model, events } = await finish(run);
    const { value } = await model.predict([1], { masks: null, precision: null, signal });
    engine.dispose();
    return [events.length, value.length, (await mero.describe("a\n1\n", null)).rows];
  }, [4, 1, 1]));

test("a model whose call was aborted is freed", async () => {
  const calls = await browser.page.evaluate(async () => {
    const calls = [];
    const { MessageChannel } = globalThis;
    globalThis.MessageChannel = function () {
      const channel = new MessageChannel();
      const { port1 } = channel;
      const { postMessage } = port1;
      port1.postMessage = (message, ...more) => (calls.push(message), postMessage.call(port1, message, ...more));
      return channel;
    };
    const engine = await mero.open({ device: "cpu" });
    globalThis.MessageChannel = MessageChannel;
    // Kept in a variable: garbage-collected handles are freed too.
    const run = engine.train(wave(), { epochs: 1 });
    const { model } = await finish(run);
    const file = await model.save();
    const abort = new AbortController();
    const loading = errorOf(engine.load(file, { signal: abort.signal }));
    while (calls.at(-1).call !== "load") await new Promise((resolve) => setTimeout(resolve));
    abort.abort("enough");
    const reason = await loading;
    const other = await engine.load(file);
    const dropped = calls.filter(({ call, on }) => call === "dispose" && on > 0).map(({ on }) => on);
    [run, model, other, engine].forEach((held) => held.dispose());
    return [reason, dropped];
  });
  // Object 1 is the run, 2 its model, and 3 the model of the aborted call.
  assert.deepEqual(calls, ["enough", [1, 3]]);
});

test("disposing of an engine ends its downloads", () =>
  both(async () => {
    const engine = await mero.open({ device: "cpu" });
    const ends = [];
    const endless = () =>
      new Response(
        new ReadableStream({ pull: () => new Promise(() => {}), cancel: () => void ends.push("cancelled") }),
      );
    const loading = [{}, { signal: new AbortController().signal }].map((options) =>
      errorOf(engine.load(endless(), options)),
    );
    engine.dispose();
    return [...(await Promise.all(loading)), ...ends];
  }, ["InputError: engine: was disposed of", "InputError: engine: was disposed of", "cancelled", "cancelled"]));

test("null in any option counts as unset", () =>
  both(
    async (engine) => {
      const none = {
        task: null,
        features: null,
        ignore: null,
        hidden: null,
        activation: null,
        dropout: null,
        loss: null,
        delta: null,
        classWeights: null,
        batch: null,
        lr: null,
        patience: null,
        seed: null,
        optimizer: null,
        schedule: null,
        warmup: null,
        step: null,
        head: null,
        tauInfer: null,
        norm: null,
        policy: null,
        term: null,
        samplePoles: null,
        keep: null,
        signal: null,
        target: null,
        categorical: null,
        validation: null,
        holdCoverage: null,
      };
      const [unset, plain] = [
        (await finish(engine.train(wave(), { ...none, epochs: 1 }))).model,
        (await finish(engine.train(wave(), { epochs: 1 }))).model,
      ];
      const values = [
        await unset.predict([1], null),
        await plain.predict([1], { masks: null, precision: null, signal: null }),
      ].map(({ value }) => value[0]);
      return [Number.isFinite(values[0]), values[0] === values[1]];
    },
    [true, true],
  ));

test("errors keep their classes", () =>
  both(
    async (engine) => {
      const error = await engine
        .train(5)
        .next()
        .catch((error) => error);
      return [
        error instanceof mero.InputError,
        error instanceof mero.MeromorphError,
        error instanceof mero.DeviceError,
      ];
    },
    [true, true, false],
  ));

test("aborted signals reject with their reason, and stop an active run", () =>
  both(
    async (engine) => {
      const { model } = await finish(engine.train(wave(), { epochs: 1 }));
      const gone = { signal: AbortSignal.abort(new Error("gone")) };
      const early = [
        mero.open(gone),
        mero.open({ ...gone, worker: false }),
        mero.describe("a\n1\n", gone),
        engine.train(wave(), gone).next(),
        engine.resume(wave(), new Uint8Array(), gone).next(),
        engine.load(new Uint8Array(), gone),
        engine.load("/x", gone),
        model.predict([1], gone),
      ];
      const late = () => {
        const abort = new AbortController();
        setTimeout(() => abort.abort(new Error("late")));
        return { signal: abort.signal };
      };
      const results = await Promise.all(early.map(errorOf));
      const during = await Promise.all([mero.open(late()), model.predict(new Float32Array(3e5), late())].map(errorOf));
      return { results: [...new Set(results)], during };
    },
    { results: ["Error: gone"], during: ["Error: late", "Error: late"] },
  ));

test("disposed objects reject pending and later calls", async () => {
  const got = await browser.page.evaluate(async () => {
    const engine = await mero.open({ device: "cpu" });
    const { model } = await finish(engine.train(wave(), { epochs: 1 }));
    const other = (await finish(engine.train(wave(), { epochs: 1 }))).model;
    const run = engine.train(wave(), { epochs: 1e5, patience: 0 });
    await run.next();
    const waiting = [model.predict(new Float32Array(1e5)), run.checkpoint()];
    model.dispose();
    run.dispose();
    const all = await Promise.all([...waiting, model.predict([1]), model.save(), run.predict([1])].map(errorOf));
    all.push((await run.next()).done, (await other.predict([1])).value.length);
    const last = other.predict(new Float32Array(1e5));
    engine[Symbol.dispose]();
    engine.dispose();
    return [
      ...all,
      ...(await Promise.all(
        [last, other.save(), engine.train(wave()).next(), engine.load(new Uint8Array(9))].map(errorOf),
      )),
    ];
  });
  const [model, run, engine] = ["model", "run", "engine"].map((what) => `InputError: ${what}: was disposed of`);
  assert.deepEqual(got, [model, run, model, model, run, true, 1, engine, engine, engine, engine]);
});

test("a model loads with progress, and a too large file is rejected before it is read", async () => {
  const file = await browser.page.evaluate(async () => [
    ...(await (await finish(engines.worker.train(wave(), { epochs: 1 }))).model.save()),
  ]);
  const requests = [];
  const server = closedAtTheEnd(
    createServer((request, response) => {
      requests.push(request.url);
      response.setHeader("access-control-allow-origin", "*");
      response.setHeader("access-control-expose-headers", "content-length");
      if (request.url === "/huge") return response.writeHead(200, { "content-length": String(2 ** 31) }).write("x");
      if (request.url === "/torn")
        return response.writeHead(200, { "content-length": "99999" }).write("x", () => response.destroy());
      if (request.url === "/slow") return response.writeHead(200).write("x");
      response.writeHead(200, { "content-length": String(file.length) }).end(Uint8Array.from(file));
    }),
  );
  await new Promise((resolve) => server.listen(0, "localhost", resolve));
  const got = await browser.page.evaluate(async (base) => {
    const engine = engines.worker;
    const progress = [];
    const model = await engine.load(new URL(`${base}/a/model.safetensors?x`), {
      onProgress: (now) => progress.push(now),
    });
    const again = await engine.load(await fetch(`${base}/again`));
    const abort = new AbortController();
    const slow = errorOf(
      engine.load(`${base}/slow`, { signal: abort.signal, onProgress: () => abort.abort(new Error("enough")) }),
    );
    return {
      last: progress.at(-1),
      columns: [model.info.columns, again.info.columns],
      errors: await Promise.all([errorOf(engine.load(`${base}/huge`)), errorOf(engine.load(`${base}/torn`)), slow]),
    };
  }, `http://localhost:${server.address().port}`);
  server.closeAllConnections();
  server.close();
  assert.deepEqual(got.last, { loaded: file.length, total: file.length });
  assert.deepEqual(got.columns, [["x0"], ["x0"]]);
  assert.match(got.errors[0], /^LoadError: load: http.*\/huge has 2147483648 bytes; at most 1073741824 can be loaded$/);
  assert.match(got.errors[1], /^LoadError: load: http.*\/torn was interrupted: /);
  assert.equal(got.errors[2], "Error: enough");
  assert.equal(requests.length, 5);
});

test("the wasm can be a URL, a response, bytes or a module", async () => {
  const got = await browser.page.evaluate(async () => {
    const url = new URL("/dist/meromorph.wasm", location);
    const bytes = await (await fetch(url)).arrayBuffer();
    const all = [];
    for (const wasm of [
      url,
      url.pathname,
      fetch(url),
      bytes,
      new Uint8Array(bytes),
      await WebAssembly.compile(bytes),
    ]) {
      const engine = await mero.open({ device: "cpu", wasm: await wasm });
      all.push(engine.info.name);
      engine.dispose();
    }
    return all;
  });
  assert.deepEqual(got, Array(6).fill("WebAssembly"));
});

test("the page is never blocked for 50 ms while the worker trains", {
  skip: isFirefox && "Firefox does not report long tasks",
}, async () => {
  const { page, close } = await visit("/test/blank.html");
  const got = await page.evaluate(async (text) => {
    let tasks = [];
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
      entryTypes: ["longtask"],
    });
    const { open } = await import("/dist/index.js");
    const during = async (work) => {
      tasks = [];
      await work();
      await new Promise((resolve) => setTimeout(resolve, 100));
      return tasks;
    };
    const received = [];
    const train = async (options) => {
      const engine = await open(options);
      for await (const { event } of engine.train(text, { target: "y", epochs: 4, hidden: [128, 128] }))
        received.push(event);
      engine.dispose();
    };
    // On a busy machine any task can be long once. A blocking engine would be long every time.
    const inWorker = [];
    for (const device of ["cpu", "webgpu"]) {
      let tasks;
      for (let attempt = 0; attempt < 3 && tasks?.length !== 0; attempt++)
        tasks = await during(() => train({ device }));
      inWorker.push(...tasks);
    }
    const inPage = await during(() => train({ device: "cpu", worker: false }));
    return { received: received.length, inWorker, inPage };
  }, smooth(60_000));
  await close();
  assert.ok(got.received >= 18 && got.received % 6 === 0, `${got.received} events`);
  assert.deepEqual(got.inWorker, []);
  // Check of the observer itself: without a worker, reading the table of 60,000 rows does block the page.
  assert.ok(got.inPage.length > 0);
});

test("any number of events can be requested at once, and the end comes once", () =>
  both(
    async (engine) => {
      const run = engine.train(wave(), { epochs: 30, patience: 0 });
      const all = await Promise.all(Array.from({ length: 40 }, () => run.next()));
      return [
        all.filter(({ value }) => value?.event === "epoch").length,
        all.filter(({ value }) => value?.event === "end").length,
        all.filter(({ done }) => done).length,
      ];
    },
    [30, 1, 8],
  ));

/** A page with `head`; with `path`, the package comes from another origin. */
async function guest(head, work, route) {
  const { page, close } = await visit("/test/blank.html");
  try {
    const base = page.url();
    await page.route("**/guest.html", (request) =>
      request.fulfill({ contentType: "text/html", body: `<!doctype html><title>guest</title>${head}` }),
    );
    if (route) await page.route(...route);
    await page.goto(new URL("/guest.html", base).href);
    return await page.evaluate(`(${work})()`);
  } finally {
    await close();
  }
}

test("from another origin, the worker is created from text and the wasm is fetched", async () => {
  const requested = [];
  const cdn = [
    "https://cdn.example/**",
    (request) => {
      const { pathname } = new URL(request.request().url());
      requested.push(pathname);
      return request.fulfill({ path: join(web, pathname), headers: { "access-control-allow-origin": "*" } });
    },
  ];
  const name = await guest(
    "",
    async () => {
      const engine = await (await import("https://cdn.example/dist/index.js")).open({ device: "cpu" });
      for await (const event of engine.train("a,y\n1,2\n2,3\n3,4\n4,5\n5,6\n6,7\n7,8\n", { target: "y", epochs: 2 }))
        if (event.event === "end") return event.model.info.target;
    },
    cdn,
  );
  assert.equal(name, "y");
  assert.deepEqual(requested.sort(), ["/dist/index.js", "/dist/inline-worker.js", "/dist/meromorph.relaxed.wasm"]);
});

test("a strict security policy suffices, and the error names what a stricter one forbids", async () => {
  const policy = (script) =>
    `<meta http-equiv="content-security-policy" content="default-src 'self'; script-src 'self' ${script}; worker-src 'self'">`;
  const work = async () => {
    const { open } = await import("/dist/index.js");
    return open({ device: "cpu" }).then(
      ({ info }) => info.device,
      (error) => `${error.name}: ${error.message}`,
    );
  };
  assert.equal(await guest(policy("'wasm-unsafe-eval'"), work), "cpu");
  assert.match(await guest(policy(""), work), /^LoadError: open: .*(Content Security Policy|CSP)/);
});

test("without the relaxed SIMD file the plain build is loaded", async () => {
  const { page, close } = await visit("/test/blank.html");
  const requested = [];
  page.on("request", (request) => {
    if (/\.wasm$/.test(request.url())) requested.push(new URL(request.url()).pathname);
  });
  await page.route("**/meromorph.relaxed.wasm", (route) => route.fulfill({ status: 404 }));
  const device = await page.evaluate(async () => {
    const { open } = await import("/dist/index.js");
    const engine = await open({ device: "cpu" });
    const { device } = engine.info;
    engine.dispose();
    return device;
  });
  assert.equal(device, "cpu");
  assert.deepEqual(requested, ["/dist/meromorph.relaxed.wasm", "/dist/meromorph.wasm"]);
  await close();
});
