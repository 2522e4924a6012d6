//! Losses: weighted sums over rows. A row's loss is the mean over its outputs of a pointwise loss (a built-in formula of prediction p and
//! target y in its own file, or a user's formula), its cross-entropy, or a pair loss; the step's loss is the sum over rows divided by the
//! sum of their weights.

mod built_in;
pub mod cases;
pub mod gaussian;
pub mod kl;
mod link;
mod pair_loss;
pub mod pairs;
mod sums;
mod target;

use std::sync::Arc;

use crate::error::{Error, Result, unknown_name};
use crate::json::{self, Json, Record};
use crate::kernels::mlp::RowGoal;
use crate::program::constants::{Values, not_for};
use crate::program::curve::ByHand;
use crate::program::parse::{is_name, parse};
use crate::program::{Curve, Expr, Program};
pub use built_in::BuiltIn;
pub use link::Link;
pub use pair_loss::PairLoss;
pub use sums::sums;
pub use target::Target;

// To add one: add a file with its formula, and its name here.
crate::built_ins! { LOSS: BuiltIn; mse, mae, huber, log_cosh, quantile, poisson, bce, focal, hinge }

/// The losses that are not pointwise: names, descriptions in one line, and the losses.
const OTHERS: [(&str, &str, Loss); 3] = [
    (
        "gaussian_nll",
        "Likelihood under a normal distribution: predicts a number and its standard deviation",
        Loss::Gaussian,
    ),
    ("kl", "Divergence of shares of classes, one in each target column, whose sum is 1", Loss::KullbackLeibler),
    ("cross-entropy", "Classes, one against all others", Loss::CrossEntropy { smoothing: 0.0 }),
];

/// Names and descriptions of all losses but that of pairs, which goes with a projective head.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALL.iter().map(|built_in| (built_in.name, built_in.doc)).chain(OTHERS.map(|(name, doc, _)| (name, doc)))
}

/// Loss function.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Loss {
    /// The mean over the outputs of a function of prediction and target.
    Pointwise(Pointwise),
    /// Cross-entropy of logits against a class index, with label smoothing. Class weights come with the data; each multiplies the rows of its
    /// class, whatever the smoothing.
    CrossEntropy {
        /// Part of the target that is spread evenly over the classes, in [0, 1).
        smoothing: f32,
    },
    /// Likelihood of numbers under normal distributions, whose mean and variance are outputs; see [`gaussian`].
    Gaussian,
    /// Divergence of predicted probabilities, the softmax of the outputs, from target probabilities; see [`kl`].
    KullbackLeibler,
    /// A loss of pairs (numerator, denominator) against target pairs.
    Pairs(PairLoss),
}

/// A function of a prediction p and its target y.
#[derive(Clone, Debug)]
pub struct Pointwise {
    built_in: Option<&'static BuiltIn>,
    constants: Values,
    curve: Arc<Curve>,
}

impl PartialEq for Pointwise {
    fn eq(&self, other: &Self) -> bool {
        self.curve == other.curve && self.constants == other.constants
    }
}

impl Pointwise {
    fn of_built_in(built_in: &'static BuiltIn, constants: Values) -> Self {
        let value = Program::build(2, |v| (built_in.formula)(v[0], v[1], &constants));
        let curve = Arc::new(Curve::new(built_in.name, value, ByHand::NONE));
        Self { built_in: Some(built_in), constants, curve }
    }

    fn of_program(text: String, program: Program) -> Result<Self> {
        if program.results.len() != 1 {
            return Err(Error::new(format!("loss: got {} results, expected 1", program.results.len())));
        }
        if !program.clone().compacted().1.contains(&0) {
            return Err(Error::new(format!("loss: \"{text}\" does not depend on the prediction p")));
        }
        program.check_f32().map_err(|error| error.within("loss"))?;
        let curve = Arc::new(Curve::new(text, program, ByHand::NONE));
        Ok(Self { built_in: None, constants: Values::new(&[]), curve })
    }

    /// A built-in's name, or the formula.
    pub fn text(&self) -> &str {
        &self.curve.text
    }

    /// Kind of its targets; numbers for a formula.
    pub fn target(&self) -> Target {
        self.built_in.map_or(Target::Numbers, |built_in| built_in.target)
    }

    /// Its mean over predictions and targets, in f64; 0 if there are none.
    pub fn mean(&self, predictions: &[f32], targets: &[f32]) -> f64 {
        let value = |(&p, &y): (&f32, &f32)| self.curve.value.at(&[f64::from(p), f64::from(y)])[0];
        predictions.iter().zip(targets).map(value).sum::<f64>() / predictions.len().max(1) as f64
    }
}

impl Loss {
    /// (p - y)².
    pub fn mse() -> Self {
        Self::built_in(&mse::LOSS)
    }

    /// |p - y|.
    pub fn mae() -> Self {
        Self::built_in(&mae::LOSS)
    }

    /// (p - y)²/2 up to `delta`, then delta (|p - y| - delta/2) (Huber 1964).
    pub fn huber(delta: f32) -> Result<Self> {
        Self::built_in(&huber::LOSS).with("delta", delta)
    }

    /// Binary cross-entropy of logits.
    pub fn bce() -> Self {
        Self::built_in(&bce::LOSS)
    }

    /// Negative log-likelihood of counts, whose rates are e^p.
    pub fn poisson() -> Self {
        Self::built_in(&poisson::LOSS)
    }

    /// A built-in pointwise loss with its defaults.
    pub fn built_in(built_in: &'static BuiltIn) -> Self {
        Self::Pointwise(Pointwise::of_built_in(built_in, Values::new(built_in.constants)))
    }

