// Colours of the charts: a ramp from dark to light with even steps of lightness, and one colour per class.
import { make } from "./dom";

export type Colour = readonly [number, number, number];

/** Nine colours close to viridis (van der Walt and Smith 2015). */
const RAMP: readonly Colour[] = [
  [68, 1, 84],
  [71, 45, 123],
  [59, 82, 139],
  [44, 114, 142],
  [33, 145, 140],
  [40, 174, 128],
  [94, 201, 98],
  [173, 220, 48],
  [253, 231, 37],
];

const CLASSES: readonly Colour[] = [
  [42, 120, 214],
  [217, 84, 31],
  [32, 150, 96],
  [160, 90, 200],
  [200, 150, 20],
  [0, 150, 170],
  [214, 70, 120],
  [120, 120, 120],
];

export const mixed = (a: Colour, b: Colour, share: number): Colour => [
  a[0] + (b[0] - a[0]) * share,
  a[1] + (b[1] - a[1]) * share,
  a[2] + (b[2] - a[2]) * share,
];

/** The colour at position `share` of the ramp, in [0, 1]. */
export function ramp(share: number): Colour {
  const place = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const at = Math.min(Math.floor(place), RAMP.length - 2);
  const [a, b] = [RAMP[at], RAMP[at + 1]];
  return a && b ? mixed(a, b, place - at) : [0, 0, 0];
}

/** The colour of a class. All classes from the eighth on share the last colour. */
export const classColour = (at: number): Colour => CLASSES[Math.min(at, CLASSES.length - 1)] ?? [0, 0, 0];

export const css = ([r, g, b]: Colour): string => `rgb(${r.toFixed(0)} ${g.toFixed(0)} ${b.toFixed(0)})`;

/** Creates an entry of a legend. */
export function key(kind: string, text: string): HTMLElement {
  return make("span", { className: `key ${kind}` }, make("i"), text);
}

/** Creates legend entries for some of the classes, each in its colour. */
export function classKeys(classes: string[], shown: string[]): HTMLElement[] {
  return shown.map((name) => {
    const one = key("solid", name);
    one.style.setProperty("--key", css(classColour(classes.indexOf(name))));
    return one;
  });
}
