// Builds the files in `web/dist` that `mero export` and `mero serve` use: the page of one model, the parts of a package
// of one model, and a file with their version.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { buildSync } from "esbuild";

const here = import.meta.dirname;
const web = join(here, "..");
const out = join(web, "dist/portable");

/** Bundles the script to one line that can be embedded in an HTML page. */
function script() {
  const { outputFiles } = buildSync({
    entryPoints: [join(here, "page/main.ts")],
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    target: "es2022",
    // The page passes the wasm to the bindings, so their default address is not used.
    define: { "import.meta.url": '""' },
    legalComments: "none",
    charset: "ascii",
  });
  const text = outputFiles[0].text.trim();
  if (/<\/script|<!--/i.test(text))
    throw new Error("the page's script contains a text that would end its script element");
  return text;
}

function style() {
  const { outputFiles } = buildSync({
    entryPoints: [join(here, "page/page.css")],
    write: false,
    minify: true,
    charset: "ascii",
  });
  return outputFiles[0].text.trim();
}

const source = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Replaces every `%NAME%` of a text except `%MODEL%`, which `mero` replaces. */
function filled(text, parts) {
  return text.replace(/%([A-Z]+)%/g, (whole, name) => (name === "MODEL" ? whole : parts[name]));
}

/** Copies the parts of a package that are the same for every model. */
function packageParts() {
  const folder = join(out, "package");
  mkdirSync(folder, { recursive: true });
  const bindings = readFileSync(join(web, "pkg/portable/meromorph.js"), "utf8");
  if (/^import /m.test(bindings))
    throw new Error("the bindings import a file that a package of one model does not contain");
  for (const name of ["index.js", "node.js", "model.js"]) copyFileSync(join(here, "package", name), join(folder, name));
  for (const name of ["meromorph.js", "meromorph_bg.wasm"])
    copyFileSync(join(web, "pkg/portable", name), join(folder, name));
}

/** Writes `dist/portable` and `dist/web.json` from the wasm in `pkg/portable`. */
export function portable(version) {
  execFileSync(join(web, "node_modules/.bin/tsc"), ["-p", here], { stdio: "inherit" });
  mkdirSync(out, { recursive: true });
  const packed = deflateRawSync(readFileSync(join(web, "pkg/portable/meromorph_bg.wasm")), { level: 9, memLevel: 9 });
  packageParts();
  const [code, css] = [script(), style()];
  const policy = `default-src 'none'; script-src ${source(code)} 'wasm-unsafe-eval'; style-src ${source(css)}; base-uri 'none'; form-action 'none'`;
  const parts = { POLICY: policy, VERSION: version, STYLE: css, SCRIPT: code, ENGINE: packed.toString("base64") };
  writeFileSync(join(out, "page.html"), filled(readFileSync(join(here, "page/page.html"), "utf8"), parts));
  writeFileSync(join(web, "dist/web.json"), `${JSON.stringify({ version })}\n`);
  console.log(`page: ${parts.ENGINE.length} bytes of engine, ${code.length + css.length} of script and style`);
}
