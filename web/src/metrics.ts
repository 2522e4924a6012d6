// The metrics of predictions. Generated from src/judge/metrics by
// `MERO_WRITE=1 cargo test --test engine generated`: do not edit.

/** The quality of predictions. A figure that does not apply is null. */
export interface Metrics {
  /** Number of rows. */
  rows: number;
  /** Mean loss, in the loss's units. */
  loss: number | null;
  /** Mean squared error, in squared target units. */
  mse: number | null;
  /** Mean absolute error, in target units; of shares of classes, their mean distance. */
  mae: number | null;
  /** 1 - Σ(y - z)² / Σ(y - ȳ)²; absent if the targets are constant. */
  r2: number | null;
  /** Root of the mean squared error, in target units. */
  rmse: number | null;
  /** Mean of -ln of the predicted normal density at the targets, whose unit is that of the target. */
  nll: number | null;
  /** Share of rows whose class was predicted. */
  accuracy: number | null;
  /** Mean over the classes of the share of their rows whose class was predicted. */
  balancedAccuracy: number | null;
  /** Mean over the classes of F1, the harmonic mean of precision and recall. */
  f1: number | null;
  /** Correlation of classes and predicted classes (Matthews), 0 for guesses, also where one class has most rows; absent if a class has all rows. */
  mcc: number | null;
  /** Area under the ROC curve, for more than two classes the mean of each against the rest; absent if a class has all rows. */
  auc: number | null;
  /** Mean of -ln p of the rows' own classes. */
  logLoss: number | null;
  /** Mean distance of the predicted classes' probability from the share of them that is right, over ten bins. */
  calibration: number | null;
  /** Median absolute error of the values of a model with poles, in target units: robust against a few rows near a pole. */
  median: number | null;
  /** Share of values of a model with poles that are decoded to a number; the errors are over these. */
  coverage: number | null;
  /** Share of all values that are decoded in the gap near a pole. */
  gap: number | null;
  /** Share of the finite targets that are predicted as ⊥. */
  refused: number | null;
  /** Share of the ⊥ targets that are predicted as ⊥. */
  found: number | null;
}
