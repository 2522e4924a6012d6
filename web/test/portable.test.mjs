// A model as one HTML file, opened from disk in a browser without WebGPU, and as an npm package: both predict the same
// as `mero predict`.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { closedAtTheEnd, launch, serve, test, uniform, web } from "./browser.mjs";

const PAGE_BUDGET = 60 * 1024;
const POLE = Math.PI / 3;
/** Names that would run if they were used as markup or code. */
const SCRIPT = "kind</script><script>window.hacked=1</script>";
const IMAGE = "<img src=x onerror=window.hacked=1>";
const folder = mkdtempSync(join(tmpdir(), "meromorph-"));
let browser;

/** Two numbers and y = tan(1.5 angle) + offset / 2, ±∞ near its poles. */
function poles(rows, seed) {
  const next = uniform(seed);
  const lines = ["offset,angle,y"];
  for (let row = 0; row < rows; row++) {
    const offset = (2 * next() - 1).toFixed(4);
    // Every twentieth row is at a pole or very close to it.
    const angle = row % 20 === 0 ? (row % 40 ? -POLE : POLE) + (row % 3) * 1e-4 : 2.6 * next() - 1.3;
    const y = Math.tan(1.5 * angle) + offset / 2;
    lines.push(`${offset},${angle},${Math.abs(y) > 15 ? (y > 0 ? "inf" : "-inf") : y}`);
  }
  return `${lines.join("\n")}\n`;
}

/** Two numbers, a category and classes. All names are hostile or plain. */
function kinds(rows) {
  const next = uniform(7);
  const lines = [`u,v,"${IMAGE}","${SCRIPT}"`];
  for (let row = 0; row < rows; row++) {
    const [u, v] = [next(), next()];
    lines.push(`${u.toFixed(4)},${v.toFixed(4)},"${row % 2 ? "plain" : SCRIPT}",${u + v > 1.2 ? "far" : `"${IMAGE}"`}`);
  }
  return `${lines.join("\n")}\n`;
}

/** Times over two years, and a number. */
function rides(rows) {
  const next = uniform(4);
  const time = () =>
    new Date(Date.UTC(2024, 0, 1) + Math.floor(2 * 365 * 1440 * next()) * 60_000).toISOString().slice(0, 16);
  return `when,temp,rides\n${Array.from({ length: rows }, () => `${time()},${(30 * next()).toFixed(1)},${(90 * next()).toFixed(1)}`).join("\n")}\n`;
}

function mero(...words) {
  const target = process.env.CARGO_TARGET_DIR ?? join(web, "../target");
  const binary = process.env.MERO ?? join(target, "release/mero");
  return execFileSync(binary, words.map(String), {
    encoding: "utf8",
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
}

const run = (command, args, options) =>
  execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], ...options });

/** The records of a CSV without quotes, by column. */
function columns(text) {
  const [head, ...rows] = text
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  return Object.fromEntries(head.map((name, at) => [name, rows.map((row) => row[at])]));
}

