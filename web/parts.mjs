// The WebAssembly files that are built. Each part has one entry file in src/wasm, chosen by a Cargo feature, and a size budget; what a part
// does not use, the linker leaves out. To add one: a feature in Cargo.toml, an entry file with its line in
// src/lib.rs, an element here, and the script in web/src that loads `dist/FILE`.

/** SIMD that every supported browser has. */
const PLAIN = "+simd128";
/** With fused multiply-add. A browser without these instructions cannot load the module. */
const RELAXED = "+simd128,+relaxed-simd";

/** Budgets in bytes. */
const MAIN = { gzip: 534_500, brotli: 432_500 };

/**
 * `name` chooses a part on the command line, `folder` is where it is built, `file` its name in `dist` if it is published as a file, `features` are those
 * of Cargo, `isOptimised` is false for parts that only tests load.
 */
export const PARTS = [
  { name: "main", folder: "pkg", file: "meromorph.wasm", features: [], instructions: PLAIN, isOptimised: true, budget: MAIN },
  { name: "relaxed", folder: "pkg/relaxed", file: "meromorph.relaxed.wasm", features: [], instructions: RELAXED, isOptimised: true, budget: MAIN },
  { name: "portable", folder: "pkg/portable", features: ["portable"], instructions: PLAIN, isOptimised: true, budget: { gzip: 321_500, brotli: 261_000 } },
  { name: "onnx", folder: "pkg/onnx", features: ["onnx"], instructions: PLAIN, isOptimised: true, budget: { gzip: 127_000, brotli: 104_000 } },
  { name: "fit", folder: "pkg/fit", features: ["fit"], instructions: PLAIN, isOptimised: true, budget: { gzip: 271_500, brotli: 223_500 } },
  { name: "fit-webgpu", folder: "pkg/fit-webgpu", features: ["fit-webgpu"], instructions: PLAIN, isOptimised: true, budget: { gzip: 358_500, brotli: 294_000 } },
  { name: "evidence", folder: "pkg/evidence", features: ["evidence"], instructions: PLAIN, isOptimised: false },
  { name: "evidence-relaxed", folder: "pkg/evidence/relaxed", features: ["evidence"], instructions: RELAXED, isOptimised: false },
];
