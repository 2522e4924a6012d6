// The model in Node, Deno and Bun: its files are read from the folder of this file.
import { readFile } from "node:fs/promises";
import { withFiles } from "./model.js";

const files = {
  wasm: new URL("./meromorph_bg.wasm", import.meta.url),
  model: new URL("./model.safetensors", import.meta.url),
};

export const { predict, describe } = withFiles((name) => readFile(files[name]));
