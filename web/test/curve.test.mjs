// `meromorph/fit`: certified answers, errors, bands, and files that the native program reads and writes, in Node and in
// Chromium. Then the demo page.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fit, fitMany, InputError, load, models } from "../dist/fit.js";
import { test, visit, web } from "./browser.mjs";
import { cells, demo, drawn, figuresOf } from "./site.mjs";

/** Problems of NIST's Statistical Reference Datasets: both starts, certified parameters, certified standard errors. */
const CERTIFIED = {
  Misra1a: {
    model: "b1*(1-exp(-b2*x))",
    y: [10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.4, 75.47, 81.78],
    x: [77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0],
    starts: [
      [500, 0.0001],
      [250, 0.0005],
    ],
    values: [2.3894212918e2, 5.5015643181e-4],
    stderrs: [2.7070075241, 7.2668688436e-6],
  },
  DanWood: {
    model: "b1*x^b2",
    y: [2.138, 3.421, 3.597, 4.34, 4.882, 5.66],
    x: [1.309, 1.471, 1.49, 1.565, 1.611, 1.68],
    starts: [
      [1, 5],
      [0.7, 4],
    ],
    values: [7.6886226176e-1, 3.8604055871],
    stderrs: [1.828197386e-2, 5.1726610913e-2],
  },
  MGH10: {
    model: "b1 * exp(b2/(x+b3))",
    y: [34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872],
    x: [50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100, 105, 110, 115, 120, 125],
    starts: [
      [2, 400000, 25000],
      [0.02, 4000, 250],
    ],
    values: [5.609636471e-3, 6.1813463463e3, 3.4522363462e2],
    stderrs: [1.5687892471e-4, 2.3309021107e1, 7.8486103508e-1],
  },
};

/** The number of digits that agree. */
const digits = (got, certified) => Math.min(11, -Math.log10(Math.abs((got - certified) / certified)));

test("certified problems have 10 digits of their parameters and 8 of their standard errors", async () => {
  for (const [name, { model, x, y, starts, values, stderrs }] of Object.entries(CERTIFIED)) {
    for (const start of starts) {
      const p0 = Object.fromEntries(start.map((value, at) => [`b${at + 1}`, value]));
      const { parameters, isConverged } = await fit({ x, y }, model, { p0 });
      assert.ok(isConverged, name);
      values.forEach((value, at) => {
        const found = parameters[`b${at + 1}`];
        const got = [digits(found.value, value), digits(found.stderr, stderrs[at])];
        assert.ok(got[0] >= 10 && got[1] >= 8, `${name} from ${start}, b${at + 1}: ${got} digits`);
      });
    }
  }
});

const X = Float64Array.from({ length: 60 }, (_, row) => row / 10);
const DATA = { x: X, y: X.map((x, row) => 3 * Math.exp(-1.2 * x) + 0.5 + 0.02 * Math.sin(37 * row)) };

test("many fits are the fits one by one", async () => {
  const t = Float64Array.from({ length: 40 }, (_, row) => row / 8);
  const count = 300;
  const signal = Float64Array.from({ length: count * t.length }, (_, at) => {
    const [set, row] = [Math.floor(at / t.length), at % t.length];
    return (1 + set / 100) * Math.exp(-(0.5 + set / 400) * t[row]) + 0.2 + 0.01 * Math.sin(37 * at);
  });
  signal.fill(NaN, 7 * t.length, 8 * t.length - 1);
  const model = "a*exp(-b*t) + c";
  const options = { y: "signal", p0: { a: 1, b: 1, c: 0 }, bounds: { b: [0, 3] }, missing: "drop" };
  const many = await fitMany({ t, signal }, model, options);
  assert.equal(many.count, count);
  assert.deepEqual(
    many.failures.map(({ fit }) => fit),
    [7],
  );
  assert.match(many.failures[0].message, /got 1 row, expected at least 3/);
  assert.ok(Number.isNaN(many.parameters.a[7]) && many.converged[7] !== 1);
  for (const set of [0, 6, 8, 151, 299]) {
    const one = await fit({ t, signal: signal.slice(set * t.length, (set + 1) * t.length) }, model, options);
    assert.equal(many.converged[set], 1);
    for (const [name, { value, stderr }] of Object.entries(one.parameters)) {
      assert.ok(Math.abs(many.parameters[name][set] - value) < 1e-6 * stderr, `${name} of ${set}`);
      assert.ok(Math.abs(many.stderrs[name][set] / stderr - 1) < 1e-6, `${name} of ${set}`);
    }
    assert.ok(Math.abs(many.rms[set] / one.rmse - 1) < 1e-9);
  }
  const wrong = async (data, more, expected) =>
    assert.rejects(
      fitMany(data, model, { ...options, ...more }),
      (error) => error instanceof InputError && expected.test(error.message),
    );
  await wrong(
    { t, signal: signal.slice(1) },
    {},
    /"signal" has 11999 values and column "t" has 40, expected the rows of one fit/,
  );
  await wrong({ t, signal: signal.slice(0, 40) }, {}, /two or more fits/);
  await wrong({ t, signal }, { y: undefined }, /y is undefined, expected the column of the observed values/);
  await wrong({ t, signal }, { tie: { c: "2*a" } }, /option "tie" is unknown: expected one of p0, bounds, fix, y/);
});

