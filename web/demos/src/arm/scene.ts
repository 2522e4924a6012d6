// The drawing: floor, limits of reach, both arms, target. Pointer and arrow keys move the target.
import { ink, onTheme } from "../page.js";
import type { Answer } from "./answers.js";
import { HALF } from "./floor.js";
import { type Links, type Point, reach } from "./geometry.js";

export interface Scene {
  links: Links;
  target: Point;
  floor: HTMLCanvasElement | undefined;
  strict: Answer | undefined;
  plain: Answer | undefined;
}

const STEP = 0.02;

export class Stage {
  #canvas: HTMLCanvasElement;
  #scene: Scene | undefined;

  constructor(canvas: HTMLCanvasElement, move: (target: Point) => void) {
    this.#canvas = canvas;
    const here = (event: PointerEvent): Point => {
      const { left, top, width } = canvas.getBoundingClientRect();
      return bounded([
        ((event.clientX - left) / width - 0.5) * 2 * HALF,
        (0.5 - (event.clientY - top) / width) * 2 * HALF,
      ]);
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      move(here(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) move(here(event));
    });
    canvas.addEventListener("keydown", (event) => {
      const towards = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!towards || !this.#scene) return;
      event.preventDefault();
      const step = event.shiftKey ? 5 * STEP : STEP;
      const [x, y] = this.#scene.target;
      move(bounded([x + step * towards[0]!, y + step * towards[1]!]));
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
    onTheme(() => this.draw());
  }

  /** Draws a scene, by default the last one again. */
  draw(scene: Scene | undefined = this.#scene): void {
    this.#scene = scene;
    const side = Math.round(this.#canvas.clientWidth * devicePixelRatio);
    if (!scene || side === 0) return;
    if (this.#canvas.width !== side) this.#canvas.width = this.#canvas.height = side;
    const context = this.#canvas.getContext("2d")!;
    const scale = side / (2 * HALF);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, side, side);
    if (scene.floor) context.drawImage(scene.floor, 0, 0, side, side);
    context.setTransform(scale, 0, 0, -scale, side / 2, side / 2);
    const pixel = devicePixelRatio / scale;
    circles(context, scene, pixel);
    if (scene.plain) arm(context, scene.plain, ink("--plain"), pixel);
    if (scene.strict) arm(context, scene.strict, ink("--model"), pixel);
    cross(context, scene, pixel);
  }
}

const bounded = (point: Point): Point => point.map((value) => Math.min(Math.max(value, -HALF), HALF)) as Point;

function circles(context: CanvasRenderingContext2D, { links }: Scene, pixel: number): void {
  context.strokeStyle = ink("--edge");
  context.lineWidth = 1.25 * pixel;
  context.setLineDash([5 * pixel, 4 * pixel]);
  for (const radius of reach(links)) {
    context.beginPath();
    context.arc(0, 0, radius, 0, 2 * Math.PI);
    context.stroke();
  }
  context.setLineDash([]);
}

function arm(context: CanvasRenderingContext2D, answer: Answer, colour: string, pixel: number): void {
  if (answer.kind !== "pose") return;
  const joints: Point[] = [[0, 0], answer.joint, answer.hand];
  context.strokeStyle = colour;
  context.lineWidth = 6 * pixel;
  context.lineCap = context.lineJoin = "round";
  context.beginPath();
  for (const joint of joints) context.lineTo(...joint);
  context.stroke();
  context.lineWidth = 2.5 * pixel;
  context.fillStyle = ink("--card");
  for (const joint of joints) {
    context.beginPath();
    context.arc(...joint, 5 * pixel, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }
}

function cross(context: CanvasRenderingContext2D, { target: [x, y] }: Scene, pixel: number): void {
  context.strokeStyle = ink("--ink");
  context.lineWidth = 2 * pixel;
  context.beginPath();
  context.arc(x, y, 11 * pixel, 0, 2 * Math.PI);
  for (const [dx, dy] of [
    [1, 0],
    [0, 1],
  ] as const) {
    context.moveTo(x - 16 * pixel * dx, y - 16 * pixel * dy);
    context.lineTo(x + 16 * pixel * dx, y + 16 * pixel * dy);
  }
  context.stroke();
}
