// What a plan encodes, as the browser's own objects: made once, then any number of runs in one call from wasm.

const layouts = new WeakMap();

/** Bind group layouts and pipeline layout for so many inputs and outputs; the parameters are a uniform of group 1. */
function layout(device, inputs, outputs) {
  const known = layouts.get(device) ?? layouts.set(device, new Map()).get(device);
  const key = `${inputs},${outputs}`;
  if (known.has(key)) return known.get(key);
  const group = (types) => device.createBindGroupLayout({
    entries: types.map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } })),
  });
  const storage = Array.from({ length: inputs + outputs }, (_, at) => (at < inputs ? "read-only-storage" : "storage"));
  const groups = [group(storage), group(["uniform"])];
  const made = { groups, pipeline: device.createPipelineLayout({ bindGroupLayouts: groups }) };
  known.set(key, made);
  return made;
}

const SUBGROUPS = "subgroups";

/** The next device that is requested gets subgroups where its adapter has them: wgpu has no word for them in browsers. */
export function addSubgroups() {
  const prototype = globalThis.GPUAdapter?.prototype;
  if (!prototype) return;
  const { requestDevice } = prototype;
  prototype.requestDevice = function (expected) {
    prototype.requestDevice = requestDevice;
    if (this.features.has(SUBGROUPS)) expected.requiredFeatures = [...expected.requiredFeatures, SUBGROUPS];
    return requestDevice.call(this, expected);
  };
}

export function hasSubgroups(device) {
  return device.features.has(SUBGROUPS);
}

/** What the browser tells of the adapter, like "nvidia ampere"; empty where it tells nothing. */
export function adapterName({ adapterInfo }) {
  return adapterInfo?.description || [adapterInfo?.vendor, adapterInfo?.architecture].filter(Boolean).join(" ");
}

export function pipeline(device, label, source, inputs, outputs) {
  // Browsers take no subgroup operation without this line, and the native compiler does not know it.
  const code = hasSubgroups(device) ? `enable subgroups;\n${source}` : source;
  const { groups, pipeline } = layout(device, inputs, outputs);
  const compute = { module: device.createShaderModule({ label, code }), entryPoint: "main" };
  return { groups, compiled: device.createComputePipeline({ label, layout: pipeline, compute }) };
}

/** A launch: `places` holds offset and size of each buffer in bytes, the last of which is the uniform. */
export function launch(device, { groups, compiled }, buffers, places, [x, y, z]) {
  const bound = buffers.map((buffer, at) => ({ buffer, offset: places[2 * at], size: places[2 * at + 1] }));
  const bind = (layout, resources) => device.createBindGroup({ layout, entries: resources.map((resource, binding) => ({ binding, resource })) });
  return { compiled, buffers: bind(groups[0], bound.slice(0, -1)), uniform: bind(groups[1], bound.slice(-1)), x, y, z };
}

export function copy(from, at, to, start, bytes) {
  return { from, at, to, start, bytes };
}

function dispatch(pass, { compiled, buffers, uniform, x, y, z }) {
  pass.setPipeline(compiled);
  pass.setBindGroup(0, buffers);
  pass.setBindGroup(1, uniform);
  pass.dispatchWorkgroups(x, y, z);
}

function copyIn(encoder, { from, at, to, start, bytes }) {
  encoder.copyBufferToBuffer(from, at, to, start, bytes);
}

/** Encodes the steps `times` times and submits them at once. */
export function submit(device, steps, times) {
  const encoder = device.createCommandEncoder();
  let pass;
  for (let run = 0; run < times; run++) {
    for (const step of steps) {
      if (!step.compiled) {
        pass = void pass?.end();
        copyIn(encoder, step);
        continue;
      }
      dispatch(pass ??= encoder.beginComputePass(), step);
    }
  }
  pass?.end();
  device.queue.submit([encoder.finish()]);
}

/** Timestamps of one query set, at most. */
const SET_STAMPS = 4096;
const STAMP_BYTES = 8;

/**
 * Encodes the steps `times` times with a timestamp in front and one after each command, and submits them, `window` times at once. Resolves with the
 * clock's time when all is done, and then beginning and end of each command, in nanoseconds since the first began.
 */
export async function submitTimed(device, steps, times, window) {
  const submits = [];
  for (let left = times; left > 0; left -= window) submits.push(stamped(device, steps, Math.min(window, left)));
  const all = await Promise.all(submits);
  const ends = [performance.now()];
  for (const stamps of all) {
    // Timestamps may exceed what a float holds exactly; their differences do not.
    const since = Array.from(stamps, (stamp) => Number(BigInt.asIntN(64, stamp - all[0][0])));
    for (let at = 1; at < since.length; at++) ends.push(since[at - 1], since[at]);
  }
  return Float64Array.from(ends);
}

/** Submits the steps `times` times and resolves with their timestamps. Those may only be at the ends of passes: each launch is a pass of its own, and an empty one follows each copy. */
async function stamped(device, steps, times) {
  const count = times * steps.length + 1;
  const sets = Array.from({ length: Math.ceil(count / SET_STAMPS) }, (_, at) =>
    device.createQuerySet({ type: "timestamp", count: Math.min(SET_STAMPS, count - at * SET_STAMPS) }));
  const size = STAMP_BYTES * count;
  const resolved = device.createBuffer({ size, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC });
  const readable = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder();
  const begin = (at, which) => encoder.beginComputePass({ timestampWrites: { querySet: sets[Math.floor(at / SET_STAMPS)], [which]: at % SET_STAMPS } });
  try {
    begin(0, "beginningOfPassWriteIndex").end();
    for (let at = 1; at < count; at++) {
      const step = steps[(at - 1) % steps.length];
      if (!step.compiled) copyIn(encoder, step);
      const pass = begin(at, "endOfPassWriteIndex");
      if (step.compiled) dispatch(pass, step);
      pass.end();
    }
    sets.forEach((set, at) => encoder.resolveQuerySet(set, 0, set.count, resolved, STAMP_BYTES * SET_STAMPS * at));
    encoder.copyBufferToBuffer(resolved, 0, readable, 0, size);
    device.queue.submit([encoder.finish()]);
    await readable.mapAsync(GPUMapMode.READ);
    return new BigUint64Array(readable.getMappedRange().slice(0));
  } finally {
    for (const one of [...sets, resolved, readable]) one.destroy();
  }
}
