// Generated from src/run/options/table.rs and reading.rs by
// `MERO_WRITE=1 cargo test --test engine generated`: do not edit.

/** Options of a training run that the engine reads. */
export interface EngineOptions {
  /** Column to predict. */
  target?: string | undefined;
  /** Columns that hold, with target, the shares of classes, for loss kl. */
  moreTargets?: readonly string[] | undefined;
  /** What is learned. Default: decided by the target. */
  task?: "regression" | "classification" | undefined;
  /** Columns to learn from; put a name with a comma in double quotes. Default: all but the target. */
  features?: readonly string[] | undefined;
  /** Columns to leave out. */
  ignore?: readonly string[] | undefined;
  /** Columns of numbers to read as categories; the target among them is a class. */
  categorical?: readonly string[] | undefined;
  /** How columns of categories become inputs, by column. Default: levels; also hashed. */
  encode?: Record<string, string> | undefined;
  /**
   * Classes of the target in their order, such as low,middle,high. Default: numbers by size, texts by their letters.
   */
  classes?: readonly string[] | undefined;
  /** Columns that must be numbers: a text in one is an error. */
  numeric?: readonly string[] | undefined;
  /** How rows with empty cells are treated. Default: impute; drop for a head with poles. */
  missing?: "impute" | "drop" | undefined;
  /**
   * Inputs per column of numbers that show where between its quantiles a value is; 0 for none. Whole number ≥ 0.
   * Default: 16; fewer for large tables, 0 for a head with poles.
   */
  bins?: number | undefined;
  /** Column whose equal values stay in the same part of the split; no feature. */
  group?: string | undefined;
  /** Column by whose order the rows are split, the last for testing; no feature. */
  time?: string | undefined;
  /**
   * Order of day, month and year in dates that could have several. Default: the one in which all dates of a column are
   * possible; if there are several, it is a category.
   */
  dateOrder?: "dmy" | "mdy" | "ymd" | undefined;
  /** Seed of the split of the rows alone. Whole number from 0 to 2^53. Default: that of the run. */
  splitSeed?: number | undefined;
  /** Share of the rows that decides when to stop. Number in [0, 1). Default: 0.15. */
  validation?: number | undefined;
  /** Share of the rows that the report is about. Number in [0, 1). Default: 0.15. */
  test?: number | undefined;
  /**
   * Widths of the hidden layers; none makes a linear model. The default network is blended with a linear model, one
   * whose layers are named is not. Default: 64,64,64.
   */
  hidden?: readonly number[] | undefined;
  /** Function between layers: a name, or a formula of x such as "x*tanh(softplus(x))". Default: silu. */
  activation?: "identity" | "relu" | "leaky_relu" | "elu" | "gelu" | "mish" | "sigmoid" | "silu" | "softplus" | "tanh" |
    "rational" | "rational-poles" | (string & {}) | undefined;
  /** Normalise the values between layers to mean 0 and variance 1. Default: none. */
  norm?: "layer" | "group" | "batch" | undefined;
  /** Share of the hidden values set to zero while training. Number in [0, 1). Default: 0. */
  dropout?: number | undefined;
  /**
   * How the last hidden layer becomes the prediction; all but linear can have poles and report ⊥ (no value). Default:
   * linear.
   */
  head?: "linear" | "rational" | "projective" | "angular" | undefined;
  /**
   * Loss function: a name, or a formula of prediction p and target y such as "log(cosh(p - y))", both in standard
   * deviations of the target; losses of counts and amounts take them as they are. Default: mse; cross-entropy for
   * classes.
   */
  loss?: "mse" | "mae" | "huber" | "log_cosh" | "quantile" | "poisson" | "tweedie" | "cross-entropy" | "ordinal" |
    "bce" | "focal" | "hinge" | "gaussian_nll" | "kl" | (string & {}) | undefined;
  /**
   * Where huber turns from square to linear, in standard deviations of the target. A finite number above 0. Default: 1.
   */
  delta?: number | undefined;
  /**
   * Share of the targets that the quantile loss leaves below the prediction. A number between 0 and 1. Default: 0.5.
   */
  quantile?: number | undefined;
  /**
   * How fast the variance grows with the mean for the tweedie loss: near 1 as of counts, near 2 as of amounts that are
   * never 0. A number between 1 and 2. Default: 1.5.
   */
  power?: number | undefined;
  /**
   * How much less rows that are certain count for the focal loss; with 0 it is bce. A finite number of at least 0.
   * Default: 2.
   */
  gamma?: number | undefined;
  /** Share of a class label spread over all classes. Number in [0, 1). Default: 0; 0.1 below 2,000 training rows. */
  smoothing?: number | undefined;
  /** Weights of the classes. Default: all 1. */
  classWeights?: "balanced" | undefined;
  /** Maximum number of passes over the training rows. Whole number ≥ 1. Default: 200. */
  epochs?: number | undefined;
  /** Rows per step. Whole number ≥ 1. Default: 256; 32 below 2,000 training rows. */
  batch?: number | undefined;
  /** Steps whose gradients make one update, as if their rows were one batch. Whole number ≥ 1. Default: 1. */
  accumulate?: number | undefined;
  /** Learning rate. Number > 0. Default: 1e-3; 0.0001 for lion, 0.01 for adafactor, 0.01 for novograd. */
  lr?: number | undefined;
  /**
   * Decay of the weights per unit of learning rate. Number ≥ 0. Default: 1e-6; 1 below 2,000 training rows; 1e-6 for a
   * head with poles; 0.1 for muon, 0 for adafactor, 0 for novograd.
   */
  weightDecay?: number | undefined;
  /**
   * Epochs without improvement before stopping; 0 never stops early. Whole number ≥ 0. Default: 15; 50 for a head with
   * poles.
   */
  patience?: number | undefined;
  /** Seed of split, weights, order and dropout. Whole number from 0 to 2^53. Default: 0. */
  seed?: number | undefined;
  /**
   * Models that are trained at once, each from the next seed; predictions are the mean of theirs, with their standard
   * deviation. Whole number ≥ 1. Default: 1.
   */
  members?: number | undefined;
  /** Update rule. Default: adamw. */
  optimizer?: "adamw" | "adam" | "lion" | "sgd" | "rmsprop" | "adagrad" | "lamb" | "schedule-free" | "muon" |
    "adafactor" | "novograd" | undefined;
  /** Momentum of sgd, rmsprop and muon. Number in [0, 1). Default: 0.9; 0 for rmsprop, 0.95 for muon. */
  momentum?: number | undefined;
  /** How the learning rate changes. Default: cosine. */
  schedule?: "constant" | "cosine" | "step" | "plateau" | "exponential" | "linear" | "one-cycle" | "restarts" |
    "inverse-root" | "stable" | undefined;
  /** Updates over which the learning rate rises. Whole number ≥ 0. Default: 0. */
  warmup?: number | undefined;
  /** How a training step runs. Default: fused where the model allows it. */
  step?: "fused" | "recorded" | undefined;
  /** Largest norm of all gradients together; a longer gradient is shortened. Number > 0. */
  clipNorm?: number | undefined;
  /** Largest norm of the gradient of each weight matrix or vector. Number > 0. */
  clipTensor?: number | undefined;
  /**
   * Largest norm in standard deviations above the mean of past norms; clipNorm holds for the first ten updates. Number
   * > 0.
   */
  clipAdaptive?: number | undefined;
  /** Largest size of each gradient. Number > 0. */
  clipValue?: number | undefined;
  /** Leave out an update whose gradient is not finite, instead of ending the run. Default: false. */
  skipOverflow?: boolean | undefined;
  /** Parameters that stay as they are: names such as layers.0.weight, layers such as layers.0, or bias. */
  freeze?: readonly string[] | undefined;
  /** What the weight decay applies to. Default: all. */
  decay?: "all" | "weights" | undefined;
  /**
   * Decay per update of a running mean of the weights, which is evaluated and kept instead of them. Number in [0, 1).
   */
  meanDecay?: number | undefined;
  /**
   * Distance at which each update looks for a worse loss first, so that flat minima are found; twice the work (SAM).
   * Number > 0.
   */
  sharpness?: number | undefined;
  /**
   * Layers of which only the last keeps its result for the backward pass, which computes the others again; sqrt takes
   * least memory. Default: none.
   */
  recompute?: string | undefined;
  /** Layers such as layers.2, kinds of layers or ops whose results are computed again for the backward pass. */
  recomputeLayers?: readonly string[] | undefined;
  /**
   * Most MiB of memory for the intermediate results of a step; they are computed again, and then a step takes fewer
   * rows and more steps make an update. Whole number ≥ 1.
   */
  memoryBudget?: number | undefined;
  /** How intermediate results are stored; weights and sums are in f32. Default: f32. */
  precision?: "f32" | "f16" | "bf16" | undefined;
  /** Layers such as layers.2, kinds of layers or ops whose results stay in f32. */
  keepF32?: readonly string[] | undefined;
  /** The same for results that are stored in 16 bits as well, such as layer_norm. */
  keepHalf?: readonly string[] | undefined;
  /** First factor of the loss, so that small gradients are not lost. Number > 0. Default: 65536. */
  lossScale?: number | undefined;
  /** Updates in a row after which the factor of the loss doubles. Whole number ≥ 1. Default: 2000. */
  scaleInterval?: number | undefined;
  /** Refuse a precision that the device has no type for, instead of packing two numbers in a word. Default: false. */
  strict?: boolean | undefined;
  /**
   * Gradients at ⊥ in rational and masked layers: clamp, clamp(LOW..HIGH), project, reject or pass, for scm_rational or
   * scm_norm (all layers of a kind) or for one layer, such as layers.1. Default: project; clamp in norms.
   */
  policy?: Record<string, string> | undefined;
  /** Degrees of the rational head's numerator and denominator. Default: 3,2. */
  degrees?: readonly [number, number] | undefined;
  /**
   * Distance to a pole below which there is no value. Number > 0. Default: where values pass the largest training
   * target.
   */
  tauInfer?: number | undefined;
  /**
   * Distance to a pole below which a value is marked as a gap; 0 marks none. Number ≥ 0. Default: 3 × tauInfer; without
   * that as wide as the errors near poles.
   */
  tauTrain?: number | undefined;
  /** How the distance to a pole is measured. Default: angle. */
  threshold?: "angle" | "denominator" | undefined;
  /**
   * Stop when fewer validation rows than this share have a value in coveragePatience epochs in a row. Number in [0, 1].
   */
  minCoverage?: number | undefined;
  /** Epochs in a row below minCoverage that end the run. Whole number ≥ 1. Default: 3. */
  coveragePatience?: number | undefined;
  /**
   * Weights of the terms of the loss; FROM..TO@FIRST..LAST moves a weight between two epochs. Default: 1 for chordal.
   */
  term?: Partial<Record<"implicit" | "chordal" | "decoded" | "margin" | "sign" | "bottom" | "finite" |
    "coverage", number | string>> | undefined;
  /**
   * Raise the weight of the coverage term while fewer validation rows than this share have a value, and lower it while
   * more have. Number in [0, 1].
   */
  holdCoverage?: number | undefined;
  /** Draw rows with replacement, more often where the model errs about poles. */
  samplePoles?: boolean | undefined;
}

