// What every page has: the theme, the current menu entry, the device, and a place for errors. Elements are found by id.
import { DeviceError, type DeviceName, type Engine, InternalError, open } from "./engine.js";

/** The element with this id. Throws if the page has none. */
export function get<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element "${id}"`);
  return found as T;
}

/** Creates an element with text. The text is never parsed as HTML. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  text = "",
  className = "",
): HTMLElementTagNameMap[K] {
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

/** Calls `work` when the theme changes between light and dark. */
export function onTheme(work: () => void): void {
  document.addEventListener("theme", work);
}

function switchTheme(): void {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("theme", theme);
  } catch {
    /* Without storage the theme applies to this page only. */
  }
  document.dispatchEvent(new Event("theme"));
}

const probe = element("span");
probe.hidden = true;

/** A colour of the style sheet in the current theme. */
export function ink(name: string): string {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.forcedColorAdjust = "none";
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

const opened = new Map<string, Promise<Engine>>();

/** The engine of the chosen device. `slot` names one of several engines that run at the same time. */
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

/** An engine with a defect or a lost device is unusable. The next call opens another one. */
function dropUnusable(error: unknown): void {
  // The error does not say which engine failed, so all are dropped. Models keep a reference to their own.
  if (error instanceof InternalError || error instanceof DeviceError) opened.clear();
}

/** Runs `work` and shows an error on the page. */
export async function shown(work: () => unknown): Promise<void> {
  const box = get("error");
  box.hidden = true;
  try {
    await work();
  } catch (error) {
    dropUnusable(error);
    if (error instanceof DOMException && error.name === "AbortError") return;
    box.textContent = error instanceof Error ? error.message : String(error);
    box.hidden = false;
  }
}

/** Fills a list of figures: name, value, and optionally a line below. */
export function figures(list: HTMLElement, all: [string, string, string?][]): void {
  list.replaceChildren(
    ...all.map(([name, value, more]) => {
      const entry = element("div");
      const description = element("dd", value);
      if (more) description.append(element("small", more));
      entry.append(element("dt", name), description);
      return entry;
    }),
  );
}

/** Marks the page as ready, for tests and style sheets. */
export function ready(): void {
  document.documentElement.dataset.ready = "";
}

get("theme").addEventListener("click", switchTheme);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("theme")));
const here = location.pathname.split("/").at(-1);
document.querySelector(`.bar nav a[href="./${here}"]`)?.setAttribute("aria-current", "page");