before(async () => {
  const quick = ["--device", "cpu", "--seed", 1];
  writeFileSync(join(folder, "poles.csv"), poles(1500, 1));
  writeFileSync(join(folder, "new.csv"), poles(1200, 2));
  writeFileSync(join(folder, "kinds.csv"), kinds(1200));
  mero(
    "train",
    "poles.csv",
    "--target",
    "y",
    "--head",
    "rational",
    "--tau-infer",
    0.15,
    "--tau-train",
    0.3,
    "--hidden",
    "32,32",
    "--lr",
    0.01,
    "--epochs",
    120,
    "--out",
    "poles.safetensors",
    ...quick,
  );
  mero(
    "train",
    "kinds.csv",
    "--target",
    SCRIPT,
    "--missing",
    "drop",
    "--hidden",
    "16,16",
    "--epochs",
    30,
    "--out",
    "kinds.safetensors",
    ...quick,
  );
  const gaps = [
    "offset,angle,y",
    ...Array.from({ length: 200 }, (_, at) => `${at / 100},${at % 9 ? at % 7 : ""},${at / 50}`),
  ];
  writeFileSync(join(folder, "gaps.csv"), `${gaps.join("\n")}\n`);
  mero(
    "train",
    "gaps.csv",
    "--target",
    "y",
    "--missing",
    "impute",
    "--hidden",
    "8",
    "--epochs",
    2,
    "--out",
    "gaps.safetensors",
    ...quick,
  );
  writeFileSync(
    join(folder, "formula.csv"),
    `a,b,y\n${Array.from({ length: 400 }, (_, at) => `${at / 200 - 1},${(at % 7) / 7},${Math.sin(at / 60) * (at % 7)}`).join("\n")}\n`,
  );
  mero(
    "train",
    "formula.csv",
    "--target",
    "y",
    "--hidden",
    "16,16",
    "--epochs",
    20,
    "--activation",
    "x*atan(x)/(1 + exp(-x))",
    "--loss",
    "log(cosh(p - y))",
    "--out",
    "formula.safetensors",
    ...quick,
  );
  mero(
    "train",
    "formula.csv",
    "--target",
    "y",
    "--hidden",
    "16",
    "--epochs",
    5,
    "--activation",
    "mish",
    "--loss",
    "log_cosh",
    "--optimizer",
    "lion",
    "--lr",
    1e-4,
    "--out",
    "mish.safetensors",
    ...quick,
  );
  writeFileSync(join(folder, "rides.csv"), rides(500));
  mero(
    "train",
    "rides.csv",
    "--target",
    "rides",
    "--hidden",
    "8",
    "--epochs",
    2,
    "--out",
    "rides.safetensors",
    ...quick,
  );
  for (const name of ["poles", "kinds", "gaps", "formula", "mish", "rides"]) {
    mero("export", `${name}.safetensors`, "--html", `${name}.html`, "--npm", name, "--web", join(web, "dist"));
  }
  browser = await launch(false);
});

after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

/** Opens a model's page from disk, and collects its requests and console errors. */
async function opened(name, options = {}) {
  const page = closedAtTheEnd(await browser.newPage(options));
  const [errors, requests] = [[], []];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (line) => errors.push(line.text()));
  page.on("request", (request) => requests.push(request.url()));
  const url = pathToFileURL(join(folder, `${name}.html`)).href;
  await page.goto(url);
  await page.waitForSelector("html[data-ready]");
  await page.waitForFunction("document.getElementById('answer').textContent !== ''");
  return { page, errors, requests, url };
}

/** Waits until `holds` is true for the text of an element. */
async function text(page, selector, holds) {
  await page.waitForFunction(
    ([selector, pattern]) => new RegExp(pattern, "u").test(document.querySelector(selector).textContent),
    [selector, holds.source],
  );
  return page.textContent(selector);
}

function bytesOf(page, id) {
  return page.match(new RegExp(`id="${id}">([^<]*)</script>`))[1];
}

test("the page contains the wasm, the weights and little else", () => {
  const page = readFileSync(join(folder, "poles.html"), "utf8");
  const [engine, model] = [bytesOf(page, "engine"), bytesOf(page, "model")];
  const rest = page.length - engine.length - model.length;
  assert.ok(rest <= PAGE_BUDGET, `${rest} bytes of page`);
  // Without the record of its training, which the file has.
  assert.ok(model.length < (4 / 3) * statSync(join(folder, "poles.safetensors")).size);
  const [wasm, weights] = [join(web, "pkg/portable/meromorph_bg.wasm"), join(folder, "poles.safetensors")].map(
    (file) => statSync(file).size,
  );
  assert.ok(page.length <= wasm + weights + PAGE_BUDGET);
  console.log(`page ${page.length} bytes: engine ${engine.length} (wasm ${wasm}), model ${model.length}, rest ${rest}`);
});