test("many fits come in parts, also if a part has no rows", async () => {
  const t = Float64Array.from({ length: 50 }, (_, row) => row / 10);
  const count = 12_001;
  const signal = Float64Array.from(
    { length: count * t.length },
    (_, at) => (1 + Math.floor(at / t.length) / count) * Math.exp(-0.7 * t[at % t.length]),
  );
  signal.fill(NaN, 12_000 * t.length);
  const fits = fitMany({ t, signal }, "a*exp(-b*t)", { y: "signal", p0: { a: 1, b: 1 }, missing: "drop" });
  const parts = [];
  for await (const part of fits) parts.push(part);
  assert.deepEqual(
    parts.map(({ first, count }) => [first, count]),
    [
      [0, 6001],
      [6001, 6000],
    ],
  );
  const whole = await fits;
  assert.deepEqual(
    [whole.count, whole.failures.map(({ fit }) => fit), parts[1].failures.map(({ fit }) => fit)],
    [count, [12_000], [12_000]],
  );
  for (const [part, at] of [
    [0, 17],
    [1, 17],
  ])
    assert.equal(whole.parameters.a[parts[part].first + at], parts[part].parameters.a[at]);
  assert.ok(Math.abs(whole.parameters.a[11_999] - 2) < 1e-3);
  signal.fill(NaN, 0, 6001 * t.length);
  const half = await fitMany({ t, signal }, "a*exp(-b*t)", { y: "signal", p0: { a: 1, b: 1 }, missing: "drop" });
  assert.deepEqual([half.failures.length, half.failures[6001].fit, half.parameters.a[6000]], [6002, 12_000, NaN]);
  assert.equal(half.parameters.a[6018], whole.parameters.a[6018]);
});

test("a parameter has a value for each level of a column of numbers", async () => {
  const set = Float64Array.from({ length: 90 }, (_, row) => row % 3);
  const x = set.map((_, row) => Math.floor(row / 3) / 10);
  const y = x.map((x, row) => (1 + set[row]) * Math.exp(-0.8 * x) + 0.01 * Math.sin(37 * row));
  const { parameters } = await fit({ set, x, y }, "a[set]*exp(-b*x)");
  assert.deepEqual(Object.keys(parameters), ["a[0]", "a[1]", "a[2]", "b"]);
  assert.ok(Math.abs(parameters["a[2]"].value - 3) < 0.02 && Math.abs(parameters.b.value - 0.8) < 0.01);
});

test("levels can be texts, and predictions take them", async () => {
  const set = Array.from({ length: 91 }, (_, row) => (row === 90 ? null : ["low", "mid", "high"][row % 3]));
  const x = Float64Array.from(set, (_, row) => Math.floor(row / 3) / 10);
  const y = x.map((x, row) => (1 + (row % 3)) * Math.exp(-0.8 * x) + 0.01 * Math.sin(37 * row));
  await assert.rejects(fit({ set, x, y }, "a[set]*exp(-b*x)"), /row 91: column "set" has a missing cell/);
  const solved = await fit({ set, x, y }, "a[set]*exp(-b*x)", { missing: "drop" });
  assert.deepEqual(
    [Object.keys(solved.parameters), solved.levelColumns, solved.rows],
    [["a[high]", "a[low]", "a[mid]", "b"], ["set"], 90],
  );
  const { values, confidence } = solved.predict({ set: ["low", "high"], x: [0, 0] });
  assert.deepEqual([...values], [solved.parameters["a[low]"].value, solved.parameters["a[high]"].value]);
  assert.ok(confidence[0] > 0);
  assert.throws(
    () => solved.predict({ set: ["lowest"], x: [0] }),
    /^InputError: set: got lowest, which the fit did not have$/,
  );
  assert.throws(() => solved.predict({ x: [0] }), /the column "set" is missing/);
  assert.throws(() => solved.predict({ set: [null], x: [0] }), /row 1: column "set"/);
});

