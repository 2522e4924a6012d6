// The stored runs of this page. No drawing code, so that the landing page can import it.
import { kept } from "../engine.js";

const NAME = "playground";

/** A unique name to store a run under. */
export const freshKey = (): string => `${NAME} ${Math.random().toString(36).slice(2)}`;

/** The stored runs of this page, latest first: those of closed tabs, and the active ones. */
export const keptRuns = async () => (await kept()).filter(({ name }) => name.split(" ")[0] === NAME);
