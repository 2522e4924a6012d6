// Bench: runs the same measurements on every device of the browser, one after the other, and shows a table to copy.
import type { DeviceName } from "../engine.js";
import { element, get, ready, shown } from "../page.js";
import { MEASUREMENTS, measure } from "./measure.js";
import { type Column, cell, facts, markdown, speed, tabbed } from "./report.js";

const DEVICES: DeviceName[] = ["cpu", "webgpu"];

let columns: Column[] = DEVICES.map(empty);
let abort: AbortController | undefined;

function empty(device: DeviceName): Column {
  return { device, figures: new Map() };
}

async function run(): Promise<void> {
  if (abort) return abort.abort();
  const { signal } = (abort = new AbortController());
  delete document.documentElement.dataset.trained;
  columns = DEVICES.map(empty);
  get("run").textContent = "Stop";
  copying(true);
  try {
    for (const column of columns) await fill(column, signal);
    get("status").textContent = "Done.";
  } catch (error) {
    if (!signal.aborted) throw error;
    get("status").textContent = "Stopped.";
  } finally {
    abort = undefined;
    get("run").textContent = "Run all";
    copying(false);
    show();
    document.documentElement.dataset.trained = "";
  }
}

async function fill(column: Column, signal: AbortSignal): Promise<void> {
  const { device } = column;
  const seconds = Number(get<HTMLSelectElement>("seconds").value);
  const showStatus = () => {
    const next = MEASUREMENTS[column.figures.size];
    get("status").textContent = next ? `${device}: ${next} …` : `${device}: done`;
    const done = columns.reduce((sum, { figures, absent }) => sum + (absent ? MEASUREMENTS.length : figures.size), 0);
    get<HTMLProgressElement>("progress").value = done / (columns.length * MEASUREMENTS.length);
    show();
  };
  showStatus();
  try {
    column.info = await measure(device as DeviceName, seconds, signal, (figure) => {
      column.figures.set(figure.name, figure);
      showStatus();
    });
  } catch (error) {
    if (signal.aborted || column.figures.size > 0) throw error;
    column.absent = error instanceof Error ? error.message : String(error);
  }
  showStatus();
}

function show(): void {
  for (const [at, column] of columns.entries()) {
    const { device, info, absent } = column;
    const name = info
      ? `${info.name}${info.isSoftware ? " (software)" : ""}`
      : absent
        ? "not available in this browser"
        : "";
    get(`device-${at}`).replaceChildren(device, element("small", name));
    get(`device-${at}`).title = absent ?? "";
    for (const [row, name] of MEASUREMENTS.entries()) {
      get(`cell-${row}-${at}`).replaceChildren(cell(column, name), element("small", speed(column, name)));
    }
  }
}

function copying(isOff: boolean): void {
  for (const id of ["markdown", "tabbed"]) get<HTMLButtonElement>(id).disabled = isOff;
}

/** Copies to the clipboard. If the browser forbids that, selects the text in a field. */
async function copy(text: string): Promise<void> {
  const field = get<HTMLTextAreaElement>("copied");
  field.value = text;
  field.hidden = false;
  try {
    await navigator.clipboard.writeText(text);
    get("status").textContent = "Copied.";
  } catch {
    field.select();
    get("status").textContent = "The browser does not allow access to the clipboard. Please copy the text below.";
  }
}

function table(): void {
  for (const [row, name] of MEASUREMENTS.entries()) {
    const line = element("tr");
    const cells = DEVICES.map((_, at) => Object.assign(element("td"), { id: `cell-${row}-${at}` }));
    line.append(Object.assign(element("th", name), { scope: "row" }), ...cells);
    get("figures").append(line);
  }
  get("facts").append(
    ...facts().map(([name, value]) => {
      const entry = element("div");
      entry.append(element("dt", name), element("dd", value));
      return entry;
    }),
  );
}

get("run").addEventListener("click", () => shown(run));
get("markdown").addEventListener("click", () => shown(() => copy(markdown(columns))));
get("tabbed").addEventListener("click", () => shown(() => copy(tabbed(columns))));
table();
show();
ready();
