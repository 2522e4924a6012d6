// The package in Pyodide gives what it gives in CPython and what the command gives: in Node with and without stack
// switching, in a page and in a worker. PYTHON has the native package, MERO is the command; test.sh says where the rest
// comes from.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { launch, serve, test } from "../../../web/test/browser.mjs";

const here = import.meta.dirname;
const root = join(here, "../../..");
const tools = join(root, ".tools/pyodide");
const { PYTHON = "python3", MERO = join(root, "target/release/mero") } = process.env;
const folder = join(root, "target/pyodide");
/** The wheel for a platform. */
const wheelFor = (platform) =>
  join(
    folder,
    readdirSync(folder).find((name) => name.includes(platform)),
  );
const notebook = readFileSync(join(here, "notebook.py"), "utf8");
const packages = ["numpy", "pandas", "micropip"];
const full = {
  pyodide: join(tools, "full"),
  wheel: wheelFor("pyodide_2024_0"),
  packages,
  files: { "notebook.py": notebook },
};

/** A Node that switches stacks. */
const SWITCHING = join(tools, "node_modules/.bin/node");
/** Differences that the rounding of f32 on another processor makes, in parts of the largest number. */
const ROUNDING = 1e-6;

const imported = (program) => `import json, notebook, js, meromorph as mm, numpy as np\n${program}`;
const WAITED = "json.dumps(notebook.notebook())";
const AWAITED = "json.dumps(await notebook.notebook_async())";

/** The answers of Python programs in a Node of their own: functions that return the value, or throw the error. */
async function inNode(node, request) {
  const child = promisify(execFile)(node, [join(here, "session.mjs")], { maxBuffer: 1e8 });
  child.child.stdin.end(JSON.stringify(request));
  const { stdout } = await child;
  return JSON.parse(stdout.split("\nanswers: ").at(-1)).map(answered);
}

const answered =
  ({ value, error }) =>
  () => {
    if (error) throw new Error(error);
    return JSON.parse(value);
  };

/** The numbers of the native package, and the tables that it learnt from and predicted. */
const native = JSON.parse(execFileSync(PYTHON, [join(here, "notebook.py")], { encoding: "utf8" }));

function assertNumbers(got, expected = native.numbers) {
  assert.deepEqual(Object.keys(got).sort(), Object.keys(expected).sort());
  for (const [name, numbers] of Object.entries(expected)) {
    const size = Math.max(...numbers.map(Math.abs), 1);
    assert.equal(got[name].length, numbers.length, name);
    numbers.forEach((number, at) => {
      const distance = Math.abs(got[name][at] - number);
      assert.ok(distance <= ROUNDING * size, `${name}[${at}]: got ${got[name][at]}, expected ${number}`);
    });
  }
}

const REFUSED = `
import warnings
def refused(work):
    try: return [repr(work())]
    except Exception as error: return [type(error).__name__, str(error)]
T = lambda **how: mm.Model.train(notebook.DATA, **notebook.HOW | how)
model = T()
json.dumps([
    refused(lambda: T(epoch=3)), refused(lambda: T(target="z")), refused(lambda: T(weight_decay=-1)),
    refused(lambda: T(loss="p -* y")), refused(lambda: T(device="abacus")), refused(lambda: T(hidden=object())),
    refused(lambda: mm.Model.train(notebook.DATA, target="")),
    refused(lambda: mm.Model.from_bytes(b"123")), refused(lambda: mm.Model.from_bytes(model.to_bytes()[:-5])),
    refused(lambda: model.predict({"z": [1.0]})), refused(lambda: model.predict({"x": ["q"], "kind": ["up"]}, unknown="refuse")),
    refused(lambda: model.predict(notebook.NEW, interval=2)), refused(lambda: T(folds=3)),
    refused(lambda: T(progress=lambda event: 1 / 0)),
    refused(lambda: mm.fit("a*t", notebook.DECAY, y="signal", global_="all")),
    refused(lambda: mm.fit("a*t", {**notebook.DECAY, "t": [1.0]}, y="signal")),
    refused(lambda: mm.curve_fit("a*x", notebook.X, notebook.X)),
])`;

