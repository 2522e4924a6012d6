// Builds the demos to static files in dist/site, with the package as last built. All addresses are relative, so the
// folder can be hosted anywhere.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vite";

const here = import.meta.dirname;
const pages = readdirSync(here).filter((name) => name.endsWith(".html"));

/** Replaces `<!-- part NAME -->` in a page by parts/NAME.html. */
const parts = {
  name: "parts",
  transformIndexHtml: {
    order: "pre",
    handler: (html) =>
      html.replaceAll(/<!-- part (\w+) -->/g, (_, name) =>
        readFileSync(join(here, "parts", `${name}.html`), "utf8").trimEnd(),
      ),
  },
};

export default defineConfig({
  root: here,
  base: "./",
  plugins: [parts],
  worker: { format: "es" },
  build: {
    outDir: join(here, "../dist/site"),
    emptyOutDir: true,
    target: "es2022",
    // No data: URLs: the pages' content security policy forbids them.
    assetsInlineLimit: 0,
    // The largest chunk is the engine's WebAssembly as text, which only a page opened from disk loads.
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: pages.map((name) => join(here, name)) },
  },
});
