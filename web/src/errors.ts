// Errors by who can do something about them, and their way through a message port, which keeps no classes.

/** Anything the package throws but for a signal's own reason. */
export class MeromorphError extends Error {
  override name = "MeromorphError";
}

/** What the caller gave is refused: data, options, files, or a handle that was disposed of. */
export class InputError extends MeromorphError {
  override name = "InputError";
}

/** A device is absent, too small or lost: another one, or the same opened again, may do. */
export class DeviceError extends MeromorphError {
  override name = "DeviceError";
}

/** A file or the engine's own files could not be fetched. */
export class LoadError extends MeromorphError {
  override name = "LoadError";
}

/** A defect of the engine. The engine that threw it is of no more use; open another one. */
export class InternalError extends MeromorphError {
  override name = "InternalError";
}

/** An error as it crosses a port. */
export interface PackedError {
  name: string;
  message: string;
}

const KINDS: Partial<Record<string, typeof MeromorphError>> = { InputError, DeviceError, LoadError, InternalError };

/** What crosses for `error`. */
export function packed(error: unknown): PackedError {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { name, message };
}

/** The error that crossed. What the engine did not foresee is a defect of its. */
export function unpacked({ name, message }: PackedError): MeromorphError {
  const Kind = KINDS[name];
  return Kind ? new Kind(message) : new InternalError(`${name}: ${message}`);
}

/** The message of anything thrown, and of what caused it. */
export function words(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause, code = "" } = error as Error & { code?: string };
  return cause === undefined ? message || code : `${message}: ${words(cause)}`;
}

/** A value of the caller's in a message. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (Object(value) === value) return `of type ${Object.prototype.toString.call(value).slice(8, -1)}`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** For what a port does not carry. */
export const unpassable = (call: string, error: unknown): InputError => new InputError(`${call}: what was given cannot be passed to the engine: ${words(error)}`);
