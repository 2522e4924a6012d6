// A map: a number for each pixel of an image, as colours, with their scale.
import { quantile, short } from "../numbers.js";
import { element } from "../page.js";

/** Colours from low to high: five of the scale viridis (matplotlib). */
const STOPS = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
] as const;

function colour(share: number): [number, number, number] {
  const at = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1);
  const low = Math.min(Math.floor(at), STOPS.length - 2);
  const [from, to] = [STOPS[low]!, STOPS[low + 1]!];
  return [0, 1, 2].map((part) => from[part]! + (at - low) * (to[part]! - from[part]!)) as [number, number, number];
}

function paint(canvas: HTMLCanvasElement, width: number, height: number, shares: (at: number) => number): void {
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(width, height);
  for (let at = 0; at < width * height; at++) {
    const share = shares(at);
    const parts = Number.isNaN(share) ? [255, 255, 255] : colour(share);
    image.data.set([...parts, 255], 4 * at);
  }
  context.putImageData(image, 0, 0);
}

export class PixelMap {
  readonly figure = element("figure", "", "map");
  #canvas = element("canvas");
  /** Marks the chosen pixel. */
  #ring = element("i", "", "ring");
  #low = element("span");
  #high = element("span");

  /** `choose` is called with the pixel that is pointed at. */
  constructor(title: string, choose: (column: number, row: number) => void) {
    const scale = element("div", "", "scale");
    const bar = element("canvas");
    paint(bar, 64, 1, (at) => at / 63);
    scale.append(this.#low, bar, this.#high);
    const caption = element("figcaption");
    caption.append(element("strong", title));
    this.#canvas.setAttribute("role", "img");
    bar.ariaLabel = "colours from low to high";
    this.#canvas.ariaLabel = `map of ${title}`;
    const picture = element("div", "", "picture");
    picture.append(this.#canvas, this.#ring);
    this.figure.append(caption, picture, scale);
    const point = (event: PointerEvent) => {
      const { left, top, width, height } = this.#canvas.getBoundingClientRect();
      const place = (share: number, size: number) => Math.min(Math.max(Math.floor(share * size), 0), size - 1);
      choose(
        place((event.clientX - left) / width, this.#canvas.width),
        place((event.clientY - top) / height, this.#canvas.height),
      );
    };
    this.#canvas.addEventListener("pointermove", point);
    this.#canvas.addEventListener("pointerdown", point);
  }

  draw(width: number, height: number, values: Float64Array, chosen: number): void {
    const finite = values.filter(Number.isFinite);
    const [low, high] = [quantile(finite, 0.02), quantile(finite, 0.98)];
    [this.#low.textContent, this.#high.textContent] = [short(low, 3), short(high, 3)];
    const range = high > low ? high - low : 1;
    paint(this.#canvas, width, height, (at) => (Number.isFinite(values[at]) ? (values[at]! - low) / range : NaN));
    this.#ring.style.left = `${(100 * ((chosen % width) + 0.5)) / width}%`;
    this.#ring.style.top = `${(100 * (Math.floor(chosen / width) + 0.5)) / height}%`;
  }
}
