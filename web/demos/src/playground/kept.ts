// What the engine keeps of this page's runs, without anything that draws them.
import { kept } from "../engine.js";

const NAME = "playground";

/** A name to keep a run under that no other run has. */
export const freshKey = (): string => `${NAME} ${Math.random().toString(36).slice(2)}`;

/** The runs of this page that are kept, latest first: those left by closed tabs, and those under way. */
export const keptRuns = async () => (await kept()).filter(({ name }) => name.split(" ")[0] === NAME);
