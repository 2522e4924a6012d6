// A service worker for a test: trains with both entry points, in its own thread, and answers with what came of it.
import { open } from "../dist/index.js";
import { open as openInline } from "../dist/inline.js";

const x = Float32Array.from({ length: 40 }, (_, row) => row);

const tried = (opening) =>
  opening
    .then(async (engine) => (await engine.fit({ x, y: x }, { epochs: 2, hidden: [] })).epochs)
    .catch((error) => `${error.name}: ${error.message}`);

self.onmessage = ({ ports: [port] }) => {
  Promise.all([
    tried(openInline({ device: "cpu", worker: false })),
    tried(open({ device: "cpu", worker: false })),
    tried(open({ device: "cpu" })),
  ]).then((all) => port.postMessage(all));
};
