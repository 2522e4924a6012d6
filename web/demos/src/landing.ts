// The list of demos. It needs no engine, only the theme and a note about stored runs of the playground.
import { element, get, ready } from "./page.js";
import { keptRuns } from "./playground/kept.js";

async function showStoredRuns(): Promise<void> {
  // Without storage there are no stored runs.
  const [last, ...more] = await keptRuns().catch(() => []);
  if (!last) return;
  const what = more.length > 0 ? `${more.length + 1} unfinished runs are` : "An unfinished run is";
  const link = Object.assign(element("a", "Resume or delete in the Playground"), { href: "./playground.html" });
  get("kept").replaceChildren(
    `${what} stored in this browser, ${more.length > 0 ? "the latest " : ""}at epoch ${last.epoch} of ${last.epochs}. `,
    link,
  );
}

ready();
await showStoredRuns();
