// What the engine keeps of this page's runs, without anything that draws them.
import { kept } from "../engine.js";

/** The engine keeps the first run under this name, another one under this name and a number. */
export const KEPT = "playground";

/** The runs of this page that are kept, latest first: those left by closed tabs, and those under way. */
export const keptRuns = async () => (await kept()).filter(({ name }) => /^playground( \d+)?$/.test(name));