test("a dropped table gives the predictions of the native binary, also at poles", async () => {
  const { page, errors, requests, url } = await opened("poles");
  await page.evaluate(
    (csv) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([csv], "new.csv"));
      document
        .getElementById("drop")
        .dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    },
    readFileSync(join(folder, "new.csv"), "utf8"),
  );
  assert.match(
    await text(page, "#batch-status", /predicted/),
    /^1,200 rows predicted: [\d.]+ % have no value \(⊥\), [\d.]+ % are near a pole\.$/,
  );
  const shown = await page.$$eval("#batch-table tbody tr", (rows) =>
    rows.map((row) => [...row.cells].map((cell) => cell.textContent)),
  );
  assert.equal(shown.length, 20);
  assert.equal(shown[0][0], "⊥", "the first row is at a pole");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#batch-download")]);
  assert.equal(download.suggestedFilename(), "new-predictions.csv");
  const got = columns(readFileSync(await download.path(), "utf8"));
  const expected = columns(mero("predict", "poles.safetensors", "new.csv", "--device", "cpu"));
  assert.deepEqual(Object.keys(got), ["value", "bottom", "gap", "fault", "note"]);
  for (const mask of ["bottom", "gap", "fault"]) assert.deepEqual(got[mask], expected[mask], mask);
  sameValues(got.value, expected.value);
  for (const mask of ["bottom", "gap"])
    assert.ok(expected[mask].filter((flag) => flag === "1").length > 20, `too few rows with ${mask}`);
  const odd = "offset,angle\n0.1,0.2\n9,0.2\nbig,0.2\n8,7\n";
  await page.setInputFiles("#file", { name: "odd.csv", mimeType: "text/csv", buffer: Buffer.from(odd) });
  assert.match(
    await text(page, "#batch-status", /4 rows/),
    /2 rows are outside the training range \(offset, angle\)\. 1 row is without a prediction \(offset\)\.$/,
  );
  writeFileSync(join(folder, "odd.csv"), odd);
  const [oddly] = await Promise.all([page.waitForEvent("download"), page.click("#batch-download")]);
  const notesOf = (text) => columns(text).note.map((cell) => cell.replace(/^"|"$/g, "").replaceAll('""', '"'));
  const notes = notesOf(readFileSync(await oddly.path(), "utf8"));
  assert.deepEqual(notes, notesOf(mero("predict", "poles.safetensors", "odd.csv", "--device", "cpu")));
  assert.deepEqual(
    notes.map((note) => note.replace(/(; )?(no value|near a pole): .*/, "")),
    [
      "",
      "offset: outside the training range",
      'offset: "big" is not a number',
      "offset: outside the training range; angle: outside the training range",
    ],
  );
  const german = `offset;angle\n0,1;0,2\n${Array.from({ length: 20 }, (_, at) => `0,${at};1.000,5`).join("\n")}\n`;
  await page.setInputFiles("#file", { name: "german.csv", mimeType: "text/csv", buffer: Buffer.from(german) });
  assert.match(await text(page, "#batch-status", /21 rows/), /21 rows are without a prediction \(offset, angle\)\.$/);
  await page.selectOption("#numbers", { label: "1.234,5" });
  assert.match(
    await text(page, "#batch-status", /21 rows.*outside/),
    /20 rows are outside the training range \(angle\)\.$/,
  );
  assert.deepEqual(
    await page.$$eval("#batch-table tbody tr:first-child td", (cells) =>
      cells.slice(-2).map(({ textContent }) => textContent),
    ),
    ["0.1", "0.2"],
  );
  await page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["angle,other\n1,2\n"], "wrong.csv"));
    document
      .getElementById("drop")
      .dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  });
  assert.equal(
    await text(page, "#batch-error", /./),
    'column "offset" is missing from wrong.csv; it has "angle", "other"',
  );
  assert.deepEqual([errors, requests], [[], [url]]);
  await page.close();
});

/** The page computes fused multiply-add in software, so that its results equal those of processors that have it. */
function sameValues(got, expected) {
  const differing = expected.flatMap((value, at) =>
    value === got[at] ? [] : [`row ${at}: ${got[at]}, natively ${value}`],
  );
  assert.deepEqual(differing.slice(0, 5), [], `${differing.length} of ${expected.length} differ`);
}

