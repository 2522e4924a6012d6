// The files beside this module in a browser: fetched. Bundlers see both addresses and carry the files along.
const files = {
  wasm: new URL("./meromorph_bg.wasm", import.meta.url),
  model: new URL("./model.safetensors", import.meta.url),
};

export async function read(name) {
  const response = await fetch(files[name]);
  if (!response.ok) throw new Error(`${files[name]}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}
