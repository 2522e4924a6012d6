// The files beside this module in Node, Deno and Bun: read from disk.
import { readFile } from "node:fs/promises";

const files = {
  wasm: new URL("./meromorph_bg.wasm", import.meta.url),
  model: new URL("./model.safetensors", import.meta.url),
};

export const read = (name) => readFile(files[name]);
