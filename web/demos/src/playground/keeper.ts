// The current model: saving and loading its file, predicting a row that is typed in, predicting a table.
import type { Label, Model } from "../engine.js";
import { percent, short, whole } from "../numbers.js";
import { element, engine, get, shown } from "../page.js";
import { reading } from "./reading.js";
import { csv } from "./table.js";

let model: Model | undefined;

/** Loads the model in a file. */
export async function load(file: File): Promise<void> {
  useModel(await (await engine("model")).load(file), `from ${file.name}`);
}

/** Makes a model the current one. */
export function useModel(next: Model, origin: string): void {
  model = next;
  const { task, target, parameters, inputs } = model.info;
  get("model-name").textContent =
    `${task === "regression" ? "Regression" : "Classification"} of “${target}”, ${whole(parameters)} parameters, ${origin}`;
  get<HTMLButtonElement>("save").disabled = false;
  get("predict").hidden = false;
  get("answer").replaceChildren();
  get("inputs").replaceChildren(
    ...inputs.map((input, at) => {
      const field = element("div");
      const id = `input-${at}`;
      const control =
        "levels" in input
          ? input.isOpen
            ? text(id, input.levels)
            : levels(id, input.levels)
          : "from" in input
            ? date(id, input)
            : range(id, input);
      field.append(Object.assign(element("label", input.name), { htmlFor: id }), control);
      return field;
    }),
  );
}

function levels(id: string, names: string[]): HTMLElement {
  const made = Object.assign(element("select"), { id });
  made.append(...names.map((name) => new Option(name)));
  return made;
}

/** A field for any text, which begins with one of training. */
function text(id: string, [value = ""]: string[]): HTMLElement {
  return Object.assign(element("input"), { id, value });
}

function range(id: string, { min, max, mean }: { min: number; max: number; mean: number }): HTMLElement {
  const value = String(Number(mean.toPrecision(4)));
  const title = `${short(min)} to ${short(max)} in training`;
  return Object.assign(element("input"), { id, value, title, required: true, inputMode: "decimal" });
}

function date(id: string, { from, to }: { from: string; to: string }): HTMLElement {
  return Object.assign(element("input"), { id, value: to, title: `${from} to ${to} in training`, required: true });
}

/** Predicts the row as a CSV table with one row, so that text cells are categories. */
async function predict(): Promise<void> {
  const { columns, target } = model!.info;
  const cells = columns.map((_, at) => get<HTMLInputElement>(`input-${at}`).value);
  const { value, probability, bottom, gap, notes } = await model!.predict(csv(columns, [cells]));
  const [one] = value;
  const note = notes.map(({ column, message }) => `${column}: ${message}`).join("; ");
  if (one === null || Number.isNaN(one) || bottom?.[0]) {
    const isPole = one === 0;
    get("answer").textContent = isPole
      ? `${target} has no value here (⊥): the inputs are at a pole`
      : `${target} has no prediction. ${note}`;
    return;
  }
  const share = probability ? ` (${percent(probability[0]!)})` : "";
  const warning = gap?.[0] ? " (near a pole: not reliable)" : "";
  get("answer").textContent =
    `${target} = ${typeof one === "number" ? short(one) : one}${share}${warning}${note && `. ${note}`}`;
}

async function predictTable(file: File): Promise<void> {
  const { value, probability, bottom, gap, fault, notes } = await model!.predict(file, reading());
  const { target } = model!.info;
  const noted = new Map<number, string>();
  for (const { row, column, message } of notes)
    noted.set(row, [noted.get(row) ?? [], `${column}: ${message}`].flat().join("; "));
  const rows = Array.from<Label | null, string[]>(value as ArrayLike<Label | null>, (one, at) => {
    const text = one === null || Number.isNaN(one) || bottom?.[at] ? "" : String(one);
    const more = bottom
      ? [bottom, gap!, fault!].map((flags) => String(flags[at]))
      : probability
        ? [text && String(probability[at])]
        : [];
    return [text, ...more, noted.get(at) ?? ""];
  });
  const names = [target, ...(bottom ? ["bottom", "gap", "fault"] : probability ? ["probability"] : []), "note"];
  const href = URL.createObjectURL(new Blob([csv(names, rows)], { type: "text/csv" }));
  const link = Object.assign(element("a", "predictions.csv"), { href, download: "predictions.csv" });
  const outside = new Set(notes.filter(({ kind }) => kind === "outside").map(({ row }) => row)).size;
  const columns = [...new Set(notes.filter(({ kind }) => kind === "outside").map(({ column }) => column))];
  const warning = outside > 0 ? `; ${whole(outside)} outside the training range (${columns.join(", ")})` : "";
  get("answer").replaceChildren(`${whole(value.length)} rows: `, link, warning);
}

async function save(): Promise<void> {
  const url = URL.createObjectURL(new Blob([(await model!.save()) as Uint8Array<ArrayBuffer>]));
  Object.assign(document.createElement("a"), { href: url, download: "model.safetensors" }).click();
  URL.revokeObjectURL(url);
}

/** Calls `work` with each chosen file, also if the same file is chosen again. */
function onFile(id: string, work: (file: File) => Promise<void>): void {
  const input = get<HTMLInputElement>(id);
  input.addEventListener("change", () => {
    const [file] = input.files ?? [];
    if (file)
      shown(() => work(file)).finally(() => {
        input.value = "";
      });
  });
}

get("save").addEventListener("click", () => shown(save));
get("predict").addEventListener("submit", (event) => {
  event.preventDefault();
  shown(predict);
});
onFile("load", load);
onFile("table", predictTable);
