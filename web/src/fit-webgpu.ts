// The search of curve fits on WebGPU: fetched when a fit asks for it.
import { initSync, on_panic, Searcher } from "../pkg/fit-webgpu/meromorph.js";
import { provideGpu } from "./gpu.js";
import { fetched } from "./inlined.js";

const ready = fetched(
  "fit",
  () => import("./fit-webgpu-wasm.js"),
  (module) => {
    initSync({ module });
    on_panic(() => {});
  },
);

let opened: Promise<Searcher> | undefined;

/** The report of a fit. An open adapter is kept for the next fit, but not after an error: it may be lost. */
export async function search(columns: object, model: string, options: object): Promise<string> {
  await Promise.all([ready(), provideGpu()]);
  opened ??= Searcher.open();
  try {
    return await (await opened).fit(columns, model, options);
  } catch (error) {
    opened = undefined;
    throw error;
  }
}
