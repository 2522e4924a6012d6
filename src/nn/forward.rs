//! The forward pass in ops, for the recorded step and recorded prediction.

use super::activation::Activation;
use super::head::{Basis, Head, HeadForm, PairNormalization};
use super::spec::{Layer, RationalLayer, Spec, curve_of};
use crate::autograd::Var;
use crate::device::Label;
use crate::ops;
use crate::program::expr::{cos, eq, gt, le, select, sin, softplus, sqrt};
use crate::scm::policy::{Policy, Registry};
use crate::scm::{self, Masked, Moments};
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

/// Decay of the running statistics per batch: the usual value.
const KEPT: f32 = 0.9;
/// Lower bound that keeps the weight of old statistics above the subnormal numbers, which some devices flush to 0. Negligible next to any other weight.
const LEAST: f32 = 1e-30;

/// The model's outputs [rows, outputs], or the pairs [rows, 2 · outputs] of a projective head, for `x` [rows, inputs], with parameters in the
/// layout's order.
pub fn forward(spec: &Spec, parameters: &[Var], x: &Var, mode: &Pass) -> Var {
    learn(spec, parameters, x, mode).0
}

/// The same, and in training also the updated running statistics of the norms.
pub fn learn(spec: &Spec, parameters: &[Var], x: &Var, mode: &Pass) -> (Var, Vec<RunningStats>) {
    let mut pass = Forward::over(parameters, mode);
    let y = pass.layers(&spec.layers, x.clone(), "layers");
    let y = match pass.rows().filter(|_| spec.head().is_none()) {
        // A model that cannot predict ⊥ must not predict a number instead: it is infinite there, as without masks.
        Some(rows) => ops::fused(&[&y, &rows], |v| v[0] + v[1] / (1.0 - v[1])),
        None => y,
    };
    (y, pass.seen)
}

/// After each layer except the head, 1 for each row, [rows, 1], that contains ⊥.
pub fn bottoms(spec: &Spec, parameters: &[Var], x: &Var) -> Vec<Var> {
    let mut pass = Forward::over(parameters, &Pass::Predict);
    let rows = x.shape().sizes()[0];
    let none = Var::constant(Tensor::scalar(x.value().device(), 0.0));
    let mut x = x.clone();
    let layers = spec.layers.iter().filter(|layer| !matches!(layer, Layer::Projective(_)));
    layers
        .map(|layer| {
            x = pass.layer(layer, x.clone(), "");
            pass.rows().unwrap_or_else(|| ops::broadcast_to(&none, &[rows, 1].into()))
        })
        .collect()
}

/// The values after each layer.
pub fn layer_outputs(spec: &Spec, parameters: &[Var], x: &Var) -> Vec<Var> {
    let mut pass = Forward::over(parameters, &Pass::Predict);
    let mut x = x.clone();
    let mut after = |(at, layer): (usize, &Layer)| {
        x = pass.layer(layer, x.clone(), &format!("layers.{at}"));
        x.clone()
    };
    spec.layers.iter().enumerate().map(&mut after).collect()
}

struct Forward<'a> {
    parameters: std::iter::Enumerate<std::slice::Iter<'a, Var>>,
    mode: &'a Pass,
    /// Number of dropout layers so far: each draws from its own stream.
    dropouts: u32,
    /// 1 for each value, [rows, columns], that is ⊥, or, after a layer has mixed columns, for each row, [rows, 1], with such a value.
    /// ⊥ stays ⊥: policies change gradients, never the mask.
    mask: Option<Var>,
    /// Updated running statistics of the norms.
    seen: Vec<RunningStats>,
}

impl<'a> Forward<'a> {
    fn over(parameters: &'a [Var], mode: &'a Pass) -> Self {
        Self { parameters: parameters.iter().enumerate(), mode, dropouts: 0, mask: None, seen: Vec::new() }
    }

