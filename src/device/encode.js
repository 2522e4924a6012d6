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
  prototype.requestDevice = function (wanted) {
    prototype.requestDevice = requestDevice;
    if (this.features.has(SUBGROUPS)) wanted.requiredFeatures = [...wanted.requiredFeatures, SUBGROUPS];
    return requestDevice.call(this, wanted);
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

/** Encodes the steps `times` times and submits them at once. */
export function submit(device, steps, times) {
  const encoder = device.createCommandEncoder();
  let pass;
  for (let run = 0; run < times; run++) {
    for (const step of steps) {
      if (!step.compiled) {
        pass = void pass?.end();
        encoder.copyBufferToBuffer(step.from, step.at, step.to, step.start, step.bytes);
        continue;
      }
      pass ??= encoder.beginComputePass();
      pass.setPipeline(step.compiled);
      pass.setBindGroup(0, step.buffers);
      pass.setBindGroup(1, step.uniform);
      pass.dispatchWorkgroups(step.x, step.y, step.z);
    }
  }
  pass?.end();
  device.queue.submit([encoder.finish()]);
}
