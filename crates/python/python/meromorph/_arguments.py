# Generated from the table of options by `MERO_WRITE=1 cargo test --test engine generated`: do not edit.
"""The arguments of the estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal


class Arguments:
    """Keeps the options of a run under their names."""

    def __init__(
        self,
        *,
        features: Sequence[str] | None = None,
        ignore: Sequence[str] | None = None,
        categorical: Sequence[str] | None = None,
        encode: Mapping[str, str] | None = None,
        numeric: Sequence[str] | None = None,
        missing: Literal["impute", "drop"] | None = None,
        bins: int | None = None,
        date_order: Literal["dmy", "mdy", "ymd"] | None = None,
        split_seed: int | None = None,
        validation: float | None = None,
        hidden: Sequence[int] | None = None,
        activation: str | None = None,
        norm: Literal["layer", "group", "batch"] | None = None,
        dropout: float | None = None,
        head: Literal["linear", "rational", "projective", "angular"] | None = None,
        loss: str | None = None,
        delta: float | None = None,
        quantile: float | None = None,
        power: float | None = None,
        gamma: float | None = None,
        smoothing: float | None = None,
        class_weights: Literal["balanced"] | None = None,
        epochs: int | None = None,
        batch: int | None = None,
        accumulate: int | None = None,
        lr: float | None = None,
        weight_decay: float | None = None,
        patience: int | None = None,
        members: int | None = None,
        optimizer: Literal["adamw", "adam", "lion", "sgd", "rmsprop", "adagrad", "lamb", "schedule-free", "muon", "adafactor", "novograd"] | None = None,
        momentum: float | None = None,
        schedule: Literal["constant", "cosine", "step", "plateau", "exponential", "linear", "one-cycle", "restarts", "inverse-root", "stable"] | None = None,
        warmup: int | None = None,
        step: Literal["fused", "recorded"] | None = None,
        clip_norm: float | None = None,
        clip_tensor: float | None = None,
        clip_adaptive: float | None = None,
        clip_value: float | None = None,
        skip_overflow: bool | None = None,
        freeze: Sequence[str] | None = None,
        decay: Literal["all", "weights"] | None = None,
        mean_decay: float | None = None,
        sharpness: float | None = None,
        recompute: str | None = None,
        recompute_layers: Sequence[str] | None = None,
        memory_budget: int | None = None,
        precision: Literal["f32", "f16", "bf16"] | None = None,
        keep_f32: Sequence[str] | None = None,
        keep_half: Sequence[str] | None = None,
        loss_scale: float | None = None,
        scale_interval: int | None = None,
        strict: bool | None = None,
        policy: Mapping[str, str] | None = None,
        degrees: Sequence[int] | None = None,
        tau_infer: float | None = None,
        tau_train: float | None = None,
        threshold: Literal["angle", "denominator"] | None = None,
        min_coverage: float | None = None,
        coverage_patience: int | None = None,
        term: Mapping[str, float | str] | None = None,
        hold_coverage: float | None = None,
        sample_poles: bool | None = None,
        random_state: int | Any | None = 0,
        device: str = "auto",
        threads: int = 0,
        progress: bool | Any = False,
    ):
        """Every option has its default if it is None.

        Parameters
        ----------
        features : names
            Columns to learn from; put a name with a comma in double quotes. Default: all but the target.
        ignore : names
            Columns to leave out.
        categorical : names
            Columns of numbers to read as categories; the target among them is a class.
        encode : named values such as {"zip": …}
            How columns of categories become inputs, by column. Default: levels; also hashed.
        numeric : names
            Columns that must be numbers: a text in one is an error.
        missing : impute, drop
            How rows with empty cells are treated. Default: impute; drop for a head with poles.
        bins : whole number ≥ 0
            Inputs per column of numbers that show where between its quantiles a value is; 0 for none. Default: 16;
            fewer for large tables, 0 for a head with poles.
        date_order : dmy, mdy, ymd
            Order of day, month and year in dates that could have several. Default: the one in which all dates of a
            column are possible; if there are several, it is a category.
        split_seed : whole number from 0 to 2^53
            Seed of the split of the rows alone. Default: that of the run.
        validation : number in [0, 1)
            Share of the rows that decides when to stop. Default: 0.15.
        hidden : whole numbers ≥ 1
            Widths of the hidden layers; none makes a linear model. The default network is blended with a linear model,
            one whose layers are named is not. Default: 64,64,64.
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
            Loss function: a name, or a formula of prediction p and target y such as "log(cosh(p - y))", both in
            standard deviations of the target; losses of counts and amounts take them as they are. Default: mse;
            cross-entropy for classes.
        delta : a finite number above 0
            Where huber turns from square to linear, in standard deviations of the target. Default: 1.
        quantile : a number between 0 and 1
            Share of the targets that the quantile loss leaves below the prediction. Default: 0.5.
        power : a number between 1 and 2
            How fast the variance grows with the mean for the tweedie loss: near 1 as of counts, near 2 as of amounts
            that are never 0. Default: 1.5.
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
            Decay of the weights per unit of learning rate. Default: 1e-6; 1 below 2,000 training rows; 1e-6 for a head
            with poles; 0.1 for muon, 0 for adafactor, 0 for novograd.
        patience : whole number ≥ 0
            Epochs without improvement before stopping; 0 never stops early. Default: 15; 50 for a head with poles.
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
            Distance at which each update looks for a worse loss first, so that flat minima are found; twice the work
            (SAM).
        recompute : a number of layers, or sqrt
            Layers of which only the last keeps its result for the backward pass, which computes the others again; sqrt
            takes least memory. Default: none.
        recompute_layers : names
            Layers such as layers.2, kinds of layers or ops whose results are computed again for the backward pass.
        memory_budget : whole number ≥ 1
            Most MiB of memory for the intermediate results of a step; they are computed again, and then a step takes
            fewer rows and more steps make an update.
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
            Refuse a precision that the device has no type for, instead of packing two numbers in a word. Default:
            false.
        policy : named values such as {"scm_rational": …}
            Gradients at ⊥ in rational and masked layers: clamp, clamp(LOW..HIGH), project, reject or pass, for
            scm_rational or scm_norm (all layers of a kind) or for one layer, such as layers.1. Default: project; clamp
            in norms.
        degrees : 2 whole numbers
            Degrees of the rational head's numerator and denominator. Default: 3,2.
        tau_infer : number > 0
            Distance to a pole below which there is no value. Default: where values pass the largest training target.
        tau_train : number ≥ 0
            Distance to a pole below which a value is marked as a gap; 0 marks none. Default: 3 × tau_infer; without
            that as wide as the errors near poles.
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
        random_state : int, RandomState instance or None
            Seed of the split of the rows, of weights and of their order; None is 0, so that runs repeat.
        device : str
            Device that trains and predicts: see meromorph.devices().
        threads : int
            Threads of the cpu device; 0 means all.
        progress : bool or callable
            Whether a bar is shown, or what is called with each epoch.
        """
        self.features = features
        self.ignore = ignore
        self.categorical = categorical
        self.encode = encode
        self.numeric = numeric
        self.missing = missing
        self.bins = bins
        self.date_order = date_order
        self.split_seed = split_seed
        self.validation = validation
        self.hidden = hidden
        self.activation = activation
        self.norm = norm
        self.dropout = dropout
        self.head = head
        self.loss = loss
        self.delta = delta
        self.quantile = quantile
        self.power = power
        self.gamma = gamma
        self.smoothing = smoothing
        self.class_weights = class_weights
        self.epochs = epochs
        self.batch = batch
        self.accumulate = accumulate
        self.lr = lr
        self.weight_decay = weight_decay
        self.patience = patience
        self.members = members
        self.optimizer = optimizer
        self.momentum = momentum
        self.schedule = schedule
        self.warmup = warmup
        self.step = step
        self.clip_norm = clip_norm
        self.clip_tensor = clip_tensor
        self.clip_adaptive = clip_adaptive
        self.clip_value = clip_value
        self.skip_overflow = skip_overflow
        self.freeze = freeze
        self.decay = decay
        self.mean_decay = mean_decay
        self.sharpness = sharpness
        self.recompute = recompute
        self.recompute_layers = recompute_layers
        self.memory_budget = memory_budget
        self.precision = precision
        self.keep_f32 = keep_f32
        self.keep_half = keep_half
        self.loss_scale = loss_scale
        self.scale_interval = scale_interval
        self.strict = strict
        self.policy = policy
        self.degrees = degrees
        self.tau_infer = tau_infer
        self.tau_train = tau_train
        self.threshold = threshold
        self.min_coverage = min_coverage
        self.coverage_patience = coverage_patience
        self.term = term
        self.hold_coverage = hold_coverage
        self.sample_poles = sample_poles
        self.random_state = random_state
        self.device = device
        self.threads = threads
        self.progress = progress
