// A worker with Pyodide, as JupyterLite and marimo have it.
import { run } from "./session.mjs";

onmessage = async ({ data }) => {
  try {
    postMessage({ value: await run(data) });
  } catch (error) {
    postMessage({ error: error.message });
  }
};
