// A line of controls for each parameter: its start value as a number and a slider, and whether it keeps it.
import { short } from "../numbers.js";
import { element } from "../page.js";

interface Line {
  field: HTMLInputElement;
  slider: HTMLInputElement;
  fix: HTMLInputElement;
}

export class Starts {
  #lines = new Map<string, Line>();
  #host: HTMLElement;
  #changed: () => void;

  constructor(host: HTMLElement, changed: () => void) {
    this.#host = host;
    this.#changed = changed;
  }

  get names(): string[] {
    return [...this.#lines.keys()];
  }

  /** The start values. */
  get values(): Record<string, number> {
    return Object.fromEntries([...this.#lines].map(([name, { field }]) => [name, field.valueAsNumber]));
  }

  /** The names of parameters that keep their start. */
  get fixed(): string[] {
    return [...this.#lines].filter(([, { fix }]) => fix.checked).map(([name]) => name);
  }

  /** Replaces all lines. Parameters that were fixed before stay fixed. */
  set(values: Record<string, number>): void {
    const fixed = this.fixed;
    this.#lines = new Map(
      Object.entries(values).map(([name, value]) => [name, this.#line(name, value, fixed.includes(name))]),
    );
    this.#host.replaceChildren(...[...this.#lines.values()].map(({ field }) => field.closest(".start")!));
  }

  #line(name: string, value: number, isFixed: boolean): Line {
    const box = element("div", "", "start");
    const [label, check] = [element("label", name), element("label", "", "check")];
    const [field, slider, fix] = [element("input"), element("input"), element("input")];
    Object.assign(field, {
      id: `start-${name}`,
      type: "number",
      step: "any",
      value: String(Number(value.toPrecision(5))),
    });
    Object.assign(fix, { type: "checkbox", checked: isFixed });
    Object.assign(slider, { type: "range", ariaLabel: `Start of ${name}` });
    label.htmlFor = field.id;
    check.append(fix, "fix");
    box.append(label, field, check, slider);
    range(slider, value);
    field.addEventListener("input", () => {
      if (Number.isNaN(field.valueAsNumber)) return;
      range(slider, field.valueAsNumber);
      this.#changed();
    });
    slider.addEventListener("input", () => {
      field.value = String(Number(slider.valueAsNumber.toPrecision(4)));
      slider.ariaValueText = short(slider.valueAsNumber);
      this.#changed();
    });
    fix.addEventListener("change", this.#changed);
    return { field, slider, fix };
  }
}

/** A slider around a value: from −1 to 3 times its size. */
function range(slider: HTMLInputElement, value: number): void {
  const size = Math.abs(value) || 0.5;
  Object.assign(slider, {
    min: String(value - 2 * size),
    max: String(value + 2 * size),
    step: String(size / 100),
    value: String(value),
  });
}
