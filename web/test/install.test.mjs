// Follows the README step by step in an empty folder, as a new user does: installs, opens the page, reads the console.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, before } from "node:test";
import { promisify } from "node:util";
import { launch, serve, test, web } from "./browser.mjs";

/** The versions used here for packages that the README installs without a version. */
const PINS = {
  vite: "8.3.8",
  webpack: "5.112.2",
  "webpack-cli": "7.3.1",
  esbuild: "0.28.2",
  next: "16.4.6",
  react: "19.3.1",
  "react-dom": "19.3.1",
  deno: "2.9.6",
  bun: "1.4.5",
  webgpu: "0.6.2",
};
const FOUND = /^1 \/ x at -1, 0 and 1: (\S+) (\S+) (\S+) no value: 0 1 0$/;
const folder = mkdtempSync(join(tmpdir(), "meromorph-install-"));
/** Tools that a user has installed before. */
const tools = join(folder, "tools");
const env = {
  ...process.env,
  PATH: [join(tools, "node_modules/.bin"), process.env.PATH].join(delimiter),
  NO_COLOR: "1",
  NEXT_TELEMETRY_DISABLED: "1",
};
const readme = readFileSync(join(web, "README.md"), "utf8");
const steps = [];
let tarball;
let browser;

before(async () => {
  const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", folder], {
    cwd: web,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ filename }] = Object.values(JSON.parse(packed));
  tarball = join(folder, filename);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
  console.log(
    steps
      .map(
        ([name, count, seconds]) =>
          `${name}: ${count} commands, ${seconds.toFixed(1)} s from an empty folder to a trained model`,
      )
      .join("\n"),
  );
});

/** The code blocks under a heading of the README: shell commands, and files, named in their first line. */
function blocks(heading) {
  const section = readme.split(/^##+ /m).find((part) => part.startsWith(`${heading}\n`));
  assert.ok(section, `no section "${heading}"`);
  const all = [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, kind, text]) => ({ kind, text }));
  const files = all.flatMap(({ text }) => {
    const name = text.match(/^(?:\/\/|<!--) ([\w./]+\.(?:m?js|html))(?: -->)?\n/)?.[1];
    return name ? [[name, text]] : [];
  });
  return { commands: all.filter(({ kind }) => kind === "sh").flatMap(({ text }) => text.trim().split("\n")), files };
}

/** Runs a command of the README with the packed package and pinned versions. Returns its output. */
async function command(line, cwd, more) {
  const words = line.split(" ");
  const isInstall = words[1] === "install";
  const parts = words.map((word) =>
    word === "meromorph" ? tarball : isInstall && PINS[word] ? `${word}@${PINS[word]}` : word,
  );
  try {
    return (await promisify(execFile)(parts[0], parts.slice(1), { cwd, env: { ...env, ...more }, maxBuffer: 1 << 26 }))
      .stdout;
  } catch ({ message, stdout }) {
    throw new Error(`${message}\n${stdout}`);
  }
}

/** Creates a folder with the README's files and runs its commands there. Returns their output. */
async function follow(name, heading) {
  const began = performance.now();
  const app = join(folder, name);
  mkdirSync(app);
  const { commands, files } = blocks(heading);
  for (const [file, text] of [...blocks("Quick start").files, ...files]) {
    mkdirSync(dirname(join(app, file)), { recursive: true });
    writeFileSync(join(app, file), text);
  }
  const printed = [];
  for (const line of commands) printed.push(await command(line, app));
  return { app, printed, done: () => steps.push([name, commands.length, (performance.now() - began) / 1000]) };
}