test("inputs move by keyboard and pointer; ⊥ and values near a pole never look like a reliable number", async () => {
  const { page, errors } = await opened("poles");
  const first = await text(page, "#answer strong", /^−?[\d.]+$/);
  await page.focus("input[type=range] >> nth=1");
  for (let press = 0; press < 3; press++) await page.keyboard.press("ArrowRight");
  await page.waitForFunction((first) => document.querySelector("#answer strong").textContent !== first, first);
  assert.equal(await page.inputValue("#input-1"), await page.$eval("input[type=range] >> nth=1", ({ value }) => value));
  await page.fill("#input-1", String(POLE));
  assert.equal(await text(page, "#answer", /⊥/), "⊥no value here: the inputs are at a pole");
  const predicted = columns(mero("predict", "poles.safetensors", "new.csv", "--device", "cpu"));
  const rows = columns(readFileSync(join(folder, "new.csv"), "utf8"));
  const near = predicted.gap.findIndex((flag, at) => flag === "1" && predicted.bottom[at] === "0");
  await page.fill("#input-0", rows.offset[near]);
  await page.fill("#input-1", rows.angle[near]);
  assert.match(await text(page, "#answer", /near/), /^near a polethe model gives −?[\d.]+, which is not reliable$/);
  await page.fill("#input-1", "5");
  assert.equal(await text(page, "#outside", /./), "Outside the training range: angle");
  assert.match(await page.textContent("#note-1"), /^outside the training range, −1\.\d+ to 1\.\d+$/);
  await page.fill("#input-1", "1e300");
  assert.match(
    await text(page, "#error", /./),
    /^predict: row \d+, column "angle": \S+ is too far from the training mean/,
  );
  assert.equal(await page.textContent("#answer"), "–", "no old result with new inputs");
  await page.click("#reset");
  await page.waitForFunction((first) => document.querySelector("#answer strong").textContent === first, first);
  assert.deepEqual([await page.textContent("#outside"), await page.textContent("#error")], ["", ""]);
  await page.click("#map", { position: { x: 30, y: 300 } });
  assert.ok((await page.$eval("#input-0", ({ valueAsNumber }) => valueAsNumber)) < -0.7);
  assert.deepEqual(errors, []);
  await page.close();
});

test("an invalid field is marked, and nothing is predicted or drawn until it is valid", async () => {
  const { page, errors } = await opened("poles");
  const expected = await page.textContent("#answer");
  await page.waitForSelector("#curve polyline");
  const state = (at) =>
    page.evaluate((at) => {
      const [number, range] = [
        document.getElementById(`input-${at}`),
        document.querySelectorAll("input[type=range]")[at],
      ];
      const note = document.getElementById(number.getAttribute("aria-describedby"));
      return {
        note: note.textContent,
        isWrong: number.ariaInvalid,
        valueText: range.ariaValueText,
        slider: range.valueAsNumber,
        typed: number.valueAsNumber,
      };
    }, at);
  await page.fill("#input-1", "");
  assert.match(await text(page, "#error", /./), /^Enter a number for: angle$/);
  assert.equal(await page.textContent("#answer"), "–");
  const empty = await state(1);
  assert.match(empty.note, /^empty; −1\.\d+ to 1\.\d+ in training$/);
  assert.deepEqual([empty.isWrong, empty.valueText], ["true", "no number"]);
  assert.match(await text(page, "#curve-text", /No chart/), /^No chart until there is a number for: angle$/);
  for (const id of ["curve", "curve-legend", "map", "legend"]) assert.ok(await page.isHidden(`#${id}`), id);
  assert.equal(await page.getAttribute("#map", "aria-label"), await page.textContent("#curve-text"));
  await page.focus("#input-1");
  await page.keyboard.type("1e");
  assert.match((await state(1)).note, /^not a number; /);
  await page.keyboard.press("Tab");
  await page.keyboard.press("End");
  await text(page, "#answer", /^[^–]/);
  for (const key of ["Home", "End"]) {
    await page.keyboard.press(key);
    // The slider's limits are within its range, which rounding could exceed slightly.
    const { isWrong, typed, slider, note } = await state(1);
    assert.equal(isWrong, "false");
    assert.ok(Math.abs(typed - slider) < 1e-12, `${typed}, ${slider}`);
    assert.match(note, /^−1\.\d+ to 1\.\d+$/);
  }
  await page.fill("#input-1", "5");
  await page.waitForSelector("#curve polyline");
  const beyond = await state(1);
  const last = await page.$eval("input[type=range] >> nth=1", ({ max }) => Number(max));
  assert.ok(Math.abs(beyond.slider - last) < 1e-12, `${beyond.slider} of ${last}`);
  assert.deepEqual([beyond.typed, beyond.valueText], [5, "5, outside the training range"]);
  await page.focus("input[type=range] >> nth=1");
  await page.keyboard.press("ArrowLeft");
  const back = await state(1);
  assert.ok(back.typed === back.slider && back.typed < last, `${back.typed}, ${back.slider}`);
  await page.click("#reset");
  await page.waitForFunction((expected) => document.getElementById("answer").textContent === expected, expected);
  assert.deepEqual(errors, []);
  await page.close();
});

