// The column of one model: losses, coverage, charts and figures.
import { Chart } from "../chart.js";
import type { End, EpochEvent, ModelInfo, StartEvent } from "../engine.js";
import { percent, short, whole } from "../numbers.js";
import { element, figures } from "../page.js";
import { type Predict, type Scene, type View, viewsOf } from "./views.js";

const ENDS: Record<End["stop"], string> = {
  epochs: "All epochs are done.",
  patience: "The validation loss stopped improving.",
  coverage: "Stopped: too few rows have a predicted value.",
  stopped: "Stopped.",
  diverged: "Stopped: the loss became NaN or infinite.",
};

export class Panel {
  #losses: Chart;
  #coverage: Chart | undefined;
  #views: View[] = [];
  #epochs: EpochEvent[] = [];
  #start: StartEvent | undefined;
  #pictures = element("div", "", "stack");
  #figures = element("dl", "", "figures");
  #state = element("p", "", "status note");
  #warning = element("p", "", "note");
  #isLog: boolean;

  constructor(host: HTMLElement, title: string, hasPoles: boolean, isLog: boolean) {
    this.#isLog = isLog;
    const box = element("section", "", "card small panel");
    box.setAttribute("aria-label", title);
    box.append(element("h2", title), this.#state, this.#warning);
    this.#warning.hidden = true;
    this.#state.textContent = "Preparing …";
    this.#losses = new Chart(
      figure(box, "Loss", [
        ["training", "model"],
        ["validation", "plain"],
      ]),
      {
        ...this.#lossAxes(hasPoles),
        series: [
          { label: "training", colour: "--model" },
          { label: "validation", colour: "--plain" },
        ],
        isSmall: true,
      },
    );
    if (hasPoles) {
      this.#coverage = new Chart(figure(box, "Coverage of validation rows", []), {
        x: { label: "epoch" },
        y: { label: "% with a value", range: [0, 102] },
        series: [{ label: "coverage", colour: "--model" }],
        isSmall: true,
      });
    }
    box.append(this.#pictures, this.#figures);
    host.append(box);
  }

  #lossAxes(hasPoles: boolean) {
    return { x: { label: "epoch" }, y: { label: hasPoles ? "pair loss" : "loss (scaled)", isLog: this.#isLog } };
  }

  /** Switches the loss axis between linear and logarithmic. */
  scale(isLog: boolean): void {
    this.#isLog = isLog;
    const { x, y } = this.#lossAxes(this.#coverage !== undefined);
    this.#losses.axes(x, y);
  }

  get hasEpochs(): boolean {
    return this.#epochs.length > 0;
  }

  /** Shows that there is no model. */
  fail(): void {
    this.#state.textContent = "Not trained.";
  }

  /** Shows a warning. The run continues. */
  warn(text: string): void {
    this.#warning.textContent = text;
    this.#warning.hidden = false;
  }

  begin(start: StartEvent, scene: Omit<Scene, "host"> | undefined): void {
    this.#start = start;
    if (scene) this.#views = viewsOf({ ...scene, host: this.#pictures }, start.task);
    else this.#pictures.replaceChildren(element("p", "Predictions are drawn only for text tables (CSV, TSV).", "note"));
  }

  epoch(event: EpochEvent): void {
    this.#epochs.push(event);
  }

  /** Draws the losses so far, and predictions with the current weights. */
  async draw(predict: Predict): Promise<void> {
    const epochs = this.#epochs.map(({ epoch }) => epoch + 1);
    this.#losses.set([
      epochs,
      this.#epochs.map(({ trainLoss }) => trainLoss),
      this.#epochs.map(({ valLoss }) => valLoss),
    ]);
    this.#coverage?.set([epochs, this.#epochs.map(({ coverage }) => (coverage === null ? null : 100 * coverage))]);
    const last = this.#epochs.at(-1);
    if (last) {
      const validation = last.valLoss === null ? "" : `, validation ${short(last.valLoss)}`;
      const state = `epoch ${last.epoch + 1} of ${this.#start!.epochs}, training loss ${short(last.trainLoss)}${validation}`;
      this.#state.textContent = `E${state.slice(1)}`;
      this.#losses.describe(state);
    }
    for (const view of this.#views) await view.draw(predict);
  }

  async finish(end: End, info: ModelInfo, seconds: number, predict: Predict): Promise<void> {
    await this.draw(predict);
    const kept = end.bestEpoch === null ? "" : ` The model has the weights of epoch ${end.bestEpoch + 1}.`;
    this.#state.textContent = `${ENDS[end.stop]}${kept} ${this.#start!.gaps}`;
    const { test, validation } = end;
    const [split, metrics] = test.rows ? (["Test", test] as const) : (["Validation", validation] as const);
    const figure = (name: string, value: number | null, show: (value: number) => string): [string, string][] =>
      value === null ? [] : [[name, show(value)]];
    figures(this.#figures, [
      ...figure(`${split} accuracy`, metrics.accuracy, percent),
      ...figure(`${split} R²`, metrics.r2, (value) => value.toFixed(4)),
      ...figure("Median error", metrics.median, (value) => short(value, 3)),
      ...figure("Mean absolute error", metrics.mae, (value) => short(value, 3)),
      ...figure("Coverage", metrics.coverage, percent),
      ...figure("Poles found", metrics.found, percent),
      ["Parameters", whole(info.parameters)],
      ["Training rows", whole(this.#start!.trainRows)],
      ["Steps per second", whole(end.steps / seconds)],
      ["Time", `${seconds.toFixed(1)} s`, "including drawing and pauses"],
    ]);
  }
}

function figure(host: HTMLElement, title: string, keys: [string, string][]): HTMLElement {
  const made = element("figure", "", "chart");
  const caption = element("figcaption");
  caption.append(element("strong", title), ...keys.map(([name, kind]) => element("span", name, `key ${kind}`)));
  made.append(caption);
  host.append(made);
  return made;
}
