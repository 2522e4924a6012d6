// The package as published: what a browser loads, what the tarball contains, what package linters report.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { test, visit, web } from "./browser.mjs";

/** The maximum size of all JavaScript of a page and its worker, gzipped. */
const BUDGET = 23_500;
const about = JSON.parse(readFileSync(join(web, "package.json"), "utf8"));

test("the version is the crate's", () => {
  const crate = readFileSync(join(web, "../Cargo.toml"), "utf8").match(/^version = "(.+)"$/m)[1];
  assert.equal(about.version, crate);
});

test("what a page loads until its first step is within the budget", async () => {
  const { page, errors, close } = await visit("/test/blank.html");
  const loaded = [];
  page.on("response", (response) => loaded.push(new URL(response.url()).pathname));
  const times = await page.evaluate(async () => {
    const began = performance.now();
    const lap = () => Math.round(performance.now() - began);
    const { open } = await import("/dist/index.js");
    const imported = lap();
    const engine = await open();
    const opened = lap();
    const x = Float32Array.from({ length: 4000 }, (_, row) => Math.sin(row));
    for await (const { event } of engine.train({ x, y: x.subarray(0, 2000) }, { batch: 32 }))
      if (event === "epoch") break;
    return { imported, opened, "first epoch (44 steps)": lap() };
  });
  assert.deepEqual(errors, []);
  await close();
  const rows = loaded.map((path) => {
    const bytes = readFileSync(join(web, path));
    return {
      path,
      bytes: bytes.length,
      gzip: gzipSync(bytes, { level: 9 }).length,
      brotli: brotliCompressSync(bytes).length,
    };
  });
  console.table(rows);
  console.table(times);
  assert.deepEqual(loaded.sort(), ["/dist/index.js", "/dist/meromorph.relaxed.wasm", "/dist/worker.js"]);
  const scripts = rows.filter(({ path }) => path.endsWith(".js")).reduce((sum, { gzip }) => sum + gzip, 0);
  assert.ok(scripts <= BUDGET, `${scripts} bytes of JavaScript gzipped, at most ${BUDGET}`);
});

test("the tarball contains the right files and no others", () => {
  const [{ files }] = Object.values(
    JSON.parse(
      execFileSync("npm", ["pack", "--dry-run", "--json"], {
        cwd: web,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }),
    ),
  );
  const paths = files.map(({ path }) => path);
  const outside = paths.filter((path) => !path.startsWith("dist/")).sort();
  assert.deepEqual(outside, [
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "THIRD-PARTY.md",
    "package.json",
  ]);
  for (const path of Object.values(about.exports).flatMap((entry) => leaves(entry))) {
    assert.ok(paths.includes(path.slice(2)), `${path} is exported but not packed`);
  }
  for (const path of paths.filter((path) => path.endsWith(".d.ts"))) {
    for (const [, imported] of readFileSync(join(web, path), "utf8").matchAll(/(?:from|import\() ?"(\..+?)\.js"/g)) {
      assert.ok(paths.includes(`dist/${imported.slice(2)}.d.ts`), `${path} needs ${imported}`);
    }
  }
});

test("scripts have source maps, and the changelog is that of the repository", () => {
  const contrast = ["contrast", "contrast-worker", "contrast-node", "contrast-node-worker"];
  for (const name of ["index", "inline", "worker", "direct", "export", "node", "node-worker", ...contrast]) {
    const { sources, sourcesContent } = JSON.parse(readFileSync(join(web, `dist/${name}.js.map`), "utf8"));
    assert.ok(
      sources.length > 0 && sources.length === sourcesContent.length && sources.every((path) => path.startsWith("../")),
      name,
    );
    assert.match(
      readFileSync(join(web, `dist/${name}.js`), "utf8"),
      new RegExp(`\\n//# sourceMappingURL=${name}\\.js\\.map\\n$`),
      name,
    );
  }
  assert.equal(
    readFileSync(join(web, "CHANGELOG.md"), "utf8"),
    readFileSync(join(web, "../docs/CHANGELOG.md"), "utf8"),
  );
});

const leaves = (entry) => (typeof entry === "string" ? [entry] : Object.values(entry).flatMap(leaves));

test("publint and attw report no problems", () => {
  const run = (tool, ...args) => {
    try {
      return execFileSync(join(web, "node_modules/.bin", tool), args, {
        cwd: web,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      });
    } catch ({ stdout, stderr }) {
      throw new Error(`${tool}:\n${stdout}${stderr}`);
    }
  };
  assert.match(run("publint", "--strict"), /All good!/);
  // attw fails if it finds a problem. The wasm entries are files, not modules with types.
  run(
    "attw",
    "--pack",
    ".",
    "--profile",
    "esm-only",
    "--exclude-entrypoints",
    "./meromorph.wasm",
    "./meromorph.relaxed.wasm",
    "./meromorph.classic.js",
  );
});

test("the types are correct for bundlers and for Node", () => {
  const lib = [
    "--lib",
    "es2022,dom,dom.iterable,esnext.disposable",
    "--target",
    "es2022",
    "--strict",
    "--noEmit",
    "--types",
    "",
  ];
  for (const kind of [
    ["--module", "esnext", "--moduleResolution", "bundler"],
    ["--module", "nodenext"],
  ]) {
    execFileSync(join(web, "node_modules/.bin/tsc"), ["--ignoreConfig", ...kind, ...lib, "test/types.ts"], {
      cwd: web,
      stdio: ["ignore", "inherit", "inherit"],
    });
  }
});

test("the reference is generated from the types", { timeout: 120_000 }, () => {
  execFileSync("npm", ["run", "docs"], { cwd: web, stdio: ["ignore", "ignore", "pipe"] });
  const run = readFileSync(join(web, "docs/interfaces/index.Run.html"), "utf8");
  for (const name of ["pause", "resume", "stop", "predict", "checkpoint"])
    assert.match(run, new RegExp(`id="${name}"`), name);
});
