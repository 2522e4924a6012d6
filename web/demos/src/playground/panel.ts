// One model's column: its losses, its coverage, its pictures and its figures, from the first epoch to the last.
import { Chart } from "../chart.js";
import type { End, EpochEvent, ModelInfo, StartEvent } from "../engine.js";
import { percent, short, whole } from "../numbers.js";
import { element, figures } from "../page.js";
import { type Ask, type Scene, type View, viewsOf } from "./views.js";

const ENDS: Record<End["stop"], string> = {
  epochs: "All epochs are done.",
  patience: "The validation loss stopped falling.",
  coverage: "The coverage is reached.",
  asked: "Stopped.",
  diverged: "The loss stopped being a number.",
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
    this.#losses = new Chart(figure(box, "Loss", [["training", "model"], ["validation", "plain"]]), {
      ...this.#lossAxes(hasPoles),
      series: [{ label: "training", colour: "--model" }, { label: "validation", colour: "--plain" }],
      isSmall: true,
    });
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
    return { x: { label: "epoch" }, y: { label: hasPoles ? "loss of pairs" : "loss, scaled", isLog: this.#isLog } };
  }

  /** Another scale for the losses. */
  scale(isLog: boolean): void {
    this.#isLog = isLog;
    const { x, y } = this.#lossAxes(this.#coverage !== undefined);
    this.#losses.axes(x, y);
  }

  get hasEpochs(): boolean {
    return this.#epochs.length > 0;
  }

  /** Says what is not as it should be with a run that goes on all the same. */
  warn(words: string): void {
    this.#warning.textContent = words;
    this.#warning.hidden = false;
  }

  begin(start: StartEvent, scene: Omit<Scene, "host"> | undefined): void {
    this.#start = start;
    if (scene) this.#views = viewsOf({ ...scene, host: this.#pictures }, start.task);
    else this.#pictures.replaceChildren(element("p", "Rows are drawn for tables of text (CSV, TSV).", "note"));
  }

  epoch(event: EpochEvent): void {
    this.#epochs.push(event);
  }

  /** Draws what is known, with the weights as they are now. */
  async look(ask: Ask): Promise<void> {
    const epochs = this.#epochs.map(({ epoch }) => epoch + 1);
    this.#losses.set([epochs, this.#epochs.map(({ trainLoss }) => trainLoss), this.#epochs.map(({ valLoss }) => valLoss)]);
    this.#coverage?.set([epochs, this.#epochs.map(({ coverage }) => (coverage === null ? null : 100 * coverage))]);
    const last = this.#epochs.at(-1);
    if (last) {
      const validation = last.valLoss === null ? "" : `, validation ${short(last.valLoss)}`;
      const words = `epoch ${last.epoch + 1} of ${this.#start!.epochs}, training loss ${short(last.trainLoss)}${validation}`;
      this.#state.textContent = `E${words.slice(1)}`;
      this.#losses.describe(words);
    }
    for (const view of this.#views) await view.draw(ask);
  }

  async finish(end: End, info: ModelInfo, seconds: number, ask: Ask): Promise<void> {
    await this.look(ask);
    const kept = end.bestEpoch === null ? "" : ` Kept epoch ${end.bestEpoch + 1}.`;
    this.#state.textContent = `${ENDS[end.stop]}${kept} ${this.#start!.gaps}`;
    const { test, validation } = end;
    const [what, told] = test.rows ? ["Test", test] as const : ["Validation", validation] as const;
    const figure = (name: string, value: number | null, show: (value: number) => string): [string, string][] =>
      value === null ? [] : [[name, show(value)]];
    figures(this.#figures, [
      ...figure(`${what} accuracy`, told.accuracy, percent),
      ...figure(`${what} R²`, told.r2, (value) => value.toFixed(4)),
      ...figure("Median error", told.median, (value) => short(value, 3)),
      ...figure("Mean absolute error", told.mae, (value) => short(value, 3)),
      ...figure("Coverage", told.coverage, percent),
      ...figure("Poles told", told.found, percent),
      ["Parameters", whole(info.parameters)],
      ["Rows to train on", whole(this.#start!.trainRows)],
      ["Steps per second", whole(end.steps / seconds)],
      ["Time", `${seconds.toFixed(1)} s`, "with drawing and pauses"],
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
