// Options as a caller gave them, checked no further than this side needs.
import { InputError } from "./errors.js";

/** Options without what stays on this side: the signal, and the name to keep a run under. */
export function split(call: string, options: unknown): { signal?: AbortSignal | undefined; keep?: unknown; rest: unknown } {
  if (typeof options !== "object" || options === null || Array.isArray(options)) return { rest: options };
  const { signal, keep, ...rest } = options as { signal?: unknown; keep?: unknown };
  if (signal === undefined || signal === null) return { keep, rest };
  if (!(signal instanceof AbortSignal)) throw new InputError(`${call}: signal is ${typeof signal}, wanted an AbortSignal`);
  return { signal, keep, rest };
}
