// What every page has: the theme, the place in the menu, the device, and where errors are told. Elements are found by id.
import { DeviceError, type DeviceName, type Engine, InternalError, open } from "./engine.js";

/** The element of an id; a page without it is broken, and says so. */
export function get<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element "${id}"`);
  return found as T;
}

/** A new element with text, which is never read as HTML. */
export function element<K extends keyof HTMLElementTagNameMap>(name: K, text = "", className = ""): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** The number in a field. */
export const number = (id: string): number => get<HTMLInputElement>(id).valueAsNumber;

const isDark = () => {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

/** Calls `work` whenever light and dark change places. */
export function onTheme(work: () => void): void {
  document.addEventListener("theme", work);
}

function switchTheme(): void {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("theme", theme); } catch { /* No storage: for this page only. */ }
  document.dispatchEvent(new Event("theme"));
}

const probe = element("span");
probe.hidden = true;

/** A colour of the style sheet, as the theme has it now. */
export function ink(name: string): string {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.forcedColorAdjust = "none";
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

const opened = new Map<string, Promise<Engine>>();

/** The chosen device's engine; `slot` names one of several that work at the same time. */
export async function engine(slot = "first"): Promise<Engine> {
  const device = get<HTMLSelectElement>("device").value as DeviceName;
  const key = `${device} ${slot}`;
  if (!opened.has(key)) opened.set(key, open({ device }));
  try {
    const ready = await opened.get(key)!;
    const { device: kind, name, isSoftware } = ready.info;
    get("device-name").textContent = `runs on ${kind}: ${name}${isSoftware ? " (software)" : ""}`;
    return ready;
  } catch (error) {
    opened.delete(key);
    get("device-name").textContent = "no device";
    throw error;
  }
}

/** An engine that has a defect, or lost its device for good, answers nothing any more: what comes next opens another one. */
function dropDead(error: unknown): void {
  // Which one it was is not told; models of those that live keep theirs.
  if (error instanceof InternalError || error instanceof DeviceError) opened.clear();
}

/** Runs `work`; what goes wrong is told on the page. */
export async function shown(work: () => unknown): Promise<void> {
  const box = get("error");
  box.hidden = true;
  try {
    await work();
  } catch (error) {
    dropDead(error);
    if (error instanceof DOMException && error.name === "AbortError") return;
    box.textContent = error instanceof Error ? error.message : String(error);
    box.hidden = false;
  }
}

/** Fills a list of figures: name, value, and perhaps a line below. */
export function figures(list: HTMLElement, all: [string, string, string?][]): void {
  list.replaceChildren(...all.map(([name, value, more]) => {
    const entry = element("div");
    const told = element("dd", value);
    if (more) told.append(element("small", more));
    entry.append(element("dt", name), told);
    return entry;
  }));
}

/** Tells tests and style sheets that the page can be used. */
export function ready(): void {
  document.documentElement.dataset.ready = "";
}

get("theme").addEventListener("click", switchTheme);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("theme")));
const here = location.pathname.split("/").at(-1);
document.querySelector(`.bar nav a[href="./${here}"]`)?.setAttribute("aria-current", "page");