test("running integrals, profiles, global searches and recovery", async () => {
  const decay = X.map((x) => (2 * (1 - Math.exp(-1.5 * x))) / 1.5 + 0.4);
  const integral = await fit({ x: X, y: decay }, "cumint(a*exp(-b*x), x) + c", { p0: { a: 1, b: 1, c: 0 } });
  assert.ok(Math.abs(integral.parameters.b.value - 1.5) < 0.01, String(integral.parameters.b.value));
  const { parameters } = await fit(DATA, "a*exp(-b*x) + c", { profile: true });
  for (const { value, interval, profileInterval } of Object.values(parameters)) {
    assert.ok(profileInterval[0] < value && value < profileInterval[1]);
    profileInterval.forEach((end, at) => assert.ok(Math.abs(end / interval[at] - 1) < 0.05, `${end} ${interval[at]}`));
  }
  // From this start alone the search ends in another minimum.
  const wave = { x: X, y: X.map((x) => Math.sin(4.3 * x + 0.5)) };
  const options = { p0: { w: 1, p: 0 }, bounds: { w: [0, 10], p: [-3, 3] } };
  const [near, ...global] = await Promise.all(
    ["none", "multistart", "cmaes"].map((global) => fit(wave, "sin(w*x + p)", { ...options, global })),
  );
  assert.ok(
    near.cost > 1 && global.every(({ cost }) => cost < 1e-9),
    `${near.cost}, ${global.map(({ cost }) => cost)}`,
  );
  // The model is not finite at the start.
  const stuck = { p0: { a: 1, b: -1 } };
  const root = { x: X, y: X.map((x) => 2 * Math.sqrt(x + 0.5)) };
  await assert.rejects(fit(root, "a*sqrt(x + b)", { ...stuck, recovery: false }), /not finite/);
  const recovered = await fit(root, "a*sqrt(x + b)", stuck);
  assert.ok(recovered.recovery.length > 0 && Math.abs(recovered.parameters.b.value - 0.5) < 1e-6);
});

test("a search on WebGPU ends where that on the CPU ends, and says how it was made", async () => {
  const { page, errors, close } = await visit("/test/blank.html");
  const got = await page.evaluate(
    async ([x, y]) => {
      const { fit } = await import("/dist/fit.js");
      const all = [];
      for (const model of ["a*exp(-b*x) + c", "cumint(a*exp(-b*x), x) + c"]) {
        const { parameters, device, precision, precisionReason, deviceEvaluations } = await fit({ x, y }, model, {
          device: "webgpu",
          p0: { a: 1, b: 1, c: 0 },
        });
        all.push({ parameters, device, precision, precisionReason, deviceEvaluations });
      }
      const wrong = await fit({ x, y }, "a*X", { device: "webgpu" }).catch(
        ({ name, message }) => `${name}: ${message}`,
      );
      return { all, wrong };
    },
    [[...DATA.x], [...DATA.y]],
  );
  assert.deepEqual(errors, []);
  await close();
  const [decay, integral] = got.all;
  const { parameters, device, precision } = await fit(DATA, "a*exp(-b*x) + c");
  assert.deepEqual([device, precision, decay.device, decay.precision], ["cpu", "f64", "webgpu", "f32, then f64"]);
  for (const [name, { value, stderr }] of Object.entries(parameters))
    assert.ok(Math.abs(decay.parameters[name].value - value) < 1e-4 * stderr, name);
  assert.ok(decay.deviceEvaluations > 2);
  assert.match(decay.precisionReason, /^on 60 rows at the start, single precision changes residuals by/);
  assert.deepEqual([integral.device, integral.precision, integral.deviceEvaluations], ["cpu", "f64", 0]);
  assert.match(integral.precisionReason, /^not searched on webgpu: integrals are computed in double precision/);
  assert.match(got.wrong, /^InputError: model: it uses no column/);
  await assert.rejects(fit(DATA, "a*x", { device: "cuda" }), /device is "cuda", expected one of "cpu", "webgpu"/);
});

test("without WebGPU the error says so", async () => {
  const { page, close } = await visit("/test/blank.html", { webgpu: false });
  const message = await page.evaluate(async () => {
    const { fit, DeviceError } = await import("/dist/fit.js");
    return fit({ x: [1, 2, 3], y: [2, 4, 6] }, "a*x", { device: "webgpu" }).catch(
      (error) => `${error instanceof DeviceError} ${error.message}`,
    );
  });
  await close();
  assert.match(message, /^true .*webgpu/i);
});

test("Chromium has the bits of Node", async () => {
  const { page, errors, close } = await visit("/test/blank.html");
  const got = await page.evaluate(
    async ([x, y]) => {
      const { fit } = await import("/dist/fit.js");
      const { seconds, checksum, ...file } = (await fit({ x, y }, "a*exp(-b*x) + c")).toJSON();
      return file;
    },
    [[...DATA.x], [...DATA.y]],
  );
  const { seconds, checksum, ...expected } = (await fit(DATA, "a*exp(-b*x) + c")).toJSON();
  assert.deepEqual(got, expected);
  assert.ok(seconds >= 0);
  assert.deepEqual(errors, []);
  await close();
});

