//! What a loss takes as targets.

use crate::error::{Error, Result};
use crate::host::number;

/// How far the sum of a row's shares may be from 1: those written with three digits are further off than f32 rounds.
const SHARE_ERROR: f64 = 2e-3;

/// Kind of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Numbers; of a table in standard deviations from their mean.
    Numbers,
    /// Counts, numbers of at least 0 that stay as they are: predictions are logarithms of rates.
    Counts,
    /// Classes: predictions are logits.
    Classes,
    /// A share of each class, numbers of at least 0 whose sum is 1.
    Shares,
}

impl Target {
    /// Errors if targets [rows, targets] are not what a loss of this kind takes: counts of at least 0, or shares whose sum is 1. `loss` names it in
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
        let expected = match self {
            Self::Counts => "a count of at least 0",
            Self::Shares => "a share of at least 0",
            Self::Numbers | Self::Classes => return Ok(()),
        };
        if let Some(at) = y.iter().position(|y| *y < 0.0) {
            return err(place(at / targets, Some(at % targets)), number(y[at]).to_string(), expected);
        }
        let sums = y.chunks_exact(targets).map(|row| row.iter().map(|y| f64::from(*y)).sum::<f64>());
        let is_off = |(_, sum): &(usize, f64)| self == Self::Shares && (sum - 1.0).abs() > SHARE_ERROR;
        match sums.enumerate().find(is_off) {
            Some((row, sum)) => {
                let sum = number((1e6 * sum).round() / 1e6);
                err(place(row, None), format!("shares whose sum is {sum}"), "shares whose sum is 1")
            }
            None => Ok(()),
        }
    }
}
