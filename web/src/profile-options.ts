// Generated from src/profile/options.rs by
// `MERO_WRITE=1 cargo test --test engine generated`: do not edit.

/** How much of a training run is measured. */
export interface MeasuringOptions {
  /** Training steps in a window. Whole number ≥ 1. Default: as many as take about 0.2 seconds. */
  steps?: number | undefined;
  /**
   * Windows in which launches are measured, each next to one in which they are not; the median one is shown. Whole
   * number ≥ 1. Default: 9.
   */
  windows?: number | undefined;
}

/** The names of these options. */
export const MEASURING_OPTIONS = [
  "steps",
  "windows",
] as const satisfies readonly (keyof MeasuringOptions)[];
