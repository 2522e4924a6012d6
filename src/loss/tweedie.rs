//! Half the deviance of an amount y of at least 0 under a Tweedie distribution of mean m = e^p and a variance that grows as m^power, without the terms that do
//! not depend on p: m^(2 - power)/(2 - power) - y m^(1 - power)/(1 - power) (Jørgensen 1987). Between 1 and 2 it is a sum of gamma-distributed amounts, of a
//! number with a Poisson distribution, so that an amount may be 0: rain of a day, claims of a year.

use super::{Link, LossRecord, Rule, Target};
use crate::program::constants::Constant;
use crate::program::expr::exp;

pub(super) static LOSS: LossRecord = LossRecord {
    name: "tweedie",
    doc: "Tweedie likelihood of amounts, many of which may be 0: targets stay as they are, predictions are means exp(p)",
    target: Target { what: "an amount", ..Target::COUNTS },
    link: &Link::LOG,
    constants: &[Constant {
        is_valid: |x| x > 1.0 && x < 2.0,
        expected: "a number between 1 and 2",
        ..Constant::positive("power", 1.5, "How fast the variance grows with the mean for the tweedie loss: near 1 as of counts, near 2 as of amounts that are never 0")
    }],
    rule: Rule::Pointwise {
        formula: |p, y, constants| {
            let power = constants.get("power");
            exp((2.0 - power) * p) * (1.0 / (2.0 - power)) + y * (exp((1.0 - power) * p) * (1.0 / (power - 1.0)))
        },
        oracle: |p, y, constants| {
            let (mean, power) = (p.exp(), constants.get("power"));
            mean.powf(2.0 - power) / (2.0 - power) - y * mean.powf(1.0 - power) / (1.0 - power)
        },
    },
};
