// Removes from the generated bindings what this package never uses. It would be half of the worker's script.
import { readFileSync } from "node:fs";

/** Marks a pattern that some parts have nothing for. */
const SOME = "only in some parts";

/**
 * Every pattern without `SOME` must match. If one does not, a new version of the generator writes other code, and this
 * list must be revised.
 */
const TRIMMED = [
  // Panics and errors have a message; other thrown values are readable as strings.
  [/debugString\(arg1\)/g, "String(arg1)"],
  [/function debugString[\s\S]*?\n}\n/, ""],
  // The engine draws nothing.
  [/(const __wbindgen_enum_GpuTextureFormat = )\[.*\]/, "$1[]"],
  [/{[^{}]*(?:OffscreenCanvas|getContext|configure)\b[^{}]*}/g, "{}"],
  // Every browser with the WebAssembly that the engine needs has these.
  [/\(typeof FinalizationRegistry === 'undefined'\)\s*\? .*\s*: /g, ""],
  [/if \(!\('encodeInto' in cachedTextEncoder\)\) {[\s\S]*?\n}\n/, ""],
  // `instanceof` cannot throw here: all these classes exist in every supported runtime.
  [
    /let result;\s*try {\s*result = (arg0 instanceof \w+);\s*} catch \(_\) {\s*result = false;\s*}\s*const ret = result;/g,
    "const ret = $1;",
  ],
  [/if \(Symbol\.dispose\) .*\n/g, ""],
  // Functions that keep their long name are unused: the optimiser removed their imports.
  [/ {8}__wbg_\w+: function[\s\S]*?\n {8}}.*,\n/g, "", SOME],
  // All imports come from one module.
  [/^ {8}"\.\/snippets.*\n/gm, ""],
  // Encode a text at once, as in the case without `realloc`. This is also faster than letter by letter.
  [/if \(realloc === undefined\) {([\s\S]*?)\n {4}}\n[\s\S]*?\n}\n/, "$1\n}\n"],
  [/ {4}(?:wasmInstance|wasmModule|cached\w+) = \w+;\n(?= {4}(?:wasm|cached))/g, ""],
  // Two hundred functions, none of which uses `this`.
  [/function\(\) { return handleError\(function \(([^)]*)\) {/g, "(...args) => handleError(($1) => {"],
  [/}, arguments\); },/g, "}, args),"],
  [/: function\(([^)]*)\) {/g, ": ($1) => {"],
  [/return {\s*__proto__: null,\s*("a": .*),\s*};/, "return { $1 };"],
  // Every caller passes a compiled module.
  [
    /function initSync\(module\) {[\s\S]*?\n}\n/,
    `function initSync({ module }) {
    if (!wasm) __wbg_finalize_init(new WebAssembly.Instance(module, __wbg_get_imports()), module);
}
`,
  ],
];

/** An esbuild plugin that trims the bindings as they are read. */
export const bindings = {
  name: "bindings",
  setup({ onLoad }) {
    onLoad({ filter: /pkg[\\/](fit-webgpu[\\/])?meromorph\.js$/ }, ({ path }) => {
      let contents = readFileSync(path, "utf8");
      for (const [what, replacement, where] of TRIMMED) {
        const trimmed = contents.replace(what, replacement);
        if (trimmed === contents && where !== SOME) throw new Error(`${path}: no match for ${what}`);
        contents = trimmed;
      }
      return { contents };
    });
  },
};

/** Names that are used only inside the bindings, so they can be shortened. */
export const PRIVATE = /^_+(wbg|wrap|destroy)/;
