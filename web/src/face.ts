// What every entry of the package has beside `open` and `describe`.
export { Engine } from "./engine.js";
export { DeviceError, InputError, InternalError, LoadError, MeromorphError } from "./errors.js";
export { forget, kept } from "./keep.js";
export { Model } from "./model.js";
export { Run } from "./run.js";
export type * from "./types.js";
