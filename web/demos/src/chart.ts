// A line chart with a cursor for pointer and arrow keys, a legend in its caption, and its values as a table for screen
// readers.
import uPlot from "uplot";
import { short } from "./numbers.js";
import { element, ink, onTheme } from "./page.js";

export interface Series {
  label: string;
  /** The name of a colour in the style sheet. */
  colour: string;
  /**
   * An `edge` is not drawn: it is one side of a filled band. `branches` are a thick line that also breaks where a gap
   * is narrower than the line.
   */
  kind?: "line" | "dash" | "dots" | "bars" | "edge" | "branches";
  width?: number;
}

export interface Axis {
  label: string;
  isLog?: boolean;
  /** Fixed limits; by default those of the data. */
  range?: [number, number];
}

export interface ChartOptions {
  x: Axis;
  y: Axis;
  series: Series[];
  /** Bands between two series, given by their places in `series`. */
  fills?: { high: number; low: number; colour: string }[];
  /** Whether to use less space for the numbers on the axes. */
  isSmall?: boolean;
}

/** x, then the values of each series. `null` breaks the line, `undefined` does not. */
export type Rows = [ArrayLike<number>, ...ArrayLike<number | null | undefined>[]];

/** Ranges of x that are tinted, and positions that are marked by a dashed line. */
export interface Marks {
  bands: [number, number][];
  lines: number[];
}

const TABLE_ROWS = 60;
const FONT = "12px system-ui, sans-serif";

export class Chart {
  #plot: uPlot;
  #settings: ChartOptions;
  #rows: Rows;
  #marks: Marks = { bands: [], lines: [] };
  #box = element("div", "", "plot");
  #readout = element("output");
  #table = element("details", "", "values");

