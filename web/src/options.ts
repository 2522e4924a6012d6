// Options as a caller gave them, checked no further than this side needs. Null counts as not given, as undefined does.
import { checkPassable, InputError, shown, unpassable } from "./errors.js";
import { READING_OPTIONS } from "./train-options.js";
import type { ReadingOptions, TrainOptions } from "./types.js";

/** The options of a call that knows these names. */
export function taken<O extends object>(call: string, options: O, names: readonly (keyof O & string)[]): O {
  const all = given(call, options);
  for (const name of Object.keys(all)) {
    if ((names as readonly string[]).includes(name)) continue;
    const near = similar(name, names);
    throw new InputError(
      `${call}: option "${name}" is unknown: ${near ? `did you mean "${near}"?` : `expected one of ${names.join(", ")}`}`,
      "usage",
    );
  }
  return all;
}

/** The name that another most likely misspells, if any: at most a third of the letters differ, as in the engine. */
function similar(name: string, names: readonly string[]): string | undefined {
  const plain = name.replace(/[-_]/g, "").toLowerCase();
  const most = Math.min(Math.ceil(plain.length / 3), 3, plain.length - 1);
  const near = names
    .map((known) => [distance(plain, known.toLowerCase()), known] as const)
    .sort(([a], [b]) => a - b)[0];
  return near && name.length <= 64 && near[0] <= most ? near[1] : undefined;
}

/** The edits that turn one text into another. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...from].entries()) {
    const next = [at + 1];
    for (let column = 0; column < to.length; column++)
      next.push(Math.min(row[column + 1]! + 1, next[column]! + 1, row[column]! + (to[column] === letter ? 0 : 1)));
    row = next;
  }
  return row[to.length]!;
}

/** Options of other libraries that ask for what {@link Engine.fit} never does. */
const SILENT = ["verbose", "verbosity", "silent", "quiet"];

/** The options that say how a table is written, and the others, of options that were taken. */
export function split<O extends ReadingOptions>(options: O): [ReadingOptions, Omit<O, keyof ReadingOptions>] {
  const those = (isReading: boolean) =>
    Object.fromEntries(
      Object.entries(options).filter(([name]) => (READING_OPTIONS as readonly string[]).includes(name) === isReading),
    );
  return [those(true), those(false) as Omit<O, keyof ReadingOptions>];
}

/**
 * The options of a run: its signal, the name to keep it under, how its table is written, and the rest, for the engine
 * to judge, as it is now.
 */
export function divided<O extends object = TrainOptions>(
  call: string,
  options: unknown,
): { signal: AbortSignal | undefined; keep?: unknown; reading: ReadingOptions; rest: O } {
  const { signal, keep, ...others } = given(call, options) as TrainOptions;
  const silent = SILENT.find((name) => name in others);
  if (silent)
    throw new InputError(
      `${call}: option "${silent}" is unknown: nothing is printed here (quiet is an option of the mero program); onEpoch of fit, and the events of train, say how the run goes`,
      "usage",
    );
  for (const name in others)
    checkPassable(`${call}: ${name}`, others[name as "target"], "data; onStart and onEpoch are for fit");
  const [reading, rest] = split(cloned(call, others));
  return { signal, keep, reading, rest: rest as O };
}

/** A copy that later changes have no effect on. */
export function cloned<T>(call: string, value: T): T {
  try {
    return structuredClone(value);
  } catch (error) {
    throw unpassable(call, error);
  }
}

function given<O>(call: string, options: O): O {
  if (typeof (options ?? {}) !== "object" || Array.isArray(options))
    throw new InputError(`${call}: options: got ${shown(options)}, expected an object`, "usage");
  const given = Object.fromEntries(
    Object.entries(options ?? {}).filter(([, value]) => value !== undefined && value !== null),
  );
  const { signal } = given;
  // By what it does: one of another realm is of another class.
  if (signal !== undefined && !(signal as AbortSignal).throwIfAborted)
    throw new InputError(`${call}: signal: got ${shown(signal)}, expected an AbortSignal`, "usage");
  return given as O;
}
