// Builds the package: wasm, bindings, scripts and types. `--evidence` also builds the wasm in which the tests run the
// kernels; `--only NAME,NAME` builds these parts of parts.mjs; `--scripts` rebuilds everything except the wasm.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, copyFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { deflateRawSync, gzipSync } from "node:zlib";
import { build } from "esbuild";
import { bindings, PRIVATE } from "./bindings.mjs";
import { PARTS } from "./parts.mjs";
import { portable } from "./portable/build.mjs";

const web = import.meta.dirname;
const root = join(web, "..");
const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
const FEATURES = [
  "simd",
  "relaxed-simd",
  "bulk-memory",
  "bulk-memory-opt",
  "sign-ext",
  "mutable-globals",
  "nontrapping-float-to-int",
  "reference-types",
  "multivalue",
  "call-indirect-overlong",
].map((feature) => `--enable-${feature}`);

/**
 * Optimise for size: the kernels request what makes them fast (inlining, SIMD, unrolled loops) themselves. All other
 * code runs rarely; inlining, vectorising and unrolling it would add a tenth to the download. Two reordering passes are
 * switched off because they also cost speed: strength reduction turns load offsets into additions (1 % of the
 * download), and the scheduler moves loads away from their products, so that sums no longer stay in registers.
 */
const FOR_SIZE = [
  "-Cno-vectorize-loops",
  "-Cno-vectorize-slp",
  ...["inline-threshold=10", "unroll-runtime=0", "unroll-allow-partial=0", "disable-lsr", "pre-RA-sched=source"].map(
    (flag) => `-Cllvm-args=-${flag}`,
  ),
];

/** Do not inline in wasm-opt: separate functions that resemble each other compress better. */
const SEPARATE = [
  "--no-inline=*",
  ...[
    "always-inline-max-function-size",
    "flexible-inline-max-function-size",
    "one-caller-inline-max-function-size",
  ].map((size) => `--${size}=0`),
];

/** Sort functions by name: similar functions next to each other compress better, by 3 KB. */
const ORDERED = "--reorder-functions-by-name";

const run = (command, args, options) => execFileSync(command, args, { stdio: "inherit", cwd: root, ...options });

/**
 * The scripts give the address of the wasm. A second address in the bindings would make bundlers copy the file twice.
 */
const NO_DEFAULT_PATH = ["--omit-default-module-path"];

/** The command `wasm-bindgen`. Its version must be exactly the one in Cargo.lock. */
function bindgen() {
  const expected = readFileSync(join(root, "Cargo.lock"), "utf8").match(/name = "wasm-bindgen"\nversion = "(.+?)"/)[1];
  const local = join(root, ".tools/bin/wasm-bindgen");
  const command = existsSync(local) ? local : "wasm-bindgen";
  let found = "none";
  try {
    found = execFileSync(command, ["--version"], { encoding: "utf8" }).trim().split(" ")[1];
  } catch {
    /* reported below */
  }
  if (found !== expected) {
    throw new Error(
      `wasm-bindgen: found version ${found}, expected ${expected}: cargo install wasm-bindgen-cli@${expected} --root .tools`,
    );
  }
  return command;
}

/** Builds a part and its bindings. */
function wasm({ name, folder, crate, instructions, isOptimised }) {
  const out = join(web, folder);
  const env = { ...process.env, RUSTFLAGS: [`-Ctarget-feature=${instructions}`, ...FOR_SIZE].join(" ") };
  const flags = ["--profile", "web", "--target", "wasm32-unknown-unknown"];
  run("cargo", ["build", ...flags, "--package", `meromorph-web-${crate}`], { env });
  const built = join(target, `wasm32-unknown-unknown/web/meromorph_web_${crate.replace("-", "_")}.wasm`);
  run(bindgen(), [
    "--target",
    "web",
    ...(isOptimised ? NO_DEFAULT_PATH : []),
    "--out-name",
    "meromorph",
    "--out-dir",
    out,
    built,
  ]);
  if (!isOptimised) return;
  const bytes = join(out, "meromorph_bg.wasm");
  // Names are stripped here, not by the compiler: its `strip` would remove a section that wasm-bindgen needs.
  const names = execFileSync(
    join(web, "node_modules/.bin/wasm-opt"),
    [
      "-O3",
      ...FEATURES,
      ...SEPARATE,
      ORDERED,
      "--strip-debug",
      "--strip-producers",
      "--minify-imports-and-exports-and-modules",
      bytes,
      "-o",
      bytes,
    ],
    { encoding: "utf8" },
  );
  rename(join(out, "meromorph.js"), JSON.parse(names));
  appendFileSync(bytes, section("bindings", fingerprint(out)));
  const size = gzipSync(readFileSync(bytes), { level: 9 }).length;
  console.log(`wasm ${name}: ${statSync(bytes).size} bytes, ${size} gzipped`);
}

/**
 * Renames imports and exports in the bindings to the short names that wasm-opt chose: the hashes in the long names were
 * a third of their size. Afterwards the wasm imports everything, functions of snippets too, from one module "a".
 */
function rename(file, { imports, exports }) {
  const [shortImports, shortExports] = [new Map(imports.map(([, long, short]) => [long, short])), new Map(exports)];
  const text = readFileSync(file, "utf8")
    .replace(/\bwasm\.(\w+)/g, (whole, name) => (shortExports.has(name) ? `wasm.${shortExports.get(name)}` : whole))
    .replace(/\b__wb\w+/g, (name) => shortImports.get(name) ?? name);
  const modules = new Map([...text.matchAll(/^ +"(.+)": (import\d+),$/gm)].map(([, module, name]) => [module, name]));
  const snippets = imports.filter(([module]) => modules.get(module) !== "import0");
  const entries = snippets.map(([module, long, short]) => `, "${short}": ${modules.get(module)}["${long}"]`);
  writeFileSync(file, text.replace('"./meromorph_bg.js": import0', `"a": { ...import0${entries.join("")} }`));
}

