// Charts of predictions for a sample of rows: predicted over actual, a curve over one input, a map over two inputs, a
// confusion matrix.
import { Chart } from "../chart.js";
import type { ModelInfo, Prediction } from "../engine.js";
import { percent, spread } from "../numbers.js";
import { element, ink } from "../page.js";
import { csv, labels, names, numbers, predictable, type Table } from "./table.js";

export type Predict = (x: string) => Promise<Prediction>;

/** A chart of one kind. */
export interface View {
  draw(predict: Predict): Promise<void>;
}

export interface Scene {
  sample: Table;
  target: string;
  /** The element that holds the charts. */
  host: HTMLElement;
}

const MAP = 48;
const CURVE = 201;
const CLASSES = 4;

/** The rows of a sample that can be predicted and drawn, if there are any. */
export function sceneOf(sample: Table | undefined, target: string): Omit<Scene, "host"> | undefined {
  const rows = sample && predictable(sample, target);
  return rows?.rows.length ? { sample: rows, target } : undefined;
}

/**
 * Draws the target over the first input, or its classes over the first two, before a model is trained. False if there
 * are no such inputs.
 */
export function preview({ sample, target, host }: Scene): boolean {
  const isNumber = (name: string) => sample.columns.some((column) => column.name === name && column.isNumeric);
  const [first, second] = names(sample).filter((name) => name !== target && isNumber(name));
  const up = isNumber(target) ? target : second;
  if (first === undefined || up === undefined) return false;
  const [xs, ys, kinds] = [numbers(sample, first), numbers(sample, up), labels(sample, target)];
  const all = up === target ? ["rows"] : classes(kinds).slice(0, CLASSES);
  host.replaceChildren();
  const chart = new Chart(
    figure(
      host,
      `${up} over ${first}`,
      all.map((name, at) => [name, `dots class-${at}`]),
    ),
    {
      x: { label: first },
      y: { label: up },
      series: all.map((label, at) => ({ label, colour: `--class-${at}`, kind: "dots" })),
    },
  );
  const order = xs.map((_, row) => row).sort((a, b) => xs[a]! - xs[b]!);
  const value = (row: number, name: string) =>
    Number.isFinite(ys[row]) && (up === target || kinds[row] === name) ? ys[row]! : null;
  chart.set([order.map((row) => xs[row]!), ...all.map((name) => order.map((row) => value(row, name)))]);
  chart.describe(`${xs.length} rows`);
  return true;
}

/** The charts that suit the data. */
export function viewsOf(scene: Scene, task: ModelInfo["task"]): View[] {
  const { sample, target, host } = scene;
  host.replaceChildren();
  const inputs = names(sample).filter((name) => name !== target);
  const areNumbers = sample.columns.every(({ name, isNumeric }) => isNumeric || name === target);
  if (task === "classification")
    return [...(inputs.length === 2 && areNumbers ? [map(scene, inputs)] : []), confusion(scene)];
  return [...(inputs.length === 1 && areNumbers ? [curve(scene, inputs[0]!)] : []), scatter(scene)];
}

/** The whole sample as CSV. */
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
  const order = actual
    .map((_, row) => row)
    .filter((row) => Number.isFinite(actual[row]))
    .sort((a, b) => actual[a]! - actual[b]!);
  const x = order.map((row) => actual[row]!);
  const chart = new Chart(
    figure(host, "Predicted over actual", [
      ["rows", "dots model"],
      ["ideal", "truth"],
    ]),
    {
      x: { label: `actual ${target}` },
      y: { label: `predicted ${target}` },
      series: [
        { label: "ideal", colour: "--truth" },
        { label: "predicted", colour: "--model", kind: "dots" },
      ],
      isSmall: true,
    },
  );
  return {
    draw: async (predict) => {
      const { value, bottom } = await predict(whole(sample));
      chart.set([x, x, order.map((row) => (bottom?.[row] ? null : Number(value[row])))]);
      const none = order.filter((row) => bottom?.[row]).length;
      chart.describe(`${x.length} rows of the data${bottom ? `, ${none} of them predicted as no value` : ""}`);
    },
  };
}

