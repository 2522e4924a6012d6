// Memory: drawings with names; a memory learns distances between them, and finds those that are like a new one.
import { type Found, type LearnEpoch, type LearnOptions, learn, type Memory, type MemoryMap } from "meromorph/contrast";
import { Chart } from "../chart.js";
import { percent, places, short, whole } from "../numbers.js";
import { element, figures, get, ink, number, onTheme, ready, shown } from "../page.js";
import { type Drawing, GRID, image, strokes } from "./drawing.js";
import { examples, inTurn } from "./faces.js";
import { Pad } from "./pad.js";
import { fitted, Plane } from "./plane.js";

interface Example {
  name: string;
  drawing: Drawing;
}

/** Faces of each name at the start. */
const EACH = 16;
const COLOURS = 6;
const DEGREES = 180 / Math.PI;

/** What is learned, and how fast. */
const MAPS: Record<string, LearnOptions> = {
  rotors: { map: "rotors", lr: 0.02 },
  diagonal: { map: "diagonal", lr: 0.03 },
  linear: { map: "linear", outputs: 2, lr: 0.03, sharpness: 2 },
};

/** Distances before anything is learned. */
const EUCLIDEAN = { place: (x: ArrayLike<number>) => Float32Array.from(x) };

const state = {
  all: [] as Example[],
  /** Those that the memory has, by their numbers there. */
  learned: [] as Example[],
  map: EUCLIDEAN as Pick<MemoryMap, "place">,
  memory: undefined as Memory | undefined,
  query: undefined as { drawing: Drawing; near: number[] } | undefined,
  stop: undefined as AbortController | undefined,
  /** The last epoch of the last run. */
  last: undefined as LearnEpoch | undefined,
};
const field = (id: string) => get<HTMLInputElement>(id).value;
/** In the order in which they came, so that a new name changes no colour. */
const classes = () => [...new Set(state.all.map(({ name }) => name))];
const colour = (name: string) => ink(`--class-${Math.max(classes().indexOf(name), 0) % COLOURS}`);
const plane = new Plane(get<HTMLCanvasElement>("plane"), colour);
const pad = new Pad(get<HTMLCanvasElement>("pad"), () => shown(ask));
const samples = inTurn();

const bars = (id: string, label: string) =>
  new Chart(get(id), {
    x: { label: "number" },
    y: { label },
    series: [{ label, colour: "--model", kind: "bars" }],
    isSmall: true,
  });
const weights = bars("weights", "weight");
const angles = bars("angles", "degrees");

function draw(): void {
  const rows = state.map === EUCLIDEAN ? state.all : state.learned;
  plane.draw(rows, state.map, state.query);
}

/** Learns the memory of all examples, and draws it after every epoch. */
async function train(): Promise<void> {
  state.stop?.abort();
  const stop = new AbortController();
  state.stop = stop;
  delete document.documentElement.dataset.trained;
  get<HTMLButtonElement>("stop").disabled = false;
  get("status").textContent = "Learning …";
  const all = [...state.all];
  const began = performance.now();
  try {
    if (classes().length < 2) throw new Error("There is nothing to tell apart: add drawings of at least two names.");
    const memory = await learn(
      all.map(({ drawing }) => drawing.ink),
      all.map(({ name }) => name),
      {
        ...MAPS[field("map")],
        epochs: number("epochs"),
        batch: 16,
        signal: stop.signal,
        onEpoch: async (event) => {
          if (state.stop !== stop) return;
          if (state.learned !== all) {
            // The memory before has other rows.
            state.memory?.dispose();
            state.memory = undefined;
            if (state.query) state.query = { ...state.query, near: [] };
          }
          Object.assign(state, { learned: all, map: event.map, last: event });
          draw();
          facts(event);
          metric(event.map);
          // A hidden page gets no frames.
          if (!document.hidden) await new Promise(requestAnimationFrame);
        },
      },
    );
    if (state.stop !== stop) return memory.dispose();
    state.memory?.dispose();
    Object.assign(state, { memory, learned: all, map: memory.map });
    const seconds = (performance.now() - began) / 1e3;
    get("status").textContent =
      `${whole(all.length)} drawings with ${memory.classes.length} names, learned in ${short(seconds, 2)} s. Draw something.`;
    if (state.last) facts(state.last);
    document.documentElement.dataset.trained = "";
    await ask();
  } catch (error) {
    if (state.stop === stop) get("status").textContent = "Not learned.";
    throw error;
  } finally {
    if (state.stop === stop) get<HTMLButtonElement>("stop").disabled = true;
  }
}

