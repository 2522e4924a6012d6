// What every entry point of the package exports in addition to `open` and `describe`.
export type { Engine } from "./engine.js";
export { DeviceError, type ErrorKind, InputError, InternalError, LoadError, MeromorphError } from "./errors.js";
export { forget, kept } from "./keep.js";
export type { Model } from "./model.js";
export type { Run } from "./run.js";
export type * from "./types.js";
