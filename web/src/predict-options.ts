// Generated from src/run/options/predicting.rs by
// `MERO_WRITE=1 cargo test --test engine generated`: do not edit.

/** Options of a prediction that the engine reads. */
export interface PredictingOptions {
  /**
   * What happens to a row with a category that training never saw; a row with a cell that cannot be used, such as a
   * text for a number, has no prediction then, or is an error. Default: other.
   */
  unknown?: "other" | "skip" | "refuse" | undefined;
  /**
   * Type in which a GPU stores inputs, activations and outputs of a plain perceptron; with f16, predictions differ by
   * about 0.1 % of their usual size. Default: f32.
   */
  precision?: "f32" | "f16" | undefined;
  /**
   * Add lower and upper, between which the target lies with this probability, such as 0.9; they come from the errors of
   * the test rows of training, or of all its folds. Number in (0, 1).
   */
  interval?: number | undefined;
}
