// The inputs: a slider with a number field over the training range of each column, a list of the levels of each category.
import type { Input } from "./engine";
import { make } from "./dom";
import { rounded, short } from "./numbers";

export type Value = number | string;

export interface Form {
  values(): Value[];
  set(at: number, value: number): void;
  /** The columns whose value no training row reached. */
  outside(): string[];
  reset(): void;
}

interface Field {
  element: HTMLElement;
  value(): Value;
  set(value: number): void;
  isOutside(): boolean;
  reset(): void;
}

/** Puts a field for each input into `place` and calls `changed` whenever one of them is moved. */
export function form(inputs: Input[], place: HTMLElement, changed: () => void): Form {
  const fields = inputs.map((input, at) => ("levels" in input ? choice(input, at, changed) : slider(input, at, changed)));
  place.replaceChildren(...fields.map((field) => field.element));
  return {
    values: () => fields.map((field) => field.value()),
    set(at, value) {
      fields[at]?.set(value);
      changed();
    },
    outside: () => inputs.filter((_, at) => fields[at]?.isOutside()).map((input) => input.name),
    reset() {
      fields.forEach((field) => field.reset());
      changed();
    },
  };
}

function slider({ name, min, max, mean }: Extract<Input, { min: number }>, at: number, changed: () => void): Field {
  const start = rounded(mean, max - min);
  const number = make("input", { type: "number", step: "any", id: `input-${at}`, required: true });
  const range = make("input", { type: "range", step: "any", min: String(min), max: String(max) });
  const note = make("p", { className: "note", id: `note-${at}` });
  range.setAttribute("aria-label", `${name}, ${short(min)} to ${short(max)} in training`);
  number.setAttribute("aria-describedby", note.id);
  let value = start;
  const show = () => {
    const isOutside = value < min || value > max;
    note.textContent = isOutside ? `outside the training range, ${short(min)} to ${short(max)}` : `${short(min)} to ${short(max)}`;
    note.classList.toggle("warn", isOutside);
  };
  const set = (to: number) => {
    value = rounded(to, max - min);
    number.value = range.value = String(value);
    show();
  };
  range.addEventListener("input", () => {
    set(range.valueAsNumber);
    changed();
  });
  number.addEventListener("input", () => {
    if (!Number.isFinite(number.valueAsNumber)) return;
    value = number.valueAsNumber;
    range.value = number.value;
    show();
    changed();
  });
  number.addEventListener("change", () => { number.value = String(value); });
  set(start);
  const label = make("label", { htmlFor: number.id, textContent: name });
  const element = make("div", { className: "field" }, label, number, range, note);
  return { element, value: () => value, set, isOutside: () => value < min || value > max, reset: () => set(start) };
}

function choice({ name, levels }: Extract<Input, { levels: string[] }>, at: number, changed: () => void): Field {
  const select = make("select", { id: `input-${at}` }, ...levels.map((level) => make("option", { value: level, textContent: level })));
  select.addEventListener("change", changed);
  const element = make("div", { className: "field" }, make("label", { htmlFor: select.id, textContent: name }), select);
  return { element, value: () => select.value, set: () => {}, isOutside: () => false, reset: () => { select.selectedIndex = 0; } };
}
