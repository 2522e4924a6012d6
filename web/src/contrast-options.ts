// Generated from src/contrast/options.rs by
// `MERO_WRITE=1 cargo test --test engine generated`: do not edit.

/** Options of a learned memory. */
export interface ContrastOptions {
  /** Learn a classifier instead of a memory: sizes of layers that settle, trained by equilibrium propagation. */
  hidden?: readonly number[] | undefined;
  /** Map of the columns under which distances are measured. Default: linear. */
  map?: "linear" | "diagonal" | "rotors" | "block" | "low_rank" | undefined;
  /** Coordinates after a linear map. Whole number ≥ 1. Default: as many as there are columns, at most 64. */
  outputs?: number | undefined;
  /** Columns of a block. Whole number ≥ 2. Default: 2. */
  block?: number | undefined;
  /** Directions besides the weights of columns. Whole number ≥ 1. Default: 4. */
  rank?: number | undefined;
  /** Angles of rotations of neighbouring columns. Whole number ≥ 1. Default: n/2 log2 n for n columns. */
  angles?: number | undefined;
  /** Divide each column by its standard deviation first. */
  standardize?: boolean | undefined;
  /**
   * Rows that each row is compared with, the latest ones. Whole number ≥ 2. Default: 4096, or all rows if there are
   * fewer.
   */
  memory?: number | undefined;
  /** β: how much more a near row counts than a far one. Number > 0. Default: 5. */
  sharpness?: number | undefined;
  /** b: how strongly the loss pulls at what is retrieved. Number > 0. Default: 0.1. */
  nudge?: number | undefined;
  /** Compare a nudged phase with the free one instead of two opposite nudges. */
  oneSided?: boolean | undefined;
  /** Steps of a phase. Whole number ≥ 1. Default: 64. */
  steps?: number | undefined;
  /** Passes over the rows. Whole number ≥ 1. Default: 30. */
  epochs?: number | undefined;
  /** Rows of a window. Whole number ≥ 1. Default: 128. */
  batch?: number | undefined;
  /**
   * Learning rate, which falls to 0 along a cosine. Number > 0. Default: 0.001 for map linear and hidden, 0.01 for the
   * others.
   */
  lr?: number | undefined;
  /** Share of the rows of each class that are held out to judge the memory. Number in [0, 1). Default: 0.2. */
  test?: number | undefined;
  /** Seed of the split, the order and the start. Whole number ≥ 0. Default: 0. */
  seed?: number | undefined;
}

/** The names of these options. */
export const CONTRAST_OPTIONS = [
  "hidden",
  "map",
  "outputs",
  "block",
  "rank",
  "angles",
  "standardize",
  "memory",
  "sharpness",
  "nudge",
  "oneSided",
  "steps",
  "epochs",
  "batch",
  "lr",
  "test",
  "seed",
] as const satisfies readonly (keyof ContrastOptions)[];
