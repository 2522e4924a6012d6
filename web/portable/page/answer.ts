// The output: a number, classes with probabilities, or a message that there is no value or no reliable value.

import { make } from "./dom";
import type { Info, Prediction } from "./engine";
import { percent, short } from "./numbers";
import { classColour, css } from "./palette";

const MAX_CLASSES = 12;
/** Significant digits of a prediction: no model knows more. The whole number is shown when it is pointed at. */
const DIGITS = 3;

/** Shows the first row of a prediction. */
export function showNumber(place: HTMLElement, { value, deviation, bottom, gap, fault }: Prediction): void {
  const number = short(Number(value[0]), DIGITS);
  if (bottom?.[0]) {
    const why = fault?.[0]
      ? "no value here: a numerical fault, such as an overflow"
      : "no value here: the inputs are at a pole";
    return show(place, "bottom", "⊥", why);
  }
  if (gap?.[0]) return show(place, "gap", "near a pole", `the model gives ${number}, which is not reliable`);
  show(place, "number", number, deviation ? `standard deviation ${short(deviation[0]!, DIGITS)}` : "");
  place.title = String(value[0]);
}

/** Shows the probabilities of all classes, the most likely first. */
export function showClasses(place: HTMLElement, { classes }: Info, probabilities: Float64Array): void {
  const sorted = classes.map((name, at) => ({ name, share: probabilities[at] ?? 0 })).sort((a, b) => b.share - a.share);
  const rows = sorted.slice(0, MAX_CLASSES).map(({ name, share }) => {
    const bar = make("i");
    bar.style.setProperty("--share", String(share));
    bar.style.setProperty("--key", css(classColour(classes.indexOf(name))));
    return make("li", {}, make("span", { textContent: name }), bar, make("span", { textContent: percent(share) }));
  });
  const rest = sorted.length > MAX_CLASSES ? `and ${sorted.length - MAX_CLASSES} less likely classes` : "";
  show(place, "class", sorted[0]?.name ?? "", rest);
  place.append(make("ul", { className: "classes" }, ...rows));
}

/** Shows that there is no result. */
export function showNothing(place: HTMLElement): void {
  show(place, "nothing", "–", "");
}

function show(place: HTMLElement, kind: string, text: string, note: string): void {
  place.dataset.kind = kind;
  place.title = "";
  place.replaceChildren(make("strong", { textContent: text }), make("p", { textContent: note }));
}
