// What a person does: packs nothing by hand, follows the README step by step in an empty folder, opens the page, reads the console.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { serve } from "../serve.mjs";
import { launch, web } from "./browser.mjs";

/** What the README installs without a version, at the versions this was tried with. */
const PINS = { vite: "8.3.8", webpack: "5.112.2", "webpack-cli": "7.3.1", esbuild: "0.28.2" };
const FOUND = /^1 \/ x at -1, 0 and 1: (\S+) (\S+) (\S+) no value: 0 1 0$/;
const folder = mkdtempSync(join(tmpdir(), "meromorph-install-"));
const readme = readFileSync(join(web, "README.md"), "utf8");
const steps = [];
let tarball;
let browser;

before(async () => {
  const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", folder], { cwd: web, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [{ filename }] = Object.values(JSON.parse(packed));
  tarball = join(folder, filename);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
  console.log(steps.map(([name, count, seconds]) => `${name}: ${count} commands, ${seconds.toFixed(1)} s from nothing to a trained model`).join("\n"));
});

/** The code blocks under a heading of the README: shell lines, and files by the name in their first line. */
function blocks(heading) {
  const section = readme.split(/^##+ /m).find((part) => part.startsWith(`${heading}\n`));
  assert.ok(section, `no section "${heading}"`);
  const all = [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, kind, text]) => ({ kind, text }));
  const files = all.flatMap(({ text }) => {
    const name = text.match(/^(?:\/\/|<!--) ([\w.]+\.(?:mjs|html))(?: -->)?\n/)?.[1];
    return name ? [[name, text]] : [];
  });
  return { commands: all.filter(({ kind }) => kind === "sh").flatMap(({ text }) => text.trim().split("\n")), files };
}

/** Runs a line of the README with the packed package and pinned versions. */
async function command(line, cwd) {
  const words = line.split(" ");
  const isInstall = words[1] === "install";
  const said = words.map((word) => (word === "meromorph" ? tarball : isInstall && PINS[word] ? `${word}@${PINS[word]}` : word));
  try {
    return (await promisify(execFile)(said[0], said.slice(1), { cwd, maxBuffer: 1 << 26 })).stdout;
  } catch ({ message, stdout }) {
    throw new Error(`${message}\n${stdout}`);
  }
}

/** An empty folder with the README's files, and its commands run there; what the last one printed. */
async function follow(name, heading) {
  const began = performance.now();
  const app = join(folder, name);
  mkdirSync(app);
  const { commands, files } = blocks(heading);
  for (const [file, text] of [...blocks("From nothing to a trained model").files, ...files]) writeFileSync(join(app, file), text);
  let printed = "";
  for (const line of commands) printed = await command(line, app);
  return { app, printed, done: () => steps.push([name, commands.length, (performance.now() - began) / 1000]) };
}

/** Opens a page and waits for the model's predictions in its console. */
async function trained(url) {
  const page = await browser.newPage();
  const lines = [];
  try {
    const told = new Promise((resolve, reject) => {
      page.on("console", (line) => {
        lines.push(line.text());
        if (line.text().startsWith("1 / x")) resolve(line.text());
      });
      page.on("pageerror", (error) => reject(error));
      setTimeout(() => reject(new Error("nothing was predicted")), 60_000).unref();
    });
    await page.goto(url);
    check(await told);
    return lines;
  } catch (error) {
    throw new Error(`${error.message}; the console said:\n${lines.slice(-20).join("\n")}`);
  } finally {
    await page.close();
  }
}

function check(line) {
  assert.match(line, FOUND);
  const [, minus, zero, plus] = line.match(FOUND).map(Number);
  assert.ok(Math.abs(minus + 1) < 0.2 && zero === 0 && Math.abs(plus - 1) < 0.2, line);
}

/** Trains in the page at `path` of a server of `root`. */
async function served(root, path = "/") {
  const server = await serve(root);
  try {
    return await trained(`http://localhost:${server.address().port}${path}`);
  } finally {
    server.close();
  }
}

/** The page with another script. */
const load = (app, script) =>
  writeFileSync(join(app, "index.html"), readFileSync(join(app, "index.html"), "utf8").replace(/src=".*"/, `src="${script}"`));

test("Vite", async () => {
  const { app, done } = await follow("vite", "Vite");
  await served(join(app, "dist"));
  done();
  const vite = spawn("npx", ["vite", "--port", "0", "--host", "127.0.0.1"], { cwd: app, detached: true, stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, NO_COLOR: "1" } });
  try {
    const url = await new Promise((resolve, reject) => {
      let said = "";
      vite.stdout.on("data", (text) => {
        said += text;
        const found = said.match(/http:\/\/\S+/);
        if (found) resolve(found[0]);
      });
      vite.on("exit", () => reject(new Error(`vite ended: ${said}`)));
    });
    await trained(url);
  } finally {
    process.kill(-vite.pid);
  }
});

test("webpack", async () => {
  const { app, done } = await follow("webpack", "webpack");
  load(app, "dist/main.js");
  await served(app);
  done();
});

test("esbuild", async () => {
  const { app, done } = await follow("esbuild", "esbuild");
  load(app, "bundle.js");
  await served(app);
  done();
  await command("npx esbuild main.mjs --bundle --format=esm --splitting --outdir=dist", app);
  load(app, "dist/main.js");
  await served(app);
});

test("no bundler", async () => {
  const { app, done } = await follow("bare", "No bundler");
  await served(app, "/bare.html");
  done();
});

test("Node", async () => {
  const { printed, done } = await follow("node", "Node, Deno, Bun");
  done();
  check(printed.trim().split("\n").at(-1));
});

test("from disk, with nothing to fetch", async () => {
  const { app } = await follow("disk", "esbuild");
  const inline = readFileSync(join(app, "main.mjs"), "utf8").replace('"meromorph"', '"meromorph/inline"');
  writeFileSync(join(app, "main.mjs"), `(async () => {\n${inline.replace(/^import (.*) from (.*);$/m, "const $1 = await import($2);")}})();\n`);
  await command("npx esbuild main.mjs --bundle --format=iife --outfile=disk.js", app);
  writeFileSync(join(app, "disk.html"), '<!doctype html><title>meromorph</title><script src="disk.js"></script>');
  await trained(`file://${join(app, "disk.html")}`);
});