test("a fit has what its options say", async () => {
  const plain = await fit(DATA, "a*exp(-b*x) + c");
  assert.deepEqual(
    [plain.target, plain.columns, plain.rows, plain.dof, plain.free],
    ["y", ["x"], 60, 57, ["a", "b", "c"]],
  );
  assert.ok(plain.rSquared > 0.999 && plain.rmse < 0.02 && plain.history.length > 0);
  const { value, stderr, interval } = plain.parameters.b;
  assert.ok(interval[0] < value && value < interval[1] && Math.abs(plain.covariance[1][1] - stderr ** 2) < 1e-12);
  // Arrays of other types, a column of texts that is not used, missing cells that are left out.
  const rows = [...DATA.x, 7, 8];
  const mixed = { name: rows.map(String), x: rows, y: [...DATA.y, null, NaN] };
  const kept = (await fit(mixed, "a*exp(-b*x) + c", { missing: "drop" })).toJSON();
  const unmeasured = { seconds: 0, checksum: "" };
  assert.deepEqual({ ...kept, ...unmeasured }, { ...plain.toJSON(), ...unmeasured });
  const whole = await fit({ x: Int32Array.of(1, 2, 3), y: Float32Array.of(2, 4, 6) }, "a*x");
  assert.ok(Math.abs(whole.parameters.a.value - 2) < 1e-15);
  // Fixed, tied and bounded parameters, and a formula as observed values.
  const options = { y: "log(z)", fix: { c: 0.25 }, tie: { d: "2*a" }, bounds: { a: [null, 0.4] } };
  const tied = await fit({ x: DATA.x, z: DATA.x.map((x) => Math.exp(1.5 * x + 0.25)) }, "(a + d)*x + c", options);
  assert.deepEqual(
    Object.entries(tied.parameters).map(([name, { isFixed, isAtBound }]) => [name, isFixed, isAtBound]),
    [
      ["a", false, true],
      ["c", true, false],
      ["d", false, false],
    ],
  );
  assert.deepEqual([tied.parameters.a.value, tied.parameters.c.value, tied.target], [0.4, 0.25, "log(z)"]);
  // What the data do not determine.
  const open = await fit(DATA, "(a + b)*x", { p0: { a: 1, b: 1 } });
  assert.deepEqual(
    [open.undetermined, open.parameters.a.stderr, open.covariance[0][0]],
    [["a and b separately"], null, Infinity],
  );
  assert.ok(Number.isNaN(open.correlation[0][1]));
  // Weights, and a loss that ignores an outlier.
  const wild = DATA.y.slice();
  wild[20] = 40;
  const robust = await fit({ x: DATA.x, y: wild }, "a*exp(-b*x) + c", {
    loss: "cauchy",
    lossScale: 0.02,
    p0: { a: 2, b: 1, c: 0 },
  });
  assert.ok(Math.abs(robust.parameters.a.value - 3) < 0.05 && robust.loss === "cauchy");
  const weighted = await fit({ ...DATA, error: DATA.x.map(() => 0.1) }, "a*exp(-b*x) + c", {
    y: "y",
    sigma: "error",
    absoluteSigma: true,
  });
  assert.deepEqual(
    [weighted.isWeighted, weighted.isAbsolute, weighted.predict({ x: [1] }).prediction],
    [true, true, undefined],
  );
});

test("named models are listed, and are fitted alone or in a formula", async () => {
  const names = (await models()).map(({ name }) => name);
  assert.deepEqual(names, [
    "line",
    "exponential",
    "stretched",
    "gaussian",
    "lorentz",
    "voigt",
    "logistic",
    "power",
    "michaelis",
    "dose",
    "oscillation",
  ]);
  const peak = { x: X, y: X.map((x) => 4 * Math.exp(-0.5 * ((x - 2) / 0.4) ** 2) + 1 + 0.3 * x) };
  const { parameters } = await fit(peak, "gaussian(x) + line(x)");
  assert.deepEqual(
    ["height", "center", "sigma", "offset", "slope"].map((name) => Number(parameters[name].value.toFixed(6))),
    [4, 2, 0.4, 1, 0.3],
  );
  assert.equal((await fit(peak, "gaussian")).model, "gaussian(x)");
});

