// `meromorph/contrast`: what a memory learns and finds, events, aborts and errors; the same map as the native program's
// and files in both directions; in Node and in Chromium.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputError, learn, loadMemory } from "../dist/contrast-node.js";
import * as mero from "../dist/node.js";
import { test, uniform, visit, web } from "./browser.mjs";

/** Three classes at (0, 0), (2, 0) and (0, 2) within 0.2, and two columns within `far` that say nothing. */
function noisy(count, { seed = 1, far = 30 } = {}) {
  const next = uniform(seed);
  const drawn = (size) => size * (2 * next() - 1);
  const centers = [
    ["red", 0, 0],
    ["green", 2, 0],
    ["blue", 0, 2],
  ];
  const rows = Array.from({ length: count }, (_, row) => {
    const [, x, y] = centers[row % 3];
    return [x + drawn(0.2), y + drawn(0.2), drawn(far), drawn(far)].map(Math.fround);
  });
  return { rows, labels: rows.map((_, row) => centers[row % 3][0]) };
}

const QUICK = { map: "diagonal", batch: 16, lr: 0.05 };

test("a memory finds the nearest rows by distances that can be computed by hand", async () => {
  const rows = [
    [0, 0],
    [0, 1],
    [4, 0],
    [4, 1],
  ];
  const labels = ["left", "left", "right", "right"];
  const memory = await learn(rows, labels, { map: "linear", epochs: 1, lr: 1e-9, test: 0 });
  assert.deepEqual([memory.labels, memory.classes, memory.columns], [labels, ["left", "right"], []]);
  const { inputs, outputs, matrix, shift, weights, rotations } = memory.map;
  assert.deepEqual([inputs, outputs, weights.length, rotations.length], [2, 2, 0, 0]);
  assert.deepEqual([...shift], [2, 0.5]);
  // The rate is too small to move it: distances in units of the one to the nearest row, which is 1.
  [1, 0, 0, 1].forEach((entry, at) => assert.ok(Math.abs(matrix[at] - entry) < 1e-6, `${matrix}`));
  assert.ok(Math.abs(memory.reach - 1) < 1e-6, memory.reach);
  assert.equal(memory.sharpness, 5);
  const near = (got, expected) => assert.ok(Math.abs(got - expected) < 1e-5, `${got} is not ${expected}`);
  const found = await memory.find([0.5, 0], 3);
  assert.deepEqual(
    found.neighbours.map(({ row, label }) => [row, label]),
    [
      [0, "left"],
      [1, "left"],
      [2, "right"],
    ],
  );
  const distances = [0.5, Math.hypot(0.5, 1), 3.5];
  const all = distances.reduce((sum, distance) => sum + Math.exp(-5 * distance), 0);
  found.neighbours.forEach(({ distance, weight }, rank) => {
    near(distance, distances[rank]);
    near(weight, Math.exp(-5 * distances[rank]) / all);
  });
  assert.deepEqual([found.label, found.isKnown], ["left", true]);
  const [first, far] = await memory.find([Float32Array.of(0.5, 0), [9, 9]], 1);
  assert.equal(first.neighbours[0].row, 0);
  assert.deepEqual([far.label, far.isKnown, far.neighbours.length], [null, false, 1]);
  near(far.neighbours[0].distance, Math.hypot(5, 8));
  assert.equal((await memory.find([0, 0])).neighbours.length, 4);
  assert.deepEqual(await memory.find([]), []);
  assert.deepEqual(
    [...memory.map.place([3, 1])].map(Math.round),
    [1, 1].map((x, at) => Math.round(x - 0.5 * at)),
  );
  memory.dispose();
  await assert.rejects(memory.find([0, 0]), new InputError("memory: was disposed of", "usage"));
});

