// Options as a caller gave them, checked no further than this side needs. Null counts as not given, as undefined does.
import { InputError, shown, unpassable } from "./errors.js";

/** The options of a call that knows these names. */
export function taken<O extends object>(call: string, options: O, names: readonly (keyof O & string)[]): O {
  const all = given(call, options);
  for (const name of Object.keys(all)) {
    if (!(names as readonly string[]).includes(name)) throw new InputError(`${call}: option "${name}" is unknown: expected one of ${names.join(", ")}`, "usage");
  }
  return all;
}

/** The options of a run: its signal, the name to keep it under, and the rest, for the engine to judge, as it is now. */
export function divided(call: string, options: unknown): { signal?: AbortSignal; keep?: unknown; rest: unknown } {
  const { signal, keep, ...rest } = given(call, options) as { signal?: AbortSignal; keep?: unknown };
  try {
    return { ...(signal && { signal }), keep, rest: structuredClone(rest) };
  } catch (error) {
    throw unpassable(call, error);
  }
}

function given<O>(call: string, options: O): O {
  if (typeof (options ?? {}) !== "object" || Array.isArray(options)) throw new InputError(`${call}: options: got ${shown(options)}, expected an object`, "usage");
  const given = Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined && value !== null));
  const { signal } = given;
  // By what it does: one of another realm is of another class.
  if (signal !== undefined && !(signal as AbortSignal).throwIfAborted) throw new InputError(`${call}: signal: got ${shown(signal)}, expected an AbortSignal`, "usage");
  return given as O;
}
