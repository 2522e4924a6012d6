// The page of one model: inputs to move, what it says of them at once, slices through its surroundings, tables in and out.
import { showClasses, showNothing, showNumber } from "./answer";
import { batch } from "./batch";
import { get } from "./dom";
import { start, type Model } from "./engine";
import { form, type Form } from "./form";
import { rowsAlong } from "./slice";
import { alongOne, overTwo } from "./slices";
import { failed, soon } from "./soon";

async function answer(model: Model, inputs: Form): Promise<void> {
  const [outside, wanting] = [inputs.outside(), inputs.wanting()];
  const place = get("answer");
  get("outside").textContent = outside.length > 0 ? `Outside the training range: ${outside.join(", ")}` : "";
  if (wanting.length > 0) return unanswered(`A number is wanted in: ${wanting.join(", ")}`);
  const rows = rowsAlong(inputs.values(), new Map());
  if (model.info.classes.length > 0) showClasses(place, model.info, await model.probabilities(rows));
  else showNumber(place, await model.predict(rows));
  get("error").textContent = "";
}

/** An old answer must not stand beside new inputs. */
function unanswered(error: unknown): void {
  showNothing(get("answer"));
  failed("error")(error);
}

function describe({ info }: Model): void {
  const { target, inputs, classes, parameters } = info;
  document.title = `${target} – a model`;
  get("target").textContent = target;
  const what = classes.length > 0 ? `one of ${classes.length} classes` : "a number";
  get("about").textContent = `${what} from ${inputs.length} ${inputs.length === 1 ? "input" : "inputs"}, ${parameters.toLocaleString("en")} parameters`;
}

async function main(): Promise<void> {
  const model = await start();
  describe(model);
  let changed = () => {};
  const inputs = form(model.info.inputs, get("inputs"), () => changed());
  const parts = [
    soon(() => answer(model, inputs), unanswered),
    alongOne(model, inputs),
    overTwo(model, inputs),
  ];
  changed = () => parts.forEach((part) => part());
  get("reset").addEventListener("click", inputs.reset);
  batch(model, failed("batch-error"));
  new ResizeObserver(changed).observe(get("curve-card"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  get("main").hidden = false;
  get("loading").hidden = true;
  changed();
  document.documentElement.dataset.ready = "";
}

main().catch((error: unknown) => {
  get("loading").textContent = `This model cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
});