test("it learns which columns matter, and says so epoch by epoch", async () => {
  const { rows, labels } = noisy(300);
  const events = [];
  const memory = await learn(rows, labels, { ...QUICK, onEpoch: (event) => events.push(event) });
  assert.deepEqual(
    events.map(({ epoch, epochs }) => [epoch, epochs]),
    Array.from({ length: 30 }, (_, epoch) => [epoch, 30]),
  );
  const [first, last] = [events[0], events.at(-1)];
  assert.ok(last.loss < 0.5 * first.loss && last.lr < first.lr, `${first.loss} to ${last.loss}`);
  assert.equal(last.accuracy, 1);
  assert.deepEqual(last.map, memory.map);
  const [a, b, c, d] = memory.map.weights;
  assert.ok(Math.min(a, b) > 20 * Math.max(c, d), `${memory.map.weights}`);
  const again = noisy(60, { seed: 7 });
  const found = await memory.find(again.rows, 5);
  const right = found.filter(({ neighbours: [{ label }] }, row) => label === again.labels[row]).length;
  assert.ok(right >= 59, `${right} of 60`);
  memory.dispose();
});

test("rotations come with their planes, numbers come back as numbers", async () => {
  const { rows } = noisy(90);
  const labels = Int32Array.from(rows, (_, row) => [10, 9, -1][row % 3]);
  const flat = Float32Array.from(rows.flat());
  const memory = await learn(flat, labels, { map: "rotors", batch: 16, epochs: 3 });
  assert.deepEqual(memory.classes, [-1, 9, 10]);
  assert.deepEqual(memory.labels, [...labels]);
  assert.equal(memory.map.weights.length, 4);
  assert.deepEqual(
    memory.map.rotations.map(({ plane }) => plane),
    [
      [0, 1],
      [2, 3],
      [0, 2],
      [1, 3],
    ],
  );
  assert.ok(memory.map.rotations.some(({ angle }) => angle !== 0));
  // A = diag(√weights) · rotations, times the one scale of all columns.
  const scale = Math.sqrt(
    memory.map.matrix.reduce((sum, entry) => sum + entry ** 2, 0) / memory.map.weights.reduce((sum, one) => sum + one),
  );
  const turned = Array.from({ length: 4 }, (_, at) => [0, 1, 2, 3].map((other) => Number(other === at)));
  for (const {
    plane: [i, j],
    angle,
  } of memory.map.rotations) {
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    const [a, b] = [turned[i], turned[j]];
    turned[i] = a.map((x, at) => cos * x - sin * b[at]);
    turned[j] = a.map((x, at) => sin * x + cos * b[at]);
  }
  turned.flat().forEach((entry, at) => {
    const expected = scale * Math.sqrt(memory.map.weights[Math.floor(at / 4)]) * entry;
    assert.ok(
      Math.abs(memory.map.matrix[at] - expected) < 1e-5 * scale,
      `${at}: ${memory.map.matrix[at]}, ${expected}`,
    );
  });
  const loaded = await loadMemory(await memory.save());
  assert.deepEqual([loaded.map, loaded.labels], [memory.map, memory.labels]);
  for (const one of [memory, loaded]) one.dispose();
});

