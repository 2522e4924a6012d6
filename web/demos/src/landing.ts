// The list of demos needs no engine: only the theme, and to say what the playground kept.
import { element, get, ready } from "./page.js";
import { keptRuns } from "./playground/kept.js";

async function tellKept(): Promise<void> {
  // Where there is no storage nothing is kept.
  const [last, ...more] = await keptRuns().catch(() => []);
  if (!last) return;
  const what = more.length > 0 ? `${more.length + 1} runs are` : "A run is";
  const link = Object.assign(element("a", "Go on or forget in the Playground"), { href: "./playground.html" });
  get("kept").replaceChildren(`${what} kept in this browser, ${more.length > 0 ? "the latest " : ""}at epoch ${last.epoch} of ${last.epochs}. `, link);
}

ready();
await tellKept();