test("rows are chosen, values derived, and parameters drawn", async () => {
  // y = a + b x through these has b = 0.9, a = 0.9 and the variance 0.35 with two degrees of freedom.
  const data = { "x [s]": [0, 1, 2, 3, 9], y: [1, 2, 2, 4, 99], yerr: [1, 1, 1, 1, 1] };
  const options = { where: "[x [s]] < 5", derive: { at2: "a+2*b" }, sample: 2000, bootstrap: 100 };
  const { target, derived, posterior, bootstrap, parameters } = await fit(data, "a + b*[x [s]]", options);
  assert.equal(target, "y");
  assert.ok(Math.abs(derived.at2.value - 2.7) < 1e-9 && Math.abs(derived.at2.stderr - Math.sqrt(0.35 * 0.3)) < 1e-9);
  assert.ok(posterior.draws >= 2000 && posterior.parameters.b.rHat > 0.9 && bootstrap.fits === 100);
  assert.ok(parameters.b.bootstrapInterval[0] <= parameters.b.bootstrapInterval[1]);
});

test("errors say what is wrong, as those of the command line", async () => {
  const { x, y } = DATA;
  const cases = [
    [
      DATA,
      "a*x+",
      {},
      /^model: formula, character 5: got the end, expected a number, a name or "\(".*; columns are "x", "y"$/,
    ],
    [DATA, "a*X", {}, /^model: it uses no column: expected at least one of "x", "y"; did you mean "x"\?$/],
    [DATA, "gausian", {}, /^model: unknown name "gausian": did you mean "gaussian"\?$/],
    [DATA, "a*x*y", {}, /^y: the model uses every column: expected the option y/],
    [DATA, "a*x", { y: "z" }, /^y: got "z", expected a column, one of "x", "y"$/],
    [DATA, "a*x", { sigma: "z" }, /^sigma: got "z", expected a column, one of "x", "y"$/],
    [
      { ...DATA, sigma: y },
      "gaussian(x)",
      { y: "y" },
      /^model: gaussian has a parameter "sigma", and the table a column/,
    ],
    [DATA, "gaussian(x, h, c, s)", {}, /^model: gaussian takes one argument: got 4, expected gaussian\(x\)/],
    [DATA, "a*x", { where: "x > 1e9" }, /^fit: no row has all values/],
    [DATA, "a*x", { p0: { b: 1 } }, /^p0: "b" is not a parameter of the model: expected one of "a"$/],
    [DATA, "a*x", { fix: { a: null } }, /^fit: fix: a: got null, expected a number$/],
    [DATA, "a*x", { p0: { a: "1" } }, /^fit: p0: a: got "1", expected a number$/],
    [DATA, "a*x", { bounds: { a: [1, 0] } }, /^bounds: a: got 1 to 0, expected the lower bound below the upper/],
    [DATA, "a*x", { bounds: { a: 1 } }, /^fit: bounds: a: got 1, expected \[low, high\]/],
    [DATA, "a*x", { tie: { a: "2*x" } }, /^tie: "a" uses the column "x": expected parameters only$/],
    [DATA, "a*x", { loss: "hubert" }, /^fit: loss: got "hubert", expected one of .*did you mean "huber"\?$/],
    [DATA, "a*x", { lossScale: 2 }, /^fit: lossScale has no effect without a robust loss/],
    [DATA, "a*x", { method: "lm", bounds: { a: [0, 1] } }, /^method: lm takes no bounds/],
    [DATA, "a*x", { level: 95 }, /^fit: level: got 95, expected a probability between 0 and 1$/],
    [DATA, "a*x", { maxEvaluations: 1.5 }, /^fit: maxEvaluations: got 1\.5, expected a whole number from 0 to \d+$/],
    [DATA, "a*x", { starts: {} }, /^fit: option "starts" is unknown: expected one of p0, bounds/],
    [DATA, 5, {}, /^fit: model is 5, expected a formula or the name of a model$/],
    ["x,y\n1,2\n", "a*x", {}, /^fit: data is ".*", expected an object of arrays by the names of their columns$/],
    [{ x, y: y.slice(1) }, "a*x", {}, /^fit: column "x": got 60 values, expected 59 as in column "y"$/],
    [{ x, y: [...y].map(String) }, "a*x", {}, /^fit: column "y"\[0\] is ".*", expected a number$/],
    [
      { x: [1, null, 3], y: [1, 2, NaN] },
      "a*x",
      {},
      /^fit: row 2: column "x" has a missing cell \(and 1 more row\): expected numbers; missing "drop"/,
    ],
    [{ x: [1, 2, Infinity], y: [1, 2, 3] }, "a*x", {}, /^fit: row 3: column "x" is inf, expected a finite number$/],
    [
      { x: [0, 1, 2], y: [0, 1, 2] },
      "a*x",
      { y: "log(y)" },
      /^fit: row 1: log\(y\) is -inf, expected a finite number$/,
    ],
    [{ x: [1], y: [1] }, "a*x + b", {}, /^fit: got 1 row, expected at least 2, one for each free parameter$/],
  ];
  for (const [data, model, options, message] of cases) {
    const error = await fit(data, model, options).then(
      () => undefined,
      (error) => error,
    );
    assert.ok(error instanceof InputError, `${model} ${JSON.stringify(options)}: ${error}`);
    assert.match(error.message, message);
  }
  const one = await fit(DATA, "a*x + b");
  assert.throws(() => one.predict({ t: [1] }), new InputError('predict: the column "x" is missing: got "t"'));
  assert.throws(() => one.predict({ x: [1] }, { level: 1 }), /level: got 1, expected a probability/);
  assert.throws(() => one.code("c"), /^InputError: code: got "c", expected "latex", "python" or "rust"$/);
  for (const [file, got] of [
    ["{}", "{}"],
    ["a,b\n", "a,b\n"],
    [new Uint8Array(), ""],
    [undefined, "undefined"],
    [5, "5"],
    [null, "null"],
  ]) {
    await assert.rejects(
      load(file),
      new InputError(
        `load: got ${JSON.stringify(got)}, expected the content of a file that mero fit --out or JSON.stringify of a fit wrote`,
      ),
    );
  }
  await assert.rejects(
    load('{"kind":"model"}'),
    new InputError("load: this JSON is not a fit: expected a file that mero fit --out wrote"),
  );
});