const binary = process.env.MERO ?? join(process.env.CARGO_TARGET_DIR ?? join(web, "../target"), "release/mero");
const native = (folder, ...args) =>
  execFileSync(binary, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** Runs `work` with an own folder. */
async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "meromorph-contrast-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The numbers of a file of NumPy. */
function npy(file) {
  const bytes = readFileSync(file);
  const start = 10 + bytes.readUInt16LE(8);
  const words = bytes.subarray(start);
  const isSingle = /'<f4'/.test(bytes.toString("latin1", 0, start));
  const size = isSingle ? 4 : 8;
  return Array.from({ length: words.length / size }, (_, at) =>
    isSingle ? words.readFloatLE(at * size) : words.readDoubleLE(at * size),
  );
}

const csv = (head, rows) => `${[head, ...rows.map((row) => row.join(","))].join("\n")}\n`;

test("a few windows learn the map that the native program learns, in every form", () =>
  inFolder(async (folder) => {
    // Of farther columns the first gradients of angles, which are 0 but for rounding, have other signs.
    const { rows, labels } = noisy(120, { far: 1 });
    writeFileSync(
      join(folder, "rows.csv"),
      csv(
        "a,b,c,d,kind",
        rows.map((row, at) => [...row, labels[at]]),
      ),
    );
    const forms = [
      { map: "linear" },
      { map: "linear", outputs: 2, standardize: true },
      { map: "diagonal" },
      { map: "rotors" },
      { map: "block", block: 2 },
      { map: "low_rank", rank: 2 },
    ];
    for (const form of forms) {
      const options = { ...form, batch: 16, epochs: 2, seed: 3 };
      const flags = Object.entries(options).flatMap(([name, value]) =>
        value === true ? [`--${name}`] : [`--${name}`, String(value)],
      );
      native(
        folder,
        "contrast",
        "rows.csv",
        "--target",
        "kind",
        ...flags,
        "--device",
        "cpu",
        "--threads",
        "1",
        "--map-out",
        "map.npy",
        "--force",
      );
      const memory = await learn(rows, labels, options);
      const expected = npy(join(folder, "map.npy"));
      assert.equal(memory.map.matrix.length, expected.length);
      const size = Math.max(...expected.map(Math.abs));
      expected.forEach((entry, at) =>
        assert.ok(
          Math.abs(memory.map.matrix[at] - entry) < 1e-4 * size,
          `${form.map}: ${memory.map.matrix[at]}, ${entry}`,
        ),
      );
      memory.dispose();
    }
  }));

/** Compares what is found with the lines of `mero recall`. */
function compare(found, text) {
  const [, ...lines] = text
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  const all = found.flatMap(({ neighbours, isKnown }, query) =>
    neighbours.map((one, rank) => ({ ...one, query, rank: rank + 1, isKnown })),
  );
  assert.equal(all.length, lines.length);
  all.forEach(({ query, rank, row, label, distance, weight, isKnown }, at) => {
    const [q, r, number, name, apart, share, known] = lines[at];
    assert.deepEqual([query, rank, row, label, String(isKnown)], [Number(q), Number(r), Number(number), name, known]);
    assert.ok(
      Math.abs(distance - apart) <= 1e-6 * (1 + distance) && Math.abs(weight - share) <= 1e-4,
      lines[at].join(),
    );
  });
}

test("a memory finds the same here and in the native program, whoever learned it", () =>
  inFolder(async (folder) => {
    const { rows, labels } = noisy(120);
    const queries = [...noisy(10, { seed: 5 }).rows, [500, 500, 500, 500]];
    writeFileSync(join(folder, "queries.csv"), csv("a,b,c,d", queries));
    for (const map of ["linear", "rotors"]) {
      const made = await learn(rows, labels, { ...QUICK, map, epochs: 3 });
      writeFileSync(join(folder, "made.memory"), await made.save());
      compare(await made.find(queries, 4), native(folder, "recall", "made.memory", "queries.csv", "-k", "4"));
      const stranger = await made.find(queries.at(-1), 4);
      assert.deepEqual([stranger.label, stranger.isKnown], [null, false]);
      assert.match(
        native(folder, "recall", "made.memory", "queries.csv", "-k", "4", "--reject"),
        /\n10,,,,[\d.]+,,false\n$/,
      );
      made.dispose();
    }
    writeFileSync(
      join(folder, "rows.csv"),
      csv(
        "a,b,c,d,kind",
        rows.map((row, at) => [...row, labels[at]]),
      ),
    );
    native(
      folder,
      "contrast",
      "rows.csv",
      "--target",
      "kind",
      "--map",
      "diagonal",
      "--epochs",
      "3",
      "-o",
      "native.memory",
    );
    const bytes = readFileSync(join(folder, "native.memory"));
    for (const file of [new Uint8Array(bytes), new Blob([bytes])]) {
      const loaded = await loadMemory(file);
      assert.deepEqual([loaded.columns, loaded.target, loaded.labels], [["a", "b", "c", "d"], "kind", labels]);
      assert.equal(loaded.map.weights.length, 4);
      compare(await loaded.find(queries, 4), native(folder, "recall", "native.memory", "queries.csv", "-k", "4"));
      loaded.dispose();
    }
  }));

test("an aborted run ends early, with the memory as it is then", async () => {
  const { rows, labels } = noisy(90);
  const stop = new AbortController();
  let epochs = 0;
  const memory = await learn(rows, labels, {
    ...QUICK,
    epochs: 1000,
    signal: stop.signal,
    onEpoch: async () => {
      await null;
      if (++epochs === 3) stop.abort();
    },
  });
  assert.equal(epochs, 3);
  assert.equal((await memory.find(rows[0], 1)).neighbours[0].row, 0);
  memory.dispose();
  const reason = new Error("not now");
  await assert.rejects(learn(rows, labels, { signal: AbortSignal.abort(reason) }), reason);
  const soon = new AbortController();
  const long = noisy(6000);
  const run = learn(long.rows, long.labels, { epochs: 10, signal: soon.signal });
  setTimeout(() => soon.abort(reason), 200);
  await assert.rejects(run, reason);
  await assert.rejects(
    learn(rows, labels, {
      onEpoch: () => {
        throw reason;
      },
    }),
    reason,
  );
});

test("errors say what is wrong", async () => {
  const { rows, labels } = noisy(12);
  const cases = [
    [rows, labels.slice(1), {}, "learn: labels: got 11 for 12 rows, expected one for each"],
    [[[1, 2], [3]], ["a", "b"], {}, "learn: row 1: got 1 numbers, expected 2, as in row 0"],
    [
      [
        [1, 2],
        [3, NaN],
      ],
      ["a", "b"],
      {},
      "learn: row 1, column 1: got NaN, expected a finite number in single precision",
    ],
    [
      [
        [1, 2],
        [3, 1e40],
      ],
      ["a", "b"],
      {},
      "learn: row 1, column 1: got 1e+40, expected a finite number in single precision",
    ],
    [
      [
        [1, 2],
        ["x", 2],
      ],
      ["a", "b"],
      {},
      'learn: row 1, column 0: got "x", expected a finite number in single precision',
    ],
    [[[1], 2], ["a", "b"], {}, "learn: row 1: got 2, expected an array of numbers"],
    [new Float32Array(7), ["a", "b"], {}, "learn: rows: got 7 numbers for 2 labels, expected as many for each"],
    ["x", labels, {}, 'learn: rows: got "x", expected an array of rows, or a typed array of all of them'],
    [rows, "x", {}, 'learn: labels: got "x", expected an array of texts or of numbers'],
    [rows, labels.with(3, null), {}, "learn: labels: row 3: got null, expected a text as the first"],
    [
      rows,
      rows.map((_, row) => (row === 2 ? NaN : 1)),
      {},
      "learn: labels: row 2: got NaN, expected a number as the first",
    ],
    [rows, labels.map(() => "a"), {}, "learn: got rows of 1 class, expected at least 2 classes"],
    [rows, labels.map((_, row) => row), {}, /^learn: every row to learn from has a class of its own/],
    [[], [], {}, "learn: rows: got none, expected rows of at least two classes"],
    [rows, labels, { map: "diagnal" }, /^learn: map: got "diagnal", expected one of .*did you mean "diagonal"\?$/],
    [rows, labels, { outputs: 9 }, "learn: outputs: got 9, expected at most 4, the number of columns"],
    [rows, labels, { rank: 2 }, /^learn: rank /],
    [rows, labels, { map: "block", block: 3 }, /^learn: metric: got blocks of 3, expected 2 to 8, a divisor of 4/],
    [rows, labels, { test: 0.95 }, "learn: test: got 0.95, expected at most 0.9 of the rows"],
    [rows, labels, { epoch: 3 }, 'learn: option "epoch" is unknown: did you mean "epochs"?'],
    [
      rows,
      labels,
      { hidden: [8] },
      "learn: hidden: layers that settle are not learned here: use mero contrast --hidden",
    ],
    [
      rows,
      labels,
      { device: "webgpu" },
      'learn: device: got "webgpu", expected "cpu": memories are learned there only',
    ],
    [rows, labels, { onEpoch: 3 }, "learn: onEpoch: got 3, expected a function"],
    [rows, labels, { signal: 3 }, "learn: signal: got 3, expected an AbortSignal"],
    [rows, labels, { map: "diagonal", lr: 1e3, epochs: 5 }, /^learn: .*not finite/],
  ];
  for (const [x, names, options, message] of cases) {
    const error = await learn(x, names, options).then(
      () => undefined,
      (error) => error,
    );
    assert.ok(error instanceof InputError && error instanceof mero.InputError, `${JSON.stringify(options)}: ${error}`);
    if (typeof message === "string") assert.equal(error.message, message);
    else assert.match(error.message, message);
  }
  const memory = await learn(rows, labels, { epochs: 1 });
  const refused = (x, k, message) => assert.rejects(memory.find(x, k), new InputError(message));
  await refused(rows[0], 13, "find: k: got 13, expected a whole number from 1 to 12, the rows in memory");
  await refused(rows[0], 1.5, "find: k: got 1.5, expected a whole number from 1 to 12, the rows in memory");
  await refused([1, 2], 1, "find: row 0: got 2 numbers, expected 4, as the rows of the memory have");
  await refused(
    [rows[0], [1, 2, 3, NaN]],
    1,
    "find: row 1, column 3: got NaN, expected a finite number in single precision",
  );
  await refused("x", 1, 'find: row 0: got "x", expected an array of numbers');
  const bytes = await memory.save();
  memory.dispose();
  await assert.rejects(loadMemory("x"), /^InputError: loadMemory: got "x", expected the bytes of a file/);
  await assert.rejects(
    loadMemory(new Uint8Array(100)),
    (error) => error instanceof InputError && /^loadMemory: /.test(error.message),
  );
  await assert.rejects(
    loadMemory(bytes.slice(0, -4)),
    (error) => error instanceof InputError && /^loadMemory: /.test(error.message),
  );
  const engine = await mero.open({ device: "cpu" });
  const { model } = await engine.fit(
    { x: rows.map((_, row) => row), y: rows.map((_, row) => row) },
    { epochs: 1, hidden: [2] },
  );
  await assert.rejects(
    loadMemory(await model.save()),
    new InputError("loadMemory: it holds no memory: expected a file that mero contrast has written"),
  );
  engine.dispose();
});

test("it learns in Chromium, in a worker, also where the worker's file is missing", async () => {
  const { rows, labels } = noisy(90);
  const here = await learn(rows, labels, { ...QUICK, epochs: 3 });
  const { page, errors, close } = await visit("/test/blank.html", { webgpu: false });
  const run = () =>
    page.evaluate(
      async ([rows, labels, options]) => {
        const { learn, loadMemory } = await import(`/dist/contrast.js?${Math.random()}`);
        const memory = await learn(rows, labels, options);
        const found = await memory.find(rows.slice(0, 5), 3);
        const loaded = await loadMemory(await memory.save());
        const again = await loaded.find(rows.slice(0, 5), 3);
        const error = await loaded.find([1], 3).catch((error) => error);
        return [Array.from(memory.map.matrix), found, again, error.message];
      },
      [rows, labels, { ...QUICK, epochs: 3 }],
    );
  const [matrix, found, again, message] = await run();
  assert.deepEqual(matrix, Array.from(here.map.matrix));
  assert.deepEqual(found, await here.find(rows.slice(0, 5), 3));
  assert.deepEqual(again, found);
  assert.equal(message, "find: row 0: got 1 numbers, expected 4, as the rows of the memory have");
  assert.deepEqual(errors, []);
  const asked = [];
  await page.route("**/contrast-worker.js", (route) => (asked.push(1), route.abort()));
  assert.deepEqual((await run())[1], found);
  assert.ok(asked.length > 0);
  here.dispose();
  await close();
});
