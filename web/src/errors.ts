// Errors by who can act on them, and how they cross a message port, which keeps neither classes nor properties.

/**
 * Who can act: `usage` is a wrong option or call, `input` data or a file that cannot be used, `device` a device that is absent, too small or lost,
 * `internal` a bug in the engine.
 */
export type ErrorKind = "usage" | "input" | "device" | "internal";

/** Every error of the package, except the reason of an aborted signal. */
export class MeromorphError extends Error {
  override name = "MeromorphError";
  readonly kind: ErrorKind = "internal";
}

/** An argument is refused. Its kind is `usage` for options, calls and disposed handles, and `input` for data and files. */
export class InputError extends MeromorphError {
  override name = "InputError";
  override readonly kind: "usage" | "input";

  constructor(message: string, kind: "usage" | "input" = "input") {
    super(message);
    this.kind = kind;
  }
}

/** A device is absent, too small or lost. Another device, or the same one opened again, may work. */
export class DeviceError extends MeromorphError {
  override name = "DeviceError";
  override readonly kind = "device";
}

/** A file or the engine's own files could not be fetched. */
export class LoadError extends MeromorphError {
  override name = "LoadError";
  override readonly kind = "input";
}

/** A bug in the engine. The engine that threw it cannot be used any more; open another one. */
export class InternalError extends MeromorphError {
  override name = "InternalError";
  override readonly kind = "internal";
}

/** An error as it crosses a port. */
export interface PackedError {
  name: string;
  message: string;
  kind?: ErrorKind | undefined;
}

const CLASSES: Partial<Record<string, new (message: string) => MeromorphError>> = { DeviceError, LoadError, InternalError };

/** The form of `error` that crosses a port. */
export function packed(error: unknown): PackedError {
  const { name, message, kind }: PackedError = error instanceof Error ? error : new Error(String(error));
  return { name, message, kind };
}

/** The error that crossed a port. An error of any other class is a bug in the engine. */
export function unpacked({ name, message, kind }: PackedError): MeromorphError {
  if (name === "InputError") return new InputError(message, kind === "usage" ? kind : "input");
  const Class = CLASSES[name];
  return Class ? new Class(message) : new InternalError(`${name}: ${message}`);
}

/** The message of anything thrown, and of what caused it. */
export function words(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause, code = "" } = error as Error & { code?: string };
  return cause === undefined ? message || code : `${message}: ${words(cause)}`;
}

/** A value of the caller as text for a message. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (Object(value) === value) return `of type ${Object.prototype.toString.call(value).slice(8, -1)}`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** An argument that cannot be sent through a port. */
export const unpassable = (call: string, error: unknown): InputError => new InputError(`${call}: what was given cannot be passed to the engine: ${words(error)}`);