/** A hash that identifies the bindings of a build. With short names, a wasm of another build could link too. */
const fingerprint = (out) =>
  createHash("sha256")
    .update(readFileSync(join(out, "meromorph.js")))
    .digest("hex")
    .slice(0, 16);

/** A custom section of a wasm file, shorter than 128 bytes. */
function section(name, text) {
  const body = [name.length, ...Buffer.from(name + text)];
  return Buffer.from([0, body.length, ...body]);
}

/** The scripts of workers in browsers, which may be classic workers. */
const WORKERS = ["worker", "contrast-worker"];

/** Bundles one script of the package, without the modules that it imports only when needed. */
async function script(name, platform = "browser", how = {}) {
  const external = [
    "./direct.js",
    "./inline-wasm.js",
    "./inline-worker.js",
    "./page.js",
    "./onnx-wasm.js",
    "./fit-wasm.js",
    "./fit-webgpu.js",
    "./fit-webgpu-wasm.js",
    "./contrast-wasm.js",
    "./contrast-inline-worker.js",
  ];
  await build({
    entryPoints: [join(web, `src/${name}.ts`)],
    outfile: join(web, `dist/${name}.js`),
    external,
    platform,
    format: WORKERS.includes(name) ? "iife" : "esm",
    sourcemap: true,
    // Not minified for Node, which prints the line that threw.
    define: { BINDINGS: JSON.stringify(fingerprint(join(web, "pkg"))) },
    target: "es2022",
    bundle: true,
    minify: platform === "browser",
    legalComments: "none",
    logLevel: "warning",
    plugins: [bindings],
    mangleProps: PRIVATE,
    ...how,
  });
}

/** One classic script with everything in it, for a page that is opened from disk: browsers load no modules there. */
function classic() {
  const embedded = {
    name: "embedded",
    setup: ({ onResolve }) =>
      onResolve({ filter: /^\.\/inline-w.*\.js$/ }, ({ path }) => ({ path: join(web, "dist", path) })),
  };
  const how = {
    outfile: join(web, "dist/meromorph.classic.js"),
    format: "iife",
    globalName: "Meromorph",
    external: [],
    plugins: [bindings, embedded],
    sourcemap: false,
  };
  return script("inline", "browser", how);
}

/** Writes a module that exports `text`. */
const writeText = (name, text) =>
  writeFileSync(join(web, `dist/${name}.js`), `export default ${JSON.stringify(text)};\n`);

/** Declarations that no entry point exports. */
const INTERNAL = [
  "serve",
  "browser.d.ts",
  "connected.d.ts",
  "contrast-node-worker.d.ts",
  "contrast-worker.d.ts",
  "direct.d.ts",
  "fit-webgpu.d.ts",
  "gpu.d.ts",
  "inlined.d.ts",
  "node-files.d.ts",
  "node-worker.d.ts",
  "received.d.ts",
  "runtime.d.ts",
  "worker.d.ts",
];

async function scripts() {
  const dist = join(web, "dist");
  rmSync(dist, { recursive: true, force: true });
  run(join(web, "node_modules/.bin/tsc"), ["-p", web]);
  for (const name of INTERNAL) rmSync(join(dist, name), { recursive: true });
  await Promise.all([
    ...["index", "inline", "direct", "export", "fit", "fit-webgpu", "contrast", ...WORKERS].map((name) => script(name)),
    ...["node", "node-worker", "contrast-node", "contrast-node-worker"].map((name) => script(name, "node")),
  ]);
  for (const { folder, file } of PARTS)
    if (file) copyFileSync(join(web, folder, "meromorph_bg.wasm"), join(dist, file));
  if (fingerprint(join(web, "pkg")) !== fingerprint(join(web, "pkg/relaxed")))
    throw new Error("the two wasm builds have different bindings, but the scripts contain only one");
  const packed = (file) => deflateRawSync(readFileSync(file), { level: 9 }).toString("base64");
  writeText("inline-wasm", packed(join(dist, "meromorph.wasm")));
  for (const name of ["onnx", "fit", "fit-webgpu", "contrast"])
    writeText(`${name}-wasm`, packed(join(web, `pkg/${name}/meromorph_bg.wasm`)));
  for (const name of WORKERS) {
    const source = readFileSync(join(dist, `${name}.js`), "utf8").replace(/\n\/\/# sourceMappingURL=.*\n?$/, "\n");
    writeText(name.replace("worker", "inline-worker"), source);
  }
  await classic();
  copyFileSync(join(root, "docs/CHANGELOG.md"), join(web, "CHANGELOG.md"));
  for (const licence of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(root, licence), join(web, licence));
}

const { values: options } = parseArgs({
  options: { evidence: { type: "boolean" }, scripts: { type: "boolean" }, only: { type: "string" } },
});
const chosen =
  options.only?.split(",") ?? PARTS.filter((part) => part.isOptimised || options.evidence).map(({ name }) => name);
const unknown = chosen.find((name) => !PARTS.some((part) => part.name === name));
if (unknown)
  throw new Error(`--only: no part is called "${unknown}"; expected ${PARTS.map(({ name }) => name).join(", ")}`);
if (!options.scripts) for (const part of PARTS) if (chosen.includes(part.name)) wasm(part);
await scripts();
portable(JSON.parse(readFileSync(join(web, "package.json"), "utf8")).version);
writeText("page", readFileSync(join(web, "dist/portable/page.html"), "utf8"));