function curve({ sample, target, host }: Scene, input: string): View {
  const chart = new Chart(
    figure(host, `${target} over ${input}`, [
      ["rows", "dots truth"],
      ["model", "model"],
      ["⊥: no value", "fill"],
    ]),
    {
      x: { label: input },
      y: { label: target },
      series: [
        { label: "row", colour: "--truth", kind: "dots" },
        { label: "model", colour: "--model" },
      ],
      isSmall: true,
    },
  );
  const [xs, ys] = [numbers(sample, input), numbers(sample, target)];
  const points = xs.map((x, row) => [x, ys[row]!] as const);
  const grid = Array.from(spread(Math.min(...xs), Math.max(...xs), CURVE));
  const text = csv(
    [input],
    grid.map((x) => [String(x)]),
  );
  // Rows and grid share one x axis, in sorted order. Each has a gap where the other has a point.
  const all = [...points.map(([x, y]) => ({ x, y, at: -1 })), ...grid.map((x, at) => ({ x, y: NaN, at }))].sort(
    (a, b) => a.x - b.x,
  );
  const rows = all.map(({ y }) => (Number.isFinite(y) ? y : null));
  return {
    draw: async (predict) => {
      const { value, bottom } = await predict(text);
      let last: number | null = null;
      // A row between two grid points repeats the last value, so that the line is not broken.
      const line = all.map(({ at }) => (at < 0 ? last : (last = bottom?.[at] ? null : Number(value[at]))));
      const bands = grid.flatMap((x, at): [number, number][] => (bottom?.[at] ? [[x, grid[at + 1] ?? x]] : []));
      chart.set([all.map(({ x }) => x), rows, line], { bands, lines: [] });
      chart.describe(
        `${points.length} rows and the model's curve${bottom ? `, ${bands.length} of ${CURVE} points without a value` : ""}`,
      );
    },
  };
}

/** The classes of a column, sorted by name. */
const classes = (cells: string[]) => [...new Set(cells)].sort();

function map({ sample, target, host }: Scene, [first, second]: string[]): View {
  const actual = labels(sample, target);
  const names = classes(actual);
  const colour = (name: string) => ink(`--class-${names.indexOf(name) % CLASSES}`);
  const box = figure(
    host,
    `${target} over ${first} and ${second}`,
    names.slice(0, CLASSES).map((name, at) => [name, `dots class-${at}`]),
  );
  const canvas = element("canvas", "", "map");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Map of the predicted classes over ${first} and ${second}`);
  box.append(canvas);
  const [us, vs] = [first!, second!].map((name) => numbers(sample, name)) as [number[], number[]];
  const ends = (all: number[]) => [Math.min(...all), Math.max(...all)] as const;
  const [[left, right], [low, high]] = [ends(us), ends(vs)];
  const places = Array.from({ length: MAP * MAP }, (_, at) => [
    left + ((right - left) * ((at % MAP) + 0.5)) / MAP,
    high - ((high - low) * (Math.floor(at / MAP) + 0.5)) / MAP,
  ]);
  const text = csv(
    [first!, second!],
    places.map((place) => place.map(String)),
  );
  return {
    draw: async (predict) => {
      const { value, probability } = await predict(text);
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
  const summary = element("p", "", "note");
  const table = element("table");
  const box = element("div", "", "scroll");
  box.append(table);
  host.append(element("h3", "Confusion matrix: actual class (rows), predicted class (columns)"), box, summary);
  return {
    draw: async (predict) => {
      const value = Array.from((await predict(whole(sample))).value as ArrayLike<unknown>, String);
      const head = element("tr");
      head.append(element("th", target), ...names.map((name) => element("th", name)));
      const rows = names.map((name) => {
        const row = element("tr");
        const mine = value.filter((_, at) => actual[at] === name);
        row.append(
          element("th", name),
          ...names.map((other) => element("td", String(mine.filter((one) => one === other).length))),
        );
        return row;
      });
      table.replaceChildren(head, ...rows);
      const right = value.filter((one, at) => one === actual[at]).length;
      summary.textContent = `${right} of ${actual.length} rows are right (${percent(right / actual.length)}), including training rows.`;
    },
  };
}
