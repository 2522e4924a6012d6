// Cases that people reported, each with its right answer worked out by hand. In Node; those that need a page are in the
// suites of the browser.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, before } from "node:test";
import { promisify } from "node:util";
import { build } from "esbuild";
import * as mero from "../dist/node.js";
import { isFirefox, test, uniform, visit, web } from "./browser.mjs";

let engine;
let pack;

before(async () => {
  engine = await mero.open({ device: "cpu" });
  // The package does not export it.
  const {
    outputFiles: [{ text }],
  } = await build({
    entryPoints: [join(web, "src/parcel.ts")],
    bundle: true,
    write: false,
    format: "esm",
    logLevel: "warning",
  });
  ({ pack } = await import(`data:text/javascript,${encodeURIComponent(text)}`));
});
after(() => engine.dispose());

/** Runs a script in a Node of its own, with the package's `open` and `gc`. Returns what it prints, as JSON. */
async function script(text) {
  const source = `import * as mero from ${JSON.stringify(join(web, "dist/node.js"))};\n${text}`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", "--input-type=module", "-e", source], {
    timeout: 60_000,
  });
  return JSON.parse(stdout);
}

test("forgotten engines and models are freed", async () => {
  const freed = await script(`
    import { Worker } from "node:worker_threads";
    const count = { engines: 0, workers: 0, models: 0 };
    const registry = new FinalizationRegistry((kind) => count[kind]++);
    const { terminate } = Worker.prototype;
    Worker.prototype.terminate = function () { count.workers++; return terminate.call(this); };
    const collect = async () => { for (let i = 0; i < 20; i++) { gc(); await new Promise((done) => setTimeout(done, 20)); } };
    const open = async () => {
      const engine = await mero.open({ device: "cpu" });
      registry.register(engine, "engines");
      return engine;
    };
    const x = Float32Array.from({ length: 40 }, (_, row) => row);
    const train = async (engine) => {
      const { model } = await engine.fit({ x, y: x }, { epochs: 1, hidden: [] });
      await model.predict([1]);
      registry.register(model, "models");
    };
    for (let i = 0; i < 8; i++) await open();
    await collect();
    const kept = await mero.open({ device: "cpu" });
    for (let i = 0; i < 8; i++) await train(kept);
    await collect();
    console.log(JSON.stringify(count));
    kept.dispose();
  `);
  assert.deepEqual(freed, { engines: 8, workers: 8, models: 8 });
});

test("an abort before the first epoch was completed rejects with the signal's reason", async () => {
  const x = Float64Array.from({ length: 300_000 }, (_, at) => Math.sin(at));
  const y = Float64Array.from({ length: 100_000 }, (_, row) => 100 + 50 * x[3 * row]);
  const reason = new Error("changed my mind");
  const abort = new AbortController();
  await assert.rejects(engine.fit({ x, y }, { signal: abort.signal, onStart: () => abort.abort(reason) }), reason);
  const plain = new AbortController();
  await assert.rejects(engine.fit({ x, y }, { signal: plain.signal, onStart: () => plain.abort() }), {
    name: "AbortError",
  });
  const third = new AbortController();
  const run = engine.train({ x, y }, { signal: third.signal });
  assert.equal((await run.next()).value.event, "start");
  third.abort(reason);
  await assert.rejects(run.next(), reason);
  // After a completed epoch its model is the result, and a run that is stopped without a signal ends as before.
  const late = new AbortController();
  const few = { x: x.slice(0, 300), y: y.slice(0, 100) };
  const { bestEpoch, stop } = await engine.fit(few, {
    epochs: 1e6,
    patience: 0,
    signal: late.signal,
    onEpoch: () => late.abort(),
  });
  assert.ok(stop === "stopped" && bestEpoch !== null);
  const stopped = engine.train({ x, y }, {});
  await stopped.next();
  stopped.stop();
  let last;
  for await (const event of stopped) last = event;
  assert.deepEqual([last.event, last.stop], ["end", "stopped"]);
});

