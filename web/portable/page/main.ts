// The page of one model: inputs, the prediction for them, charts along one and two inputs, and prediction of tables.
import { showClasses, showNothing, showNumber } from "./answer";
import { batch } from "./batch";
import { get } from "./dom";
import { type Model, type Quality, start } from "./engine";
import { type Form, form } from "./form";
import { percent, short } from "./numbers";
import { rowsAlong } from "./slice";
import { alongOne, overTwo } from "./slices";
import { failed, soon } from "./soon";

async function answer(model: Model, inputs: Form): Promise<void> {
  const [outside, invalid] = [inputs.outside(), inputs.invalid()];
  const place = get("answer");
  get("outside").textContent = outside.length > 0 ? `Outside the training range: ${outside.join(", ")}` : "";
  if (invalid.length > 0) return unanswered(`Enter a number for: ${invalid.join(", ")}`);
  const rows = rowsAlong(inputs.values(), new Map());
  const prediction = await model.predict(rows);
  if (prediction.probabilities) showClasses(place, model.info, prediction.probabilities);
  else showNumber(place, prediction);
  get("error").textContent = "";
}

/** Clears the old result, which would not match the new inputs, and shows an error. */
function unanswered(error: unknown): void {
  showNothing(get("answer"));
  failed("error")(error);
}

/** The title of the page before anybody chose one. */
const UNTITLED = "A model";

function describe({ info }: Model): void {
  const { target, inputs, classes, parameters, quality } = info;
  const isTitled = document.title !== UNTITLED;
  get("target").textContent = isTitled ? document.title : target;
  if (!isTitled) document.title = `${target} – a model`;
  const output = classes.length > 0 ? `one of ${classes.length} classes` : "a number";
  const what = `This model predicts ${isTitled ? `${target}, ` : ""}${output}${isTitled ? "," : ""} from ${inputs.length} ${inputs.length === 1 ? "input" : "inputs"}.`;
  get("about").textContent =
    `${what} ${quality ? `${sentence(quality)} ` : ""}It has ${parameters.toLocaleString("en")} parameters.`;
}

/** How good the model is, as a sentence; empty if no metric says it. */
function sentence({ rows, accuracy, mae, r2 }: Quality): string {
  const on = `On ${rows.toLocaleString("en")} rows that it was not trained on,`;
  if (accuracy !== undefined) return `${on} it is right in ${percent(accuracy)}.`;
  if (mae !== undefined)
    return `${on} its error is ${short(mae, 3)} on average${r2 === undefined ? "" : ` (R² ${short(r2, 3)})`}.`;
  return "";
}

async function main(): Promise<void> {
  const model = await start();
  describe(model);
  let changed = () => {};
  const inputs = form(model.info.inputs, get("inputs"), () => changed());
  const parts = [soon(() => answer(model, inputs), unanswered), alongOne(model, inputs), overTwo(model, inputs)];
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