  /** `figure` has the class chart and a figcaption with the title. Everything else is created here. */
  constructor(figure: HTMLElement, options: ChartOptions) {
    this.#settings = options;
    this.#rows = [[], ...options.series.map(() => [])] as Rows;
    this.#table.append(element("summary", "Values as a table"), element("div", "", "scroll"));
    figure.append(this.#box, this.#readout, this.#table);
    this.#box.tabIndex = 0;
    this.#box.setAttribute("role", "img");
    this.describe("no data yet");
    this.#plot = new uPlot(this.#options(), this.#rows as unknown as uPlot.AlignedData, this.#box);
    new ResizeObserver(() => this.#plot.setSize(this.#size())).observe(this.#box);
    onTheme(() => this.#plot.redraw(false, true));
    this.#box.addEventListener("keydown", (event) => this.#key(event));
    this.#box.addEventListener("blur", () => this.#plot.setCursor({ left: -10, top: -10 }));
    this.#table.addEventListener("toggle", () => this.#tabulate());
  }

  /** Replaces the values. */
  set(rows: Rows, marks: Marks = { bands: [], lines: [] }): void {
    this.#rows = rows;
    this.#marks = marks;
    this.#plot.setData(rows as unknown as uPlot.AlignedData);
    this.#tabulate();
  }

  /** Sets the description for screen readers. */
  describe(text: string): void {
    this.#box.setAttribute(
      "aria-label",
      `Chart: ${this.#settings.y.label} over ${this.#settings.x.label}; ${text}. Arrow keys move a cursor.`,
    );
  }

  /** Replaces the axes and keeps the series. */
  axes(x: Axis, y: Axis): void {
    this.#settings = { ...this.#settings, x, y };
    this.#plot.destroy();
    this.#plot = new uPlot(this.#options(), this.#rows as unknown as uPlot.AlignedData, this.#box);
  }

  #size(): { width: number; height: number } {
    return { width: Math.max(this.#box.clientWidth, 50), height: Math.max(this.#box.clientHeight, 50) };
  }

  #options(): uPlot.Options {
    const { x, y, series, fills = [], isSmall } = this.#settings;
    const axis = ({ label, isLog }: Axis, size: number): uPlot.Axis => ({
      label,
      labelSize: 18,
      labelGap: 2,
      labelFont: FONT,
      font: FONT,
      size,
      gap: 4,
      ticks: { show: false },
      stroke: () => ink("--soft"),
      grid: { stroke: () => ink("--faint"), width: 1, ...(isLog && { filter: decades }) },
      // Without data the library invents a scale: show no numbers.
      values: (_, splits) => splits.map((value) => (value === null || this.#rows[0].length === 0 ? "" : short(value))),
    });
    const scale = ({ isLog, range }: Axis): uPlot.Scale => ({
      time: false,
      distr: isLog ? 3 : 1,
      ...(range && { range: () => range }),
    });
    const across = { ...scale(x), ...(!x.range && { range: ends }) };
    return {
      ...this.#size(),
      legend: { show: false },
      padding: [8, 12, 0, 0],
      cursor: { drag: { x: false, y: false }, points: { size: 7 } },
      scales: { x: across, y: scale(y) },
      axes: [axis(x, isSmall ? 20 : 24), axis(y, isSmall ? 42 : 46)],
      series: [{}, ...series.map(line)],
      bands: fills.map(({ high, low, colour }) => ({ series: [high + 1, low + 1], fill: () => ink(colour) })),
      hooks: { drawClear: [(plot) => this.#underlay(plot)], setCursor: [(plot) => this.#showCursor(plot)] },
    };
  }

  #underlay(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const at = (x: number) => Math.min(Math.max(plot.valToPos(x, "x", true), bbox.left), bbox.left + bbox.width);
    ctx.save();
    ctx.fillStyle = ink("--band");
    for (const [from, to] of this.#marks.bands) {
      const wide = Math.max(at(to) - at(from), 2 * devicePixelRatio);
      ctx.fillRect((at(from) + at(to) - wide) / 2, bbox.top, wide, bbox.height);
    }
    ctx.strokeStyle = ink("--edge");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
    for (const place of this.#marks.lines) {
      ctx.beginPath();
      ctx.moveTo(at(place), bbox.top);
      ctx.lineTo(at(place), bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  #showCursor({ cursor: { idx } }: uPlot): void {
    this.#readout.textContent =
      idx === null || idx === undefined
        ? ""
        : this.#row(idx)
            .map(([name, value]) => `${name} ${value}`)
            .join(", ");
  }

  #row(at: number): [string, string][] {
    const [x, ...rows] = this.#rows;
    const shown = this.#settings.series.map(({ label }, series): [string, string] => {
      const value = rows[series]?.[at];
      return [label, value === null || value === undefined ? "–" : short(value)];
    });
    return [[this.#settings.x.label, short(x[at]!)], ...shown];
  }

  #key(event: KeyboardEvent): void {
    const last = this.#rows[0].length - 1;
    const step = Math.max(1, Math.round(last / 100));
    const now = this.#plot.cursor.idx;
    const to = { ArrowLeft: (now ?? last) - step, ArrowRight: (now ?? -step) + step, Home: 0, End: last }[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    const place = this.#rows[0][Math.min(Math.max(to, 0), last)]!;
    this.#plot.setCursor({ left: this.#plot.valToPos(place, "x"), top: 10 });
  }

  #tabulate(): void {
    if (!this.#table.open) return;
    const count = this.#rows[0].length;
    const step = Math.max(1, Math.ceil(count / TABLE_ROWS));
    const table = element("table");
    const head = table.createTHead().insertRow();
    for (const name of [this.#settings.x.label, ...this.#settings.series.map(({ label }) => label)])
      head.append(element("th", name));
    const body = table.createTBody();
    for (let at = 0; at < count; at += step) {
      const row = body.insertRow();
      for (const [, value] of this.#row(at)) row.insertCell().textContent = value;
    }
    this.#table.querySelector(".scroll")!.replaceChildren(table);
  }
}

/** The limits of the data; an arbitrary range if there are fewer than two distinct values. */
const ends = (_: uPlot, low: number | null, high: number | null): [number, number] =>
  low === null || high === null || low === high ? [low ?? 1, (high ?? 1) + 1] : [low, high];

const decades = (_: uPlot, splits: number[]) =>
  splits.map((value) => (Number.isInteger(Math.log10(value)) ? value : null));

function line({ label, colour, kind = "line", width = 2 }: Series): uPlot.Series {
  const stroke = () => ink(colour);
  const base: uPlot.Series = { label, stroke, width, spanGaps: false, pxAlign: 0, points: { show: false } };
  if (kind === "dash") return { ...base, dash: [3, 4] };
  if (kind === "branches") return { ...base, paths: branches };
  if (kind === "bars") return { ...base, width: 0, fill: stroke, paths: uPlot.paths.bars!({ size: [0.86, 60] }) };
  if (kind === "edge") return { ...base, width: 1, stroke: "transparent" };
  if (kind === "dots") return { ...base, paths: () => null, points: { show: true, size: 4, width: 0, fill: stroke } };
  return base;
}

/**
 * A path that begins again after each gap. The library's own joins both sides and hides the joint, but not the width of
 * its line.
 */
function branches({ data, valToPos }: uPlot, series: number, first: number, last: number): uPlot.Series.Paths {
  const stroke = new Path2D();
  let isJoined = false;
  for (let at = first; at <= last; at++) {
    const [x, y] = [data[0][at]!, data[series]![at]];
    if (y === null || y === undefined) isJoined = false;
    else {
      stroke[isJoined ? "lineTo" : "moveTo"](valToPos(x, "x", true), valToPos(y, "y", true));
      isJoined = true;
    }
  }
  return { stroke };
}
