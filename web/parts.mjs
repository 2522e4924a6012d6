// The WebAssembly files that are built. Each part is a crate in `crates` and has a size budget; what a part does not
// use, the linker leaves out. To add one: a crate, an element here, and the script in web/src that loads `dist/FILE`.

/** SIMD that every supported browser has. */
const PLAIN = "+simd128";
/** With fused multiply-add. A browser without these instructions cannot load the module. */
const RELAXED = "+simd128,+relaxed-simd";

/** Budgets in bytes. */
const MAIN = { gzip: 777_000, brotli: 620_000 };

/**
 * `name` chooses a part on the command line, `folder` is where it is built, `file` its name in `dist` if it is
 * published as a file, `crate` the folder of its crate, `isOptimised` is false for parts that only tests load.
 */
export const PARTS = [
  {
    name: "main",
    folder: "pkg",
    file: "meromorph.wasm",
    crate: "core",
    instructions: PLAIN,
    isOptimised: true,
    budget: MAIN,
  },
  {
    name: "relaxed",
    folder: "pkg/relaxed",
    file: "meromorph.relaxed.wasm",
    crate: "core",
    instructions: RELAXED,
    isOptimised: true,
    budget: MAIN,
  },
  {
    name: "portable",
    folder: "pkg/portable",
    crate: "portable",
    instructions: PLAIN,
    isOptimised: true,
    budget: { gzip: 464_000, brotli: 373_500 },
  },
  {
    name: "onnx",
    folder: "pkg/onnx",
    crate: "onnx",
    instructions: PLAIN,
    isOptimised: true,
    budget: { gzip: 404_500, brotli: 325_500 },
  },
  {
    name: "fit",
    folder: "pkg/fit",
    crate: "fit",
    instructions: PLAIN,
    isOptimised: true,
    budget: { gzip: 408_500, brotli: 332_000 },
  },
  {
    name: "fit-webgpu",
    folder: "pkg/fit-webgpu",
    crate: "fit-webgpu",
    instructions: PLAIN,
    isOptimised: true,
    budget: { gzip: 487_500, brotli: 395_500 },
  },
  {
    name: "contrast",
    folder: "pkg/contrast",
    crate: "contrast",
    instructions: PLAIN,
    isOptimised: true,
    budget: { gzip: 503_000, brotli: 409_000 },
  },
  { name: "evidence", folder: "pkg/evidence", crate: "evidence", instructions: PLAIN, isOptimised: false },
  {
    name: "evidence-relaxed",
    folder: "pkg/evidence/relaxed",
    crate: "evidence",
    instructions: RELAXED,
    isOptimised: false,
  },
];
