# Generated from the tables of options by `MERO_WRITE=1 cargo test --test engine generated`: do not edit.
"""The options of each task, for type checkers and help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict


class TrainOptions(TypedDict, total=False):
    """Options of a training run, besides its target.

    more_targets : names
        Columns that hold, with target, the shares of classes, for loss kl.
    task : regression, classification
        What is learned. Default: decided by the target.
    features : names
        Columns to learn from; put a name with a comma in double quotes. Default: all but the target.
    ignore : names
        Columns to leave out.
    categorical : names
        Columns of numbers to read as categories; the target among them is a class.
    encode : named values such as {"zip": …}
        How columns of categories become inputs, by column. Default: levels; also hashed.
    classes : names
        Classes of the target in their order, such as low,middle,high. Default: numbers by size, texts by their letters.
    numeric : names
        Columns that must be numbers: a text in one is an error.
    missing : impute, drop
        How rows with empty cells are treated. Default: impute; drop for a head with poles.
    bins : whole number ≥ 0
        Inputs per column of numbers that show where between its quantiles a value is; 0 for none. Default: 16; fewer
        for large tables, 0 for a head with poles.
    group : the name of a column
        Column whose equal values stay in the same part of the split; no feature.
    time : the name of a column
        Column by whose order the rows are split, the last for testing; no feature.
    date_order : dmy, mdy, ymd
        Order of day, month and year in dates that could have several. Default: the one in which all dates of a column
        are possible; if there are several, it is a category.
    split_seed : whole number from 0 to 2^53
        Seed of the split of the rows alone. Default: that of the run.
    validation : number in [0, 1)
        Share of the rows that decides when to stop. Default: 0.15.
    test : number in [0, 1)
        Share of the rows that the report is about. Default: 0.15.
    hidden : whole numbers ≥ 1
        Widths of the hidden layers; none makes a linear model. The default network is blended with a linear model, one
        whose layers are named is not. Default: 64,64,64.
    activation : identity, relu, leaky_relu, elu, gelu, mish, sigmoid, silu, softplus, tanh, rational, rational-poles, or a formula
        Function between layers: a name, or a formula of x such as "x*tanh(softplus(x))". Default: silu.
    norm : layer, group, batch
        Normalise the values between layers to mean 0 and variance 1. Default: none.
    dropout : number in [0, 1)
        Share of the hidden values set to zero while training. Default: 0.
    head : linear, rational, projective, angular
        How the last hidden layer becomes the prediction; all but linear can have poles and report ⊥ (no value).
        Default: linear.
    loss : mse, mae, huber, log_cosh, quantile, poisson, tweedie, cross-entropy, ordinal, bce, focal, hinge, gaussian_nll, kl, or a formula
        Loss function: a name, or a formula of prediction p and target y such as "log(cosh(p - y))", both in standard
        deviations of the target; losses of counts and amounts take them as they are. Default: mse; cross-entropy for
        classes.
    delta : a finite number above 0
        Where huber turns from square to linear, in standard deviations of the target. Default: 1.
    quantile : a number between 0 and 1
        Share of the targets that the quantile loss leaves below the prediction. Default: 0.5.
    power : a number between 1 and 2
        How fast the variance grows with the mean for the tweedie loss: near 1 as of counts, near 2 as of amounts that
        are never 0. Default: 1.5.
    gamma : a finite number of at least 0
        How much less rows that are certain count for the focal loss; with 0 it is bce. Default: 2.
    smoothing : number in [0, 1)
        Share of a class label spread over all classes. Default: 0; 0.1 below 2,000 training rows.
    class_weights : balanced
        Weights of the classes. Default: all 1.
    epochs : whole number ≥ 1
        Maximum number of passes over the training rows. Default: 200.
    batch : whole number ≥ 1
        Rows per step. Default: 256; 32 below 2,000 training rows.
    accumulate : whole number ≥ 1
        Steps whose gradients make one update, as if their rows were one batch. Default: 1.
    lr : number > 0
        Learning rate. Default: 1e-3; 0.0001 for lion, 0.01 for adafactor, 0.01 for novograd.
    weight_decay : number ≥ 0
        Decay of the weights per unit of learning rate. Default: 1e-6; 1 below 2,000 training rows; 1e-6 for a head with
        poles; 0.1 for muon, 0 for adafactor, 0 for novograd.
    patience : whole number ≥ 0
        Epochs without improvement before stopping; 0 never stops early. Default: 15; 50 for a head with poles.
    seed : whole number from 0 to 2^53
        Seed of split, weights, order and dropout. Default: 0.
    members : whole number ≥ 1
        Models that are trained at once, each from the next seed; predictions are the mean of theirs, with their
        standard deviation. Default: 1.
    optimizer : adamw, adam, lion, sgd, rmsprop, adagrad, lamb, schedule-free, muon, adafactor, novograd
        Update rule. Default: adamw.
    momentum : number in [0, 1)
        Momentum of sgd, rmsprop and muon. Default: 0.9; 0 for rmsprop, 0.95 for muon.
    schedule : constant, cosine, step, plateau, exponential, linear, one-cycle, restarts, inverse-root, stable
        How the learning rate changes. Default: cosine.
    warmup : whole number ≥ 0
        Updates over which the learning rate rises. Default: 0.
    step : fused, recorded
        How a training step runs. Default: fused where the model allows it.
    clip_norm : number > 0
        Largest norm of all gradients together; a longer gradient is shortened.
    clip_tensor : number > 0
        Largest norm of the gradient of each weight matrix or vector.
    clip_adaptive : number > 0
        Largest norm in standard deviations above the mean of past norms; clip_norm holds for the first ten updates.
    clip_value : number > 0
        Largest size of each gradient.
    skip_overflow : flag
        Leave out an update whose gradient is not finite, instead of ending the run. Default: false.
    freeze : names
        Parameters that stay as they are: names such as layers.0.weight, layers such as layers.0, or bias.
    decay : all, weights
        What the weight decay applies to. Default: all.
    mean_decay : number in [0, 1)
        Decay per update of a running mean of the weights, which is evaluated and kept instead of them.
    sharpness : number > 0
        Distance at which each update looks for a worse loss first, so that flat minima are found; twice the work (SAM).
    recompute : a number of layers, or sqrt
        Layers of which only the last keeps its result for the backward pass, which computes the others again; sqrt
        takes least memory. Default: none.
    recompute_layers : names
        Layers such as layers.2, kinds of layers or ops whose results are computed again for the backward pass.
    memory_budget : whole number ≥ 1
        Most MiB of memory for the intermediate results of a step; they are computed again, and then a step takes fewer
        rows and more steps make an update.
    precision : f32, f16, bf16
        How intermediate results are stored; weights and sums are in f32. Default: f32.
    keep_f32 : names
        Layers such as layers.2, kinds of layers or ops whose results stay in f32.
    keep_half : names
        The same for results that are stored in 16 bits as well, such as layer_norm.
    loss_scale : number > 0
        First factor of the loss, so that small gradients are not lost. Default: 65536.
    scale_interval : whole number ≥ 1
        Updates in a row after which the factor of the loss doubles. Default: 2000.
    strict : flag
        Refuse a precision that the device has no type for, instead of packing two numbers in a word. Default: false.
    policy : named values such as {"scm_rational": …}
        Gradients at ⊥ in rational and masked layers: clamp, clamp(LOW..HIGH), project, reject or pass, for scm_rational
        or scm_norm (all layers of a kind) or for one layer, such as layers.1. Default: project; clamp in norms.
    degrees : 2 whole numbers
        Degrees of the rational head's numerator and denominator. Default: 3,2.
    tau_infer : number > 0
        Distance to a pole below which there is no value. Default: where values pass the largest training target.
    tau_train : number ≥ 0
        Distance to a pole below which a value is marked as a gap; 0 marks none. Default: 3 × tau_infer; without that as
        wide as the errors near poles.
    threshold : angle, denominator
        How the distance to a pole is measured. Default: angle.
    min_coverage : number in [0, 1]
        Stop when fewer validation rows than this share have a value in coverage_patience epochs in a row.
    coverage_patience : whole number ≥ 1
        Epochs in a row below min_coverage that end the run. Default: 3.
    term : named values such as {"decoded": …}; names: implicit, chordal, decoded, margin, sign, bottom, finite, coverage
        Weights of the terms of the loss; FROM..TO@FIRST..LAST moves a weight between two epochs. Default: 1 for
        chordal.
    hold_coverage : number in [0, 1]
        Raise the weight of the coverage term while fewer validation rows than this share have a value, and lower it
        while more have.
    sample_poles : flag
        Draw rows with replacement, more often where the model errs about poles.
    """

    more_targets: Sequence[str] | None
    task: Literal["regression", "classification"] | None
    features: Sequence[str] | None
    ignore: Sequence[str] | None
    categorical: Sequence[str] | None
    encode: Mapping[str, str] | None
    classes: Sequence[str] | None
    numeric: Sequence[str] | None
    missing: Literal["impute", "drop"] | None
    bins: int | None
    group: str | None
    time: str | None
    date_order: Literal["dmy", "mdy", "ymd"] | None
    split_seed: int | None
    validation: float | None
    test: float | None
    hidden: Sequence[int] | None
    activation: str | None
    norm: Literal["layer", "group", "batch"] | None
    dropout: float | None
    head: Literal["linear", "rational", "projective", "angular"] | None
    loss: str | None
    delta: float | None
    quantile: float | None
    power: float | None
    gamma: float | None
    smoothing: float | None
    class_weights: Literal["balanced"] | None
    epochs: int | None
    batch: int | None
    accumulate: int | None
    lr: float | None
    weight_decay: float | None
    patience: int | None
    seed: int | None
    members: int | None
    optimizer: Literal["adamw", "adam", "lion", "sgd", "rmsprop", "adagrad", "lamb", "schedule-free", "muon", "adafactor", "novograd"] | None
    momentum: float | None
    schedule: Literal["constant", "cosine", "step", "plateau", "exponential", "linear", "one-cycle", "restarts", "inverse-root", "stable"] | None
    warmup: int | None
    step: Literal["fused", "recorded"] | None
    clip_norm: float | None
    clip_tensor: float | None
    clip_adaptive: float | None
    clip_value: float | None
    skip_overflow: bool | None
    freeze: Sequence[str] | None
    decay: Literal["all", "weights"] | None
    mean_decay: float | None
    sharpness: float | None
    recompute: str | None
    recompute_layers: Sequence[str] | None
    memory_budget: int | None
    precision: Literal["f32", "f16", "bf16"] | None
    keep_f32: Sequence[str] | None
    keep_half: Sequence[str] | None
    loss_scale: float | None
    scale_interval: int | None
    strict: bool | None
    policy: Mapping[str, str] | None
    degrees: Sequence[int] | None
    tau_infer: float | None
    tau_train: float | None
    threshold: Literal["angle", "denominator"] | None
    min_coverage: float | None
    coverage_patience: int | None
    term: Mapping[str, float | str] | None
    hold_coverage: float | None
    sample_poles: bool | None


class ReadingOptions(TypedDict, total=False):
    """How a table of text is written.

    header : flag
        Whether the first line holds names; false names the columns c0, c1 and so on. Default: true if none of its cells
        is a number.
    delimiter : one character, or spaces
        Character between cells, or spaces for any number of blanks; a tab is \\t. Default: the one of , ; | and tab
        that the first line has most often, or spaces.
    decimal : a point or a comma
        Decimal mark of numbers. Default: a point.
    thousands : one character
        Character between groups of three digits.
    na : names
        Texts that mean a missing cell, besides nothing, N/A, nan, null, ? and, among numbers and dates, NA, -, none,
        unknown and other usual words.
    keep_na : flag
        Whether NA and the other words are texts like others, so that only empty cells and those of na are missing.
    encoding : the name of an encoding
        Encoding of the text: utf-8, utf-16le, utf-16be, latin1, windows-1252 or iso-8859-15. Default: utf-8, or the one
        of the mark at its start.
    comment : the text at the start of a comment
        Lines that begin with this are left out. Default: # for lines at the top.
    skip : whole number ≥ 0
        Lines before the table, which are left out. Default: those that are clearly above the names.
    header_row : whole number ≥ 1
        Line of the names, from 1; lines before it are left out.
    bad_rows : refuse, skip, fill
        What is done with rows that have too few or too many cells. Default: refuse.
    escape : one character
        Character before a quote within quotes, if that is not another quote. Default: a backslash where only that makes
        sense.
    """

    header: bool | None
    delimiter: str | None
    decimal: str | None
    thousands: str | None
    na: Sequence[str] | None
    keep_na: bool | None
    encoding: str | None
    comment: str | None
    skip: int | None
    header_row: int | None
    bad_rows: Literal["refuse", "skip", "fill"] | None
    escape: str | None


class PredictOptions(TypedDict, total=False):
    """Options of a prediction.

    unknown : other, skip, refuse
        What happens to a row with a category that training never saw; a row with a cell that cannot be used, such as a
        text for a number, has no prediction, or with refuse is an error. Default: other.
    precision : f32, f16
        Type in which a GPU stores inputs, activations and outputs; the CPU always uses f32. With f16, for plain
        perceptrons of up to 16 layers of up to 128 units, predictions differ by about 0.1 % of their usual size, and a
        row with values beyond ±65,504 is an error. Default: f32.
    interval : number in (0, 1)
        Add lower and upper, between which the target lies with this probability, such as 0.9; they come from the errors
        of the test rows of training, or of all its folds. A curve fit has bands in any case, by default of its own
        level.
    """

    unknown: Literal["other", "skip", "refuse"] | None
    precision: Literal["f32", "f16"] | None
    interval: float | None


class FitOptions(TypedDict, total=False):
    """Options of a curve fit.

    p0 : numbers by name
        Starts of parameters; others are looked for.
    bounds : (low, high) by name; an end that is None or infinite is open
        Bounds of parameters.
    fix : numbers by name
        Parameters that keep a value.
    tie : named values such as {"d": …}
        Parameters that are computed from others, such as d from 2*a.
    y : a column, or a formula over columns
        Observed values: a column, or a formula over columns such as "log(y)". Default: the last column that the model
        does not use.
    sigma : a column, or a formula over columns
        Standard deviations of the observed values, such as "max(1, sqrt(n))": rows are weighted by 1 / sigma².
    sigma_x : a column, or a formula over columns
        Standard deviations of the one column that the model uses, if it has errors too (effective variance).
    absolute_sigma : flag
        Take sigma as it is; else standard errors are scaled so that the residuals agree with them. Default: false.
    where : a formula over columns
        Rows that are used, such as "x > 3 && x < 9"; && is and, || is or. Default: all rows.
    background : none, shirley, als
        What is subtracted from the observed values before the fit. Default: none.
    smoothness : number > 0
        How smooth the background of als is: the weight of its second differences. Default: 1e5.
    asymmetry : number in (0, 1)
        Weight of rows above the background of als; those below have 1 less it. Default: 0.01.
    missing : error, drop
        What happens to rows with a missing cell in a column that is used. Default: error.
    loss : linear, soft_l1, huber, cauchy, arctan, poisson
        Loss of a residual r, with z = (r / loss_scale)²; soft_l1, huber, cauchy and arctan are robust against outliers.
        poisson is for counts: the most likely parameters, also where counts are few. Default: linear.
    loss_scale : number > 0
        Size of a residual from which a robust loss counts it less, in units of y, or with sigma of sigma. Default: 1.
    method : trf, lm
        How the minimum is searched. Default: trf.
    global_ : none, multistart, cmaes
        Search for the start all over the bounds, on up to a thousand rows, even if p0 is given. Default: none.
    recovery : true or false
        Search again from other starts if a search gets stuck or the model is not finite at the start. Default: true.
    max_evaluations : whole number from 0 to 2^53
        Evaluations of the model over all rows, at most; 0 means 500 for each free parameter, and 500 more. Default: 0.
    seed : whole number from 0 to 2^53
        Seed of the starts that are tried for parameters without one. Default: 0.
    level : number in (0, 1)
        Probability of intervals and bands. Default: 0.95.
    profile : flag
        Also compute intervals from the profile of the cost: they are right where the model bends, and take some fits
        for each parameter. Default: false.
    bootstrap : whole number from 0 to 2^53
        Also compute intervals from so many fits of data that are drawn again, such as 1000; 0 means none. Default: 0.
    resample : residuals, rows
        What is drawn again. Default: residuals.
    sample : whole number from 0 to 2^53
        Also draw so many times from the posterior of the parameters, such as 10000, with a flat prior within bounds; 0
        means none. Default: 0.
    derive : named values such as {"fwhm": …}
        Values that are computed from parameters, with their standard errors.
    """

    p0: Mapping[str, float] | None
    bounds: Mapping[str, tuple[float | None, float | None]] | None
    fix: Mapping[str, float] | None
    tie: Mapping[str, str] | None
    y: str | None
    sigma: str | None
    sigma_x: str | None
    absolute_sigma: bool | None
    where: str | None
    background: Literal["none", "shirley", "als"] | None
    smoothness: float | None
    asymmetry: float | None
    missing: Literal["error", "drop"] | None
    loss: Literal["linear", "soft_l1", "huber", "cauchy", "arctan", "poisson"] | None
    loss_scale: float | None
    method: Literal["trf", "lm"] | None
    global_: Literal["none", "multistart", "cmaes"] | None
    recovery: bool | None
    max_evaluations: int | None
    seed: int | None
    level: float | None
    profile: bool | None
    bootstrap: int | None
    resample: Literal["residuals", "rows"] | None
    sample: int | None
    derive: Mapping[str, str] | None


class ContrastOptions(TypedDict, total=False):
    """Options of a learned memory.

    hidden : whole numbers ≥ 1
        Learn a classifier instead of a memory: sizes of layers that settle, trained by equilibrium propagation.
    map : linear, diagonal, rotors, block, low_rank
        Map of the columns under which distances are measured. Default: linear.
    outputs : whole number ≥ 1
        Coordinates after a linear map. Default: as many as there are columns, at most 64.
    block : whole number ≥ 2
        Columns of a block. Default: 2.
    rank : whole number ≥ 1
        Directions besides the weights of columns. Default: 4.
    angles : whole number ≥ 1
        Angles of rotations of neighbouring columns. Default: n/2 log2 n for n columns.
    standardize : flag
        Divide each column by its standard deviation first.
    memory : whole number ≥ 2
        Rows that each row is compared with, the latest ones. Default: 4096, or all rows if there are fewer.
    sharpness : number > 0
        Β: how much more a near row counts than a far one. Default: 5.
    nudge : number > 0
        B: how strongly the loss pulls at what is retrieved. Default: 0.1.
    one_sided : flag
        Compare a nudged phase with the free one instead of two opposite nudges.
    steps : whole number ≥ 1
        Steps of a phase. Default: 64.
    epochs : whole number ≥ 1
        Passes over the rows. Default: 30.
    batch : whole number ≥ 1
        Rows of a window. Default: 128.
    lr : number > 0
        Learning rate, which falls to 0 along a cosine. Default: 0.001 for map linear and hidden, 0.01 for the others.
    test : number in [0, 1)
        Share of the rows of each class that are held out to judge the memory. Default: 0.2.
    seed : whole number ≥ 0
        Seed of the split, the order and the start. Default: 0.
    """

    hidden: Sequence[int] | None
    map: Literal["linear", "diagonal", "rotors", "block", "low_rank"] | None
    outputs: int | None
    block: int | None
    rank: int | None
    angles: int | None
    standardize: bool | None
    memory: int | None
    sharpness: float | None
    nudge: float | None
    one_sided: bool | None
    steps: int | None
    epochs: int | None
    batch: int | None
    lr: float | None
    test: float | None
    seed: int | None
