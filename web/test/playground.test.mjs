// The playground as a person uses it: train, compare, pause, save, load, predict, drop files, read error messages.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { classes, test } from "./browser.mjs";
import { address, browsers, demo, device, drawn, figuresOf, onDevice, shift, texts } from "./site.mjs";

for (const kind of ["wasm", "webgpu"]) {
  test(`Playground on ${kind}: the example trains by keyboard, next to a perceptron`, async () => {
    const { page, trained, done } = await demo("playground", { kind });
    await onDevice(page, kind);
    await page.fill("#epochs", "12");
    assert.ok(await page.isChecked("#compare"));
    await page.focus("#train");
    await page.keyboard.press("Enter");
    await trained();
    assert.equal(await page.textContent("#status"), "Done.");
    assert.match(await page.textContent("#device-name"), device(kind));
    assert.deepEqual(await texts(page, ".panel h2"), ["Rational head", "Plain perceptron"]);
    const figures = await figuresOf(page, ".panel:first-child .figures");
    assert.match(figures.Coverage, /^\d+\.\d %$/);
    assert.ok(Number(figures["Median error"]) < 0.5, `median error ${figures["Median error"]}`);
    assert.equal(figures["Training rows"], "1,400");
    const states = await texts(page, ".panel .status");
    assert.match(states[0], /^All epochs are done\. The model has the weights of epoch \d+\./);
    assert.match(states[1], /55 of 2000 rows dropped; y: 0 missing, 55 infinite$/);
    for (const canvas of await page.$$(".panel canvas")) assert.ok(await canvas.evaluate((one) => one.width > 100));
    await done();
  });
}

/** Drops a file, text or bytes, on the page. */
const drop = (page, name, content) =>
  page.evaluate(
    ([name, content]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([typeof content === "string" ? content : Uint8Array.from(content)], name));
      document
        .querySelector("main")
        .dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    },
    [name, content],
  );

const named = (page, name) =>
  page.waitForFunction((name) => document.getElementById("data-name").textContent === name, name);

test("Playground: an absent device is named in the error, and another one can be chosen", async () => {
  const { page, trained, done } = await demo("playground");
  await page.selectOption("#device", "webgpu");
  await page.waitForSelector("#error:not([hidden])");
  assert.match(await page.textContent("#error"), /^device "webgpu" is absent: no adapter found/);
  assert.equal(await page.textContent("#device-name"), "no device");
  await page.selectOption("#device", "cpu");
  await page.fill("#epochs", "2");
  await page.click("#train");
  await trained();
  assert.match(await page.textContent("#device-name"), device("wasm"));
  assert.ok(await page.isHidden("#error"));
  await done();
});

test("Playground: after an engine has crashed, the next training opens another one", async () => {
  const context = await browsers.wasm.newContext();
  await context.addInitScript(() => {
    const { Worker } = globalThis;
    globalThis.workers = [];
    globalThis.Worker = class extends Worker {
      constructor(...given) {
        super(...given);
        globalThis.workers.push(this);
      }
    };
  });
  const { page, trained, done } = await demo("playground", { context });
  await page.uncheck("#compare");
  const crash = () =>
    page.evaluate(() => {
      for (const worker of globalThis.workers)
        worker.dispatchEvent(new ErrorEvent("error", { message: "out of memory" }));
    });
  const message = "the engine's worker failed: out of memory";
  await page.fill("#epochs", "100000");
  await page.click("#train");
  await page.waitForFunction(() => /^Epoch /.test(document.querySelector(".panel .status")?.textContent));
  await crash();
  await page.waitForSelector("#error:not([hidden])");
  assert.deepEqual(
    [await page.textContent("#error"), await page.textContent("#status")],
    [message, "Training failed."],
  );
  await page.fill("#epochs", "3");
  await page.click("#train");
  await trained();
  assert.deepEqual([await page.textContent("#status"), await page.isHidden("#error")], ["Done.", true]);
  // If an engine crashes while idle, the next call fails.
  await crash();
  await page.click("#train");
  await page.waitForSelector("#error:not([hidden])");
  await page.click("#train");
  await page.waitForFunction(() => document.getElementById("status").textContent === "Done.");
  assert.ok(await page.isHidden("#error"));
  await done();
  await context.close();
});

