//! Sums of gradients over micro-batches.

use super::arithmetic::update;
use super::value::{AsVar, Values};
use meromorph::autograd::Var;
use meromorph::error::{Error, Result};
use meromorph::ops;

/// Sums the gradients of micro-batches in place, by the place of their parameter: only the first takes memory. A gradient of a mean over rows is weighted by the rows, so that micro-batches
/// of different sizes give the gradient of all rows together. [`Trainer`](meromorph::train::Trainer) does the same on the device without any call
/// (`accumulate`).
///
/// ```
/// use meromorph_tenflowers::{GradientAccumulator, GradientTape};
/// use meromorph::prelude::*;
///
/// let tape = GradientTape::new();
/// let w = tape.watch(Tensor::from_f32(tape.device(), [1], &[3.0])?);
/// let mut accumulator = GradientAccumulator::new();
/// for rows in [&[1.0, 2.0, 3.0][..], &[4.0]] {
///     let x = Var::constant(Tensor::from_f32(tape.device(), [rows.len()], rows)?);
///     let loss = ops::mean(&ops::mul(&ops::broadcast_to(&w, x.shape()), &x), 0..1);
///     accumulator.accumulate_rows(&tape.gradient(&[loss], &[&w])?, rows.len())?;
/// }
/// assert_eq!(accumulator.count(), 2);
/// let mean = accumulator.get_averaged_gradients()?;
/// assert_eq!(mean[0].as_ref().unwrap().to_vec()?, [2.5]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Default)]
pub struct GradientAccumulator {
    sums: Vec<Option<Var>>,
    rows: f32,
    count: usize,
}

impl GradientAccumulator {
    /// Without any gradient.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the gradients of a micro-batch that counts as much as the others.
    pub fn accumulate(&mut self, gradients: &[Option<impl AsVar>]) -> Result<()> {
        self.accumulate_rows(gradients, 1)
    }

    /// Adds the gradients of a mean over so many rows. Errors if there are none, or if the number of gradients is another than before.
    pub fn accumulate_rows(&mut self, gradients: &[Option<impl AsVar>], rows: usize) -> Result<()> {
        if rows == 0 {
            return Err(Error::usage("accumulate: got 0 rows, expected at least 1"));
        }
        if self.count > 0 && self.sums.len() != gradients.len() {
            let (got, expected) = (gradients.len(), self.sums.len());
            return Err(Error::usage(format!("accumulate: got {got} gradients, expected {expected} as before")));
        }
        self.sums.resize(gradients.len(), None);
        for (sum, gradient) in self.sums.iter_mut().zip(gradients) {
            let Some(gradient) = gradient else { continue };
            let weight = rows as f32;
            // Without their history, so that the results of the micro-batch are freed.
            let gradient = gradient.var().detach();
            match sum {
                Some(sum) => update("accumulate", sum, &[&gradient], |v| v[0] + v[1] * weight)?,
                None => *sum = Some(ops::fused(&[&gradient], |v| v[0] * weight)),
            }
        }
        self.rows += rows as f32;
        self.count += 1;
        Ok(())
    }

    /// The mean gradient over all rows; `None` where no micro-batch had one. Errors if nothing was added.
    pub fn get_averaged_gradients(&self) -> Result<Vec<Option<Values>>> {
        if self.count == 0 {
            return Err(Error::usage("get_averaged_gradients: nothing was accumulated"));
        }
        let share = self.rows.recip();
        let mean = |sum: &Var| Values::from(ops::fused(&[sum], |v| v[0] * share));
        Ok(self.sums.iter().map(|sum| sum.as_ref().map(mean)).collect())
    }

    /// Number of micro-batches so far.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Forgets all of them.
    pub fn reset(&mut self) {
        *self = Self::new();
    }
}
