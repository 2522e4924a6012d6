// Correct and incorrect TypeScript calls of the package: compiled by a test, never run.
import {
  describe, forget, InputError, kept, open, type Fit, type Label, type Model, type PredictOptions, type Prediction, type RowPrediction, type Run, type StepProfile, type TrainEvent, type TrainOptions,
} from "meromorph";
import { html } from "meromorph/export";
import { type Found, learn, loadMemory, type Memory, type MemoryLabel } from "meromorph/contrast";
import { type CurveFit, fit, load, type NamedModel, models } from "meromorph/fit";
import { open as openInline } from "meromorph/inline";

const WIDTHS = [16, 16] as const;
const options: TrainOptions = { target: "y", head: "rational", hidden: WIDTHS, signal: new AbortController().signal, keep: "mine" };

export async function right(file: File): Promise<Uint8Array> {
  using engine = await open({ device: "auto", worker: false, wasm: new URL("https://cdn.example/meromorph.wasm") });
  const { rows, columns } = await describe(file);
  const run: Run = engine.train({ x: new Float32Array(rows), y: [1, 2], bottom: new Uint32Array(1) }, options);
  let model: Model | undefined;
  for await (const event of run) {
    if (event.event === "start") console.log(event.epochs, event.epochsDone, columns[0]?.isNumeric);
    else if (event.event === "epoch") console.log(event.valLoss?.toFixed(3), event.coverage);
    else model = event.model;
  }
  const chosen: PredictOptions = { masks: Math.random() < 0.5 ? "bytes" : "words", precision: "f32" };
  const either: Prediction<Uint8Array | Uint32Array> = await run.predict(new Float32Array(2), chosen);
  const saved = new Blob([await run.checkpoint()]);
  console.log(either.value.length, saved.size);
  const first: IteratorResult<TrainEvent, undefined> = await engine.resume("a,y\n1,2\n", await run.checkpoint()).next();
  const packed: Prediction<Uint32Array> = await run.predict([1, 2], { masks: "words" });
  const loaded = await engine.load("/model.safetensors", { onProgress: ({ loaded, total }) => console.log(loaded, total) });
  const { value, bottom } = await loaded.predict(new Float64Array(2));
  console.log(first.done, packed.bottom?.at(0), value.length, bottom?.at(0), model?.info.classes);
  for (const { name, savedAt } of await kept()) if (savedAt.getTime() < 0) await forget(name);
  const { launches, byLayer, ceilings, trace }: StepProfile = await engine.profile(file, { target: "y", hidden: WIDTHS, steps: 20, windows: 3, signal: AbortSignal.timeout(9000) });
  console.log(launches[0]?.bound === "traffic", byLayer[0]?.share, ceilings.copies[0]?.gbytesPerS, new Blob([trace]).size);
  await using again = engine.resumeKept("mine");
  again.pause();
  return (await openInline()).load(new Response()).then((model) => model.save());
}

interface Person {
  age: number;
  city: string;
}

interface Visitor {
  readonly age: number;
  city?: string;
}

export async function typed(people: Person[], response: Response): Promise<void> {
  const engine = await open();
  const { model, test }: Fit<"classification"> = await engine.fit(people, { target: "city", task: "classification", decimal: ",", onEpoch: ({ epoch }) => console.log(epoch) });
  const rows: RowPrediction<"classification">[] = await model.predict(people, { unknown: "skip" });
  const name: Label | null = rows[0]!.value;
  const one: Label | null = (await model.predict({ age: 3 })).value;
  const all: (Label | null)[] = (await model.predict({ age: [1, 2] })).value;
  // An object of an interface is a row too, also with an optional cell.
  const person: Person = { age: 3, city: "Rome" };
  const same: RowPrediction<"classification"> = await model.predict(person);
  const visitor: Visitor = { age: 3 };
  console.log(same.value === person.city, (await model.predict(visitor)).note, (await model.predict([person]))[0]?.note);
  const share: Float64Array | undefined = (await model.predict("age\n1\n", { na: ["-"] })).probabilities?.Rome;
  console.log(test.accuracy, name, one, all, share, rows[0]!.outside.length, (await model.evaluate(response, { delimiter: "|" })).baseline?.accuracy);
  const numbers: Float64Array = (await engine.fit(new URL("https://example.org/a.csv"), { target: "y", task: "regression" })).model.info.task === "regression" ? new Float64Array() : new Float64Array();
  const either = (await engine.fit([[1, "a"], [2, "b"]], { target: "c1" })).model;
  if (either.is("regression")) console.log((await either.predict([[1]]))[0]!.value?.toFixed(2), numbers.length, (await either.predict("x\n1\n")).value.subarray(1));
  const page: string = await html(model);
  console.log(page, await describe(people), (await engine.fit({ x: [[1, 2]], y: ["a"] })).warnings[0]?.column);
}

