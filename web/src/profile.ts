// The types of a step profile.
import type { MeasuringOptions } from "./profile-options.js";
import type { TrainOptions } from "./types.js";

export type { MeasuringOptions };

/** Options of {@link Engine.profile}: those of a training run, and how much is measured. */
export interface ProfileOptions extends Omit<TrainOptions, "keep" | "signal">, MeasuringOptions {
  /** If it aborts, measuring ends and the promise is rejected with its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Where the time of a training step goes. A *launch* is one run of a kernel on the device, or a copy; a step is a fixed
 * list of them. All times are means over the steps of one window, the one with the median time.
 */
export interface StepProfile {
  device: "webgpu" | "cpu";
  /** The processor or adapter, as in {@link DeviceInfo}. */
  name: string;
  /** Whether a step is two fused launches or the ops of the model one by one. */
  step: "fused" | "recorded";
  /** Rows per step. */
  batch: number;
  /** The number of the model's parameters. */
  parameters: number;
  /** Steps in a window. */
  steps: number;
  /** Milliseconds of a step whose launches are measured. */
  stepMs: number;
  /** Milliseconds of a step without measuring. */
  plainMs: number;
  /**
   * How much longer a step takes because it is measured: 0.01 is one percent. The median over neighbouring windows, so
   * not quite `stepMs / plainMs - 1`.
   */
  overhead: number;
  /** The share of `stepMs` in which launches run. */
  explained: number;
  /**
   * Milliseconds of a step in which no launch runs: the device waits for the engine or the browser. `stepMs` is the sum
   * of this and the launches' `ms`, which may be a little too long where a clock is rounded, so this may be below 0.
   */
  betweenMs: number;
  /** Floating-point operations of a step. */
  flops: number;
  /** Bytes that a step reads and writes, each buffer of a launch counted once. */
  bytes: number;
  /** The launches of a step, in the order in which they run. */
  launches: LaunchProfile[];
  /**
   * Launches of the same kernel, the longest first. This and the other groupings end with the group `between launches`,
   * so their shares add up to 1.
   */
  byKernel: LaunchGroup[];
  /** Launches of the same layer of the model, such as `layers.0`, or of another part of a step, such as `update`. */
  byLayer: LaunchGroup[];
  /** Launches that the same op recorded. */
  byOp: LaunchGroup[];
  /** Launches of the forward pass, of the backward pass, of the update and so on. */
  byDirection: LaunchGroup[];
  /** What the device can do at best. */
  ceilings: Ceilings;
  /**
   * Up to 100 steps as trace events: the text of a JSON file for ui.perfetto.dev or chrome://tracing. Its times are as
   * rounded as the browser's.
   */
  trace: string;
}

/** One launch of a step. */
export interface LaunchProfile {
  /** The kernel, such as `mlp_step` or `matmul`; `copy` for a copy. */
  kernel: string;
  /** The layer of the model, such as `layers.0`, or another part of a step. */
  layer: string;
  /** The op that recorded it. */
  op: string;
  /** Such as `forward`, `backward` or `update`. */
  direction: string;
  /** Milliseconds in a step. 0 if the clock did not see it. */
  ms: number;
  /** The share of `stepMs`. */
  share: number;
  /** Floating-point operations. */
  flops: number;
  /** Bytes read and written, each buffer counted once. */
  bytes: number;
  /** 10⁹ operations per second. */
  gflops: number;
  /** 10⁹ bytes per second. */
  gbytesPerS: number;
  /**
   * The shortest possible time at the rates of the ceilings, divided by `ms`: 1 is the fastest that was seen. A launch
   * that is faster than matrix products and copies raises the ceiling for all.
   */
  rooflineShare: number;
  /** What takes longer at the rates of the ceilings. */
  bound: "arithmetic" | "traffic";
}

/** Launches with something in common. */
export interface LaunchGroup {
  name: string;
  /** How many they are; 0 for `between launches`. */
  launches: number;
  /** Milliseconds in a step. */
  ms: number;
  /** The share of `stepMs`. */
  share: number;
  /** Floating-point operations in a step. */
  flops: number;
  /** Bytes read and written in a step. */
  bytes: number;
}

/** Measured rates of the device. */
export interface Ceilings {
  /** 10⁹ operations per second of the fastest matrix product, or of a launch that was faster. */
  gflops: number;
  /** Rows and columns of that matrix product. */
  matmulSize: number;
  /** Copies by size, the smallest first. Small ones stay in caches, and on a GPU they wait for their launch. */
  copies: {
    /** Bytes read and written. */
    bytes: number;
    /** 10⁹ bytes per second. */
    gbytesPerS: number;
  }[];
}