/** The names of these options. */
export const ENGINE_OPTIONS = [
  "target",
  "moreTargets",
  "task",
  "features",
  "ignore",
  "categorical",
  "encode",
  "classes",
  "numeric",
  "missing",
  "bins",
  "group",
  "time",
  "dateOrder",
  "splitSeed",
  "validation",
  "test",
  "hidden",
  "activation",
  "norm",
  "dropout",
  "head",
  "loss",
  "delta",
  "quantile",
  "power",
  "gamma",
  "smoothing",
  "classWeights",
  "epochs",
  "batch",
  "accumulate",
  "lr",
  "weightDecay",
  "patience",
  "seed",
  "members",
  "optimizer",
  "momentum",
  "schedule",
  "warmup",
  "step",
  "clipNorm",
  "clipTensor",
  "clipAdaptive",
  "clipValue",
  "skipOverflow",
  "freeze",
  "decay",
  "meanDecay",
  "sharpness",
  "recompute",
  "recomputeLayers",
  "memoryBudget",
  "precision",
  "keepF32",
  "keepHalf",
  "lossScale",
  "scaleInterval",
  "strict",
  "policy",
  "degrees",
  "tauInfer",
  "tauTrain",
  "threshold",
  "minCoverage",
  "coveragePatience",
  "term",
  "holdCoverage",
  "samplePoles",
] as const satisfies readonly (keyof EngineOptions)[];