const STOPPED = `
import asyncio
from pyodide.ffi import run_sync
def stop(event):
    return False if event["epoch"] == 3 else None
LONG = notebook.HOW | {"epochs": 100_000, "patience": 0}
run = (await mm.Model.train_async(notebook.DATA, **LONG | {"progress": stop})).run
task = asyncio.ensure_future(mm.Model.train_async(notebook.DATA, **LONG))
await asyncio.sleep(0.2)
task.cancel()
try:
    await task
except asyncio.CancelledError:
    cancelled = True
json.dumps([run["stop"], 4 <= run["best_epoch"] <= run["epochs"] < 100, len(run["history"]) == run["epochs"], cancelled])`;

const INTERRUPTED = `
press = lambda event: js.setTimeout(js.interrupt, 120) if event["epoch"] == 0 else None
run = mm.Model.train(notebook.DATA, **notebook.HOW | {"epochs": 1_000_000, "patience": 0, "progress": press}).run
json.dumps([run["stop"], run["epochs"] > 1])`;

/** A model file of the native package as Python in Pyodide describes it, and with another note on its labels. */
const DESCRIBED = `
from base64 import b64decode, b64encode
engine = mm.Model.from_bytes(b64decode("${native.model.file}"))._engine
json.dumps([json.loads(engine.info()), b64encode(engine.labelled("number").save()).decode()])`;

const WITHOUT_WAITING = `
from pyodide.ffi import create_proxy
def work():
    try: mm.Model.train(notebook.DATA, **notebook.HOW)
    except RuntimeError as error: return str(error)
json.dumps(js.Function.new("work", "return work()")(create_proxy(work)))`;

const SMOKE = `
import json, micropip
from importlib.metadata import distribution
from pyodide.code import run_js
from pyodide.ffi import JsException, run_sync, to_js
import js, pyodide_js
found = distribution("meromorph")
text = found.locate_file("meromorph/_browser/engine.js").read_text()
engine = run_js(f"(() => {{ {text}\\nreturn meromorph; }})()")
objects = {"dict_converter": js.Object.fromEntries}
opened = run_sync(engine.open(to_js({"device": "cpu", "worker": False}, **objects)))
data = to_js({name: [float(i) ** power for i in range(50)] for power, name in enumerate("abc")}, **objects)
read = engine.reader(opened.train(data, to_js({"target": "c", "epochs": 2}, **objects)), pyodide_js.checkInterrupt)
events = []
while not events or events[-1] != "end":
    events.append(json.loads(run_sync(read(len(events) + 1)).text)["event"])
try:
    run_sync(opened.train(data, to_js({"target": "c", "epochs": -2}, **objects)).next())
except JsException as error:
    events.append(error.kind)
json.dumps([found.version, events])`;

/** Starting Pyodide takes most of the time, so each Node does it once. */
const awaiting = inNode(process.execPath, { ...full, programs: [AWAITED, STOPPED, WITHOUT_WAITING].map(imported) });
const switching = inNode(SWITCHING, { ...full, programs: [WAITED, REFUSED, INTERRUPTED, DESCRIBED].map(imported) });
for (const answers of [awaiting, switching]) answers.catch(() => {});

test("lines that are awaited give the numbers of CPython and of the command", async () => {
  const got = (await awaiting)[0]();
  assertNumbers(got);
  const work = mkdtempSync(join(tmpdir(), "meromorph-"));
  try {
    const [data, rows, model] = ["data.csv", "new.csv", "model.safetensors"].map((name) => join(work, name));
    writeFileSync(data, native.data);
    writeFileSync(rows, native.new);
    const how = ["--target", "y", "--epochs", "12", "--device", "cpu", "--quiet"];
    execFileSync(MERO, ["train", data, ...how, "--out", model], { stdio: "ignore" });
    const [, ...lines] = execFileSync(MERO, ["predict", model, rows], { encoding: "utf8" }).trim().split("\n");
    assertNumbers({ predicted: got.predicted }, { predicted: lines.map((line) => Number(line.split(",")[0])) });
  } finally {
    rmSync(work, { recursive: true });
  }
});

test("lines that wait give the same numbers where the runtime switches stacks", async () => {
  assertNumbers((await switching)[0]());
});