test("Playground: a run can be paused, resumed, and stopped with its best model", async () => {
  const { page, trained, done } = await demo("playground");
  await page.uncheck("#compare");
  await page.fill("#epochs", "100000");
  await page.click("#train");
  await page.waitForFunction(() => /^Epoch [1-9]/.test(document.querySelector(".panel .status")?.textContent));
  await page.click("#pause");
  assert.equal(await page.textContent("#status"), "Paused.");
  // Epochs that were trained ahead are still drawn.
  await page.waitForTimeout(700);
  const held = await page.textContent(".panel .status");
  await page.waitForTimeout(500);
  assert.equal(await page.textContent(".panel .status"), held);
  await page.click("#pause");
  await page.waitForFunction((held) => document.querySelector(".panel .status").textContent !== held, held);
  await page.click("#pause");
  await page.click("#stop");
  await trained();
  assert.match(await page.textContent("#status"), /^Stopped\./);
  assert.match(await page.textContent("#model-name"), /^Regression of “y”/);
  assert.equal(await page.locator(".panel figure").count(), 4);
  await done();
});

test("Playground: a saved model predicts the same after loading in a new page; a truncated file is an error", async () => {
  const first = await demo("playground");
  await first.page.selectOption("#example", "sum");
  await first.page.waitForFunction(() => document.getElementById("data-size").textContent === "2,000 rows, 6 columns");
  await first.page.fill("#epochs", "4");
  await first.page.click("#train");
  await first.trained();
  const predict = async (page) => {
    for (let input = 0; input < 5; input++) await page.fill(`#input-${input}`, "0.5");
    await page.click("#predict-row");
    await page.waitForFunction(() => document.getElementById("answer").textContent);
    return page.textContent("#answer");
  };
  const expected = await predict(first.page);
  assert.match(expected, /^y = [−\d.]+$/);
  const buffer = Buffer.from("x0,x1,x2,x3,x4\n1,2,3,4,5\n0,0,0,0,0\n");
  await first.page.setInputFiles("#table", { name: "new.csv", mimeType: "text/csv", buffer });
  await first.page.waitForSelector("#answer a");
  const [table] = await Promise.all([first.page.waitForEvent("download"), first.page.click("#answer a")]);
  assert.match(
    readFileSync(await table.path(), "utf8"),
    /^y,note\n-?[\d.]+,"x3: outside the training range; x4: outside the training range"\n-?[\d.]+,\n$/,
  );
  const [download] = await Promise.all([first.page.waitForEvent("download"), first.page.click("#save")]);
  const file = {
    name: "model.safetensors",
    mimeType: "application/octet-stream",
    buffer: readFileSync(await download.path()),
  };
  await first.done();
  const second = await demo("playground");
  await drop(second.page, "model.safetensors", [...file.buffer]);
  await second.page.waitForSelector("#predict:not([hidden])");
  assert.match(
    await second.page.textContent("#model-name"),
    /^Regression of “y”, 3,841 parameters, from model\.safetensors$/,
  );
  assert.equal(await predict(second.page), expected);
  await second.page.setInputFiles("#load", { ...file, buffer: file.buffer.subarray(0, 500) });
  await second.page.waitForSelector("#error:not([hidden])");
  assert.match(await second.page.textContent("#error"), /^model\.safetensors: /);
  await second.done();
});