test("a saved fit predicts the same here and in the native program", async () => {
  const binary = process.env.MERO ?? join(process.env.CARGO_TARGET_DIR ?? join(web, "../target"), "release/mero");
  const folder = mkdtempSync(join(tmpdir(), "meromorph-curve-"));
  const file = (name) => join(folder, name);
  const columns = (text) => {
    const [head, ...rows] = text
      .trim()
      .split("\n")
      .map((line) => line.split(","));
    return Object.fromEntries(head.map((name, at) => [name, rows.map((row) => Number(row[at]))]));
  };
  const close = (got, expected) =>
    got.forEach((value, row) =>
      assert.ok(Math.abs(value - expected[row]) <= 1e-13 * Math.abs(expected[row]), `${value} is not ${expected[row]}`),
    );
  try {
    const made = await fit(DATA, "a*exp(-b*x) + c");
    writeFileSync(file("made.json"), JSON.stringify(made));
    writeFileSync(file("new.csv"), "x\n-1\n0.5\n7\n");
    writeFileSync(file("data.csv"), `x,y\n${Array.from(DATA.x, (x, row) => `${x},${DATA.y[row]}`).join("\n")}\n`);
    const run = (...args) => execFileSync(binary, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
    const native = columns(run("predict", file("made.json"), file("new.csv")));
    const { values, confidence, prediction } = made.predict({ x: [-1, 0.5, 7] });
    close(values, native.prediction);
    close(
      values.map((value, row) => value + confidence[row]),
      native.confidence_upper,
    );
    close(
      values.map((value, row) => value - prediction[row]),
      native.lower,
    );
    run("fit", file("data.csv"), "--model", "a*exp(-b*x) + c", "--out", file("native.json"));
    const text = readFileSync(file("native.json"), "utf8");
    for (const content of [text, new TextEncoder().encode(text), JSON.parse(text)]) {
      const loaded = await load(content);
      assert.deepEqual(loaded.toJSON(), JSON.parse(text));
      close(loaded.predict({ x: [-1, 0.5, 7] }).values, values);
      close(
        [loaded.parameters.a.value, loaded.parameters.a.stderr, loaded.aic],
        [made.parameters.a.value, made.parameters.a.stderr, made.aic],
      );
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a fit is written as LaTeX, Python and Rust", async () => {
  const { x, y } = CERTIFIED.Misra1a;
  const one = await fit({ x, y }, CERTIFIED.Misra1a.model, { p0: { b1: 500, b2: 1e-4 } });
  assert.equal(
    one.code("latex"),
    String.raw`\begin{align*}
y &= b_{1} \, \left(1 - e^{-b_{2} \, x}\right) \\
b_{1} &= 238.9 \pm 2.7 \\
b_{2} &= \left(5.502 \pm 0.073\right) \cdot 10^{-4}
\end{align*}
`,
  );
  const [b1, b2] = ["b1", "b2"].map((name) => one.parameters[name].value);
  assert.equal(
    one.code("python"),
    `import numpy as np\n\n\ndef model(x, b1=${b1}, b2=${b2}):\n    return b1*(1.0 - np.exp(-b2*x))\n`,
  );
  assert.equal(
    one.code("rust"),
    `fn model(x: f64) -> f64 {\n    let b1: f64 = ${b1};\n    let b2: f64 = ${b2};\n    b1*(1.0 - (-b2*x).exp())\n}\n`,
  );
  const voigt = await fit(DATA, "voigt(x) + line(x)", { p0: { area: 3, center: 0, sigma: 1, gamma: 1 } });
  assert.match(voigt.code("python"), /^import numpy as np\nfrom scipy import special\n.*special\.wofz\(/s);
  assert.throws(() => voigt.code("rust"), /^InputError: Rust: the standard library has no function "faddeeva_re"$/);
});

test("the examples in the types and in the documents run", () => {
  const source = readFileSync(join(web, "src/fit.ts"), "utf8")
    .match(/@example\n \* ```js\n([\s\S]*?) \* ```/)[1]
    .replaceAll(/^ \* ?/gm, "");
  const run = (code) =>
    execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd: web, encoding: "utf8" });
  assert.equal(run(source), "b = 1.200 ± 0.004, R² 0.9999\nat 6: 0.502 ± 0.005\n");
  for (const [name, heading] of [
    ["docs/CURVES.md", "## In Rust and JavaScript"],
    ["web/README.md", "**Fitting curves.**"],
  ]) {
    const [, code] = readFileSync(join(web, "..", name), "utf8")
      .split(heading)[1]
      .match(/```js\n([\s\S]*?)```/);
    assert.match(run(code), /^b = 0\.55\d ± 0\.0\d\d\n/, name);
  }
});

/** Waits until the page shows a fit of these parameters. */
const parametersAre = (page, names) =>
  page.waitForFunction(
    (names) =>
      [...document.querySelectorAll("#parameters td:first-child")].map(({ textContent }) => textContent).join() ===
      names,
    names.join(),
  );

test("Fit: the page opens with a fit, and follows start values, formula, level and loss", async () => {
  const { page, done } = await demo("fit");
  await drawn(page, "#curve canvas");
  await drawn(page, "#residuals canvas");
  const rows = await cells(page, "parameters");
  assert.deepEqual(
    rows.map(([name]) => name),
    ["height", "center", "sigma", "offset", "slope"],
  );
  assert.deepEqual(rows[1].slice(0, 3), ["center", "4.310", "0.020"]);
  assert.match(await page.textContent("#status"), /^Converged in \d+ evaluations\.$/);
  // A start far away: the answer stays. A fixed parameter does not move.
  await page.focus("#starts input[type=range]");
  for (let step = 0; step < 20; step++) await page.keyboard.press("ArrowRight");
  assert.notEqual(await page.inputValue("#start-height"), "25");
  await page.waitForTimeout(200);
  assert.deepEqual((await cells(page, "parameters"))[1], rows[1]);
  await page.fill("#start-slope", "2");
  await page.check(".start:last-child input[type=checkbox]");
  await page.waitForFunction(
    () => document.querySelector("#parameters tr:last-child td:last-child").textContent === "fixed",
  );
  assert.deepEqual((await cells(page, "parameters")).at(-1), ["slope", "2", "–", "–", "fixed"]);
  await page.selectOption("#level", "0.99");
  await page.waitForFunction(() => document.querySelector("th .percent").textContent === "99 %");
  await page.selectOption("#loss", "cauchy");
  await page.waitForFunction(() => document.getElementById("key-new").hidden);
  await page.selectOption("#loss", "linear");
  // A wrong formula, then another model, whose starts are looked for.
  await page.fill("#formula", "a*x +");
  await page.waitForSelector("#error:not([hidden])");
  assert.match(await page.textContent("#error"), /^model: formula, character 6: got the end/);
  await page.fill("#formula", "lorentz(x) + line(x)");
  await parametersAre(page, ["height", "center", "gamma", "offset", "slope"]);
  assert.ok(await page.isHidden("#error"));
  await page.click("#python");
  assert.match(await page.inputValue("#copied"), /^import numpy as np\n\n\ndef model\(x, height=/);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
  const saved = await load(readFileSync(await download.path(), "utf8"));
  assert.equal(saved.model, "lorentz(x) + line(x)");
  await done();
});

test("Fit: 1,000 rows are fitted again while a start is dragged, and the page says in which time", async () => {
  const { page, done } = await demo("fit");
  await page.selectOption("#example", "decay");
  await parametersAre(page, ["a", "b", "c"]);
  const times = [];
  await page.focus("#starts input[type=range]");
  for (let step = 0; step < 15; step++) {
    await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(60);
    const { Rows, Refit } = await figuresOf(page, "#figures");
    assert.equal(Rows, "1,000");
    times.push(parseFloat(Refit));
  }
  times.sort((a, b) => a - b);
  console.log(`refit of 1,000 rows: median ${times[7]} ms, slowest ${times.at(-1)} ms`);
  assert.ok(times.every((time) => time > 0));
  await done();
});

test("Fit: own data, pasted or dropped, with several columns, decimal commas and missing cells", async () => {
  const { page, done } = await demo("fit");
  const rows = Array.from({ length: 40 }, (_, row) => [row / 10, (row * 7) % 11]);
  const table = rows
    .map(([u, v]) => `${u} ${v} ${(2 * u + 0.5 * v + 1 + 0.1 * Math.sin(v * u)).toFixed(5)}`)
    .join("\n");
  await page.fill("#data", `u v w\n${table}\n9 NA 3\n`);
  await parametersAre(page, ["offset", "slope"]);
  assert.equal(await page.inputValue("#formula"), "line(u)");
  assert.equal(await page.textContent("#data-size"), "41 rows, 3 columns");
  await page.fill("#formula", "a*u + b*v + c");
  await parametersAre(page, ["a", "b", "c"]);
  const [[, a], [, b]] = await cells(page, "parameters");
  assert.ok(Math.abs(a - 2) < 0.1 && Math.abs(b - 0.5) < 0.1, `${a}, ${b}`);
  assert.equal((await figuresOf(page, "#figures")).Rows, "40");
  await page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["t;z\n0;1,5\n1;2,5\n2;3,75\n3;4,5\n"], "mine.csv"));
    document
      .querySelector("main")
      .dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  });
  await parametersAre(page, ["offset", "slope"]);
  assert.match((await cells(page, "parameters"))[1][1], /^1\.0/);
  await page.fill("#data", "1 2\n3\n");
  await page.waitForSelector("#error:not([hidden])");
  assert.equal(await page.textContent("#error"), "data, row 2: got 1 cell, expected 2");
  await done();
});