test("charts show poles as gaps", async () => {
  const { page, errors } = await opened("poles");
  await page.waitForFunction("document.querySelectorAll('#curve polyline').length === 1");
  await page.selectOption("#along", { label: "angle" });
  await page.waitForFunction("document.querySelectorAll('#curve rect.bottom').length === 2");
  const parts = await page.$$eval("#curve polyline", (lines) =>
    lines.map((line) =>
      line
        .getAttribute("points")
        .split(" ")
        .map((point) => Number(point.split(",")[0])),
    ),
  );
  assert.equal(parts.length, 3, "a line before, between and after the poles");
  const bands = await page.$$eval("#curve rect.bottom", (all) =>
    all.map((rect) => [rect.x.baseVal.value, rect.x.baseVal.value + rect.width.baseVal.value]),
  );
  // A band is at least two pixels wide, so that it is visible.
  for (const [from, to] of bands)
    assert.ok(
      parts.flat().every((x) => x <= from + 0.1 || x >= to - 2.1),
      "no line in a band of ⊥",
    );
  assert.ok((await page.locator("#curve rect.near").count()) >= 2);
  assert.match(
    await page.getAttribute("#curve", "aria-label"),
    /^y along angle: from −[\d.]+ to [\d.]+; no value near angle = −1\.0\d?, 1\.0\d?$/,
  );
  assert.match(
    await page.getAttribute("#map", "aria-label"),
    /^y over offset and angle: .*, no value in [\d.]+ % of the area$/,
  );
  await text(page, "#legend", /^y−?[\d.]+−?[\d.]+⊥ no valuenear a pole$/);
  assert.deepEqual(errors, []);
  await page.close();
});

test("a curve over dates is drawn at one time of day and weekday, and its labels do not overlap", async () => {
  const { page, errors } = await opened("rides");
  await page.fill("input[type=datetime-local]", "2024-07-10T09:30");
  // It was the last point before.
  await page.waitForFunction(() => document.querySelector("#curve circle.now + circle, #curve circle.now + text"));
  const seen = await page.evaluate(() => {
    const texts = [...document.querySelectorAll("#curve text")].filter((text) =>
      /^\d{4}-\d\d-\d\d/.test(text.textContent),
    );
    const boxes = texts.map((text) => text.getBoundingClientRect());
    return {
      texts: texts.map((text) => text.textContent),
      boxes: boxes.map(({ left, right }) => [left, right]),
      points: document.querySelectorAll("#curve circle").length,
    };
  });
  assert.ok(seen.points > 20 && seen.points <= 48, `${seen.points} points`);
  assert.ok(seen.texts.length > 2, `${seen.texts}`);
  for (const text of seen.texts) {
    // Without a time of day, because all share it.
    assert.match(text, /^\d{4}-\d\d-\d\d$/);
    assert.equal(new Date(text).getUTCDay(), 3, `${text} is no Wednesday`);
  }
  for (const [at, [left]] of seen.boxes.entries()) assert.ok(at === 0 || left > seen.boxes[at - 1][1], `${seen.texts}`);
  assert.deepEqual(errors, []);
  await page.close();
});

