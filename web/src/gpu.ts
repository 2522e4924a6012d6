// WebGPU for runtimes without one, from the npm package `webgpu` (Dawn) where that is installed.

interface Dawn {
  create(options: string[]): unknown;
  globals: object;
}

/** The package's name is no literal, or bundlers would look for it. */
const PACKAGE = ["webgpu"];

const dawn = async (): Promise<Dawn | undefined> => import(/* webpackIgnore: true */ PACKAGE.join()).catch(() => undefined) as Promise<Dawn | undefined>;

/** Whether this runtime has WebGPU, by itself or by the package. */
export const hasGpu = async (): Promise<boolean> => (typeof navigator === "object" && "gpu" in navigator) || await dawn() !== undefined;

/** Gives this thread `navigator.gpu` and what else of a browser's the engine looks for. */
export async function provideGpu(): Promise<void> {
  // The sign by which the bindings know a place with a navigator.
  if (!("WorkerGlobalScope" in globalThis)) Object.assign(globalThis, { WorkerGlobalScope: class WorkerGlobalScope {} });
  if (typeof navigator === "object" && "gpu" in navigator) return;
  const found = await dawn();
  if (!found) return;
  Object.assign(globalThis, found.globals);
  const gpu = found.create([]);
  if (typeof navigator === "object") Object.defineProperty(navigator, "gpu", { value: gpu, configurable: true });
  else Object.defineProperty(globalThis, "navigator", { value: { gpu }, configurable: true });
}