    /// A built-in loss by its name (also `cross-entropy`), or a formula of prediction p and target y such as `log(cosh(p - y))`. Errors name
    /// the position in the formula.
    ///
    /// ```
    /// use meromorph::loss::Loss;
    ///
    /// let smooth = Loss::parse("log(cosh(p - y))")?;
    /// assert!(Loss::parse("abs(p - z)").is_err());
    /// # let _ = smooth;
    /// # Ok::<(), meromorph::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        if let Some(built_in) = ALL.iter().find(|built_in| built_in.name == text) {
            return Ok(Self::built_in(built_in));
        }
        if let Some((_, _, loss)) = OTHERS.iter().find(|(name, _, _)| *name == text) {
            return Ok(loss.clone());
        }
        if is_name(text) && text != "p" {
            let names: Vec<&str> = names().map(|(name, _)| name).collect();
            return Err(unknown_name("loss", text, &names, ", or a formula of p and y such as \"log(cosh(p - y))\""));
        }
        let program = parse(text, &["p", "y"], &[]).map_err(|error| error.within("loss"))?;
        Ok(Self::Pointwise(Pointwise::of_program(text.to_owned(), program)?))
    }

    /// The loss of an expression over prediction and target: `Loss::of(|p, y| log(cosh(p - y)))`. It must depend on the prediction.
    #[track_caller]
    pub fn of(formula: impl FnOnce(Expr, Expr) -> Expr) -> Self {
        let program = Program::build(2, |v| formula(v[0], v[1]));
        let made = Pointwise::of_program(program.text(&["p", "y"]), program);
        Self::Pointwise(made.unwrap_or_else(|error| panic!("{error}")))
    }

    /// Sets a constant. Errors name the constant and its valid values.
    pub fn with(self, name: &str, value: f32) -> Result<Self> {
        let constants = match &self {
            Self::Pointwise(loss) => loss.built_in.map(|built_in| (built_in, loss.constants.clone())),
            _ => None,
        };
        match constants {
            Some((built_in, mut constants)) if constants.has(name) => {
                constants.set(name, value)?;
                Ok(Self::Pointwise(Pointwise::of_built_in(built_in, constants)))
            }
            _ => {
                let has_it = |built_in: &&&BuiltIn| built_in.constants.iter().any(|constant| constant.name == name);
                Err(not_for(name, "loss", ALL.iter().filter(has_it).map(|built_in| built_in.name)))
            }
        }
    }

    /// The loss's name, or its formula.
    pub fn text(&self) -> &str {
        match self {
            Self::Pointwise(loss) => loss.text(),
            Self::CrossEntropy { .. } => "cross-entropy",
            Self::Gaussian => "gaussian_nll",
            Self::KullbackLeibler => "kl",
            Self::Pairs(_) => "pairs",
        }
    }

    /// Whether it is the built-in loss of this name.
    pub fn is(&self, name: &str) -> bool {
        matches!(self, Self::Pointwise(loss) if loss.built_in.is_some_and(|built_in| built_in.name == name))
    }

    /// Kind of its targets.
    pub fn target(&self) -> Target {
        match self {
            Self::Pointwise(loss) => loss.target(),
            Self::CrossEntropy { .. } => Target::Classes,
            Self::KullbackLeibler => Target::Shares,
            Self::Gaussian | Self::Pairs(_) => Target::Numbers,
        }
    }

    /// Outputs of a model without a head for so many values to predict.
    pub fn outputs(&self, values: usize) -> usize {
        if let Self::Gaussian = self { 2 * values } else { values }
    }

    /// The loss for the fused step, if that takes it.
    pub fn objective(&self) -> Option<RowGoal> {
        match self {
            Self::Pointwise(loss) => Some(RowGoal::Pointwise(loss.curve.clone())),
            Self::CrossEntropy { smoothing } => Some(RowGoal::CrossEntropy { smoothing: *smoothing }),
            Self::Gaussian | Self::KullbackLeibler => None,
            Self::Pairs(loss) => loss.rule().map(RowGoal::Pairs),
        }
    }
}

/// In JSON a pointwise loss is its name, an object of its name and its constants, or its formula.
impl Record for Loss {
    fn blank() -> Self {
        Self::mse()
    }

    fn to_json(&self) -> Json {
        let around = |name: &str, inner: Json| Json::Fields(vec![(name.to_owned(), inner)]);
        match self {
            Self::Pointwise(loss) if loss.built_in.is_some_and(|built_in| !built_in.constants.is_empty()) => {
                around(loss.text(), loss.constants.to_json())
            }
            Self::Pointwise(loss) => Json::Text(loss.text().to_owned()),
            Self::CrossEntropy { smoothing } => {
                around("cross_entropy", json::write_fields(&[("smoothing", smoothing)]))
            }
            Self::Gaussian | Self::KullbackLeibler => Json::Text(self.text().to_owned()),
            Self::Pairs(loss) => around("pairs", loss.to_json()),
        }
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        let (text, inner) = json::variant(json, "Loss")?;
        let within = |error: Error| error.within(text);
        *self = match (text, inner) {
            ("cross_entropy", Some(inner)) => {
                let mut smoothing = 0.0_f32;
                json::read_fields(inner, &mut [("smoothing", &mut smoothing, false)]).map_err(within)?;
                Self::CrossEntropy { smoothing }
            }
            ("pairs", Some(inner)) => Self::Pairs(PairLoss::from_json(inner).map_err(within)?),
            (name, Some(inner)) => {
                let built_in = ALL.iter().find(|built_in| built_in.name == name);
                let built_in = built_in.ok_or_else(|| json.unlike("a loss"))?;
                let mut constants = Values::new(built_in.constants);
                constants.read(inner).map_err(within)?;
                Self::Pointwise(Pointwise::of_built_in(built_in, constants))
            }
            (text, None) => Self::parse(text)?,
        };
        Ok(())
    }
}