test("names are shown as text, whatever they contain", async () => {
  const { page, errors, requests, url } = await opened("kinds");
  assert.equal(await page.textContent("h1"), SCRIPT);
  assert.deepEqual(await page.$$eval("#inputs label", (all) => all.map((one) => one.textContent)), ["u", "v", IMAGE]);
  assert.deepEqual(
    await page.$$eval("#input-2 option", (all) => all.map(({ value }) => value).sort()),
    [SCRIPT, "plain"].sort(),
  );
  const before = await page.$$eval(".classes li", (all) => all.map((one) => one.textContent));
  assert.equal(before.length, 2);
  const shares = before.map((line) => Number(line.match(/([\d.]+) %$/)[1]));
  assert.ok(shares[0] > shares[1] && Math.abs(shares[0] + shares[1] - 100) < 0.11, shares.join());
  assert.ok(
    before.some((line) => line.startsWith(IMAGE)) && before.some((line) => line.startsWith("far")),
    before.join(),
  );
  await page.fill("#input-0", "0.95");
  await page.fill("#input-1", "0.95");
  assert.match(await text(page, ".classes", /^far/), /^far9\d\.\d %/);
  await page.selectOption("#along", { label: IMAGE });
  await page.waitForFunction("document.querySelectorAll('#curve circle').length === 4");
  await page.setInputFiles("#file", join(folder, "kinds.csv"));
  assert.equal(await text(page, "#batch-status", /predicted/), "1,200 rows predicted.");
  assert.ok((await page.textContent("#batch-table")).includes(SCRIPT));
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#batch-download")]);
  const got = columns(readFileSync(await download.path(), "utf8"));
  const expected = columns(mero("predict", "kinds.safetensors", "kinds.csv", "--device", "cpu"));
  assert.deepEqual(got.prediction, expected.prediction);
  sameValues(got.probability, expected.probability);
  assert.equal(await page.evaluate("window.hacked"), undefined);
  assert.equal(await page.locator("img, body script:not([type]):not(:last-of-type)").count(), 0);
  assert.deepEqual([errors, requests], [[], [url]]);
  const policed = await page.evaluate(async () => {
    document.body.append(Object.assign(document.createElement("script"), { textContent: "window.hacked = 2" }));
    return [
      window.hacked,
      await fetch("https://example.org/").then(
        () => "fetched",
        () => "refused",
      ),
    ];
  });
  assert.deepEqual(policed, [undefined, "refused"], "the policy stops what would get in all the same");
  await page.close();
});

test("a page predicts like the native binary with a user's formula and with mish", async () => {
  for (const name of ["formula", "mish"]) {
    const { page, errors } = await opened(name);
    await page.setInputFiles("#file", join(folder, "formula.csv"));
    assert.equal(await text(page, "#batch-status", /predicted/), "400 rows predicted.");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#batch-download")]);
    const got = columns(readFileSync(await download.path(), "utf8"));
    const expected = columns(mero("predict", `${name}.safetensors`, "formula.csv", "--device", "cpu"));
    assert.deepEqual(Object.keys(got), Object.keys(expected));
    const worst = Math.max(...expected.prediction.map((value, row) => Math.abs(value - got.prediction[row])));
    assert.ok(worst < 1e-5, `${name}: off by ${worst}`);
    assert.ok(
      Math.max(...expected.prediction.map(Number)) - Math.min(...expected.prediction.map(Number)) > 0.1,
      `${name}: predictions are constant`,
    );
    assert.deepEqual(errors, []);
    await page.close();
  }
});

test("the page fits a phone, also in dark mode", async () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const name of ["poles", "kinds"]) {
      const { page } = await opened(name, { viewport: { width: 390, height: 844 }, colorScheme });
      assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390);
      await page.close();
    }
  }
});

