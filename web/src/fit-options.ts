// Generated from src/fit/options.rs by
// `MERO_WRITE=1 cargo test --test engine generated`: do not edit.

/** Options of a curve fit that the engine reads. */
export interface SolverOptions {
  /** Starts of parameters; others are looked for. */
  p0?: Readonly<Record<string, number>> | undefined;
  /** Bounds of parameters. */
  bounds?: Readonly<Record<string, readonly [number | null, number | null]>> | undefined;
  /** Parameters that keep a value. */
  fix?: Readonly<Record<string, number>> | undefined;
  /** Parameters that are computed from others, such as d from 2*a. */
  tie?: Record<string, string> | undefined;
  /**
   * Observed values: a column, or a formula over columns such as "log(y)". Default: the last column that the model does
   * not use.
   */
  y?: string | undefined;
  /** Column of standard deviations of the observed values: rows are weighted by 1 / sigma². */
  sigma?: string | undefined;
  /** Take sigma as it is; else standard errors are scaled so that the residuals agree with them. Default: false. */
  absoluteSigma?: boolean | undefined;
  /** What happens to rows with a missing cell in a column that is used. Default: error. */
  missing?: "error" | "drop" | undefined;
  /** Loss of a residual r, with z = (r / lossScale)²; all but linear are robust against outliers. Default: linear. */
  loss?: "linear" | "soft_l1" | "huber" | "cauchy" | "arctan" | undefined;
  /**
   * Size of a residual from which a robust loss counts it less, in units of y, or with sigma of sigma. Number > 0.
   * Default: 1.
   */
  lossScale?: number | undefined;
  /** How the minimum is searched. Default: trf. */
  method?: "trf" | "lm" | undefined;
  /** Search for the start all over the bounds, on up to a thousand rows, even if p0 is given. Default: none. */
  global?: "none" | "multistart" | "cmaes" | undefined;
  /** Search again from other starts if a search gets stuck or the model is not finite at the start. Default: true. */
  recovery?: boolean | undefined;
  /**
   * Evaluations of the model over all rows, at most; 0 means 500 for each free parameter, and 500 more. Whole number
   * from 0 to 2^53. Default: 0.
   */
  maxEvaluations?: number | undefined;
  /** Seed of the starts that are tried for parameters without one. Whole number from 0 to 2^53. Default: 0. */
  seed?: number | undefined;
  /** Probability of intervals and bands. Number in (0, 1). Default: 0.95. */
  level?: number | undefined;
  /**
   * Also compute intervals from the profile of the cost: they are right where the model bends, and take some fits for
   * each parameter. Default: false.
   */
  profile?: boolean | undefined;
}

/** The names of these options. */
export const SOLVER_OPTIONS = [
  "p0",
  "bounds",
  "fix",
  "tie",
  "y",
  "sigma",
  "absoluteSigma",
  "missing",
  "loss",
  "lossScale",
  "method",
  "global",
  "recovery",
  "maxEvaluations",
  "seed",
  "level",
  "profile",
] as const satisfies readonly (keyof SolverOptions)[];
