// Builds the package: wasm, bindings, scripts and types. `--evidence` also builds the wasm that the tests run the kernels in;
// `--scripts` leaves the wasm as it is.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, copyFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync, gzipSync } from "node:zlib";
import { build } from "esbuild";
import { bindings, PRIVATE } from "./bindings.mjs";
import { portable } from "./portable/build.mjs";

const web = import.meta.dirname;
const root = join(web, "..");
const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
const FEATURES = ["simd", "relaxed-simd", "bulk-memory", "bulk-memory-opt", "sign-ext", "mutable-globals", "nontrapping-float-to-int",
  "reference-types", "multivalue", "call-indirect-overlong"].map((feature) => `--enable-${feature}`);

/**
 * Kernels ask by name for what makes them fast: inlining, vectors, loops over their registers. Everything else runs rarely, and inlined,
 * vectorised and unrolled it would be a tenth of the download. Two passes that reorder cost speed as well: the reduction of strength makes
 * additions of what a load could have as its offset (1 % of the download), and the scheduler moves loads away from their products, so that
 * sums lose their registers.
 */
const CALM = ["-Cno-vectorize-loops", "-Cno-vectorize-slp",
  ...["inline-threshold=10", "unroll-runtime=0", "unroll-allow-partial=0", "disable-lsr", "pre-RA-sched=source"].map((flag) => `-Cllvm-args=-${flag}`)];

const PLAIN = "+simd128";
/** With fused products, which a module may only name where the browser has them. */
const RELAXED = "+simd128,+relaxed-simd";

/** What is left of functions after the compiler stays apart: alike, they compress better than inlined. */
const SEPARATE = ["--no-inline=*", ...["always-inline-max-function-size", "flexible-inline-max-function-size", "one-caller-inline-max-function-size"].map((size) => `--${size}=0`)];

/** Beside their like functions compress better: in the order of their names by 3 KB. */
const ORDERED = "--reorder-functions-by-name";

const run = (command, args, options) => execFileSync(command, args, { stdio: "inherit", cwd: root, ...options });

/** The bindings' generator must be the one of Cargo.lock to the last digit. */
function bindgen() {
  const wanted = readFileSync(join(root, "Cargo.lock"), "utf8").match(/name = "wasm-bindgen"\nversion = "(.+?)"/)[1];
  const local = join(root, ".tools/bin/wasm-bindgen");
  const command = existsSync(local) ? local : "wasm-bindgen";
  let found = "none";
  try { found = execFileSync(command, ["--version"], { encoding: "utf8" }).trim().split(" ")[1]; } catch { /* told below */ }
  if (found !== wanted) {
    throw new Error(`wasm-bindgen ${wanted} wanted, ${found} found: cargo install wasm-bindgen-cli@${wanted} --root .tools`);
  }
  return command;
}

function wasm(out, features, optimise, bindings = [], instructions = PLAIN) {
  const env = { ...process.env, RUSTFLAGS: [`-Ctarget-feature=${instructions}`, ...CALM].join(" ") };
  const flags = ["--profile", "web", "--target", "wasm32-unknown-unknown", "--no-default-features", "--lib"];
  run("cargo", ["build", ...flags, ...features], { env });
  const built = join(target, "wasm32-unknown-unknown/web/meromorph.wasm");
  run(bindgen(), ["--target", "web", ...bindings, "--out-dir", out, built]);
  if (!optimise) return;
  const bytes = join(out, "meromorph_bg.wasm");
  // Names are stripped here and not by the compiler: wasm-bindgen needs a section that `strip` would take.
  const names = execFileSync(join(web, "node_modules/.bin/wasm-opt"),
    ["-O3", ...FEATURES, ...SEPARATE, ORDERED, "--strip-debug", "--strip-producers", "--minify-imports-and-exports-and-modules", bytes, "-o", bytes], { encoding: "utf8" });
  rename(join(out, "meromorph.js"), JSON.parse(names));
  appendFileSync(bytes, section("bindings", mark(out)));
  const size = gzipSync(readFileSync(bytes), { level: 9 }).length;
  console.log(`wasm: ${statSync(bytes).size} bytes, ${size} gzipped`);
}

/**
 * The bindings with the short names that the wasm now has: the hashes in the long ones were a third of their size. All that the
 * wasm takes, the functions of snippets as well, it then takes from one module "a".
 */