/** How a table of text is written. */
export interface ReadingOptions {
  /**
   * Whether the first line holds names; false names the columns c0, c1 and so on. Default: true if none of its cells is
   * a number.
   */
  header?: boolean | undefined;
  /**
   * Character between cells, or spaces for any number of blanks; a tab is \t. Default: the one of , ; | and tab that
   * the first line has most often, or spaces.
   */
  delimiter?: string | undefined;
  /** Decimal mark of numbers. Default: a point. */
  decimal?: string | undefined;
  /** Character between groups of three digits. */
  thousands?: string | undefined;
  /**
   * Texts that mean a missing cell, besides nothing, N/A, nan, null, ? and, among numbers and dates, NA, -, none,
   * unknown and other usual words.
   */
  na?: readonly string[] | undefined;
  /** Whether NA and the other words are texts like others, so that only empty cells and those of na are missing. */
  keepNa?: boolean | undefined;
  /**
   * Encoding of the text: utf-8, utf-16le, utf-16be, latin1, windows-1252 or iso-8859-15. Default: utf-8, or the one of
   * the mark at its start.
   */
  encoding?: string | undefined;
  /** Lines that begin with this are left out. Default: # for lines at the top. */
  comment?: string | undefined;
  /** Lines before the table, which are left out. Whole number ≥ 0. Default: those that are clearly above the names. */
  skip?: number | undefined;
  /** Line of the names, from 1; lines before it are left out. Whole number ≥ 1. */
  headerRow?: number | undefined;
  /** What is done with rows that have too few or too many cells. Default: refuse. */
  badRows?: "refuse" | "skip" | "fill" | undefined;
  /**
   * Character before a quote within quotes, if that is not another quote. Default: a backslash where only that makes
   * sense.
   */
  escape?: string | undefined;
}

/** The names of these options. */
export const READING_OPTIONS = [
  "header",
  "delimiter",
  "decimal",
  "thousands",
  "na",
  "keepNa",
  "encoding",
  "comment",
  "skip",
  "headerRow",
  "badRows",
  "escape",
] as const satisfies readonly (keyof ReadingOptions)[];
