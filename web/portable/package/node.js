// The model in Node, Deno and Bun: its files are read from beside this one.
import { readFile } from "node:fs/promises";
import { over } from "./model.js";

const files = {
  wasm: new URL("./meromorph_bg.wasm", import.meta.url),
  model: new URL("./model.safetensors", import.meta.url),
};

export const { predict, describe } = over((name) => readFile(files[name]));