test("a package works in a page without a bundler", async () => {
  const [server, page] = await Promise.all([serve(folder), browser.newPage()]);
  await page.goto(`http://localhost:${server.address().port}/poles/index.js`);
  const answer = await page.evaluate(async () =>
    (await import("/poles/index.js")).predict({ offset: 0.5, angle: 0.25 }),
  );
  writeFileSync(join(folder, "one.csv"), "offset,angle\n0.5,0.25\n");
  const native = columns(mero("predict", "poles.safetensors", "one.csv", "--device", "cpu"));
  sameValues([String(answer.value)], native.value);
  assert.deepEqual(
    [answer.bottom, answer.gap, answer.fault, answer.outside, answer.note],
    [false, false, false, [], ""],
  );
  await page.close();
  server.close();
});

test("a package is packed, installed, type-checked, and predicts in Node", () => {
  const home = join(folder, "user");
  mkdirSync(home);
  for (const name of ["poles", "kinds", "gaps"])
    run("npm", ["pack", "--silent", "--pack-destination", home], { cwd: join(folder, name) });
  writeFileSync(join(home, "package.json"), JSON.stringify({ name: "user", version: "1.0.0", type: "module" }));
  run(
    "npm",
    [
      "install",
      "--silent",
      "--offline",
      "--no-audit",
      "--no-fund",
      "./poles-1.0.0.tgz",
      "./kinds-1.0.0.tgz",
      "./gaps-1.0.0.tgz",
    ],
    { cwd: home },
  );
  const check = (code) => {
    writeFileSync(join(home, "use.ts"), code);
    const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--types", "", "use.ts"];
    return run(join(web, "node_modules/.bin/tsc"), flags, { cwd: home });
  };
  const uses = (row) => `import { predict } from "poles";\nconst answer = await predict(${row});\n`;
  check(
    `${uses("{ offset: 0, angle: 1 }")}const value: number = answer.bottom ? 0 : answer.value;\nexport { value };\n`,
  );
  check(
    `import { predict } from "gaps";\nconst answer = await predict({ offset: 0 });\nexport const texts: string[] = [answer.note, ...answer.outside, answer.value.toFixed()];\n`,
  );
  check(
    `import { predict } from "kinds";\nconst [one] = await predict([{ u: 0, v: 1, ${JSON.stringify(IMAGE)}: "plain" }]);\nexport const kind: "far" | ${JSON.stringify(IMAGE)} | undefined = one?.value;\n`,
  );
  const wrong = [
    uses("{ offset: 0, angel: 1 }"),
    uses("{ offset: 0 }"),
    uses('{ offset: 0, angle: "1" }'),
    `${uses("{ offset: 0, angle: 1 }")}export const value: number = answer.value;\n`,
  ];
  for (const code of wrong)
    assert.throws(
      () => check(code),
      (error) => /use\.ts\(\d+,\d+\): error TS\d+/.test(error.stdout),
      code,
    );
  writeFileSync(
    join(home, "use.mjs"),
    `
    import { readFileSync } from "node:fs";
    import { predict } from "poles";
    const rows = readFileSync("../new.csv", "utf8").trim().split("\\n").slice(1).map((line) => line.split(",").map(Number));
    const answers = await predict(rows.map(([offset, angle]) => ({ offset, angle })));
    console.log(JSON.stringify({ answers, one: await predict({ offset: rows[1][0], angle: rows[1][1] }) }));
  `,
  );
  const { answers, one } = JSON.parse(run("node", ["use.mjs"], { cwd: home }));
  const expected = columns(mero("predict", "poles.safetensors", "new.csv", "--device", "cpu"));
  for (const mask of ["bottom", "gap", "fault"])
    assert.deepEqual(
      answers.map((answer) => (answer[mask] ? "1" : "0")),
      expected[mask],
      mask,
    );
  sameValues(
    answers.map(({ value }) => (value === null ? "" : String(value))),
    expected.value,
  );
  assert.deepEqual(one, answers[1]);
});

