/**
 * Exports of a model to other places. A module of its own, because it contains the template of a page and fetches a
 * WebAssembly of its own.
 * @module
 */
import { bare, initSync, onnx as written } from "../pkg/onnx/meromorph.js";
import { InputError, messageOf, shown } from "./errors.js";
import { fetched } from "./inlined.js";
import type { Model } from "./model.js";
import { taken } from "./options.js";
import page from "./page.js";

/** The bytes of a model's file. */
function saved(call: string, model: Model): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof (model as Model | undefined)?.save !== "function")
    throw new InputError(`${call}: model is ${shown(model)}, expected a model of this package`, "usage");
  return model.save();
}

const ready = fetched(
  "onnx",
  () => import("./onnx-wasm.js"),
  (module) => initSync({ module }),
);

/** Options of a page. */
export interface HtmlOptions {
  /** The heading of the page. By default, the name of the target. */
  title?: string | undefined;
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** The model as one HTML page that predicts without a network, as `mero export --html` writes it. */
export async function html(model: Model, options: HtmlOptions = {}): Promise<string> {
  const { title } = taken("html", options, ["title"]);
  if (title !== undefined && typeof title !== "string")
    throw new InputError(`html: title: got ${shown(title)}, expected a text`, "usage");
  const [file] = await Promise.all([saved("html", model), ready()]);
  const bytes = bare(file);
  let text = "";
  // In parts: a call takes a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  const titled = title?.trim()
    ? page.replace(
        "<title>A model</title>",
        () => `<title>${title.replace(/[&<>]/g, (sign) => ESCAPES[sign]!)}</title>`,
      )
    : page;
  return titled.replace("%MODEL%", () => btoa(text));
}

/** The model as an ONNX file, from encoded rows to outputs, as `mero export --onnx` writes it. */
export async function onnx(model: Model): Promise<Uint8Array<ArrayBuffer>> {
  const [bytes] = await Promise.all([saved("onnx", model), ready()]);
  try {
    return written(bytes) as Uint8Array<ArrayBuffer>;
  } catch (error) {
    throw new InputError(messageOf(error));
  }
}
