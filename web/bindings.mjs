// The generated bindings without what this package never comes to: half of the worker's script otherwise.
import { readFileSync } from "node:fs";

/** Each has to be found, or a new generator writes something else, and somebody has to look at it. */
const TRIMMED = [
  // A panic or an error tells its message; what else is thrown says what it is by itself.
  [/debugString\(arg1\)/g, "String(arg1)"],
  [/function debugString[\s\S]*?\n}\n/, ""],
  // Nothing is drawn.
  [/(const __wbindgen_enum_GpuTextureFormat = )\[.*\]/, "$1[]"],
  [/{[^{}]*(?:OffscreenCanvas|getContext|configure)\b[^{}]*}/g, "{}"],
  // Every browser with the WebAssembly that the engine needs has these.
  [/\(typeof FinalizationRegistry === 'undefined'\)\s*\? .*\s*: /g, ""],
  [/if \(!\('encodeInto' in cachedTextEncoder\)\) {[\s\S]*?\n}\n/, ""],
  // Of the right side all are classes of the runtime, there before the engine asks.
  [/let result;\s*try {\s*result = (arg0 instanceof \w+);\s*} catch \(_\) {\s*result = false;\s*}\s*const ret = result;/g, "const ret = $1;"],
  [/if \(Symbol\.dispose\) .*\n/g, ""],
  // What the optimiser found unused keeps its long name.
  [/ {8}__wbg_\w+: function[\s\S]*?\n {8}}.*,\n/g, ""],
  // All that is taken comes from one module.
  [/^ {8}"\.\/snippets.*\n/gm, ""],
  // A text is encoded at once, as where there is no room to grow: that is faster than letter by letter, too.
  [/if \(realloc === undefined\) {([\s\S]*?)\n {4}}\n[\s\S]*?\n}\n/, "$1\n}\n"],
  [/ {4}(?:wasmInstance|wasmModule|cached\w+) = \w+;\n(?= {4}(?:wasm|cached))/g, ""],
  // Two hundred functions, none of which asks for its `this`.
  [/function\(\) { return handleError\(function \(([^)]*)\) {/g, "(...args) => handleError(($1) => {"],
  [/}, arguments\); },/g, "}, args),"],
  [/: function\(([^)]*)\) {/g, ": ($1) => {"],
  [/return {\s*__proto__: null,\s*("a": .*),\s*};/, "return { $1 };"],
  // Whoever calls it has a module.
  [/function initSync\(module\) {[\s\S]*?\n}\n/, `function initSync({ module }) {
    if (!wasm) __wbg_finalize_init(new WebAssembly.Instance(module, __wbg_get_imports()), module);
}
`],
];

/** An esbuild plugin that trims the bindings as they are read. */
export const bindings = {
  name: "bindings",
  setup({ onLoad }) {
    onLoad({ filter: /pkg[\\/]meromorph\.js$/ }, ({ path }) => {
      let contents = readFileSync(path, "utf8");
      for (const [what, instead] of TRIMMED) {
        const trimmed = contents.replace(what, instead);
        if (trimmed === contents) throw new Error(`${path} holds nothing like ${what}`);
        contents = trimmed;
      }
      return { contents };
    });
  },
};

/** Names of the bindings that nobody outside of them knows. */
export const PRIVATE = /^_+(wbg|wrap|destroy)/;