/** Shows the figures of an epoch. */
function facts({ epoch, epochs, loss, accuracy }: LearnEpoch): void {
  figures(get("figures"), [
    ["Epoch", whole(epoch + 1), `of ${whole(epochs)}`],
    ["Loss", short(loss, 3), "of those learned from"],
    ["Held out, found", accuracy === null ? "–" : percent(accuracy, 0), "have the right name"],
    ["Reach", state.memory ? short(state.memory.reach, 3) : "–", "farther is unknown"],
  ]);
}

/** Shows what a map is made of. */
function metric(map: MemoryMap): void {
  const counts = Array.from({ length: map.inputs }, (_, cell) => {
    let sum = 0;
    for (let output = 0; output < map.outputs; output++) sum += map.matrix[output * map.inputs + cell]! ** 2;
    return sum;
  });
  const most = Math.max(...counts);
  const canvas = get<HTMLCanvasElement>("cells");
  const context = canvas.getContext("2d")!;
  context.clearRect(0, 0, GRID, GRID);
  context.fillStyle = ink("--model");
  counts.forEach((count, cell) => {
    context.globalAlpha = count / most;
    context.fillRect(cell % GRID, Math.floor(cell / GRID), 1, 1);
  });
  const row = counts.indexOf(most);
  canvas.ariaLabel = `How much each cell of the drawing counts: most in row ${Math.floor(row / GRID) + 1}, column ${(row % GRID) + 1}`;
  const numbers = (length: number) => Array.from({ length }, (_, at) => at + 1);
  const sorted = field("map") === "diagonal" ? [...map.weights] : [...map.weights].sort((a, b) => b - a);
  const turned = map.rotations.map(({ angle }) => angle * DEGREES);
  weights.set([numbers(sorted.length), sorted]);
  angles.set([numbers(turned.length), turned]);
  weights.describe(
    sorted.length > 0
      ? `${sorted.length} weights from ${short(Math.min(...sorted), 2)} to ${short(Math.max(...sorted), 2)}`
      : "a matrix has none",
  );
  angles.describe(
    turned.length > 0
      ? `${turned.length} angles up to ${places(Math.max(...turned.map(Math.abs)), 1)} degrees`
      : "there are no rotations",
  );
  get("weights-note").textContent =
    field("map") === "diagonal" ? "of the cells, row by row" : "of the directions, largest first";
  get("weights").hidden = sorted.length === 0;
  get("angles").hidden = turned.length === 0;
}

/** Looks for the drawing on the pad. */
async function ask(): Promise<void> {
  const { memory } = state;
  const box = get("answer");
  const say = (answer: string, more: string, isUnknown = false) => {
    box.replaceChildren(element("strong", answer), element("small", more));
    box.classList.toggle("unknown", isUnknown);
  };
  if (pad.strokes.length === 0 || !memory) {
    state.query = undefined;
    get("nearest").replaceChildren();
    say("…", memory ? "Draw something above." : "The memory is learning.");
    return draw();
  }
  const drawing = strokes(pad.strokes);
  const found = await memory.find(drawing.ink, Math.min(5, memory.labels.length)).catch((error) => {
    if (memory === state.memory) throw error;
  });
  // Another memory may have been learned meanwhile.
  if (!found || memory !== state.memory) return;
  state.query = { drawing, near: found.neighbours.map(({ row }) => row) };
  const [{ distance, label }] = found.neighbours as [Found["neighbours"][0]];
  const [far, reach] = [short(distance, 3), short(memory.reach, 3)];
  if (found.isKnown) say(String(found.label), `The nearest drawing is ${far} away; the reach is ${reach}.`);
  else
    say(
      "Unlike anything I know",
      `The nearest is a drawing of “${label}”, ${far} away: beyond the reach of ${reach}.`,
      true,
    );
  get("nearest").replaceChildren(
    ...found.neighbours.map(({ row, label, distance }) => {
      const item = element("li");
      item.append(thumbnail(state.learned[row]!), element("span", `${label} ${short(distance, 2)}`));
      return item;
    }),
  );
  for (const canvas of get("nearest").querySelectorAll("canvas")) paint(canvas);
  draw();
}

const painted = new WeakMap<HTMLCanvasElement, Example>();

function thumbnail(one: Example): HTMLCanvasElement {
  const canvas = element("canvas");
  canvas.ariaLabel = one.name;
  painted.set(canvas, one);
  return canvas;
}

