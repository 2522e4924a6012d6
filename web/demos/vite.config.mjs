// Builds the demos to static files in dist/site, on the package as it was built before. Asset addresses are relative, so the folder can be hosted anywhere.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vite";

const here = import.meta.dirname;
const pages = readdirSync(here).filter((name) => name.endsWith(".html"));

/** Puts parts/NAME.html where a page says `<!-- part NAME -->`. */
const parts = {
  name: "parts",
  transformIndexHtml: {
    order: "pre",
    handler: (html) => html.replaceAll(/<!-- part (\w+) -->/g, (_, name) => readFileSync(join(here, "parts", `${name}.html`), "utf8").trimEnd()),
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
    // Nothing becomes a data: address, which the pages' policy would refuse.
    assetsInlineLimit: 0,
    // The engine's WebAssembly as text, fetched only by a page that was opened from disk.
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: pages.map((name) => join(here, name)) },
  },
});
