//! The tape of the guide: values are tracked from `watch` on, and `gradient` may be called any number of times.

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::ops::{Deref, Index};

use super::clock;
use super::place;
use super::value::{AsVar, Values, Watched};
use meromorph::autograd::Var;
use meromorph::device::Device;
use meromorph::error::{Error, Result};
use meromorph::ops;
use meromorph::tensor::Tensor;

/// Tracks values on a device. Ops on constants are not recorded. What is watched, and what [`TrackedTensor`]'s own methods make of it, lives as long
/// as the tape; everything else is freed when nothing refers to it.
///
/// ```
/// use meromorph_tenflowers::GradientTape;
/// use meromorph::prelude::*;
///
/// let tape = GradientTape::new();
/// let x = tape.watch(vec![1.0, 2.0, 3.0]);
/// let loss = ops::sum(&ops::mul(&x, &x), 0..1);
/// let gradients = tape.gradient(&[&loss], &[x])?;
/// assert_eq!(gradients[0].as_ref().unwrap().to_vec()?, [2.0, 4.0, 6.0]);
/// // `loss` and `x` can be used again, and so can the tape.
/// let again = tape.gradient(&[loss], &[x])?;
/// assert!(again[0].is_some());
/// # Ok::<(), Error>(())
/// ```
pub struct GradientTape {
    device: Device,
    values: Arena,
}

impl Default for GradientTape {
    fn default() -> Self {
        Self::new()
    }
}

impl GradientTape {
    /// A tape on the device that tapes of this thread used last; if there was none, on the CPU with one thread.
    pub fn new() -> Self {
        Self::on(&place::current())
    }

    /// A tape on a device.
    pub fn on(device: &Device) -> Self {
        place::note(device);
        Self { device: device.clone(), values: Arena::default() }
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// A value whose gradient can be computed: a tensor, a value whose history is left out, or numbers, which become a vector.
    ///
    /// Panics if the device refuses the numbers, such as for lack of memory.
    #[track_caller]
    pub fn watch(&self, value: impl Watched) -> TrackedTensor<'_> {
        let tensor = value.tensor(&self.device).unwrap_or_else(|error| panic!("watch: {error}"));
        place::note(tensor.device());
        self.keep(Var::leaf(tensor))
    }

    /// A tensor on the tape's device, whose gradient is not asked for.
    pub fn constant(&self, shape: impl Into<meromorph::tensor::Shape>, numbers: &[f32]) -> Result<Var> {
        Tensor::from_f32(&self.device, shape, numbers).map(Var::constant)
    }

    fn keep(&self, var: Var) -> TrackedTensor<'_> {
        TrackedTensor { tape: self, value: self.values.push(var.into()) }
    }

    /// Forgets all values, when no handle of one is in use any more; the memory of those without another owner is free. Dropping the tape does the same.
    pub fn clear(&mut self) {
        self.values = Arena::default();
    }

    /// The number of values that it keeps.
    pub fn len(&self) -> usize {
        self.values.len.get()
    }

    /// Whether it keeps none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gradients of the sum of all targets with respect to each source; `None` where no path leads there. They are computed when this returns, unless the
    /// device captures a plan. Errors if an op on the way has no gradient.
    pub fn gradient(&self, targets: &[impl AsVar], sources: &[impl AsVar]) -> Result<Vec<Option<Values>>> {
        let sums = targets.iter().map(|target| ops::sum_to(target.var(), &[1].into()));
        let total = sums.reduce(|total, sum| ops::add(&total, &sum));
        let total = total.ok_or_else(|| Error::usage("gradient: got no targets, expected at least one"))?;
        let gradients = ops::grad(&total, &sources.iter().map(AsVar::var).collect::<Vec<&Var>>())?;
        let device = total.value().device();
        place::note(device);
        if !device.is_capturing() {
            device.flush()?;
            clock::tick();
        }
        Ok(gradients.into_iter().map(|gradient| gradient.map(Values::from)).collect())
    }
}

/// A handle of a value on a tape. It is copied, as the guide does when it uses a loss again, and a [`Var`] in all else.
#[derive(Clone, Copy)]
pub struct TrackedTensor<'t> {
    tape: &'t GradientTape,
    value: &'t Values,
}

impl<'t> TrackedTensor<'t> {
    /// Its tape.
    pub fn tape(&self) -> &'t GradientTape {
        self.tape
    }

    /// The result of ops on the same tape, such as a loss, as a handle that is copied.
    #[must_use]
    pub fn with(&self, result: Var) -> Self {
        self.tape.keep(result)
    }

    /// The numbers, row by row.
    pub fn to_vec(&self) -> Result<Vec<f32>> {
        self.value.to_vec()
    }
}

impl AsVar for TrackedTensor<'_> {
    fn var(&self) -> &Var {
        self.value
    }
}

impl Deref for TrackedTensor<'_> {
    type Target = Var;

    fn deref(&self) -> &Var {
        self.value
    }
}

impl Index<usize> for TrackedTensor<'_> {
    type Output = f32;

    #[track_caller]
    fn index(&self, at: usize) -> &f32 {
        &self.value[at]
    }
}

impl fmt::Debug for TrackedTensor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// Values at places that stay while more are added: blocks of 1, 2, 4, … of them.
#[derive(Default)]
struct Arena {
    blocks: [OnceCell<Box<[OnceCell<Values>]>>; 32],
    len: Cell<usize>,
}

impl Arena {
    fn push(&self, value: Values) -> &Values {
        let at = self.len.get();
        self.len.set(at + 1);
        let block = (at + 1).ilog2();
        let places = self.blocks[block as usize].get_or_init(|| (0..1 << block).map(|_| OnceCell::new()).collect());
        places[at + 1 - (1 << block)].get_or_init(|| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stay_and_clearing_frees_the_memory() {
        let device = Device::cpu(1);
        let mut tape = GradientTape::on(&device);
        let first = tape.watch([1.0, 2.0]);
        let others: Vec<TrackedTensor<'_>> = (0..100).map(|k| tape.watch([k as f32])).collect();
        assert_eq!((first[1], others[0][0], others[99][0]), (2.0, 0.0, 99.0));
        assert_eq!(tape.len(), 101);
        let before = device.counters().live_bytes;
        tape.clear();
        assert!(tape.is_empty() && before > 0);
        assert_eq!(device.counters().live_bytes, 0);
    }
}
