// The model in a browser: its files are fetched from the folder of this file. Bundlers recognise both addresses.
import { withFiles } from "./model.js";

const files = {
  wasm: new URL("./meromorph_bg.wasm", import.meta.url),
  model: new URL("./model.safetensors", import.meta.url),
};

async function read(name) {
  const response = await fetch(files[name]);
  if (!response.ok) throw new Error(`${files[name]}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}

export const { predict, describe } = withFiles(read);
