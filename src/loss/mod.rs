//! Losses: weighted sums over rows, one file each. A row's loss is the mean over its outputs of a formula of prediction p and target y (also a user's
//! own), a function of all its outputs, or a pair loss; the step's loss is the sum over rows divided by the sum of their weights.

pub mod cases;
mod link;
mod mean;
mod output_loss;
mod pair_loss;
pub mod pairs;
mod record;
mod sums;
mod target;

use crate::autograd::Var;
use crate::error::{Error, Result, unknown_name};
use crate::json::{self, Json, Record};
use crate::kernels::mlp::RowGoal;
use crate::program::constants::not_for;
use crate::program::parse::{is_name, parse};
use crate::program::{Expr, Program};
pub use link::{Exported, Link, PushProbabilities};
pub use output_loss::OutputLoss;
pub use pair_loss::PairLoss;
pub use record::{Compared, LossRecord, Rule};
pub use sums::sums;
pub use target::{Target, TargetForm};

// To add one: add a file with its record, and its name here.
crate::built_ins! {
    LOSS: LossRecord; mse, mae, huber, log_cosh, quantile, poisson, tweedie, cross_entropy, ordinal, bce, focal, hinge, gaussian,
    kl
}

/// Names and descriptions of all losses but that of pairs, which goes with a projective head.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALL.iter().map(|record| (record.name, record.doc))
}

/// Loss function.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Loss {
    /// A loss of a model's outputs.
    Outputs(OutputLoss),
    /// A loss of pairs (numerator, denominator) against target pairs.
    Pairs(PairLoss),
}

impl Loss {
    /// (p - y)².
    pub fn mse() -> Self {
        Self::of_record(&mse::LOSS)
    }

    /// |p - y|.
    pub fn mae() -> Self {
        Self::of_record(&mae::LOSS)
    }

    /// (p - y)²/2 up to `delta`, then delta (|p - y| - delta/2) (Huber 1964).
    pub fn huber(delta: f32) -> Result<Self> {
        Self::of_record(&huber::LOSS).with("delta", delta)
    }

    /// Binary cross-entropy of logits.
    pub fn bce() -> Self {
        Self::of_record(&bce::LOSS)
    }

    /// Negative log-likelihood of counts, whose rates are e^p.
    pub fn poisson() -> Self {
        Self::of_record(&poisson::LOSS)
    }

    /// Likelihood of numbers under normal distributions, whose mean and variance are outputs.
    pub fn gaussian() -> Self {
        Self::of_record(&gaussian::LOSS)
    }

    /// Divergence of predicted probabilities, the softmax of the outputs, from target probabilities.
    pub fn kl() -> Self {
        Self::of_record(&kl::LOSS)
    }

    /// Cross-entropy of logits against a class index, whose label is spread evenly over all classes by `smoothing`.
    #[track_caller]
    pub fn cross_entropy(smoothing: f32) -> Self {
        let loss = Self::of_record(&cross_entropy::LOSS).with("smoothing", smoothing);
        loss.unwrap_or_else(|error| panic!("loss: {error}"))
    }

    /// A loss with its default constants.
    pub fn of_record(record: &'static LossRecord) -> Self {
        Self::Outputs(OutputLoss::of_record(record))
    }

