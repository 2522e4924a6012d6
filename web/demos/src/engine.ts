// The only access of the demos to the engine: the package's public API.

export type {
  Description,
  DeviceInfo,
  DeviceName,
  EndEvent as End,
  Engine,
  EpochEvent,
  Label,
  LaunchGroup,
  LaunchProfile,
  Model,
  ModelInfo,
  Prediction,
  ProfileOptions,
  ReadingOptions,
  Run,
  StartEvent,
  StepProfile,
  Table,
  TrainOptions,
} from "meromorph";
export { DeviceError, describe, forget, InputError, InternalError, kept, open } from "meromorph";
