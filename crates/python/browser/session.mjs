// A Pyodide with the package in it, in Node, in a page and in a worker. In Node, `node session.mjs` runs the programs
// of a request of JSON on standard input and prints their answers.

/**
 * Starts Pyodide from the folder or address `pyodide` and installs the wheel `{ name, bytes }` with micropip. `packages`
 * are those of the same folder, `archives` further wheels as bytes, `files` texts by name for the working folder.
 */
export async function session({ pyodide, wheel, packages = [], archives = [], files = {}, dependencies = true }) {
  const { loadPyodide } = await import(`${pyodide}/pyodide.mjs`);
  const python = await loadPyodide({ indexURL: pyodide });
  await python.loadPackage(packages, { messageCallback: () => {} });
  for (const bytes of archives) python.unpackArchive(bytes, "wheel");
  python.FS.writeFile(`/tmp/${wheel.name}`, wheel.bytes);
  for (const [name, text] of Object.entries(files)) python.FS.writeFile(name, text);
  const flag = dependencies ? "True" : "False";
  await python.runPythonAsync(`import micropip\nawait micropip.install("emfs:/tmp/${wheel.name}", deps=${flag})`);
  return python;
}

/**
 * Runs programs one after another and returns what each answers: `{ value }`, which is text, or `{ error }`. A program
 * can press Ctrl-C by the global function `interrupt`.
 */
export async function run({ programs, ...how }) {
  const python = await session(how);
  if (globalThis.SharedArrayBuffer) {
    const buffer = new Uint8Array(new SharedArrayBuffer(1));
    python.setInterruptBuffer(buffer);
    globalThis.interrupt = () => {
      buffer[0] = 2;
    };
  }
  const answers = [];
  for (const program of programs) {
    try {
      answers.push({ value: await python.runPythonAsync(program) });
    } catch (error) {
      answers.push({ error: error.message });
    }
  }
  return answers;
}

if (globalThis.process && process.argv[1] === import.meta.filename) {
  const { readFileSync } = await import("node:fs");
  const { basename } = await import("node:path");
  const { wheel, archives = [], ...request } = JSON.parse(readFileSync(0, "utf8"));
  const bytes = readFileSync(wheel);
  const read = archives.map((path) => new Uint8Array(readFileSync(path)));
  const answers = await run({ ...request, wheel: { name: basename(wheel), bytes }, archives: read });
  // Python prints warnings to standard output as well.
  console.log(`\nanswers: ${JSON.stringify(answers)}`);
}
