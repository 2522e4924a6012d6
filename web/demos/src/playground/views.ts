// Pictures of what a model says of a sample of rows: predicted over actual, a curve over one input, a map over two, a table of classes.
import { Chart } from "../chart.js";
import type { ModelInfo, Prediction } from "../engine.js";
import { percent, spread } from "../numbers.js";
import { element, ink } from "../page.js";
import { askable, csv, labels, names, numbers, type Table } from "./table.js";

export interface Ask {
  (x: string): Promise<Prediction>;
}

/** A picture of one kind. */
export interface View {
  draw(ask: Ask): Promise<void>;
}

export interface Scene {
  sample: Table;
  target: string;
  /** Where pictures go. */
  host: HTMLElement;
}

const MAP = 48;
const CURVE = 201;
const CLASSES = 4;

/** What can be drawn of a sample, if anything: rows that can be asked about. */
export function sceneOf(sample: Table | undefined, target: string): Omit<Scene, "host"> | undefined {
  const asked = sample && askable(sample, target);
  return asked?.rows.length ? { sample: asked, target } : undefined;
}

/** The pictures that suit the data. */
export function viewsOf(scene: Scene, task: ModelInfo["task"]): View[] {
  const { sample, target, host } = scene;
  host.replaceChildren();
  const inputs = names(sample).filter((name) => name !== target);
  const areNumbers = sample.columns.every(({ name, isNumeric }) => isNumeric || name === target);
  if (task === "classification") return [...(inputs.length === 2 && areNumbers ? [map(scene, inputs)] : []), confusion(scene)];
  return [...(inputs.length === 1 && areNumbers ? [curve(scene, inputs[0]!)] : []), scatter(scene)];
}

/** The whole sample as a text to ask about. */
const whole = (sample: Table) => csv(names(sample), sample.rows);

function figure(host: HTMLElement, title: string, keys: [string, string][]): HTMLElement {
  const made = element("figure", "", "chart");
  const caption = element("figcaption");
  caption.append(element("strong", title), ...keys.map(([name, kind]) => element("span", name, `key ${kind}`)));
  made.append(caption);
  host.append(made);
  return made;
}

function scatter({ sample, target, host }: Scene): View {
  const actual = numbers(sample, target);
  const order = actual.map((_, row) => row).filter((row) => Number.isFinite(actual[row])).sort((a, b) => actual[a]! - actual[b]!);
  const x = order.map((row) => actual[row]!);
  const chart = new Chart(figure(host, "Predicted over actual", [["rows", "dots model"], ["equal", "truth"]]), {
    x: { label: `actual ${target}` },
    y: { label: `predicted ${target}` },
    series: [{ label: "equal", colour: "--truth" }, { label: "predicted", colour: "--model", kind: "dots" }],
    isSmall: true,
  });
  return {
    draw: async (ask) => {
      const { value, bottom } = await ask(whole(sample));
      chart.set([x, x, order.map((row) => (bottom?.[row] ? null : Number(value[row])))]);
      const none = order.filter((row) => bottom?.[row]).length;
      chart.describe(`${x.length} rows of the data${bottom ? `, ${none} of them without a value` : ""}`);
    },
  };
}

function curve({ sample, target, host }: Scene, input: string): View {
  const chart = new Chart(figure(host, `${target} over ${input}`, [["rows", "dots truth"], ["learnt", "model"], ["⊥", "fill"]]), {
    x: { label: input },
    y: { label: target },
    series: [{ label: "row", colour: "--truth", kind: "dots" }, { label: "learnt", colour: "--model" }],
    isSmall: true,
  });
  const [xs, ys] = [numbers(sample, input), numbers(sample, target)];
  const points = xs.map((x, row) => [x, ys[row]!] as const);
  const grid = Array.from(spread(Math.min(...xs), Math.max(...xs), CURVE));
  const asked = csv([input], grid.map((x) => [String(x)]));
  // One axis for both: rows and grid in one order, each with a blank in the other's line.
  const all = [...points.map(([x, y]) => ({ x, y, at: -1 })), ...grid.map((x, at) => ({ x, y: NaN, at }))].sort((a, b) => a.x - b.x);
  const rows = all.map(({ y }) => (Number.isFinite(y) ? y : null));
  return {
    draw: async (ask) => {
      const { value, bottom } = await ask(asked);
      let last: number | null = null;
      // A row between two places of the grid takes the line on.
      const line = all.map(({ at }) => (at < 0 ? last : (last = bottom?.[at] ? null : Number(value[at]))));
      const bands = grid.flatMap((x, at): [number, number][] => (bottom?.[at] ? [[x, grid[at + 1] ?? x]] : []));
      chart.set([all.map(({ x }) => x), rows, line], { bands, lines: [] });
      chart.describe(`${points.length} rows and the learnt curve${bottom ? `, ${bands.length} of ${CURVE} places without a value` : ""}`);
    },
  };
}