    /// A loss by its name, or a formula of prediction p and target y such as `log(cosh(p - y))`. Errors name the position in the formula.
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
        if let Some(record) = ALL.iter().find(|record| record.name == text) {
            return Ok(Self::of_record(record));
        }
        if is_name(text) && text != "p" {
            let names: Vec<&str> = names().map(|(name, _)| name).collect();
            return Err(unknown_name("loss", text, &names, ", or a formula of p and y such as \"log(cosh(p - y))\""));
        }
        let program = parse(text, &["p", "y"], &[]).map_err(|error| error.within("loss"))?;
        Ok(Self::Outputs(OutputLoss::of_program(text.to_owned(), program)?))
    }

    /// The loss of an expression over prediction and target: `Loss::of(|p, y| log(cosh(p - y)))`. It must depend on the prediction.
    #[track_caller]
    pub fn of(formula: impl FnOnce(Expr, Expr) -> Expr) -> Self {
        let program = Program::build(2, |v| formula(v[0], v[1]));
        let made = OutputLoss::of_program(program.text(&["p", "y"]), program);
        Self::Outputs(made.unwrap_or_else(|error| panic!("{error}")))
    }

    /// Sets a constant. Errors name the constant and its valid values.
    pub fn with(self, name: &str, value: f32) -> Result<Self> {
        match self {
            Self::Outputs(loss) if loss.constant(name).is_some() => Ok(Self::Outputs(loss.with(name, value)?)),
            _ => {
                let has_it = |record: &&&LossRecord| record.constants.iter().any(|constant| constant.name == name);
                Err(not_for(name, "loss", ALL.iter().filter(has_it).map(|record| record.name)))
            }
        }
    }

    /// The value of a constant, if the loss has it.
    pub fn constant(&self, name: &str) -> Option<f64> {
        self.as_output_loss().and_then(|loss| loss.constant(name))
    }

    /// The loss of a model's outputs; `None` for one of pairs.
    pub fn as_output_loss(&self) -> Option<&OutputLoss> {
        if let Self::Outputs(loss) = self { Some(loss) } else { None }
    }

    /// The loss's name, or its formula.
    pub fn text(&self) -> &str {
        self.as_output_loss().map_or("pairs", OutputLoss::text)
    }

    /// Whether it is the loss of this name.
    pub fn is(&self, name: &str) -> bool {
        self.as_output_loss().and_then(OutputLoss::record).is_some_and(|record| record.name == name)
    }

    /// What it takes as targets.
    pub fn target(&self) -> Target {
        self.as_output_loss().map_or(Target::NUMBERS, OutputLoss::target)
    }

    /// How outputs become predictions. Pairs of a projective head are decoded before: their values are predictions.
    pub fn link(&self) -> &'static Link {
        self.as_output_loss().map_or(&Link::IDENTITY, OutputLoss::link)
    }

    /// Outputs of a model without a head for so many values (numbers, or classes) to predict.
    pub fn outputs(&self, values: usize) -> usize {
        (self.link().outputs)(values)
    }

    /// Values (numbers, or classes) that so many outputs of a model without a head predict.
    pub fn values(&self, outputs: usize) -> usize {
        (self.link().values)(outputs)
    }

    /// The outputs whose predictions are the mean of those of several models, from the outputs of each, [rows, outputs]: pairs of a projective head, else
    /// as the link says.
    pub fn mean(&self, has_head: bool) -> fn(&[Var]) -> Var {
        let link = self.link();
        if has_head && link.probabilities.is_none() { pairs::mean_of_models } else { link.mean }
    }

    /// The loss for the fused step, if that takes it.
    pub fn objective(&self) -> Option<RowGoal> {
        match self {
            Self::Outputs(loss) => loss.objective(),
            Self::Pairs(loss) => loss.rule().map(RowGoal::Pairs),
        }
    }
}

/// In JSON a loss is its name, an object of its name and its constants, or its formula.
impl Record for Loss {
    fn blank() -> Self {
        Self::mse()
    }

    fn to_json(&self) -> Json {
        match self {
            Self::Outputs(loss) => loss.to_json(),
            Self::Pairs(loss) => Json::Fields(vec![("pairs".to_owned(), loss.to_json())]),
        }
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        let (text, inner) = json::variant(json, "Loss")?;
        *self = match (text, inner) {
            ("pairs", Some(inner)) => Self::Pairs(PairLoss::from_json(inner).map_err(|error| error.within("pairs"))?),
            (name, Some(inner)) => {
                let record = ALL.iter().find(|record| output_loss::key(record) == name);
                let record = record.ok_or_else(|| json.unlike("a loss"))?;
                Self::Outputs(OutputLoss::read(record, inner).map_err(|error: Error| error.within(name))?)
            }
            (text, None) => Self::parse(text)?,
        };
        Ok(())
    }
}