function rename(file, { imports, exports }) {
  const [taken, given] = [new Map(imports.map(([, long, short]) => [long, short])), new Map(exports)];
  const text = readFileSync(file, "utf8")
    .replace(/\bwasm\.(\w+)/g, (whole, name) => (given.has(name) ? `wasm.${given.get(name)}` : whole))
    .replace(/\b__wb\w+/g, (name) => taken.get(name) ?? name);
  const modules = new Map([...text.matchAll(/^ +"(.+)": (import\d+),$/gm)].map(([, module, name]) => [module, name]));
  const snippets = imports.filter(([module]) => modules.get(module) !== "import0");
  const entries = snippets.map(([module, long, short]) => `, "${short}": ${modules.get(module)}["${long}"]`);
  writeFileSync(file, text.replace('"./meromorph_bg.js": import0', `"a": { ...import0${entries.join("")} }`));
}

/** What tells bindings from those of another build: short names would link with either. */
const mark = (out) => createHash("sha256").update(readFileSync(join(out, "meromorph.js"))).digest("hex").slice(0, 16);

/** A custom section of a wasm file, shorter than 128 bytes. */
function section(name, text) {
  const body = [name.length, ...Buffer.from(name + text)];
  return Buffer.from([0, body.length, ...body]);
}

/** A script of the package and all it uses, but for what it fetches only when needed. */
async function script(name, platform = "browser") {
  const external = ["./direct.js", "./inline-wasm.js", "./inline-worker.js"];
  await build({
    entryPoints: [join(web, `src/${name}.ts`)], outfile: join(web, `dist/${name}.js`), external, platform, format: name === "worker" ? "iife" : "esm",
    // Node shows the line that threw: there it stays readable.
    define: { BINDINGS: JSON.stringify(mark(join(web, "pkg"))) }, target: "es2022", bundle: true, minify: platform === "browser", legalComments: "none", logLevel: "warning", plugins: [bindings],
    mangleProps: PRIVATE,
  });
}

/** A module that carries `text`. */
const carry = (name, text) => writeFileSync(join(web, `dist/${name}.js`), `export default ${JSON.stringify(text)};\n`);

/** Types of what no entry shows. */
const INTERNAL = ["serve", "browser.d.ts", "direct.d.ts", "gpu.d.ts", "inlined.d.ts", "node-worker.d.ts", "place.d.ts", "worker.d.ts"];

async function scripts() {
  const dist = join(web, "dist");
  rmSync(dist, { recursive: true, force: true });
  run(join(web, "node_modules/.bin/tsc"), ["-p", web]);
  for (const name of INTERNAL) rmSync(join(dist, name), { recursive: true });
  await Promise.all([...["index", "inline", "worker", "direct"].map((name) => script(name)), script("node", "node"), script("node-worker", "node")]);
  const bytes = join(web, "pkg/meromorph_bg.wasm");
  copyFileSync(bytes, join(dist, "meromorph.wasm"));
  if (mark(join(web, "pkg")) !== mark(join(web, "pkg/relaxed"))) throw new Error("the two builds have different bindings, and the scripts can hold but one");
  copyFileSync(join(web, "pkg/relaxed/meromorph_bg.wasm"), join(dist, "meromorph.relaxed.wasm"));
  carry("inline-wasm", deflateRawSync(readFileSync(bytes), { level: 9 }).toString("base64"));
  carry("inline-worker", readFileSync(join(dist, "worker.js"), "utf8"));
  for (const licence of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(root, licence), join(web, licence));
}

if (process.argv.includes("--evidence")) {
  wasm(join(web, "pkg/evidence"), ["--features", "evidence"], false);
  wasm(join(web, "pkg/evidence/relaxed"), ["--features", "evidence"], false, [], RELAXED);
}
// Where the wasm lies is the scripts' to say, once: bundlers would copy it again for the bindings.
const SILENT = ["--omit-default-module-path"];
if (!process.argv.includes("--scripts")) {
  wasm(join(web, "pkg"), [], true, SILENT);
  wasm(join(web, "pkg/relaxed"), [], true, SILENT, RELAXED);
  wasm(join(web, "pkg/portable"), ["--features", "portable"], true, SILENT);
}
await scripts();
portable(JSON.parse(readFileSync(join(web, "package.json"), "utf8")).version);
