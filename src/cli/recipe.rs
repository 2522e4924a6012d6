//! Flags for the model and how it is trained.

use std::str::FromStr;

use clap::{Args, ValueEnum};

use crate::error::Error;
use crate::loss::{self, Loss};
use crate::nn::{Activation, Policy, RationalLayer, activation};
use crate::optim::{self, Optimizer};
use crate::train::{Norm, StepKind};

/// The model and how it is trained. What is not given follows from the task and the number of training rows.
#[derive(Args)]
#[command(next_help_heading = "Model and training")]
pub(super) struct Flags {
    /// Widths of the hidden layers, or `none` for a linear model [default: 64,64,64]
    #[arg(long, value_name = "N,N,N")]
    pub hidden: Option<Widths>,
    /// Function between layers: a name or a formula of x; rational is a learnt quotient of polynomials without poles, rational-poles one
    /// with them (for a head that can say ⊥) [default: silu]
    #[arg(long, value_name = "NAME|FORMULA", value_parser = between, long_help = activation_help())]
    pub activation: Option<HiddenFunction>,
    /// Bring the values of each function between layers to mean 0 and variance 1: batch by column, ⊥ left out, layer by row
    #[arg(long, value_name = "NAME")]
    pub norm: Option<NormName>,
    /// What becomes of gradients at ⊥ in rational and masked layers: clamp, clamp(LOW..HIGH), project, reject or pass, for scm_rational or
    /// scm_norm (all of a kind) or one, like layers.1 [default: project; clamp in norms]
    #[arg(long, value_name = "LAYER=POLICY")]
    pub policy: Vec<LayerPolicy>,
    /// Share of the hidden values zeroed while training [default: 0]
    #[arg(long, value_name = "SHARE")]
    pub dropout: Option<f32>,
    /// Loss function: a name, or a formula of prediction p and target y [default: mse or cross-entropy]
    #[arg(long, value_name = "NAME|FORMULA", value_parser = Loss::parse, long_help = loss_help())]
    pub loss: Option<Loss>,
    /// Where huber turns from square to linear, in standard deviations of the target [default: 1]
    #[arg(long, value_name = "X")]
    pub delta: Option<f32>,
    /// Share of a class label spread over all classes [default: 0; 0.1 below 2,000 training rows]
    #[arg(long, value_name = "SHARE")]
    pub smoothing: Option<f32>,
    /// Weight classes against their frequency
    #[arg(long, value_name = "HOW")]
    pub class_weights: Option<Weights>,
    /// Most passes over the training rows [default: 200]
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,
    /// Rows per step [default: 256; 32 below 2,000 training rows]
    #[arg(long, value_name = "B")]
    pub batch: Option<usize>,
    /// Steps whose gradients make one update, as if their rows were one batch [default: 1]
    #[arg(long, value_name = "K")]
    pub accumulate: Option<usize>,
    /// Learning rate [default: 1e-3]
    #[arg(long, value_name = "X")]
    pub lr: Option<f64>,
    /// Pull of the weights to zero [default: 1e-6; 1 below 2,000 training rows]
    #[arg(long, value_name = "X")]
    pub weight_decay: Option<f32>,
    /// Epochs without improvement before stopping, 0 = never [default: 15]
    #[arg(long, value_name = "N")]
    pub patience: Option<usize>,
    /// Seed of split, weights, order and dropout [default: 0]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// How parameters follow gradients [default: adamw]
    #[arg(long, value_name = "NAME", value_parser = Optimizer::parse, long_help = optimizer_help())]
    pub optimizer: Option<Optimizer>,
    /// Share of the last direction kept by sgd [default: 0.9]
    #[arg(long, value_name = "SHARE")]
    pub momentum: Option<f32>,
    /// How the learning rate changes [default: cosine]
    #[arg(long)]
    pub schedule: Option<ScheduleName>,
    /// Updates over which the learning rate rises [default: 0]
    #[arg(long, value_name = "STEPS")]
    pub warmup: Option<u64>,
    /// Two launches per step, or the model's ops replayed [default: fused where the model allows]
    #[arg(long)]
    pub step: Option<StepName>,
}

