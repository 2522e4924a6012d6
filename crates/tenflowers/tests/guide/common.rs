//! What the guide's snippets use and do not define.

use meromorph::{Result, ops};
use tenflowers_autograd::{AsVar, GradientTape, TensorOps, TrackedTensor, Values};

/// Gradients as a tape gives them.
pub(crate) type Gradients = Vec<Option<Values>>;

/// The loss Σ w² x over the entries, whose gradient is 2 w x.
pub(crate) struct Model<'t>(pub(crate) TrackedTensor<'t>);

impl<'t> Model<'t> {
    pub(crate) fn forward(&self, x: &impl AsVar) -> Result<TrackedTensor<'t>> {
        let y = self.0.mul(&self.0)?.mul(x)?;
        Ok(y.with(ops::sum_to(&y, &[1].into())))
    }
}

/// w - rate · g.
pub(crate) struct Optimizer {
    pub(crate) weights: Vec<f32>,
    pub(crate) rate: f32,
}

impl Optimizer {
    pub(crate) fn step(&mut self, grads: &[Option<Values>]) -> Result<()> {
        let gradient = grads[0].as_ref().expect("a gradient").to_vec()?;
        self.weights.iter_mut().zip(gradient).for_each(|(w, g)| *w -= self.rate * g);
        Ok(())
    }
}

/// The numbers of the first gradient.
pub(crate) fn first(grads: &[Option<Values>]) -> Vec<f32> {
    grads[0].as_ref().expect("a gradient").to_vec().expect("numbers")
}

/// A gradient with these numbers: that of Σ w² / 2.
pub(crate) fn gradient(numbers: &[f32]) -> Gradients {
    let tape = GradientTape::new();
    let w = tape.watch(numbers);
    let half = tape.constant([1], &[0.5]).expect("a number");
    tape.gradient(&[w.mul(&w).and_then(|y| y.mul(&half)).expect("a loss")], &[w]).expect("a gradient")
}
