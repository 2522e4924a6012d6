// A square to draw in, with a pen, a finger or a mouse.
import { ink } from "../page.js";
import { type Point, type Stroke, trace } from "./drawing.js";
import { fitted } from "./plane.js";

export class Pad {
  #canvas: HTMLCanvasElement;
  #strokes: Point[][] = [];
  #changed: () => void;

  /** Calls `changed` after every stroke. */
  constructor(canvas: HTMLCanvasElement, changed: () => void) {
    this.#canvas = canvas;
    this.#changed = changed;
    canvas.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      canvas.setPointerCapture(event.pointerId);
      this.#strokes.push([this.#at(event)]);
      this.draw();
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!canvas.hasPointerCapture(event.pointerId)) return;
      for (const one of event.getCoalescedEvents?.() ?? [event]) this.#strokes.at(-1)!.push(this.#at(one));
      this.draw();
    });
    canvas.addEventListener("lostpointercapture", () => this.#changed());
  }

  get strokes(): readonly Stroke[] {
    return this.#strokes;
  }

  /** Replaces the strokes, without calling `changed`. */
  set(strokes: readonly Stroke[]): void {
    this.#strokes = strokes.map((stroke) => [...stroke]);
    this.draw();
  }

  draw(): void {
    const context = fitted(this.#canvas);
    const size = this.#canvas.clientWidth;
    trace(context, this.#strokes, 0, 0, size);
    context.strokeStyle = ink("--ink");
    context.lineWidth = 5;
    context.stroke();
  }

  #at({ clientX, clientY }: MouseEvent): Point {
    const { left, top, width, height } = this.#canvas.getBoundingClientRect();
    return [(clientX - left) / width, (clientY - top) / height];
  }
}