/// A layer and what becomes of its gradients.
#[derive(Clone, Debug)]
pub(super) struct LayerPolicy {
    pub layer: String,
    pub policy: Policy,
}

impl FromStr for LayerPolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (layer, policy) = text.split_once('=').ok_or("wanted a layer and its policy, like scm_rational=clamp")?;
        let policy = policy.parse().map_err(|error: Error| error.to_string())?;
        Ok(Self { layer: layer.to_owned(), policy })
    }
}

/// Widths of hidden layers.
#[derive(Clone, Debug)]
pub(super) struct Widths(pub Vec<usize>);

impl FromStr for Widths {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(Vec::new()));
        }
        let width = |part: &str| match part.trim().parse() {
            Ok(0) | Err(_) => Err(format!("\"{part}\" is no width; wanted whole numbers above 0, like 64,64, or none")),
            Ok(width) => Ok(width),
        };
        text.split(',').map(width).collect::<Result<_, _>>().map(Self)
    }
}

/// A norm by name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum NormName {
    Batch,
    Layer,
}

impl From<NormName> for Norm {
    fn from(name: NormName) -> Self {
        match name {
            NormName::Batch => Self::Batch,
            NormName::Layer => Self::Layer,
        }
    }
}

/// Class weights by name.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Weights {
    /// Rows / (classes · rows of the class)
    Balanced,
}

/// A schedule by name.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum ScheduleName {
    Constant,
    /// Half a cosine down to zero
    Cosine,
    /// A tenth after each third of the epochs
    Step,
    /// Half after 5 epochs without improvement
    Plateau,
}

/// A step by name.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum StepName {
    Fused,
    Recorded,
}

impl From<StepName> for StepKind {
    fn from(name: StepName) -> Self {
        match name {
            StepName::Fused => Self::Fused,
            StepName::Recorded => Self::Recorded,
        }
    }
}

/// What stands between linear layers.
#[derive(Clone, Debug)]
pub(super) enum HiddenFunction {
    Function(Activation),
    Rational(RationalLayer),
}

/// A cubic over a quadratic, with coefficients for each channel and without poles or with them.
const RATIONAL: [&str; 2] = ["rational", "rational-poles"];

fn between(text: &str) -> Result<HiddenFunction, Error> {
    match RATIONAL.iter().position(|name| *name == text) {
        Some(at) => Ok(HiddenFunction::Rational(RationalLayer { is_safe: at == 0, ..RationalLayer::safe(3, 2) })),
        None => Activation::parse(text).map(HiddenFunction::Function),
    }
}

/// A help text, then names and what they mean.
fn with_names<'a>(about: &str, names: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let rows: String = names.map(|(name, doc)| format!("\n  {name:<14} {doc}")).collect();
    format!("{about}{rows}")
}

fn activation_help() -> String {
    let names = activation::ALL.iter().map(|built_in| (built_in.name, built_in.doc));
    let rational = [
        (RATIONAL[0], "A learnt quotient of polynomials without poles"),
        (RATIONAL[1], "The same with poles, for a head that can say ⊥"),
    ];
    with_names(
        "Function between layers [default: silu]: a name, or a formula of x such as \"x*tanh(softplus(x))\"",
        names.chain(rational),
    )
}

fn loss_help() -> String {
    let names = loss::ALL.iter().map(|built_in| (built_in.name, built_in.doc));
    let own = [("cross-entropy", "Classes, one against all others")];
    let about = "Loss function [default: mse, or cross-entropy for classes]: a name, or a formula of prediction p and target y such as \
                 \"log(cosh(p - y))\"; numbers are in standard deviations of the target";
    with_names(about, names.chain(own))
}

fn optimizer_help() -> String {
    with_names(
        "How parameters follow gradients [default: adamw]",
        optim::ALL.iter().map(|method| (method.name, method.doc)),
    )
}
