// Errors as the caller gets them: of their classes again after a message port, and recognised by `instanceof` of every
// entry point of the package.
import {
  DeviceError,
  InputError,
  InternalError,
  LoadError,
  MARK,
  MeromorphError,
  type SerializedError,
} from "./errors.js";

const CLASSES: Partial<Record<string, new (message: string, kind?: never) => MeromorphError>> = {
  InputError,
  DeviceError,
  LoadError,
  InternalError,
};

/** By their name, the classes of one entry point recognise the errors of another, which are of other classes. */
Object.defineProperty(MeromorphError, Symbol.hasInstance, {
  value(this: typeof MeromorphError, error: object): boolean {
    const { [MARK]: isMarked, name } = Object(error);
    return (
      Object.prototype.isPrototypeOf.call(this.prototype, error) ||
      (isMarked && [MeromorphError, CLASSES[name]].includes(this))
    );
  },
});

/** The error that was received. An error of an unknown class is a defect of the engine. */
export function deserializeError({ name, message, kind }: SerializedError): MeromorphError {
  const Class = CLASSES[name];
  return Class ? new Class(message, kind as never) : new InternalError(`${name}: ${message}`);
}

/**
 * An error of the engine with the name of the function that the user called: `train: …` becomes `fit: …`. Other errors
 * stay the same.
 */
export function renamed(error: unknown, from: string, to: string): unknown {
  if (!(error instanceof MeromorphError) || !error.message.startsWith(`${from}: `)) return error;
  return deserializeError({ name: error.name, message: to + error.message.slice(from.length), kind: error.kind });
}