test("a page and a worker in it give the same numbers", async () => {
  const [server, browser] = await Promise.all([serve(root), launch(false)]);
  const page = await browser.newPage();
  const site = `http://localhost:${server.address().port}`;
  await page.goto(`${site}/web/test/blank.html`);
  const request = { pyodide: `${site}/.tools/pyodide/full`, packages, files: full.files, programs: [imported(WAITED)] };
  const [inPage, inWorker] = await page.evaluate(
    async ([address, scripts, request]) => {
      const bytes = new Uint8Array(await (await fetch(address)).arrayBuffer());
      const whole = { ...request, wheel: { name: address.split("/").at(-1), bytes } };
      const { run } = await import(`${scripts}/session.mjs`);
      const worker = new Worker(`${scripts}/worker.mjs`, { type: "module" });
      const answer = new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => ("answers" in data ? resolve(data.answers) : reject(new Error(data.error)));
        worker.onerror = ({ message }) => reject(new Error(message));
      });
      worker.postMessage(whole);
      return [await run(whole), await answer];
    },
    [`${site}/${relative(root, full.wheel)}`, `${site}/${relative(root, here)}`, request],
  );
  for (const [answer] of [inPage, inWorker]) assertNumbers(answered(answer)());
});

test("errors name options as Python does, and are the exceptions of CPython", async () => {
  const got = (await switching)[1]();
  const expected = [
    ["TypeError", 'train: option "epoch" is unknown: did you mean "epochs"?'],
    ["ValueError", 'column "z" not in data; it has "x", "kind", "y"'],
    ["ValueError", "train: weight_decay: got -1, expected a finite number of at least 0"],
    ["ValueError", 'train: loss: formula, character 4: got "*", expected a number, a name or "(" (in "p -* y")'],
    ["ValueError", 'device "abacus" is unknown; there are auto, webgpu, cpu'],
    ["ValueError", "train: hidden: got a value of type object, expected whole numbers ≥ 1"],
    ["TypeError", "train: got no target, expected the name of a column"],
    ["ValueError", "model: is cut short: 3 bytes hold no safetensors header"],
    ["ValueError", /^model: tensor ".*" lies at bytes \d+ to \d+, file has \d+ \(cut short\?\)$/],
    ["ValueError", 'column "x" is missing from data; it has "z"'],
    ["ValueError", 'data: row 1, column "x": "q" is not a number'],
    ["ValueError", "predict: interval: got 2, expected a probability between 0 and 1"],
    ["NotImplementedError", "train: folds: the engine in the browser has no cross-validation: expected folds=0"],
    ["ZeroDivisionError", "division by zero"],
    ["ValueError", 'fit: global: got "all", expected one of "none", "multistart", "cmaes"'],
    ["ValueError", 'data: column "signal" has 240 rows, column "t" has 1'],
    ["NotImplementedError", /^curve_fit of a text: the engine in the browser does not have it/],
  ];
  expected.forEach(([name, message], at) => {
    assert.equal(got[at][0], name);
    typeof message === "string" ? assert.equal(got[at][1], message) : assert.match(got[at][1], message);
  });
});

test("a run ends early by its callback and with its task", async () => {
  assert.deepEqual((await awaiting)[1](), ["requested", true, true, true]);
});

test("Ctrl-C ends a run with its best model", async () => {
  assert.deepEqual((await switching)[2](), ["requested", true]);
});

test("a model file is described and labelled as in CPython", async () => {
  const [info, labelled] = (await switching)[3]();
  assert.deepEqual(info, native.model.info);
  assert.equal(labelled, native.model.labelled);
});

test("where Python cannot wait, the error names what to await", async () => {
  const expected = /^Python cannot wait for the engine here: expected await Model\.train_async\(…\), or a runtime/;
  assert.match((await awaiting)[2](), expected);
});

test("micropip takes the wheel in the newest Pyodide, and its scripts run there", async () => {
  const archives = readdirSync(tools)
    .filter((name) => name.endsWith(".whl"))
    .map((name) => join(tools, name));
  const pyodide = join(tools, "node_modules/pyodide");
  // NumPy for this Pyodide is on no registry.
  const wheel = wheelFor("pyemscripten_2026_0");
  const how = { pyodide, wheel, archives, dependencies: false, programs: [SMOKE] };
  const [got] = await inNode(SWITCHING, how);
  const expected = /version = "(.+?)"/.exec(readFileSync(join(root, "Cargo.toml"), "utf8"))[1];
  assert.deepEqual(got(), [expected, ["start", "epoch", "epoch", "end", "usage"]]);
});