/** Opens a page and waits for the model's predictions in its console. */
async function trained(url) {
  const page = await browser.newPage();
  const lines = [];
  try {
    const reported = new Promise((resolve, reject) => {
      page.on("console", (line) => {
        lines.push(line.text());
        if (line.text().startsWith("1 / x")) resolve(line.text());
      });
      page.on("pageerror", (error) => reject(error));
      setTimeout(() => reject(new Error("nothing was predicted")), 60_000).unref();
    });
    await page.goto(url);
    check(await reported);
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

/** Starts the server `line` and runs `work` with its address. */
async function serving(line, cwd, work) {
  const [name, ...words] = line.split(" ");
  const server = spawn(name, words, { cwd, env, detached: true, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const url = await new Promise((resolve, reject) => {
      let output = "";
      server.stdout.on("data", (text) => {
        output += text;
        const found = output.match(/http:\/\/\S+/);
        if (found) resolve(found[0]);
      });
      server.on("exit", () => reject(new Error(`${line} ended: ${output}`)));
    });
    await work(url);
  } finally {
    if (server.exitCode === null) process.kill(-server.pid);
  }
}

/** The page with another script. */
const load = (app, script) =>
  writeFileSync(
    join(app, "index.html"),
    readFileSync(join(app, "index.html"), "utf8").replace(/src=".*"/, `src="${script}"`),
  );

test("Vite", async () => {
  const { app, done } = await follow("vite", "Vite");
  await served(join(app, "dist"));
  done();
  await serving("npx vite --port 0 --host 127.0.0.1", app, trained);
});

test("from a CSV to predictions in at most six lines, in a fresh Vite app", async () => {
  const { app } = await follow("ten", "Vite");
  const [[file, code]] = blocks("In ten seconds").files;
  const lines = code
    .trim()
    .split("\n")
    .filter((line) => !line.startsWith("//"));
  assert.ok(lines.length <= 6, `${lines.length} lines`);
  writeFileSync(join(app, file), code);
  load(app, file);
  mkdirSync(join(app, "public"));
  copyFileSync(join(web, "../examples/data/houses.csv"), join(app, "public/houses.csv"));
  await command("npx vite build", app);
  const server = await serve(join(app, "dist"));
  const page = await browser.newPage();
  try {
    const said = [];
    const done = new Promise((resolve, reject) => {
      page.on("pageerror", reject);
      page.on("console", async (line) => {
        // The browser adds lines of its own.
        if (line.type() !== "log") return;
        // The text of the first line, the rows of the second.
        said.push(line.args().length > 1 ? line.text() : await line.args()[0].jsonValue());
        if (said.length === 2) resolve();
      });
      setTimeout(() => reject(new Error(`nothing was predicted: ${JSON.stringify(said)}`)), 60_000).unref();
    });
    await page.goto(`http://localhost:${server.address().port}/`);
    await done;
    const [line, [usual, odd]] = said;
    assert.ok(
      Number(line.match(/^R² of the test rows: (\S+)$/)?.[1]) > 0.9 && Math.abs(usual.value - 220_000) < 30_000,
      JSON.stringify(said),
    );
    assert.deepEqual(
      [usual.note, odd.note, odd.outside],
      ["", "area: outside the training range; heating: not seen in training", ["area"]],
    );
  } finally {
    await page.close();
    server.close();
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

/** Trains on the server, in a route. */
const ROUTE = `import { open } from "meromorph";
export const dynamic = "force-dynamic";
export async function GET() {
  const engine = await open();
  const x = Float32Array.from({ length: 200 }, (_, row) => row / 100);
  for await (const event of engine.train({ x, y: x }, { epochs: 3 })) if (event.event === "end") return new Response(await event.model.save());
}`;

test("Next", async () => {
  const { app, done } = await follow("next", "Next");
  await serving("npx next start -p 0", app, trained);
  done();
  await command("npx next build --webpack", app);
  await serving("npx next start -p 0", app, trained);
  mkdirSync(join(app, "app/api"));
  writeFileSync(join(app, "app/api/route.js"), ROUTE);
  await serving("npx next dev -p 0", app, async (url) => {
    await trained(url);
    const answer = await fetch(`${url}/api`);
    assert.equal(answer.status, 200, await answer.clone().text());
    assert.ok((await answer.arrayBuffer()).byteLength > 10_000);
  });
});

const last = (text) => text.trim().split("\n").at(-1);

test("Node, Deno, Bun", async (context) => {
  mkdirSync(tools);
  await command("npm init -y", tools);
  await command("npm install deno bun", tools);
  const { app, printed, done } = await follow("node", "Node, Deno, Bun");
  done();
  for (const text of printed.slice(-3)) check(last(text));
  await context.test("on what the package webgpu brings", () => withDawn(app));
});

/** The software Vulkan device that comes with Chromium. */
const swiftshader = () => {
  const places = [dirname(realpathSync(process.env.CHROMIUM ?? "/usr/bin/chromium")), "/usr/lib/chromium"];
  const found = places.map((place) => join(place, "vk_swiftshader_icd.json")).find((file) => existsSync(file));
  assert.ok(found, `no vk_swiftshader_icd.json in ${places.join(", ")}`);
  return { VK_ICD_FILENAMES: found };
};

async function withDawn(app) {
  await command("npm install webgpu", app);
  const script = readFileSync(join(app, "main.mjs"), "utf8");
  writeFileSync(join(app, "gpu.mjs"), script.replace("open()", 'open({ device: "webgpu" })'));
  writeFileSync(
    join(app, "info.mjs"),
    `import { open } from "meromorph";
    const [device] = process.argv.slice(2);
    console.log(await open({ device }).then(({ info }) => \`\${info.device} \${info.isSoftware}\`, String));`,
  );
  check(last(await command("node gpu.mjs", app, swiftshader())));
  for (const runtime of ["node", "bun"]) {
    assert.equal(last(await command(`${runtime} info.mjs webgpu`, app, swiftshader())), "webgpu true", runtime);
    assert.equal(
      last(await command(`${runtime} info.mjs auto`, app, swiftshader())),
      "cpu false",
      `${runtime}: a software GPU is used only by name`,
    );
    const without = last(
      await command(`${runtime} info.mjs webgpu`, app, { VK_ICD_FILENAMES: join(app, "none.json") }),
    );
    assert.match(without, /^DeviceError: device "webgpu" is absent: no adapter found .*; there is cpu$/, runtime);
  }
}

test("a page opened from disk, without fetching", async () => {
  const { app } = await follow("disk", "esbuild");
  const inline = readFileSync(join(app, "main.mjs"), "utf8").replace('"meromorph"', '"meromorph/inline"');
  writeFileSync(
    join(app, "main.mjs"),
    `(async () => {\n${inline.replace(/^import (.*) from (.*);$/m, "const $1 = await import($2);")}})();\n`,
  );
  await command("npx esbuild main.mjs --bundle --format=iife --outfile=disk.js", app);
  writeFileSync(join(app, "disk.html"), '<!doctype html><title>meromorph</title><script src="disk.js"></script>');
  await trained(`file://${join(app, "disk.html")}`);
});