export async function curves(): Promise<void> {
  const line: CurveFit = await fit({ x: new Float32Array(3), y: [1, null, 3] }, "line", { missing: "drop", bounds: { slope: [0, null] }, tie: { a: "2*b" }, loss: "huber" });
  const stderr: number | null | undefined = line.parameters.slope?.stderr;
  const { values, prediction }: { values: Float64Array; prediction?: Float64Array } = line.predict({ x: [1] }, { level: 0.9 });
  const named: NamedModel[] = await models();
  const again: CurveFit = await load(line.toJSON());
  console.log(stderr, values, prediction?.length, named[0]?.formula, again.covariance[0]?.[0], again.code("rust"));
  // @ts-expect-error: no such method
  await fit({ x: [1], y: [1] }, "a*x", { method: "newton" });
  // @ts-expect-error: a start is a number
  await fit({ x: [1], y: [1] }, "a*x", { p0: { a: "1" } });
}

export async function memories(): Promise<void> {
  const memory: Memory = await learn([[1, 2], Float32Array.of(3, 4)], ["a", "b"], { map: "rotors", epochs: 3, onEpoch: ({ loss, accuracy, map }) => console.log(loss, accuracy?.toFixed(2), map.rotations[0]?.plane) });
  const one: Found = await memory.find([1, 2], 1);
  const all: Found[] = await memory.find([[1, 2], [3, 4]]);
  const label: MemoryLabel | null = one.label;
  const again = await loadMemory(await memory.save());
  console.log(label, all[0]?.neighbours[0]?.distance, again.map.weights.length, again.labels[0]);
  // @ts-expect-error: layers that settle are not learned in JavaScript
  await learn(new Float32Array(4), [1, 2], { hidden: [8] });
  // @ts-expect-error: memories are learned on the CPU
  await learn(new Float32Array(4), [1, 2], { device: "webgpu" });
}

export async function wrong(error: unknown): Promise<void> {
  if (error instanceof InputError) console.log(error.message);
  // @ts-expect-error: no such device
  const engine = await open({ device: "gpu" });
  // @ts-expect-error: no such option
  engine.train("a,y\n", { epoch: 3 });
  // @ts-expect-error: a profile is not kept
  await engine.profile("a,y\n", { keep: "mine" });
  // @ts-expect-error: a number is no column
  engine.train({ x: 3, y: new Float32Array(3) });
  // @ts-expect-error: bytes of flags are no words
  const packed: Prediction<Uint32Array> = await (await engine.load(new Uint8Array())).predict([1]);
  // @ts-expect-error: no such policy
  await (await engine.load("x")).predict([{ a: 1 }], { unknown: "ignore" });
  // @ts-expect-error: a number is no row
  await (await engine.load("x")).predict(5);
  // @ts-expect-error: a list in a row is no cell
  await (await engine.load("x")).predict({ age: 3, tags: [["a"]] });
  // @ts-expect-error: a number is no name
  const name: string | null = (await (await engine.fit("a,y\n", { task: "regression" })).model.predict([[1]]))[0]!.value;
  console.log(name);
  // @ts-expect-error: signals are no strings
  console.log(packed, await open({ signal: "now" }));
}