/** Draws a thumbnail that is on the page. */
function paint(canvas: HTMLCanvasElement): void {
  const { name, drawing } = painted.get(canvas)!;
  drawing.paint(fitted(canvas), 2, 2, canvas.clientWidth - 4, colour(name));
}

/** Shows all examples by name. */
function gallery(): void {
  const key = (name: string) => {
    const one = element("span", name, "key dots");
    one.style.setProperty("--ink-of", `var(--class-${classes().indexOf(name) % COLOURS})`);
    return one;
  };
  const groups = classes().map((name) => {
    const box = element("div");
    const those = state.all.filter((one) => one.name === name);
    for (const [at, one] of those.entries()) {
      const button = element("button");
      Object.assign(button, {
        type: "button",
        title: `Remove ${name} ${at + 1}`,
        ariaLabel: `Remove ${name} ${at + 1}`,
      });
      button.append(thumbnail(one));
      button.addEventListener("click", () => change(state.all.filter((other) => other !== one)));
      box.append(button);
    }
    const head = element("h3");
    head.append(key(name), element("small", whole(those.length)));
    const group = element("div");
    group.append(head, box);
    return group;
  });
  get("examples").replaceChildren(...groups);
  get("legend").replaceChildren(...classes().map(key));
  get("names").replaceChildren(...classes().map((name) => new Option(name)));
  for (const canvas of get("examples").querySelectorAll("canvas")) paint(canvas);
}

/** Takes other examples. The memory stays as it is until the next run. */
function change(all: Example[]): void {
  state.all = all;
  gallery();
  const added = all.filter((one) => !state.learned.includes(one)).length;
  const removed = state.learned.filter((one) => !all.includes(one)).length;
  const parts = [added > 0 && `${added} added`, removed > 0 && `${removed} removed`].filter(Boolean).join(", ");
  if (parts) get("status").textContent = `${parts} since the memory was learned: press Learn.`;
  draw();
}

function add(): void {
  const name = field("name").trim();
  if (pad.strokes.length === 0) throw new Error("Draw something first, then give it a name.");
  if (!name) throw new Error("Give the drawing a name first.");
  change([...state.all, { name, drawing: strokes(pad.strokes) }]);
  pad.set([]);
  void shown(ask);
}

/** Adds the images of some files. */
async function drop(files: Iterable<File>): Promise<void> {
  const named = (file: File) => field("name").trim() || file.name.replace(/[-_ .\d()]*\.\w+$/, "") || "image";
  const added = await Promise.all([...files].map(async (file) => ({ name: named(file), drawing: await image(file) })));
  change([...state.all, ...added]);
}

/** The message of an error of the package, for people who have not called a function. */
function plainly(work: () => Promise<void>): () => Promise<void> {
  return () =>
    work().catch((error: Error) => {
      error.message = error.message.replace(/^learn: /, "");
      throw error;
    });
}

get("form").addEventListener("submit", (event) => {
  event.preventDefault();
  void shown(plainly(train));
});
get("naming").addEventListener("submit", (event) => {
  event.preventDefault();
  void shown(add);
});
get("map").addEventListener("change", () => shown(plainly(train)));
get("stop").addEventListener("click", () => state.stop?.abort());
get("clear").addEventListener("click", () => {
  pad.set([]);
  void shown(ask);
});
get("sample").addEventListener("click", () => {
  pad.set(samples.next().value);
  void shown(ask);
});
get("faces").addEventListener("click", () => {
  change(examples(EACH));
  void shown(plainly(train));
});
get("empty").addEventListener("click", () => change([]));
get("save").addEventListener("click", () =>
  shown(async () => {
    if (!state.memory) throw new Error("There is no memory yet: press Learn.");
    const href = URL.createObjectURL(new Blob([await state.memory.save()]));
    Object.assign(document.createElement("a"), { href, download: "drawings.memory" }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }),
);
get("file").addEventListener("change", () => {
  const input = get<HTMLInputElement>("file");
  void shown(() => drop(input.files ?? [])).finally(() => {
    input.value = "";
  });
});
for (const kind of ["dragover", "dragleave", "drop"] as const) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    get("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop") void shown(() => drop(event.dataTransfer?.files ?? []));
  });
}
function redraw(): void {
  draw();
  pad.draw();
  for (const canvas of document.querySelectorAll<HTMLCanvasElement>(".examples canvas, .nearest canvas")) paint(canvas);
  if (state.memory) metric(state.memory.map);
}
onTheme(redraw);
new ResizeObserver(redraw).observe(get("plane"));

change(examples(EACH));
pad.set(samples.next().value);
ready();
await shown(plainly(train));
