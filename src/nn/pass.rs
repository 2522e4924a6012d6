//! A pass through the layers of a model: their parameters in order, and what is ⊥ so far.

use super::kind::LayerKind;
use crate::autograd::Var;
use crate::device::Label;
use crate::ops;
use crate::program::expr::gt;
use crate::scm::Masked;
use crate::scm::policy::{Policy, Registry};
use crate::tensor::Tensor;

/// Mode of the pass: training (dropout is active) or prediction.
#[derive(Clone)]
pub enum Pass {
    /// Dropout is the identity.
    Predict,
    /// Dropout draws from the generator with key `seed`, at the step that is stored on the device.
    Train {
        /// Key of the generator.
        seed: u64,
        /// The step's control words, which contain the step counter.
        control: Tensor,
        /// Gradient policies by a layer's position (`layers.1`) or kind; a layer's own policy and the scope's have priority.
        policies: Registry,
        /// 0 for each row, [rows, 1], that only pads the batch, 1 for the others: norms ignore padding.
        present: Var,
    },
}

/// Running statistics of a normalisation layer, for the next step: new values of a parameter that has no gradient.
pub struct RunningStats {
    /// The parameter's index in the layout.
    pub parameter: usize,
    /// Its new value.
    pub value: Var,
}

/// A pass through the layers of a model.
pub struct Forward<'a> {
    parameters: std::iter::Enumerate<std::slice::Iter<'a, Var>>,
    /// Training or prediction.
    pub mode: &'a Pass,
    /// Number of dropout layers so far: each draws from its own stream.
    pub dropouts: u32,
    /// 1 for each value, [rows, columns], that is ⊥, or, after a layer has mixed columns, for each row, [rows, 1], with such a value.
    /// ⊥ stays ⊥: policies change gradients, never the mask.
    pub mask: Option<Var>,
    /// Updated running statistics of the norms.
    pub seen: Vec<RunningStats>,
}

impl<'a> Forward<'a> {
    pub(super) fn over(parameters: &'a [Var], mode: &'a Pass) -> Self {
        Self { parameters: parameters.iter().enumerate(), mode, dropouts: 0, mask: None, seen: Vec::new() }
    }

    /// The values after these layers; `path` is the place that they are in.
    pub fn layers(&mut self, layers: &[&dyn LayerKind], x: Var, path: &str) -> Var {
        let mut x = x;
        let mut at = 0;
        let device = x.value().device().clone();
        while let Some(layer) = layers.get(at) {
            let name = format!("{path}.{at}");
            device.labelled(Label::part(&name), || {
                // A linear layer and the activation after it are one launch.
                let function = layers.get(at + 1).and_then(|next| next.activation());
                if let Some(function) = function.filter(|_| layer.takes_activation()) {
                    x = layer.forward(self, x.clone(), &name, Some(function));
                    at += 2;
                } else {
                    x = layer.forward(self, x.clone(), &name, None);
                    at += 1;
                }
            });
        }
        x
    }

    /// The next parameter.
    #[expect(clippy::should_implement_trait, reason = "there is always one more")]
    pub fn next(&mut self) -> Var {
        self.numbered().1
    }

    /// The next parameter with its index in the layout.
    pub fn numbered(&mut self) -> (usize, Var) {
        let (at, parameter) =
            self.parameters.next().expect("the layout has a parameter for every layer that needs one");
        (at, parameter.clone())
    }

    /// 1 for each row, [rows, 1], with a ⊥.
    pub fn rows(&self) -> Option<Var> {
        let mask = self.mask.as_ref()?;
        let is_by_row = mask.shape().sizes()[1] == 1;
        Some(if is_by_row { mask.clone() } else { ops::fused(&[&ops::sum(mask, 1..2)], |v| gt(v[0], 0.0)) })
    }

    /// Values with their mask.
    pub fn masked(&self, x: &Var) -> Masked {
        let x = Masked::from(x);
        self.mask.as_ref().map_or_else(|| x.canonicalized(), |mask| x.except(mask))
    }

    /// The policy of a layer at a path.
    pub fn policy(&self, layer: &dyn LayerKind, path: &str) -> Policy {
        match (self.mode, layer.gradient_policy()) {
            (Pass::Train { policies, .. }, Some((kind, own))) => {
                policies.resolve(if policies.get(path).is_some() { path } else { kind }, own)
            }
            // A prediction has no gradients.
            _ => Policy::Project,
        }
    }
}