test("a package rejects invalid rows, naming row and column, and never predicts a number for them", async () => {
  const [poles, kinds, gaps] = await Promise.all(
    ["poles", "kinds", "gaps"].map((name) => import(pathToFileURL(join(folder, name, "node.js")))),
  );
  const row = { offset: 0, angle: 1 };
  const a = 'predict: row 1, column "angle"';
  const lost = "is missing, and the model was prepared without a value to fill in";
  const [kind, fine] = [JSON.stringify(IMAGE), { u: 0, v: 1, [IMAGE]: "plain" }];
  const cases = [
    [poles, { offset: 0, angle: "1" }, `${a} is "1", expected a finite number`],
    [poles, { offset: 0, angle: NaN }, `${a} is NaN, expected a finite number`],
    [poles, { offset: 0, angle: -Infinity }, `${a} is -Infinity, expected a finite number`],
    [poles, { offset: 0, angle: 1n }, `${a} is 1n, expected a finite number`],
    [poles, { offset: 0, angle: [1] }, `${a} is an array, expected a finite number`],
    [poles, [row, { offset: 0, angle: undefined }], `predict: row 2, column "angle": ${lost}`],
    [poles, [row, { offset: 0 }], `predict: row 2, column "angle": ${lost}`],
    [
      poles,
      { offset: 0, angel: 1 },
      'predict: row 1 has no column "angle", but "angel"; the model knows "offset", "angle"',
    ],
    [poles, [0, 1], 'predict: row 1 is 0, expected an object with the columns "offset", "angle"'],
    [poles, [[0, 1]], 'predict: row 1 is an array, expected an object with the columns "offset", "angle"'],
    // `map` would skip a hole, and there would be one result too few.
    [poles, [row, , row], 'predict: row 2 is undefined, expected an object with the columns "offset", "angle"'],
    [poles, undefined, 'predict: row 1 is undefined, expected an object with the columns "offset", "angle"'],
    [
      kinds,
      { ...fine, [IMAGE]: 1 },
      `predict: row 1, column ${kind} is 1, expected one of ${JSON.stringify(SCRIPT)}, "plain"`,
    ],
    [kinds, { ...fine, [IMAGE]: null }, `predict: row 1, column ${kind}: ${lost}`],
    // Also with a model that imputes: only absent or null cells are missing.
    [gaps, { offset: 0, angle: NaN }, `${a} is NaN, expected a finite number`],
    [
      gaps,
      { offset: 0, angel: 1 },
      'predict: row 1 has no column "angle", but "angel"; the model knows "offset", "angle"',
    ],
  ];
  for (const [{ predict }, rows, message] of cases) await assert.rejects(predict(rows), { message });
  const [seen, unseen] = await kinds.predict([fine, { ...fine, [IMAGE]: "plein" }]);
  assert.equal(seen.note, "");
  assert.equal(unseen.note, `${IMAGE}: not seen in training`);
  assert.notEqual(unseen.value ?? null, null);
  const [without, none, more] = await gaps.predict([
    { offset: 0 },
    { offset: 0, angle: null },
    { offset: 0, angle: null, id: 7 },
  ]);
  assert.deepEqual([none, more], [without, without]);
  assert.ok(Number.isFinite(without.value));
  const [far, filled, inside] = await gaps.predict([
    { offset: 7, angle: 99 },
    { offset: null, angle: 1 },
    { offset: 1, angle: 1 },
  ]);
  const beyond = "outside the training range";
  assert.deepEqual([far.outside, far.note], [["offset", "angle"], `offset: ${beyond}; angle: ${beyond}`]);
  assert.deepEqual([filled.outside, filled.note], [[], "offset: missing, a usual value filled in"]);
  assert.deepEqual(inside, { value: inside.value, outside: [], note: "" });
  assert.deepEqual(await poles.predict([]), []);
  assert.deepEqual(await poles.predict({ ...row, id: 7 }), await poles.predict(row));
});
