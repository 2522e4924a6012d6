//! What a loss takes as targets.

use crate::error::{Error, Result};
use crate::host::number;

/// How far the sum of a row's shares may be from 1: those written with three digits are further off than f32 rounds.
const SHARE_ERROR: f64 = 2e-3;

/// What a loss takes as targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// How a target is given.
    pub form: TargetForm,
    /// What a target is, in words; numbers that are given as they are must be at least 0.
    pub what: &'static str,
    /// Whether the order of the classes matters.
    pub is_ordered: bool,
}

/// How a target is given to a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetForm {
    /// A number; of a table in standard deviations from the mean.
    Scaled,
    /// A number of at least 0 as it is: a count, an amount.
    AsItIs,
    /// The index of a class.
    Class,
    /// For each class 1 or 0, or a probability.
    EachClass,
    /// A share of each class, numbers of at least 0 whose sum is 1.
    Shares,
}

impl Target {
    /// Numbers.
    pub const NUMBERS: Self = Self { form: TargetForm::Scaled, what: "a number", is_ordered: false };
    /// Counts, whose predicted rates may be large.
    pub const COUNTS: Self = Self { form: TargetForm::AsItIs, what: "a count", is_ordered: false };
    /// Classes, by their index.
    pub const CLASSES: Self = Self { form: TargetForm::Class, what: "a class", is_ordered: false };
    /// Classes, each against all others.
    pub const EACH_CLASS: Self = Self { form: TargetForm::EachClass, what: "a class", is_ordered: false };
    /// Shares of classes.
    pub const SHARES: Self = Self { form: TargetForm::Shares, what: "a share", is_ordered: false };

    /// Number of targets of a row for so many values (numbers, or classes).
    pub fn width(&self, values: usize) -> usize {
        if self.form == TargetForm::Class { 1 } else { values }
    }

    /// The smallest value that is a target.
    pub fn least(&self) -> f64 {
        if self.form == TargetForm::AsItIs { 0.0 } else { f64::NEG_INFINITY }
    }

    /// Errors if targets [rows, targets] are not what a loss of this kind takes: numbers of at least 0, or shares whose sum is 1. `loss` names it in
    /// messages, `place` a row, or one of its targets.
    pub(crate) fn check(
        self,
        loss: &str,
        y: &[f32],
        targets: usize,
        place: &dyn Fn(usize, Option<usize>) -> String,
    ) -> Result<()> {
        let err = |place: String, got: String, expected: &str| {
            Err(Error::new(format!("loss \"{loss}\": {place}: got {got}, expected {expected}")))
        };
        if !matches!(self.form, TargetForm::AsItIs | TargetForm::Shares) {
            return Ok(());
        }
        if let Some(at) = y.iter().position(|y| *y < 0.0) {
            let expected = format!("{} of at least 0", self.what);
            return err(place(at / targets, Some(at % targets)), number(y[at]).to_string(), &expected);
        }
        let sums = y.chunks_exact(targets).map(|row| row.iter().map(|y| f64::from(*y)).sum::<f64>());
        let is_off = |(_, sum): &(usize, f64)| self.form == TargetForm::Shares && (sum - 1.0).abs() > SHARE_ERROR;
        match sums.enumerate().find(is_off) {
            Some((row, sum)) => {
                let sum = number((1e6 * sum).round() / 1e6);
                err(place(row, None), format!("shares whose sum is {sum}"), "shares whose sum is 1")
            }
            None => Ok(()),
        }
    }
}
