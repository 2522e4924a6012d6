/**
 * Exports of a model to other places. A module of its own, because it contains the template of a page.
 * @module
 */
import type { Model } from "./model.js";
import page from "./page.js";

/** The model as one HTML page that predicts without a network, as `mero export --html` writes it. */
export async function html(model: Model): Promise<string> {
  const bytes = await model.save();
  let text = "";
  // In parts: a call takes a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return page.replace("%MODEL%", () => btoa(text));
}
