// WebGPU for runtimes that have none, from the npm package `webgpu` (Dawn) if it is installed.

interface Dawn {
  create(options: string[]): unknown;
  globals: object;
}

/** Not a string literal: bundlers would try to resolve the package. */
const PACKAGE = ["webgpu"];

const dawn = async (): Promise<Dawn | undefined> =>
  import(/* webpackIgnore: true */ PACKAGE.join()).catch(() => undefined) as Promise<Dawn | undefined>;

/** Whether this runtime has WebGPU, built in or from the package. */
export const hasGpu = async (): Promise<boolean> =>
  (typeof navigator === "object" && "gpu" in navigator) || (await dawn()) !== undefined;

/** Defines `navigator.gpu` and the other browser globals that the engine uses in this thread. */
export async function provideGpu(): Promise<void> {
  // The bindings use `navigator` only where `WorkerGlobalScope` exists.
  if (!("WorkerGlobalScope" in globalThis))
    Object.assign(globalThis, { WorkerGlobalScope: class WorkerGlobalScope {} });
  if (typeof navigator === "object" && "gpu" in navigator) return;
  const found = await dawn();
  if (!found) return;
  Object.assign(globalThis, found.globals);
  const gpu = found.create([]);
  if (typeof navigator === "object") Object.defineProperty(navigator, "gpu", { value: gpu, configurable: true });
  else Object.defineProperty(globalThis, "navigator", { value: { gpu }, configurable: true });
}
