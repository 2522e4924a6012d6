//! Changes between the epochs of a run with a loss of pairs: weights of the loss's terms, and how often rows are drawn.

use crate::error::{Error, Result};
use crate::host::number;
use crate::loss::{Loss, PairLoss};
use crate::record;
use crate::train::data::Data;
use crate::train::sampling::{AdaptiveSampler, CoverageController, LinearRamp};

/// What a run changes between its epochs; by default nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curriculum {
    /// Terms of the loss whose weights change; these weights replace those of the loss.
    pub ramps: Vec<Ramp>,
    /// The target share of decoded values, in [0, 1]: the weight of the coverage term starts at 1 and rises while the share is below.
    pub held_coverage: Option<f64>,
    /// Whether rows are drawn with replacement, more often the worse the model predicts their ⊥; otherwise every row is used once.
    pub draws_poles: bool,
}

record! { Curriculum { ramps, held_coverage, draws_poles } }

/// A weight that changes over the epochs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// The term.
    pub term: Term,
    /// Its weight by epoch.
    pub weight: LinearRamp,
}

record! { Ramp { term, weight } }

/// A term of the loss of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// The implicit residual.
    Implicit,
    /// The squared sine of the angle between pairs.
    Chordal,
    /// Squared error of decoded values.
    Decoded,
    /// Keeps denominators of finite targets away from 0.
    Margin,
    /// Aligns the direction of pairs.
    Sign,
    /// Keeps denominators of ⊥ targets near 0, averaged over the ⊥ rows.
    Bottom,
    /// Keeps denominators of finite targets away from 0, averaged over the finite rows.
    Finite,
    /// The share of decoded values.
    Coverage,
}

record! { enum Term { Implicit, Chordal, Decoded, Margin, Sign, Bottom, Finite, Coverage } }

impl Term {
    /// All terms with their names.
    pub const ALL: [(&'static str, Self); 8] = [
        ("implicit", Self::Implicit),
        ("chordal", Self::Chordal),
        ("decoded", Self::Decoded),
        ("margin", Self::Margin),
        ("sign", Self::Sign),
        ("bottom", Self::Bottom),
        ("finite", Self::Finite),
        ("coverage", Self::Coverage),
    ];

    /// The weight of the term in a loss.
    pub fn weight(self, loss: &mut PairLoss) -> &mut f32 {
        match self {
            Self::Implicit => &mut loss.implicit,
            Self::Chordal => &mut loss.chordal,
            Self::Decoded => &mut loss.decoded,
            Self::Margin => &mut loss.margin,
            Self::Sign => &mut loss.sign,
            Self::Bottom => &mut loss.bottom,
            Self::Finite => &mut loss.finite,
            Self::Coverage => &mut loss.coverage,
        }
    }
}

impl Curriculum {
    /// Errors if the loss is not of pairs, the target share is outside [0, 1], or the loss is invalid at some epoch.
    pub(crate) fn check(&self, loss: &Loss) -> Result<()> {
        let Loss::Pairs(_) = loss else {
            return if *self == Self::default() {
                Ok(())
            } else {
                Err(Error::usage("train: only the loss of a model with poles changes on the way"))
            };
        };
        if let Some(share) = self.held_coverage.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(Error::usage(format!(
                "train: a coverage of {} cannot be held; expected 0 to 1",
                number(share)
            )));
        }
        let turns = self.ramps.iter().flat_map(|ramp| ramp.weight.epochs);
        for epoch in turns.chain([0]) {
            if let Loss::Pairs(loss) = self.loss(loss, epoch, None) {
                loss.check().map_err(|error| error.within(&format!("train: epoch {epoch}")))?;
            }
        }
        Ok(())
    }

    /// The loss at an epoch; `held` is the current weight of the coverage term.
    pub(crate) fn loss(&self, loss: &Loss, epoch: usize, held: Option<f64>) -> Loss {
        let Loss::Pairs(mut pairs) = *loss else { return loss.clone() };
        for Ramp { term, weight } in &self.ramps {
            *term.weight(&mut pairs) = weight.at(epoch) as f32;
        }
        if let Some(target) = self.held_coverage {
            pairs.coverage = held.unwrap_or(CoverageController::default().lambda) as f32;
            pairs.target_coverage = target as f32;
        }
        Loss::Pairs(pairs)
    }

    /// A loss with every term that occurs at some epoch.
    pub(crate) fn widest(&self, loss: &Loss) -> Loss {
        let Loss::Pairs(mut pairs) = self.loss(loss, usize::MAX, None) else { return loss.clone() };
        for Ramp { term, weight } in &self.ramps {
            *term.weight(&mut pairs) = weight.from.max(weight.to) as f32;
        }
        Loss::Pairs(pairs)
    }

    /// The weight of the coverage term after an epoch.
    pub(crate) fn held(&self, held: Option<f64>, coverage: f64) -> Option<f64> {
        let start = CoverageController::default();
        let target = self.held_coverage?;
        Some(CoverageController { lambda: held.unwrap_or(start.lambda), target, ..start }.update(coverage))
    }

    /// The sampler of the training rows if they are drawn; `means` are the running means of a resumed run, or empty.
    pub(crate) fn sampler(&self, data: &Data, means: &[f64]) -> Option<AdaptiveSampler> {
        let fresh = || AdaptiveSampler::new(data.train.rows(data.targets));
        let resumed = || AdaptiveSampler::resumed(means.to_vec(), &bottoms(data));
        self.draws_poles.then(|| if means.is_empty() { fresh() } else { resumed() })
    }
}

/// Which training rows have a ⊥ target.
pub(crate) fn bottoms(data: &Data) -> Vec<bool> {
    let denominators = |row: &[f32]| row[data.targets / 2..].contains(&0.0);
    data.train.y.chunks_exact(data.targets).map(denominators).collect()
}

/// The smallest |Q| of each row of pairs [rows, `targets`].
pub(crate) fn least_denominators(pairs: &[f32], targets: usize) -> Vec<f32> {
    let least = |row: &[f32]| row[targets / 2..].iter().map(|q| q.abs()).fold(f32::INFINITY, f32::min);
    pairs.chunks_exact(targets).map(least).collect()
}
