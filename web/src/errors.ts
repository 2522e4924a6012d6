// The error classes, and their conversion for a message port, which does not preserve classes. received.ts converts
// them back.

/**
 * Who can act: `usage` is a wrong option or call, `input` data or a file that cannot be used, `device` a device that is
 * absent, too small or lost, `internal` a bug in the engine.
 */
export type ErrorKind = "usage" | "input" | "device" | "internal";

/** Marks the errors of every entry point of the package, each of which has classes of its own. */
export const MARK = Symbol.for("meromorph.error");

/** The base class of all errors that the package throws. Only an aborted signal rejects with its own reason instead. */
export class MeromorphError extends Error {
  override name = "MeromorphError";
  readonly kind: ErrorKind = "internal";

  /** @internal */
  get [MARK](): boolean {
    return true;
  }
}

/**
 * The caller's input is invalid. Its kind is `usage` for options, calls and disposed handles, and `input` for data and
 * files.
 */
export class InputError extends MeromorphError {
  override name = "InputError";
  override readonly kind: "usage" | "input";

  constructor(message: string, kind: "usage" | "input" = "input") {
    super(message);
    this.kind = kind;
  }
}

/** The device is absent, too small, or lost. Opening it again or choosing another one may help. */
export class DeviceError extends MeromorphError {
  override name = "DeviceError";
  override readonly kind = "device";
}

/** A model file or the engine's own files could not be fetched. */
export class LoadError extends MeromorphError {
  override name = "LoadError";
  override readonly kind = "input";
}

/** A defect of the engine. The engine that threw it can no longer be used: open another one. */
export class InternalError extends MeromorphError {
  override name = "InternalError";
  override readonly kind = "internal";
}

/** An error as it is sent through a port. */
export interface SerializedError {
  name: string;
  message: string;
  kind?: ErrorKind | undefined;
}

/** The message that is sent for `error`. */
export function serializeError(error: unknown): SerializedError {
  const { name, message, kind }: SerializedError = error instanceof Error ? error : new Error(String(error));
  return { name, message, kind };
}

/** The message of anything thrown, followed by the messages of its causes. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause, code = "" } = error as Error & { code?: string };
  return cause === undefined ? message || code : `${message}: ${messageOf(cause)}`;
}

/** The name of the class of a value, which may be of another realm. */
export const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** A value of the caller, as text for a message. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (Object(value) === value) return `of type ${tagOf(value)}`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** Errors if `value` is of a kind that cannot be sent through a port. `where` names it. */
export function checkPassable(where: string, value: unknown, expected: string): void {
  const tag = tagOf(value);
  if (/Function|Promise/.test(tag))
    throw new InputError(
      `${where}: got a ${tag}, expected ${expected}${tag === "Promise" ? "; did you forget await?" : ""}`,
      "usage",
    );
}

/** The error for another value that cannot be sent through a port. */
export const unpassable = (call: string, error: unknown): InputError =>
  new InputError(`${call}: the input cannot be sent to the engine: ${messageOf(error)}`);
