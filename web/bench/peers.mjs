// The peers' side of the race: the same perceptron in TensorFlow.js and jax-js, and its predictions in onnxruntime-web.
import * as jax from "@jax-js/jax";
import "@tensorflow/tfjs-backend-webgpu";
import { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-core/dist/register_all_gradients";
import { callsFor, data, generator, median, rate } from "./shared.mjs";

/** Weights [inputs, outputs] and biases of each layer (Glorot and Bengio 2010). */
function layers(hidden) {
  const sizes = [5, ...hidden, 1], r = generator(3);
  return sizes.slice(1).map((outputs, at) => {
    const inputs = sizes[at], limit = Math.sqrt(6 / (inputs + outputs));
    return { inputs, outputs, weight: Float32Array.from({ length: inputs * outputs }, () => (2 * r() - 1) * limit), bias: new Float32Array(outputs) };
  });
}

async function tfjs({ device, hidden, batch, steps, epochs }) {
  if (device === "wasm") setWasmPaths("/bench/node_modules/@tensorflow/tfjs-backend-wasm/dist/");
  if (!(await tf.setBackend(device))) throw new Error(`tfjs has no ${device}`);
  await tf.ready();
  const { x, y } = data(batch * steps);
  const model = layers(hidden).map(({ inputs, outputs, weight, bias }) => [tf.variable(tf.tensor2d(weight, [inputs, outputs])), tf.variable(tf.tensor1d(bias))]);
  const forward = (x) => model.reduce((x, [w, b], at) => {
    const z = tf.add(tf.matMul(x, w), b);
    return at + 1 < model.length ? tf.mul(z, tf.sigmoid(z)) : z;
  }, x);
  const optimizer = tf.train.adam(1e-3), variables = model.flat();
  const part = (all, columns, step) => tf.tensor2d(all.subarray(step * batch * columns, (step + 1) * batch * columns), [batch, columns]);
  const batches = Array.from({ length: steps }, (_, step) => [part(x, 5, step), part(y, 1, step)]);
  return rate(epochs, steps, async () => {
    for (const [x, y] of batches) tf.tidy(() => optimizer.minimize(() => tf.mean(tf.square(tf.sub(forward(x), y))), false, variables));
    await variables[0].data();
  });
}

async function jaxjs({ device, hidden, batch, steps, epochs }) {
  const { numpy: np, init, jit, valueAndGrad, defaultDevice, nn } = jax;
  await init(device);
  defaultDevice(device);
  const { x, y } = data(batch * steps);
  const zeros = (list) => list.map(({ w, b }) => ({ w: np.zerosLike(w.ref), b: np.zerosLike(b.ref) }));
  const parameters = layers(hidden).map(({ inputs, outputs, weight, bias }) => ({ w: np.array(weight).reshape([inputs, outputs]), b: np.array(bias) }));
  const forward = (p, x) => p.reduce((x, { w, b }, at) => {
    const z = np.dot(x, w).add(b);
    return at + 1 < p.length ? nn.silu(z) : z;
  }, x);
  const loss = (p, x, y) => np.mean(np.square(forward(p, x).sub(y)));
  const step = jit(({ p, m, v, t }, x, y) => {
    const [value, g] = valueAndGrad(loss)(p.map(({ w, b }) => ({ w: w.ref, b: b.ref })), x, y);
    const next = t.add(1);
    const [first, second] = [0.9, 0.999].map((beta) => np.subtract(1, np.pow(beta, next.ref)));
    const update = (p, g, m, v) => {
      const m1 = m.mul(0.9).add(g.ref.mul(0.1)), v1 = v.mul(0.999).add(np.square(g).mul(0.001));
      const d = m1.ref.div(first.ref).div(np.sqrt(v1.ref.div(second.ref)).add(1e-8));
      return [p.ref.sub(d.mul(1e-3)).sub(p.mul(1e-5)), m1, v1];
    };
    const all = p.map((one, at) => ["w", "b"].map((k) => update(one[k], g[at][k], m[at][k], v[at][k])));
    const pick = (place) => all.map(([w, b]) => ({ w: w[place], b: b[place] }));
    first.dispose();
    second.dispose();
    return [{ p: pick(0), m: pick(1), v: pick(2), t: next }, value];
  });
  let state = { p: parameters, m: zeros(parameters), v: zeros(parameters), t: np.array(0) }, value;
  const part = (all, columns, step) => np.array(all.slice(step * batch * columns, (step + 1) * batch * columns)).reshape([batch, columns]);
  const batches = Array.from({ length: steps }, (_, step) => [part(x, 5, step), part(y, 1, step)]);
  return rate(epochs, steps, async () => {
    for (const [x, y] of batches) {
      value?.dispose();
      [state, value] = step(state, x.ref, y.ref);
    }
    await value.ref.data();
  });
}

/** Steps per second. */
globalThis.train = ({ engine, ...options }) => ({ tfjs, jaxjs })[engine](options);

/** Milliseconds of a prediction of `rows` rows by onnxruntime-web: in one call, and in chunks of 4,096. */
globalThis.predict = async ({ bytes, rows, threads, turns = 9 }) => {
  const ort = await import("/bench/node_modules/onnxruntime-web/dist/ort.wasm.min.mjs");
  ort.env.wasm.numThreads = threads;
  ort.env.wasm.wasmPaths = "/bench/node_modules/onnxruntime-web/dist/";
  const session = await ort.InferenceSession.create(new Uint8Array(bytes), { executionProviders: ["wasm"] });
  const [input] = session.inputNames, { x } = data(rows);
  const run = async (chunk) => {
    for (let first = 0; first < rows; first += chunk) {
      const count = Math.min(chunk, rows - first);
      await session.run({ [input]: new ort.Tensor("float32", x.subarray(first * 5, (first + count) * 5), [count, 5]) });
    }
  };
  const timed = (chunk) => median(turns, () => run(chunk), callsFor(rows));
  return { whole: await timed(rows), chunks: await timed(4096) };
};
globalThis.ready = true;