    fn layers(&mut self, layers: &[Layer], x: Var, path: &str) -> Var {
        let mut x = x;
        let mut at = 0;
        let device = x.value().device().clone();
        while let Some(layer) = layers.get(at) {
            let name = format!("{path}.{at}");
            device.labelled(Label::part(&name), || {
                // A linear layer and the activation after it are one launch.
                if let (Layer::Linear { bias, .. }, Some(Layer::Activation { function })) = (layer, layers.get(at + 1))
                {
                    x = self.linear(*bias, &x, Some(function));
                    at += 2;
                } else {
                    x = self.layer(layer, x.clone(), &name);
                    at += 1;
                }
            });
        }
        x
    }

    fn next(&mut self) -> Var {
        self.numbered().1
    }

    fn numbered(&mut self) -> (usize, Var) {
        let (at, parameter) =
            self.parameters.next().expect("the layout has a parameter for every layer that needs one");
        (at, parameter.clone())
    }

    /// 1 for each row, [rows, 1], with a ⊥.
    fn rows(&self) -> Option<Var> {
        let mask = self.mask.as_ref()?;
        let is_by_row = mask.shape().sizes()[1] == 1;
        Some(if is_by_row { mask.clone() } else { ops::fused(&[&ops::sum(mask, 1..2)], |v| gt(v[0], 0.0)) })
    }

    /// Values with their mask.
    fn masked(&self, x: &Var) -> Masked {
        let x = Masked::from(x);
        self.mask.as_ref().map_or_else(|| x.canonicalized(), |mask| x.except(mask))
    }

    /// The policy of a layer.
    fn policy(&self, layer: &Layer, path: &str) -> Policy {
        match (self.mode, layer.gradient_policy()) {
            (Pass::Train { policies, .. }, Some((kind, own))) => {
                policies.resolve(if policies.get(path).is_some() { path } else { kind }, own)
            }
            // A prediction has no gradients.
            _ => Policy::Project,
        }
    }

    fn layer(&mut self, layer: &Layer, x: Var, path: &str) -> Var {
        match layer {
            Layer::Linear { bias, .. } => self.linear(*bias, &x, None),
            Layer::Activation { function } => activate(function, &x),
            Layer::LayerNorm { epsilon } => {
                self.mask = self.rows();
                let normal = ops::layer_norm(&x, *epsilon);
                ops::fused(&[&normal, &self.next(), &self.next()], |v| v[0] * v[1] + v[2])
            }
            Layer::Dropout { rate } => {
                self.dropouts += 1;
                match self.mode {
                    Pass::Predict => x,
                    Pass::Train { seed, control, .. } => {
                        ops::mul(&x, &ops::dropout_mask(x.shape(), *rate, *seed, self.dropouts, control))
                    }
                }
            }
            Layer::Residual { layers } => {
                let inner = self.layers(layers, x.clone(), &format!("{path}.layers"));
                ops::add(&x, &inner)
            }
            Layer::Rational(rational) => self.rational(rational, &x, self.policy(layer, path)),
            Layer::MaskedNorm { epsilon, .. } => self.norm(&x, *epsilon, self.policy(layer, path)),
            Layer::MaskedSoftmax { .. } => {
                let (y, rows) = scm::softmax(&self.masked(&x), self.policy(layer, path));
                self.mask = Some(rows);
                y
            }
            Layer::Function(graph) => {
                self.mask = self.rows();
                let parameters: Vec<Var> = graph.parameters.iter().map(|_| self.next()).collect();
                graph.record(&parameters, &x, curve_of).unwrap_or_else(|error| panic!("model: {path}: {error}"))
            }
            Layer::Projective(head) => self.pairs(head, &x),
        }
    }

    /// A linear layer, with an activation after it.
    fn linear(&mut self, has_bias: bool, x: &Var, function: Option<&Activation>) -> Var {
        self.mask = self.rows();
        let weight = self.next();
        let bias = has_bias.then(|| self.next());
        ops::layer(x, &weight, bias.as_ref(), function.map(Activation::curve))
    }

