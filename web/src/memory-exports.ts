// What every entry point of learned memories exports in addition to `learn` and `loadMemory`.
export type { ContrastOptions } from "./contrast-options.js";
export type { HalfArray, Integers } from "./data.js";
export { DeviceError, type ErrorKind, InputError, InternalError, LoadError, MeromorphError } from "./errors.js";
export type {
  Found,
  LearnEpoch,
  LearnOptions,
  Memory,
  MemoryLabel,
  MemoryMap,
  MemoryRow,
  Neighbour,
  Rotation,
} from "./memory.js";
