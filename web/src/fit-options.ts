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
  /** Standard deviations of the observed values, such as "max(1, sqrt(n))": rows are weighted by 1 / sigma². */
  sigma?: string | undefined;
  /** Standard deviations of the one column that the model uses, if it has errors too (effective variance). */
  sigmaX?: string | undefined;
  /** Take sigma as it is; else standard errors are scaled so that the residuals agree with them. Default: false. */
  absoluteSigma?: boolean | undefined;
  /** Rows that are used, such as "x > 3 && x < 9"; && is and, || is or. Default: all rows. */
  where?: string | undefined;
  /** What is subtracted from the observed values before the fit. Default: none. */
  background?: "none" | "shirley" | "als" | undefined;
  /** How smooth the background of als is: the weight of its second differences. Number > 0. Default: 1e5. */
  smoothness?: number | undefined;
  /** Weight of rows above the background of als; those below have 1 less it. Number in (0, 1). Default: 0.01. */
  asymmetry?: number | undefined;
  /** What happens to rows with a missing cell in a column that is used. Default: error. */
  missing?: "error" | "drop" | undefined;
  /**
   * Loss of a residual r, with z = (r / lossScale)²; soft_l1, huber, cauchy and arctan are robust against outliers.
   * poisson is for counts: the most likely parameters, also where counts are few. Default: linear.
   */
  loss?: "linear" | "soft_l1" | "huber" | "cauchy" | "arctan" | "poisson" | undefined;
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
  /**
   * Also compute intervals from so many fits of data that are drawn again, such as 1000; 0 means none. Whole number
   * from 0 to 2^53. Default: 0.
   */
  bootstrap?: number | undefined;
  /** What is drawn again. Default: residuals. */
  resample?: "residuals" | "rows" | undefined;
  /**
   * Also draw so many times from the posterior of the parameters, such as 10000, with a flat prior within bounds; 0
   * means none. Whole number from 0 to 2^53. Default: 0.
   */
  sample?: number | undefined;
  /** Values that are computed from parameters, with their standard errors. */
  derive?: Record<string, string> | undefined;
}

/** The names of these options. */
export const SOLVER_OPTIONS = [
  "p0",
  "bounds",
  "fix",
  "tie",
  "y",
  "sigma",
  "sigmaX",
  "absoluteSigma",
  "where",
  "background",
  "smoothness",
  "asymmetry",
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
  "bootstrap",
  "resample",
  "sample",
  "derive",
] as const satisfies readonly (keyof SolverOptions)[];