    /// A rational layer's values; adds its poles to the mask.
    fn rational(&mut self, layer: &RationalLayer, x: &Var, policy: Policy) -> Var {
        let y = scm::rational(&Masked::from(x), &self.next(), &layer.form(), policy);
        if !layer.is_safe {
            let poles = y.bottoms();
            self.mask = Some(self.mask.take().map_or(poles.clone(), |before| ops::or(&before, &poles)));
        }
        y.value().clone()
    }

    /// Columns standardised: in training by the statistics of the batch, which also update the running ones; in prediction by the running ones.
    fn norm(&mut self, x: &Var, epsilon: f32, policy: Policy) -> Var {
        let [mean, variance, seen] = [(); 3].map(|()| self.numbered());
        let x = self.masked(x);
        let moments = if let Pass::Train { present, .. } = self.mode {
            let batch = x.except(&ops::fused(&[present], |v| eq(v[0], 0.0)));
            let moments = Moments::of(&batch);
            self.remember(&batch, &moments, [mean, variance, seen]);
            moments
        } else {
            let unseen = ops::fused(&[&seen.1], |v| le(v[0], 0.0));
            Moments { mean: Masked::from(&mean.1), variance: Masked::from(&variance.1).except(&unseen) }
        };
        let y = scm::with_gradient_policy(&scm::standardize(&x, &moments, epsilon), policy);
        self.mask = Some(y.bottoms());
        y.value().clone()
    }

    /// Updates the running statistics with a batch. The weight of a batch is its share of values that are not ⊥, and decays by `KEPT` with
    /// each further batch; a column without a variance has weight 0.
    fn remember(&mut self, batch: &Masked, moments: &Moments, [mean, variance, seen]: [(usize, Var); 3]) {
        let rows = batch.shape().sizes()[0] as f32;
        let missing = ops::sum(&batch.bottoms(), 0..1);
        let share = ops::fused(&[&missing, &moments.variance.bottoms()], |v| (1.0 - v[0] / rows) * (1.0 - v[1]));
        let total =
            ops::fused(&[&seen.1, &share], |v| v[0] * KEPT + v[1] * (1.0 - KEPT) + select(gt(v[0], 0.0), LEAST, 0.0));
        let weight = ops::fused(&[&share, &total], |v| v[0] * (1.0 - KEPT) / select(gt(v[1], 0.0), v[1], 1.0));
        let mut note = |(parameter, before): (usize, Var), latest: &Var| {
            let value = ops::fused(&[&before, latest, &weight], |v| v[0] * (1.0 - v[2]) + v[1] * v[2]);
            self.seen.push(RunningStats { parameter, value: ops::reshape(&value, before.shape()) });
        };
        note(mean, moments.mean.value());
        note(variance, moments.variance.value());
        self.seen.push(RunningStats { parameter: seen.0, value: ops::reshape(&total, seen.1.shape()) });
    }

    /// Numerators and denominators [rows, 2 · outputs] from features.
    fn pairs(&mut self, head: &Head, x: &Var) -> Var {
        let (p, q) = if head.form == HeadForm::Value {
            (x.clone(), ops::constant(x, 1.0))
        } else if let HeadForm::Angular { scale } = head.form {
            (ops::fused(&[x], |v| cos(v[0] * scale)), ops::fused(&[x], |v| sin(v[0] * scale)))
        } else {
            let (a, b) = (columns(x, 0, head.outputs), columns(x, head.outputs, head.denominators()));
            let (p, q) = self.polynomials(head, a, b);
            (p, anchored(head, &q))
        };
        let [rows, outputs] = [x.shape().sizes()[0], head.outputs];
        let q = ops::broadcast_to(&q, &[rows, outputs].into());
        let (p, q) = normalized(head.gauge, p, q);
        let (p, q) = match &self.rows() {
            Some(bottom) => (
                ops::fused(&[&p, bottom], |v| select(v[1], 1.0, v[0])),
                ops::fused(&[&q, bottom], |v| select(v[1], 0.0, v[0])),
            ),
            None => (p, q),
        };
        let [p, q] = [p, q].map(|part| ops::reshape(&part, [rows, 1, outputs]));
        let is_denominator = numbers(x, [2, 1], &[0.0, 1.0]);
        let pairs = ops::fused(&[&p, &q, &is_denominator], |v| select(v[2], v[1], v[0]));
        ops::reshape(&pairs, [rows, 2 * outputs])
    }

