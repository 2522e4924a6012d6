// Builds the package: wasm, bindings and typed facade. `--evidence` also builds the wasm that the tests run the kernels in.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { portable } from "./portable/build.mjs";

const web = import.meta.dirname;
const root = join(web, "..");
const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
const FEATURES = ["simd", "bulk-memory", "bulk-memory-opt", "sign-ext", "mutable-globals", "nontrapping-float-to-int",
  "reference-types", "multivalue", "call-indirect-overlong"].map((feature) => `--enable-${feature}`);

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

function wasm(out, features, optimise) {
  // Code outside the kernels is called rarely: inlining less of it takes 5 % off the download. Kernels ask for theirs by name.
  const env = { ...process.env, RUSTFLAGS: "-Ctarget-feature=+simd128 -Cllvm-args=-inline-threshold=10" };
  const flags = ["--profile", "web", "--target", "wasm32-unknown-unknown", "--no-default-features", "--lib"];
  run("cargo", ["build", ...flags, ...features], { env });
  const built = join(target, "wasm32-unknown-unknown/web/meromorph.wasm");
  run(bindgen(), ["--target", "web", "--out-dir", out, built]);
  if (!optimise) return;
  const bytes = join(out, "meromorph_bg.wasm");
  // Names are stripped here and not by the compiler: wasm-bindgen needs a section that `strip` would take.
  run(join(web, "node_modules/.bin/wasm-opt"), ["-O3", ...FEATURES, "--strip-debug", "--strip-producers", bytes, "-o", bytes]);
  const size = gzipSync(readFileSync(bytes), { level: 9 }).length;
  console.log(`wasm: ${statSync(bytes).size} bytes, ${size} gzipped`);
}

rmSync(join(web, "dist"), { recursive: true, force: true });
if (process.argv.includes("--evidence")) wasm(join(web, "pkg/evidence"), ["--features", "evidence"], false);
wasm(join(web, "pkg"), [], true);
run(join(web, "node_modules/.bin/tsc"), ["-p", web]);
wasm(join(web, "pkg/portable"), ["--features", "portable"], true);
portable(JSON.parse(readFileSync(join(web, "package.json"), "utf8")).version);
