// Generated from src/run/options/predicting.rs by
// `MERO_WRITE=1 cargo test --test engine generated`: do not edit.

/** Options of a prediction that the engine reads. */
export interface PredictingOptions {
  /**
   * What happens to a row with a category that training never saw; a row with a cell that cannot be used, such as a
   * text for a number, has no prediction, or with refuse is an error. Default: other.
   */
  unknown?: "other" | "skip" | "refuse" | undefined;
  /**
   * Type in which a GPU stores inputs, activations and outputs; the CPU always uses f32. With f16, for plain
   * perceptrons of up to 16 layers of up to 128 units, predictions differ by about 0.1 % of their usual size, and a row
   * with values beyond ±65,504 is an error. Default: f32.
   */
  precision?: "f32" | "f16" | undefined;
  /**
   * Add lower and upper, between which the target lies with this probability, such as 0.9; they come from the errors of
   * the test rows of training, or of all its folds. A curve fit has bands in any case, by default of its own level.
   * Number in (0, 1).
   */
  interval?: number | undefined;
}

/** The names of these options. */
export const PREDICTING_OPTIONS = [
  "unknown",
  "precision",
  "interval",
] as const satisfies readonly (keyof PredictingOptions)[];
