// Serves the demo site: `node serve.mjs [port]`. WebGPU needs localhost or https.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const KINDS = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
};

/** Pages are cross-origin isolated, as with `mero serve`, so that their workers can share memory. */
const ISOLATED = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cross-origin-resource-policy": "same-origin",
};

/** Serves `folder` on `port` (0 = any free port). Resolves to the server when it listens. */
export function serve(folder, port = 0) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    const file = join(folder, path.endsWith("/") ? `${path}index.html` : path);
    try {
      const bytes = await readFile(file);
      response
        .writeHead(200, { ...ISOLATED, "content-type": KINDS[extname(file)] ?? "application/octet-stream" })
        .end(bytes);
    } catch {
      response.writeHead(404).end("not found");
    }
  });
  return new Promise((resolve) => server.listen(port, "localhost", () => resolve(server)));
}

if (process.argv[1] === import.meta.filename) {
  const site = join(import.meta.dirname, "dist/site");
  if (existsSync(join(site, "index.html"))) {
    const server = await serve(site, Number(process.argv[2] ?? 8080));
    console.log(`http://localhost:${server.address().port}/`);
  } else {
    console.error("no site here: run npm run demos");
    process.exitCode = 1;
  }
}
