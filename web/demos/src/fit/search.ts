// A worker that looks for starts: this takes longer than a refit, and the page stays responsive.
import { type CurveFitOptions, fit } from "meromorph/fit";
import type { Data } from "./data.js";

export interface SearchRequest {
  id: number;
  columns: Data["columns"];
  model: string;
  options: CurveFitOptions;
}

export interface SearchResult {
  id: number;
  /** The fit as JSON. */
  file?: string;
  error?: string;
}

self.onmessage = async ({ data: { id, columns, model, options } }: MessageEvent<SearchRequest>) => {
  const answer = (result: Omit<SearchResult, "id">) => self.postMessage({ id, ...result });
  try {
    answer({ file: JSON.stringify(await fit(columns, model, options)) });
  } catch (error) {
    answer({ error: error instanceof Error ? error.message : String(error) });
  }
};
