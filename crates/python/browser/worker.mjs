// A worker with Pyodide, as JupyterLite and marimo have it.
import { run } from "./session.mjs";

addEventListener("message", async ({ data }) => {
  try {
    postMessage({ answers: await run(data) });
  } catch (error) {
    postMessage({ error: error.message });
  }
});
