// The inputs: a slider with a number field for a column of numbers, a list for one of categories, a date field for one
// of dates.

import { type DateInput, fieldType, fieldValue, milliseconds } from "./dates";
import { make } from "./dom";
import type { Input } from "./engine";
import { rounded, short } from "./numbers";

export type Value = number | string;

export interface Form {
  values(): Value[];
  set(at: number, value: number): void;
  /** The columns whose value is outside the training range. */
  outside(): string[];
  /** The columns whose field is not a number. Without it there is no prediction. */
  invalid(): string[];
  reset(): void;
}

interface Field {
  element: HTMLElement;
  value(): Value;
  set(value: number): void;
  isOutside(): boolean;
  isInvalid(): boolean;
  reset(): void;
}

/** Adds a field for each input to `place`, and calls `changed` when one of them changes. */
export function form(inputs: Input[], place: HTMLElement, changed: () => void): Form {
  const fields = inputs.map((input, at) => {
    if ("levels" in input) return input.isOpen ? text(input, at, changed) : choice(input, at, changed);
    return "from" in input ? dated(input, at, changed) : slider(input, at, changed);
  });
  place.replaceChildren(...fields.map((field) => field.element));
  return {
    values: () => fields.map((field) => field.value()),
    set(at, value) {
      fields[at]?.set(value);
      changed();
    },
    outside: () => inputs.filter((_, at) => fields[at]?.isOutside()).map((input) => input.name),
    invalid: () => inputs.filter((_, at) => fields[at]?.isInvalid()).map((input) => input.name),
    reset() {
      fields.forEach((field) => field.reset());
      changed();
    },
  };
}

function slider({ name, min, max, mean }: Extract<Input, { min: number }>, at: number, changed: () => void): Field {
  const number = make("input", { type: "number", step: "any", id: `input-${at}`, required: true });
  const range = make("input", { type: "range", step: "any", min: String(min), max: String(max) });
  const note = make("p", { className: "note", id: `note-${at}` });
  const trained = `${short(min)} to ${short(max)}`;
  range.setAttribute("aria-label", name);
  for (const control of [number, range]) control.setAttribute("aria-describedby", note.id);
  const value = () => number.valueAsNumber;
  const isInvalid = () => !Number.isFinite(value());
  const isOutside = () => value() < min || value() > max;
  const show = () => {
    const wrong = number.validity.badInput ? "not a number" : "empty";
    note.textContent = isInvalid()
      ? `${wrong}; ${trained} in training`
      : isOutside()
        ? `outside the training range, ${trained}`
        : trained;
    note.classList.toggle("wrong", isInvalid());
    note.classList.toggle("warn", isOutside());
    number.setAttribute("aria-invalid", String(isInvalid()));
    // The slider covers the training range only; outside it, its text says so.
    range.setAttribute(
      "aria-valuetext",
      isInvalid() ? "no number" : `${short(value())}${isOutside() ? ", outside the training range" : ""}`,
    );
  };
  // A value that is not typed stays in the range, which rounding could exceed slightly.
  const set = (to: number) => {
    number.value = range.value = String(Math.min(Math.max(rounded(to, max - min), min), max));
    show();
  };
  range.addEventListener("input", () => {
    set(range.valueAsNumber);
    changed();
  });
  number.addEventListener("input", () => {
    if (!isInvalid()) range.value = number.value;
    show();
    changed();
  });
  set(mean);
  const label = make("label", { htmlFor: number.id, textContent: name });
  const element = make("div", { className: "field" }, label, number, range, note);
  return { element, value, set, isOutside, isInvalid, reset: () => set(mean) };
}

/** A field for any text, which begins with one of training. */
function text({ name, levels }: Extract<Input, { levels: string[] }>, at: number, changed: () => void): Field {
  const field = make("input", { type: "text", id: `input-${at}` });
  const reset = () => {
    field.value = levels[0] ?? "";
  };
  field.addEventListener("input", changed);
  reset();
  const element = make("div", { className: "field" }, make("label", { htmlFor: field.id, textContent: name }), field);
  return { element, value: () => field.value, set: () => {}, isOutside: () => false, isInvalid: () => false, reset };
}

function choice({ name, levels }: Extract<Input, { levels: string[] }>, at: number, changed: () => void): Field {
  const select = make(
    "select",
    { id: `input-${at}` },
    ...levels.map((level) => make("option", { value: level, textContent: level })),
  );
  select.addEventListener("change", changed);
  const element = make("div", { className: "field" }, make("label", { htmlFor: select.id, textContent: name }), select);
  return {
    element,
    value: () => select.value,
    set: () => {},
    isOutside: () => false,
    isInvalid: () => false,
    reset: () => {
      select.selectedIndex = 0;
    },
  };
}

function dated(input: DateInput, at: number, changed: () => void): Field {
  const field = make("input", { type: fieldType(input), id: `input-${at}`, required: true });
  const note = make("p", { className: "note", id: `note-${at}` });
  const [from, to] = [fieldValue(input, input.from), fieldValue(input, input.to)];
  const trained = `${from} to ${to}`.replaceAll("T", " ");
  field.setAttribute("aria-describedby", note.id);
  const isInvalid = () => Number.isNaN(milliseconds(field.value));
  const isOutside = () =>
    milliseconds(field.value) < milliseconds(from) || milliseconds(field.value) > milliseconds(to);
  const show = () => {
    note.textContent = isInvalid()
      ? `empty; ${trained} in training`
      : isOutside()
        ? `outside the training range, ${trained}`
        : trained;
    note.classList.toggle("wrong", isInvalid());
    note.classList.toggle("warn", isOutside());
    field.setAttribute("aria-invalid", String(isInvalid()));
  };
  const reset = () => {
    field.value = to;
    show();
  };
  field.addEventListener("input", () => {
    show();
    changed();
  });
  reset();
  const element = make(
    "div",
    { className: "field" },
    make("label", { htmlFor: field.id, textContent: input.name }),
    field,
    note,
  );
  return { element, value: () => field.value, set: () => {}, isOutside, isInvalid, reset };
}