test("Playground: a dropped CSV file is described, its classes are learned and drawn; a malformed file is an error", async () => {
  const { page, trained, done } = await demo("playground");
  await drop(page, "kinds.csv", classes(600));
  await named(page, "kinds.csv");
  assert.equal(await page.textContent("#data-size"), "600 rows, 3 columns");
  assert.deepEqual(await page.$$eval("#target option", (all) => all.map(({ value }) => value)), ["u", "v", "kind"]);
  assert.equal(await page.inputValue("#target"), "kind");
  assert.equal(await page.inputValue("#head"), "linear");
  assert.ok(await page.isDisabled("#compare"));
  // Heads with poles cannot learn texts.
  const disabled = () =>
    page.$$eval("#head option", (all) => all.filter(({ disabled }) => disabled).map(({ value }) => value));
  assert.deepEqual([await disabled(), await page.isVisible("#heads")], [["rational", "projective", "angular"], true]);
  assert.deepEqual(await texts(page, "#preview figcaption > *"), ["v over u", "far", "left", "right"]);
  await drawn(page, "#preview canvas");
  await page.selectOption("#target", "v");
  assert.deepEqual(
    [await disabled(), await page.isVisible("#heads"), await texts(page, "#preview figcaption > *")],
    [[], false, ["v over u", "rows"]],
  );
  await page.selectOption("#head", "rational");
  await page.selectOption("#target", "kind");
  assert.equal(await page.inputValue("#head"), "linear");
  await page.fill("#hidden", "0");
  await page.click("#train");
  await page.waitForSelector("#error:not([hidden])");
  assert.deepEqual(
    [await page.textContent("#status"), await texts(page, ".panel .status")],
    ["Training failed.", ["Not trained."]],
  );
  await page.fill("#hidden", "32, 32");
  await page.fill("#epochs", "40");
  await page.click("#train");
  await trained();
  const figures = await figuresOf(page, ".panel .figures");
  assert.ok(parseFloat(figures["Test accuracy"]) > 85, figures["Test accuracy"]);
  await drawn(page, ".map");
  assert.deepEqual(await texts(page, ".panel .stack tr:first-child th"), ["kind", "far", "left", "right"]);
  await drop(page, "torn.csv", "a,b\n1,2\n3\n");
  await page.waitForSelector("#error:not([hidden])");
  assert.equal(
    await page.textContent("#error"),
    "torn.csv: row 2 (line 3): got 1 cells, expected 2; is it a line of text below the table? bad_rows skip leaves such rows out",
  );
  await page.selectOption("#example", "sine");
  await page.waitForFunction(() => document.getElementById("data-size").textContent === "2,000 rows, 2 columns");
  assert.ok(await page.isHidden("#error"));
  await done();
});