/** The classes of a column, in order of their names. */
const classes = (cells: string[]) => [...new Set(cells)].sort();

function map({ sample, target, host }: Scene, [first, second]: string[]): View {
  const actual = labels(sample, target);
  const names = classes(actual);
  const colour = (name: string) => ink(`--class-${names.indexOf(name) % CLASSES}`);
  const box = figure(host, `${target} over ${first} and ${second}`, names.slice(0, CLASSES).map((name, at) => [name, `dots class-${at}`]));
  const canvas = element("canvas", "", "map");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Map of the learnt classes over ${first} and ${second}`);
  box.append(canvas);
  const [us, vs] = [first!, second!].map((name) => numbers(sample, name)) as [number[], number[]];
  const ends = (all: number[]) => [Math.min(...all), Math.max(...all)] as const;
  const [[left, right], [low, high]] = [ends(us), ends(vs)];
  const places = Array.from({ length: MAP * MAP }, (_, at) => [
    left + ((right - left) * (at % MAP + 0.5)) / MAP,
    high - ((high - low) * (Math.floor(at / MAP) + 0.5)) / MAP,
  ]);
  const asked = csv([first!, second!], places.map((place) => place.map(String)));
  return {
    draw: async (ask) => {
      const { value, probability } = await ask(asked);
      const ground = element("canvas");
      ground.width = ground.height = MAP;
      const squares = ground.getContext("2d")!;
      places.forEach((_, at) => {
        squares.fillStyle = colour(String(value[at]));
        squares.globalAlpha = 0.08 + 0.5 * Math.max(0, (probability?.[at] ?? 1) - 1 / names.length);
        squares.fillRect(at % MAP, Math.floor(at / MAP), 1, 1);
      });
      const side = Math.max(Math.round(canvas.clientWidth * devicePixelRatio), 100);
      canvas.width = canvas.height = side;
      const context = canvas.getContext("2d")!;
      context.drawImage(ground, 0, 0, side, side);
      actual.forEach((name, row) => {
        context.fillStyle = colour(name);
        const [x, y] = [(us[row]! - left) / (right - left), (high - vs[row]!) / (high - low)];
        context.beginPath();
        context.arc(x * side, y * side, 2.2 * devicePixelRatio, 0, 2 * Math.PI);
        context.fill();
      });
    },
  };
}

function confusion({ sample, target, host }: Scene): View {
  const actual = labels(sample, target);
  const names = classes(actual);
  const told = element("p", "", "note");
  const table = element("table");
  const box = element("div", "", "scroll");
  box.append(table);
  host.append(element("h3", "Predicted (across) for each actual class"), box, told);
  return {
    draw: async (ask) => {
      const value = (await ask(whole(sample))).value as string[];
      const head = element("tr");
      head.append(element("th", target), ...names.map((name) => element("th", name)));
      const rows = names.map((name) => {
        const row = element("tr");
        const mine = value.filter((_, at) => actual[at] === name);
        row.append(element("th", name), ...names.map((other) => element("td", String(mine.filter((one) => one === other).length))));
        return row;
      });
      table.replaceChildren(head, ...rows);
      const right = value.filter((one, at) => one === actual[at]).length;
      told.textContent = `${right} of ${actual.length} rows right, ${percent(right / actual.length)}; trained on or not.`;
    },
  };
}