test("only a text that clearly is an address is fetched; any other is data or an error", async () => {
  const { page, close } = await visit("/test/blank.html", { webgpu: false });
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.evaluate(async () => {
    const { open, describe } = await import("/dist/index.js");
    const engine = await open({ device: "cpu" });
    window.tried = async (call, text) => {
      const answer =
        call === "describe"
          ? describe(text)
          : call === "load"
            ? engine.load(text)
            : engine.fit(text, { target: "salary" });
      return answer.then(
        (value) => JSON.stringify(value),
        (error) => `${error.name}: ${error.message}`,
      );
    };
    await describe("a\n1\n");
  });
  const start = asked.length;
  const base64 = "yAUAAAAAAAB7".repeat(40);
  const texts = {
    json: '[{"name":"A","salary":5}]',
    broken: '[{"name":"A","salary":5}',
    fields: '{"salary":[5,6]}',
    line: "name,salary",
    semicolons: "name;salary",
    tabs: "name\tsalary",
    base64,
    slash: `/9j/${base64}`,
    word: "hello",
    mail: "ann@example.org",
    date: "12/31/2025",
    number: "3.14",
    token: "eyJhbGciOi.eyJzdWIiOi.SflKxwRJSMeKKF2QT4fwpMeJf36POk",
    key: "sk-live-abc/def",
    search: "https://example.org/?q=a b",
    list: "https://example.org/a,b",
    script: "javascript:alert(1)",
    long: `/${"a.b".repeat(1000)}`,
    sentence: "my salary is 5",
  };
  const got = await page.evaluate(async (texts) => {
    const all = {};
    for (const call of ["describe", "fit", "load"])
      for (const [name, text] of Object.entries(texts)) all[`${call} ${name}`] = await window.tried(call, text);
    return all;
  }, texts);
  assert.deepEqual(
    asked.slice(start).filter((path) => !path.startsWith("/dist/")),
    [],
    "nothing was sent",
  );
  assert.equal(
    got["describe json"],
    '{"rows":1,"columns":[{"name":"name","isNumeric":false},{"name":"salary","isNumeric":true}]}',
  );
  assert.equal(got["describe fields"], '{"rows":2,"columns":[{"name":"salary","isNumeric":true}]}');
  assert.equal(got["describe line"], "InputError: table: has no rows");
  assert.match(got["fit broken"], /^InputError: fit: the text begins like JSON, but it is not: /);
  assert.match(
    got["fit base64"],
    /^InputError: fit: data: got "yAUA.*"…, expected a table as text; it looks like base64: decode it first/,
  );
  assert.match(
    got["load base64"],
    /^InputError: load: got "yAUA.*…, expected the bytes of a model file, or its URL; it looks like base64/,
  );
  assert.match(
    got["fit word"],
    /^InputError: fit: data: got "hello", expected a table as text; a text is fetched if it begins with/,
  );
  assert.match(got["load list"], /to fetch it, give a URL: load\(new URL\(…\)\)$/);
  for (const [name, answer] of Object.entries(got))
    if (!name.startsWith("describe")) assert.match(answer, /^InputError: /, name);
  const addresses = [
    "/data/a.csv",
    "./a",
    "../a.json",
    "houses.csv?v=2",
    "data/häuser.csv",
    "http://localhost:1/x",
    "blob:nothing",
    "data:text/csv,a%0A1%0A",
  ];
  const fetched = await page.evaluate(
    (all) => Promise.all(all.map((text) => window.tried("describe", text))),
    addresses,
  );
  fetched.forEach((answer, at) =>
    assert.match(answer, at === addresses.length - 1 ? /^\{"rows":1/ : /^LoadError: describe: /, addresses[at]),
  );
  await close();
});

test("JSON as text or as a file is a table, and a damaged one is an error about JSON", async () => {
  const rows = Array.from({ length: 60 }, (_, at) => ({
    size: at % 13,
    city: at % 2 ? "Oslo" : "Rome",
    price: 3 * (at % 13),
  }));
  const text = JSON.stringify(rows);
  const expected = {
    rows: 60,
    columns: [
      { name: "size", isNumeric: true },
      { name: "city", isNumeric: false },
      { name: "price", isNumeric: true },
    ],
  };
  const lines = rows.map((row) => JSON.stringify(row)).join("\n");
  const columns = JSON.stringify(
    Object.fromEntries(["size", "city", "price"].map((name) => [name, rows.map((row) => row[name])])),
  );
  const bytes = (text) => new TextEncoder().encode(text);
  for (const data of [
    text,
    JSON.stringify(rows, null, 2),
    `\uFEFF${text}`,
    lines,
    columns,
    bytes(text),
    bytes(text).buffer,
    new Blob([lines]),
    new File([columns], "a.json"),
    new Response(text),
  ]) {
    assert.deepEqual(await mero.describe(data), expected);
  }
  const options = { target: "price", epochs: 2, hidden: [4] };
  const [{ model }, { model: other }] = [await engine.fit(text, options), await engine.fit(rows, options)];
  assert.deepEqual(await model.save(), await other.save());
  // As a file it has one result for all rows.
  assert.deepEqual(
    (await model.predict(text)).value,
    Float64Array.from((await model.predict(rows)).map(({ value }) => value)),
  );
  for (const data of [text.slice(0, -1), new File([text.slice(0, -1)], "a.json")])
    await assert.rejects(engine.fit(data, options), /^InputError: fit: .* begins like JSON, but it is not: /);
  // A header in brackets is CSV.
  assert.equal((await mero.describe("[mm],[s]\n1,2\n")).rows, 1);
});

test("labels come back with the type that they had", async () => {
  const next = uniform(3);
  const rows = Array.from({ length: 200 }, () => [Math.floor(100 * next()), Math.floor(100 * next())]).map(
    ([a, b]) => ({
      a,
      b,
      win: a > b,
      digit: a > b ? 1 : 0,
      half: a > b ? 1.5 : -2,
      large: a > b ? 1n : 0n,
      text: a > b ? "1" : "0",
      mixed: a > b ? 1 : "no",
      city: a % 2 ? "Oslo" : "Rome",
    }),
  );
  const share = (predictions, target) =>
    predictions.filter(({ value }, row) => value === rows[row][target]).length / rows.length;
  for (const target of ["win", "digit", "half", "large", "text"]) {
    for (const inputs of [
      ["a", "b"],
      ["a", "b", "city"],
    ]) {
      const { model } = await engine.fit(
        rows.map((row) => Object.fromEntries([...inputs, target].map((name) => [name, row[name]]))),
        { target, task: "classification", epochs: 20, hidden: [16] },
      );
      const rowsAnswer = await model.predict(rows);
      assert.ok(
        share(rowsAnswer, target) > 0.9,
        `${target}: ${share(rowsAnswer, target)}, such as ${typeof rowsAnswer[0].value}`,
      );
      const columns = await model.predict(
        Object.fromEntries(inputs.map((name) => [name, rows.map((row) => row[name])])),
      );
      assert.deepEqual(
        columns.value,
        rowsAnswer.map(({ value }) => value),
      );
    }
  }
  const options = { target: "label", epochs: 2, hidden: [4], task: "classification" };
  const type = async (data) => typeof (await (await engine.fit(data, options)).model.predict([{ a: 1 }]))[0].value;
  const column = (value) =>
    Object.fromEntries([
      ["a", rows.map(({ a }) => a)],
      ["label", rows.map(value)],
    ]);
  assert.equal(await type(column(({ mixed }) => mixed)), "string");
  assert.equal(await type(column(({ win }, row) => (row === 0 ? null : win))), "boolean");
  assert.equal(await type(`a,label\n${rows.map(({ a, digit }) => `${a},${digit}\n`).join("")}`), "string");
  assert.equal(await type(JSON.stringify(rows.map(({ a, digit }) => ({ a, label: digit })))), "number");
  const arrays = { x: Float32Array.from(rows, ({ a }) => a), y: Int8Array.from(rows, ({ digit }) => digit) };
  const run = engine.train(arrays, { epochs: 40, patience: 0, task: "classification", hidden: [4] });
  await run.next();
  const checkpoint = await run.checkpoint();
  assert.equal(typeof (await run.predict([1])).value[0], "number");
  run.dispose();
  for await (const event of engine.resume(arrays, checkpoint))
    if (event.event === "end") assert.equal(typeof (await event.model.predict([1])).value[0], "number");
});

test("a model file says the type of the labels", async () => {
  const rows = Array.from({ length: 60 }, (_, at) => ({ a: at, digit: at < 30 ? 1 : 0, text: at < 30 ? "1" : "0" }));
  for (const [target, type] of [
    ["digit", "number"],
    ["text", "string"],
  ]) {
    const { model } = await engine.fit(
      rows.map((row) => ({ a: row.a, label: row[target] })),
      { target: "label", task: "classification", epochs: 2, hidden: [4] },
    );
    const again = await engine.load(await model.save());
    assert.deepEqual([again.info, typeof (await again.predict(rows))[0].value], [model.info, type]);
  }
});

test("options decide which columns are read before the columns of rows are", async () => {
  const rows = Array.from({ length: 60 }, (_, at) => ({
    size: at % 13,
    tags: ["a"],
    about: { deep: 1 },
    price: 3 * (at % 13),
  }));
  const columns = Object.fromEntries(
    ["size", "tags", "about", "price"].map((name) => [name, rows.map((row) => row[name])]),
  );
  const quick = { target: "price", epochs: 2, hidden: [4] };
  for (const data of [rows, columns, { ...columns, source: "shop" }]) {
    for (const options of [
      { ignore: ["tags", "about", ...("source" in data ? ["source"] : [])] },
      { features: ["size"] },
    ]) {
      const { model } = await engine.fit(data, { ...quick, ...options });
      assert.deepEqual(model.info.columns, ["size"]);
      const [one, [same]] = [await model.predict(rows[0]), await model.predict(rows)];
      assert.deepEqual(one, same);
      assert.equal((await model.predict(columns)).value[0], one.value);
    }
  }
  await assert.rejects(
    engine.fit(rows, quick),
    new mero.InputError(
      'fit: row 1, column "tags" is an array, expected a number, a text, true, false, a Date or null',
    ),
  );
  await assert.rejects(engine.fit(rows, { ...quick, features: ["size", "tags"] }), /column "tags" is an array/);
});

test("a column that a row of a prediction lacks is filled in, as in an exported model; a misspelt one is an error", async () => {
  const rows = Array.from({ length: 60 }, (_, at) => ({
    size: at % 13,
    city: at % 2 ? "Oslo" : "Rome",
    price: 3 * (at % 13) + (at % 2),
  }));
  const { model } = await engine.fit(rows, { target: "price", epochs: 2, hidden: [4] });
  for (const row of [{ size: 5 }, { size: 5, price: 1 }, { size: 5, city: null }]) {
    assert.deepEqual(
      [(await model.predict(row)).note, (await model.predict([row]))[0].note],
      Array(2).fill("city: missing, a usual value filled in"),
    );
  }
  await assert.rejects(
    model.predict({ size: 5, town: "Oslo" }),
    new mero.InputError('predict: column "city" is missing from the rows; they have "size", "town"'),
  );
  await assert.rejects(model.predict({}), mero.InputError);
  await assert.rejects(model.evaluate([{ size: 5, price: 3 }]), /column "city" is missing/);
});

test("several targets are refused with the nearest way", async () => {
  await assert.rejects(
    engine.fit({
      x: [[1], [2]],
      y: [
        [1, 0],
        [0, 1],
      ],
    }),
    /^InputError: fit: y holds arrays: several targets in one model are not possible yet; train one model for each column of y.*y\.map/,
  );
  await assert.rejects(
    engine.fit([{ a: 1, b: 2, c: 3 }], { target: ["b", "c"] }),
    /^InputError: fit: target: got an array: several targets in one model are not possible yet; train one model for each target/,
  );
});

test("a table of many rows is read in parts, between which others run; a short one is copied at once", async () => {
  const made = (count) =>
    Array.from({ length: count }, (_, at) => ({
      size: at % 97,
      height: at % 31,
      city: `city ${at % 5}`,
      sold: at % 2 === 0,
      day: at % 7,
      price: at % 97,
    }));
  const model = { target: "price", epochs: 1, hidden: [], seed: 1 };
  for (const count of [20_000, 100_000]) {
    const rows = made(count);
    let [longest, turns, last] = [0, 0, performance.now()];
    const turn = () => {
      const now = performance.now();
      [longest, turns, last] = [Math.max(longest, now - last), turns + 1, now];
    };
    const packing = pack("train", rows, "data", { request: fetch, arrays: "alone" });
    const timer = setInterval(turn);
    const { parcel } = await packing;
    clearInterval(timer);
    turn();
    console.log(`${count} rows: ${turns} turns, the longest ${longest.toFixed(0)} ms`);
    assert.ok(turns > 2, `${count} rows: ${turns} turns`);
    assert.equal(new TextDecoder().decode(parcel.data).split("\n").length, count + 2);
  }
  const [rows, others] = [made(300), made(300)];
  const fitting = engine.fit(rows, model);
  for (const row of rows) row.price = 0;
  assert.deepEqual(await (await fitting).model.save(), await (await engine.fit(others, model)).model.save());
});

test("an exported page has the title that a person chose, and three digits", async () => {
  const { html } = await import("../dist/export.js");
  const rows = Array.from({ length: 60 }, (_, at) => ({
    city: at % 2 ? "Oslo" : "Rome",
    size: at % 13,
    price: 1000 * (at % 13) + 17 * at,
  }));
  const { model } = await engine.fit(rows, { target: "price", epochs: 3, hidden: [4] });
  const chosen = "Prices <b>&amp; more";
  const pages = [await html(model, { title: chosen }), await html(model)];
  await assert.rejects(html(model, { title: 5 }), new mero.InputError("html: title: got 5, expected a text", "usage"));
  const { page, close } = await visit("/test/blank.html", { webgpu: false });
  for (const [at, text] of pages.entries()) {
    await page.setContent(text);
    await page.waitForSelector("html[data-ready]");
    await page.waitForFunction("document.getElementById('answer').textContent !== ''");
    assert.equal(await page.textContent("#target"), [chosen, "price"][at]);
    const number = (await page.textContent("#answer strong")).replace("−", "-");
    assert.equal(number, String(Number(Number(await page.getAttribute("#answer", "title")).toPrecision(3))));
    assert.equal(
      await page.$eval("#along", (select) => select.selectedOptions[0].textContent),
      "size",
      "the first chart is of a number",
    );
  }
  await close();
});

test("an option by another name is recognised", async () => {
  const data = { x: [1, 2, 3, 4], y: [1, 2, 3, 4] };
  const message = (options) =>
    engine.fit(data, options).then(
      () => "",
      ({ message }) => message,
    );
  for (const [given, meant] of [
    ["layers", "hidden"],
    ["iterations", "epochs"],
    ["earlyStopping", "patience"],
    ["l2", "weightDecay"],
  ]) {
    assert.equal(await message({ [given]: 1 }), `fit: option "${given}" is unknown: did you mean "${meant}"?`);
  }
  assert.match(
    await message({ verbose: true }),
    /^fit: option "verbose" is unknown: nothing is printed here \(quiet is an option of the mero program\); onEpoch/,
  );
  const { model } = await engine.fit(
    {
      ...data,
      x: Array(400)
        .fill(1)
        .map((_, at) => at),
      y: Array(400)
        .fill(1)
        .map((_, at) => at),
    },
    { epochs: 1, hidden: [] },
  );
  await assert.rejects(
    model.predict([1], { mask: "words" }),
    new mero.InputError('predict: option "mask" is unknown: did you mean "masks"?', "usage"),
  );
  await assert.rejects(
    model.predict([1], { temperature: 1 }),
    /option "temperature" is unknown: expected one of unknown, precision, interval, masks/,
  );
});

test("a service worker trains with the inline entry point, and the others name it", { skip: isFirefox }, async () => {
  const { page, close } = await visit("/test/blank.html", { webgpu: false });
  const [inline, direct, worker] = await page.evaluate(async () => {
    const { installing, waiting, active } = await navigator.serviceWorker.register("/test/service.mjs", {
      type: "module",
    });
    const { port1, port2 } = new MessageChannel();
    const answer = new Promise((resolve) => {
      port1.onmessage = ({ data }) => resolve(data);
    });
    (installing ?? waiting ?? active).postMessage(null, [port2]);
    return answer;
  });
  assert.equal(inline, 2);
  assert.match(
    direct,
    /^LoadError: open: worker: false: the engine's script cannot be loaded here: .*import \{ open \} from "meromorph\/inline", or load meromorph\.classic\.js with importScripts$/,
  );
  assert.match(worker, /^LoadError: open: workers cannot be started here, as in a service worker: give worker: false/);
  await close();
});