    fn polynomials(&mut self, head: &Head, a: Var, b: Var) -> (Var, Var) {
        let HeadForm::Rational { numerator, denominator, basis } = head.form else { return (a, b) };
        let p: Vec<Var> = (0..=numerator).map(|_| self.next()).collect();
        let q: Vec<Var> = (0..=denominator).map(|_| self.next()).collect();
        (polynomial(basis, &p, &a), polynomial(basis, &q, &b))
    }
}

/// Columns `first..first + count` of [rows, columns], by a product with a matrix of zeros and ones.
fn columns(x: &Var, first: usize, count: usize) -> Var {
    let width = x.shape().sizes()[1];
    let mut pick = vec![0.0; width * count];
    (0..count).for_each(|column| pick[(first + column) * count + column] = 1.0);
    ops::matmul(x, &numbers(x, [width, count], &pick))
}

fn numbers(like: &Var, shape: [usize; 2], values: &[f32]) -> Var {
    Var::constant(Tensor::constant(like.value().device(), shape, values))
}

/// Σ w_k φ_k(x): by Horner's rule, or Clenshaw's (1955) for Chebyshev polynomials.
fn polynomial(basis: Basis, weights: &[Var], x: &Var) -> Var {
    let [rest @ .., last] = weights else { unreachable!("a polynomial has a coefficient of degree 0") };
    let wide = ops::broadcast_to(&ops::reshape(last, [1, last.shape().len()]), x.shape());
    let horner = |sum: Var, w: &Var| ops::fused(&[&sum, x, w], |v| v[0] * v[1] + v[2]);
    match (basis, rest) {
        (_, []) => wide,
        (Basis::Monomial, rest) => rest.iter().rev().fold(wide, horner),
        (Basis::Chebyshev, [lowest, rest @ ..]) => {
            let (mut one, mut two) = (wide, ops::constant(x, 0.0));
            for w in rest.iter().rev() {
                let next = ops::fused(&[&one, &two, x, w], |v| 2.0 * v[2] * v[0] - v[1] + v[3]);
                (one, two) = (next, one);
            }
            ops::fused(&[&one, &two, x, lowest], |v| v[2] * v[0] - v[1] + v[3])
        }
    }
}

/// Q from a free denominator.
fn anchored(head: &Head, q: &Var) -> Var {
    let anchor = head.anchor;
    match head.floor {
        Some(floor) => ops::fused(&[q], |v| softplus(v[0]) + (floor + anchor)),
        None => ops::fused(&[q], |v| v[0] + anchor),
    }
}

/// The pair divided by its length if the head normalises; unchanged if the length is 0.
fn normalized(normalization: PairNormalization, p: Var, q: Var) -> (Var, Var) {
    if normalization == PairNormalization::Free {
        return (p, q);
    }
    let size = ops::fused(&[&p, &q], |v| {
        let square = v[0] * v[0] + v[1] * v[1];
        sqrt(select(gt(square, 0.0), square, 1.0))
    });
    let size = if normalization == PairNormalization::Unit { size.detach() } else { size };
    (ops::div(&p, &size), ops::div(&q, &size))
}

fn activate(function: &Activation, x: &Var) -> Var {
    ops::fused(&[x], |v| function.curve().value.emit(v))
}