test("Playground: charts show the rows as the engine reads them: missing cells, infinite inputs, no header, classes that are numbers", async () => {
  const { page, trained, done } = await demo("playground");
  const shown = async (name, text, size) => {
    await drop(page, name, text);
    await named(page, name);
    assert.equal(await page.textContent("#data-size"), size);
    await page.fill("#epochs", "5");
    await page.click("#train");
    await trained();
    assert.ok(await page.isHidden("#error"), await page.textContent("#error"));
    return texts(page, ".panel .stack figcaption strong");
  };
  const lines = Array.from({ length: 200 }, (_, row) => `" ${row / 100 - 1} ";${(row * 7) % 11}.5`);
  const odd = ['x;"y"', "NA;1.5", "?;null", "inf;2", ...lines];
  assert.deepEqual(await shown("odd.csv", `${odd.join("\n")}\n`, "203 rows, 2 columns"), [
    "y over x",
    "Predicted over actual",
  ]);
  assert.match(await page.getAttribute(".panel .stack .plot", "aria-label"), /; 200 rows and the model's curve/);
  const bare = lines.map((line) => line.replaceAll(/"| /g, ""));
  assert.deepEqual(await shown("bare.tsv", bare.join("\r").replaceAll(";", "\t"), "200 rows, 2 columns"), [
    "c1 over c0",
    "Predicted over actual",
  ]);
  const kinds = Array.from({ length: 200 }, (_, row) => `${row / 100 - 1},${row % 3},${row < 100 ? "1.0" : "2"}`);
  assert.deepEqual(await shown("kinds.csv", `u,v,kind\n${kinds.join("\n")}\n`, "200 rows, 3 columns"), [
    "kind over u and v",
  ]);
  assert.deepEqual(await texts(page, ".panel .stack tr:first-child th"), ["kind", "1", "2"]);
  assert.ok(
    Number((await page.textContent(".panel .stack tbody + p, .panel .stack .note")).split(" ")[0]) > 100,
    "classes are distinguished by value",
  );
  await done();
});

test("Playground: markup in names, classes and a model's metadata is shown as text", async () => {
  const { page, trained, done } = await demo("playground");
  const [input, level, script] = [
    "<img src=x onerror=hacked=1>",
    "<b onclick=hacked=1>far</b>",
    "<script>hacked=1</script>",
  ];
  const lines = Array.from(
    { length: 120 },
    (_, row) => `${row / 60 - 1},${(row * 7) % 11},${row > 60 ? level : script}`,
  );
  await drop(page, `${script}.csv`, `${input},v,${script}\n${lines.join("\n")}\n`);
  await named(page, `${script}.csv`);
  await page.fill("#epochs", "5");
  await page.click("#train");
  await trained();
  await page.click("#predict-row");
  await page.waitForFunction(() => document.getElementById("answer").textContent);
  await page.fill("#input-0", "99");
  await page.click("#predict-row");
  await page.waitForFunction(
    (note) => document.getElementById("answer").textContent.endsWith(note),
    `. ${input}: outside the training range`,
  );
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
  const buffer = readFileSync(await download.path());
  assert.ok(buffer.includes("<script>"), "the file has the script in its metadata");
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  await page.setInputFiles("#load", { name: `${input}.safetensors`, mimeType: "application/octet-stream", buffer });
  await page.waitForSelector("#predict:not([hidden])");
  assert.equal(
    await page.textContent("#model-name"),
    `Classification of “${script}”, 2,050 parameters, from ${input}.safetensors`,
  );
  assert.equal(await page.textContent("#inputs label"), input);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(
    await page.$$eval("main img, main script, main b, main iframe", (all) => all.map(({ outerHTML }) => outerHTML)),
    [],
  );
  await done();
});

/** Starts a long run on an example and closes its tab. */
async function leave(context, example, title) {
  const { page, done } = await demo("playground", { context });
  await page.selectOption("#example", example);
  await named(page, title);
  await page.fill("#epochs", "100000");
  await page.fill("#patience", "0");
  await page.click("#train");
  // After its first reported epoch the run is stored.
  await page.waitForFunction(() => /^Epoch /.test(document.querySelector(".panel .status")?.textContent));
  await done();
}

test("Playground: the run of a closed tab can be resumed to its end", async () => {
  const context = await browsers.wasm.newContext();
  await leave(context, "sine", "A noisy sine");
  const second = await demo("playground", { context });
  await second.page.waitForSelector("#left:not([hidden])");
  assert.match(
    await second.page.textContent("#left-text"),
    /^An unfinished run on “A noisy sine” was stored at epoch \d+ of 100000\.$/,
  );
  await second.page.click("#go-on");
  await second.page.waitForFunction(() => /^Epoch /.test(document.querySelector(".panel .status")?.textContent));
  await second.page.click("#stop");
  await second.trained();
  assert.match(await second.page.textContent("#model-name"), /^Regression of “y”, .* trained on “A noisy sine”$/);
  await second.done();
  await context.close();
});

test("Playground: a note of an earlier version, without column types, is still drawn", async () => {
  const context = await browsers.wasm.newContext();
  await leave(context, "sum", "Five inputs, a noisy sum");
  const other = await demo("index", { context });
  await other.page.evaluate(async () => {
    const done = (request) =>
      new Promise((resolve) => {
        request.onsuccess = () => resolve(request.result);
      });
    const store = (await done(indexedDB.open("playground")))
      .transaction("playground", "readwrite")
      .objectStore("playground");
    const [key] = await done(store.getAllKeys());
    const note = await done(store.get(key));
    const { columns, rows } = note.scene.sample;
    note.scene.sample = { names: columns.map(({ name }) => name), rows: [["NA", ...rows[0].slice(1)], ...rows] };
    delete note.notedAt;
    await done(store.put(note, key));
  });
  await other.done();
  const { page, trained, done } = await demo("playground", { context });
  await page.click("#go-on");
  await page.waitForFunction(() => /^Epoch /.test(document.querySelector(".panel .status")?.textContent));
  await page.click("#stop");
  await trained();
  assert.deepEqual(await texts(page, ".panel .stack figcaption strong"), ["Predicted over actual"]);
  assert.match(await page.getAttribute(".panel .stack .plot", "aria-label"), /; 400 rows of the data/);
  await done();
  await context.close();
});

test("Playground: two tabs store one run each; after closing, both are offered and can be deleted one by one", async () => {
  const context = await browsers.wasm.newContext();
  const tabs = [];
  for (const [example, title] of [
    ["sine", "A noisy sine"],
    ["sum", "Five inputs, a noisy sum"],
  ]) {
    const tab = await demo("playground", { context });
    assert.ok(await tab.page.isHidden("#left"), "a run that is active in another tab is not offered");
    await tab.page.selectOption("#example", example);
    await named(tab.page, title);
    await tab.page.fill("#epochs", "100000");
    await tab.page.click("#train");
    await tab.page.waitForFunction(() => /^Epoch /.test(document.querySelector(".panel .status")?.textContent));
    assert.equal(await tab.page.locator(".panel").getByText("not stored").count(), 0);
    tabs.push(tab);
  }
  for (const { done } of tabs) await done();
  const { page, done } = await demo("index", { context });
  await page.waitForSelector("#kept a");
  assert.match(
    await page.textContent("#kept"),
    /^2 unfinished runs are stored in this browser, the latest at epoch \d+ of 100000\. Resume/,
  );
  assert.ok((await shift(page)) < 0.1, "layout shift");
  await page.click("#kept a");
  await page.waitForSelector("#left:not([hidden])");
  const offered = () => page.textContent("#left-text");
  const first = await offered();
  assert.match(
    first,
    /^An unfinished run on “(A noisy sine|Five inputs, a noisy sum)” was stored at epoch \d+ of 100000\. 1 older run is stored too\.$/,
  );
  await page.click("#forget");
  await page.waitForFunction((first) => document.getElementById("left-text").textContent !== first, first);
  assert.match(await offered(), /^An unfinished run on .* was stored at epoch \d+ of 100000\.$/);
  // A new run does not delete the stored one.
  await page.fill("#epochs", "2");
  await page.click("#train");
  await page.waitForSelector("html[data-trained]");
  await page.reload();
  await page.waitForSelector("#left:not([hidden])");
  await page.click("#forget");
  await page.waitForSelector("#left[hidden]", { state: "attached" });
  assert.deepEqual(
    await page.evaluate(
      () =>
        new Promise((resolve) => {
          indexedDB.open("playground").onsuccess = ({ target: { result } }) => {
            result.transaction("playground").objectStore("playground").getAllKeys().onsuccess = ({
              target: { result },
            }) => resolve(result);
          };
        }),
    ),
    [],
    "no rows remain",
  );
  await page.goto(address("index"));
  await page.waitForTimeout(300);
  assert.ok(await page.isHidden("#kept"), "no note without stored runs");
  await done();
  await context.close();
});

test("Playground: a run that cannot be stored shows a warning and is trained anyway", async () => {
  const context = await browsers.wasm.newContext();
  const other = await demo("bench", { context });
  // A database of a later version, which this one cannot open.
  await other.page.evaluate(
    () =>
      new Promise((resolve) => {
        indexedDB.open("meromorph", 99).onsuccess = resolve;
      }),
  );
  await other.done();
  const { page, trained, done } = await demo("playground", { context });
  assert.ok(await page.isHidden("#error"));
  await page.fill("#epochs", "3");
  await page.click("#train");
  await trained();
  assert.equal(await page.textContent("#status"), "Done.");
  assert.match(
    await page.textContent(".panel:first-child"),
    /This run is not stored: closing the tab loses it\. \(keep: the browser's storage .*\)/,
  );
  assert.ok(await page.isHidden("#error"));
  await done();
  await context.close();
});

test("Playground: a file with decimal commas is read as the person chose", async () => {
  const { page, trained, done } = await demo("playground");
  const number = (value) => String(value).replace(".", ",");
  const rows = Array.from({ length: 120 }, (_, at) => [1000 + (at % 17) + 0.5, (at % 17) / 4]);
  const thousands = (value) => `${Math.floor(value / 1000)}.${number((value % 1000).toFixed(1)).padStart(5, "0")}`;
  const text = `weight;price\n${rows.map(([a, b]) => `${thousands(a)};${number(b)}\n`).join("")}`;
  await page.selectOption("#numbers", ",.");
  await drop(page, "comma.csv", text);
  await named(page, "comma.csv");
  assert.equal(await page.textContent("#data-size"), "120 rows, 2 columns");
  await page.fill("#epochs", "3");
  await page.click("#train");
  await trained();
  assert.equal(await page.textContent("#status"), "Done.");
  assert.match(await page.getAttribute("#input-0", "title"), /^100[01]\.?\d* to 101[67]\.?\d* in training$/);
  // Another choice reads the same file again.
  await page.selectOption("#numbers", ".");
  await page.waitForSelector("#error:not([hidden]), #heads:not([hidden])");
  await done();
});
