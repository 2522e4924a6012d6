//! What a shape of the learning rate is: a record with everything that is known about it.

use crate::error::{Error, Result};
use crate::host::{self, number};

/// Everything about a shape: one file implements it, one word in the list of `mod.rs` makes it known. Its options are the fields of its record.
pub trait ShapeKind {
    /// Errors if a number is outside of its range, so that no rate is negative or not a number.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// The factor of an update.
    fn factor(&self, at: &Moment) -> f64;

    /// Epochs without improvement after which the rate drops, if it follows the validation rows.
    fn patience(&self) -> Option<usize> {
        None
    }
}

/// A shape that an option can name.
pub trait NamedShape {
    /// Its name.
    const NAME: &str;
    /// What it does, in one line.
    const DOC: &str;

    /// The shape with the usual numbers, in a run of so many epochs.
    fn standard(epochs: usize) -> Self;
}

/// An update of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Number of the update, from 0.
    pub update: u64,
    /// Updates of an epoch.
    pub updates: u64,
    /// Epochs of the run.
    pub epochs: usize,
    /// Plateaus so far.
    pub drops: u32,
}

impl Moment {
    /// The epoch.
    pub(super) fn epoch(&self) -> u64 {
        self.update / self.updates.max(1)
    }

    /// The share of the epochs that are over.
    pub(super) fn share(&self) -> f64 {
        self.epoch() as f64 / self.epochs.max(1) as f64
    }

    /// Number of the last update of the run; at least 1.
    pub(super) fn last(&self) -> f64 {
        (self.updates as f64 * self.epochs.max(1) as f64 - 1.0).max(1.0)
    }
}

/// Half a cosine from one factor to another; `share` is how much of it is over.
pub(super) fn between(from: f64, to: f64, share: f64) -> f64 {
    to + (from - to) * 0.5 * (1.0 + host::cos(std::f64::consts::PI * share.clamp(0.0, 1.0)))
}

/// Errors unless a number is from 0 to 1.
pub(super) fn share(name: &str, value: f64) -> Result<()> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(wrong(name, value, "a number from 0 to 1")) }
}

/// Errors unless a number is finite and at least `least`.
pub(super) fn least(name: &str, value: f64, least: f64) -> Result<()> {
    let is_fine = value.is_finite() && value >= least;
    if is_fine { Ok(()) } else { Err(wrong(name, value, &format!("a finite number of at least {}", number(least)))) }
}

pub(super) fn wrong(name: &str, value: f64, expected: &str) -> Error {
    Error::usage(format!("schedule: {name}: got {}, expected {expected}", number(value)))
}