/** An NPY file of numbers in double precision. */
function npy(shape, values) {
  const header = `${`{'descr': '<f8', 'fortran_order': False, 'shape': (${shape.join(", ")}), }`.padEnd(117)}\n`;
  return Buffer.concat([
    Buffer.from([0x93]),
    Buffer.from("NUMPY"),
    Buffer.from([1, 0, 118, 0]),
    Buffer.from(header),
    Buffer.from(Float64Array.from(values).buffer),
  ]);
}

test("Many fits: maps of two examples and of an own stack, and the curve of a pixel", async () => {
  const { page, done } = await demo("many");
  const titles = () => page.$$eval(".map strong", (all) => all.map(({ textContent }) => textContent));
  const status = (text) =>
    page.waitForFunction((text) => new RegExp(text).test(document.getElementById("status").textContent), text);
  await status("^9,216 fits in .* s, .* a second; 9,216 converged$");
  assert.deepEqual(await titles(), ["image", "a", "tau", "c"]);
  await drawn(page, ".map:nth-child(3) canvas");
  await page.hover(".map:nth-child(3) canvas", { position: { x: 60, y: 76 } });
  await page.waitForFunction(() => document.getElementById("pixel").textContent !== "Pixel 49, 49");
  assert.match((await figuresOf(page, "#figures")).tau, /^[12]\.\d+$/);
  await page.selectOption("#example", "galaxy");
  await status("^9,216 fits .* 9,216 converged$");
  assert.deepEqual(await titles(), ["image", "a", "m", "w", "b"]);
  await page.selectOption("#shown", "stderrs");
  await page.fill("#formula", "a*x +");
  await page.waitForSelector("#error:not([hidden])");
  const [images, height, width] = [12, 3, 5];
  const stack = Array.from(
    { length: images * height * width },
    (_, at) => (1 + (at % (height * width))) * Math.exp(-0.3 * Math.floor(at / (height * width))),
  );
  await page.setInputFiles("#file", {
    name: "stack.npy",
    mimeType: "application/octet-stream",
    buffer: npy([images, height, width], stack),
  });
  await status("^15 fits .* 15 converged$");
  assert.deepEqual(await titles(), ["image", "a", "b", "c"]);
  await page.click(".map:nth-child(1) canvas", { position: { x: 2, y: 2 } });
  await page.waitForFunction(() => document.getElementById("pixel").textContent === "Pixel 1, 1");
  const { a, b } = await figuresOf(page, "#figures");
  assert.deepEqual([Number(a), Number(b)], [1, 0.3]);
  assert.deepEqual(
    await page.$eval(".ring", ({ style: { left, top } }) => [left, top].map((share) => Math.round(parseFloat(share)))),
    [10, 17],
  );
  await page.setInputFiles("#file", {
    name: "flat.npy",
    mimeType: "application/octet-stream",
    buffer: npy([4, 3], stack),
  });
  await page.waitForSelector("#error:not([hidden])");
  assert.equal(await page.textContent("#error"), "file: the shape is [4, 3], expected [images, height, width]");
  await done();
});
