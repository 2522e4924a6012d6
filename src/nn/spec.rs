//! The architecture of a model. A spec is data: it is printed, compared and stored in the model file.

use std::sync::Arc;

use super::activation::Activation;
use super::head::{Basis, Head};
use crate::error::{Error, Result};
use crate::graph::{Graph, Init};
use crate::host::number;
use crate::kernels::rational::{MAX_DEGREE, Rational};
use crate::program::Curve;
use crate::record;
use crate::scm::policy::Policy;

/// A model: inputs and layers in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// Input values per row.
    pub inputs: usize,
    /// The layers, in order.
    pub layers: Vec<Layer>,
}

record! { Spec { inputs, layers } }

/// One layer.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer {
    /// y = W x + b.
    Linear {
        /// Output values per row.
        outputs: usize,
        /// Whether it has a bias b.
        bias: bool,
        /// Initialisation of W and b.
        init: Init,
    },
    /// A pointwise function.
    Activation {
        /// The function.
        function: Activation,
    },
    /// (x - mean) / √(variance + epsilon) per row, times gain, plus bias.
    LayerNorm {
        /// Added to the variance.
        epsilon: f32,
    },
    /// In training, sets a random share of the values to zero and scales the rest by 1 / (1 - rate).
    Dropout {
        /// The share, in [0, 1).
        rate: f32,
    },
    /// x + layers(x).
    Residual {
        /// The inner layers; their output width must equal their input width.
        layers: Vec<Layer>,
    },
    /// A learnt rational function of each value. A pole of a layer that is not safe makes the row's prediction ⊥, so the model must
    /// end in a projective head.
    Rational(RationalLayer),
    /// (x - mean) / √(variance + epsilon) of each column, ignoring ⊥ (Ioffe and Szegedy 2015). Training uses mean and variance of the batch;
    /// prediction uses running statistics of the training batches, the latest weighted most, so it does not depend on the other rows.
    /// A column of variance 0, or without any value in training, is ⊥: without an epsilon the model must end in a projective head.
    /// If ⊥ occurs in a model without one, because a value overflows, its prediction is infinite.
    /// It has no gain and no bias; the bias of the layer before it is removed together with the mean.
    MaskedNorm {
        /// Added to the variance; at least 0.
        epsilon: f32,
        /// Gradient policy at ⊥; if absent, that of the scope or of the run's registry (`scm::policy`).
        policy: Option<Policy>,
    },
    /// e^x / Σ e^x of each row. A row with a ⊥ is 1 at the largest of its other values and 0 elsewhere, but its prediction is still ⊥.
    MaskedSoftmax {
        /// Gradient policy, as for a masked norm.
        policy: Option<Policy>,
    },
    /// A function of the values, as a graph of ops with parameters of its own.
    Function(Graph),
    /// A numerator and a denominator per output; only as the last layer.
    Projective(Head),
}

record! {
    enum Layer {
        Linear { outputs, bias, init }, Activation { function }, LayerNorm { epsilon }, Dropout { rate },
        Residual { layers }, Rational(_), MaskedNorm { epsilon, policy }, MaskedSoftmax { policy }, Function(_),
        Projective(_),
    }
}

impl Layer {
    /// Its kind, as in model files.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Linear { .. } => "linear",
            Self::Activation { .. } => "activation",
            Self::LayerNorm { .. } => "layer_norm",
            Self::Dropout { .. } => "dropout",
            Self::Residual { .. } => "residual",
            Self::Rational(_) => "rational",
            Self::MaskedNorm { .. } => "masked_norm",
            Self::MaskedSoftmax { .. } => "masked_softmax",
            Self::Function(_) => "function",
            Self::Projective(_) => "projective",
        }
    }

    /// Whether it is a function, or has one inside.
    pub(crate) fn has_function(&self) -> bool {
        match self {
            Self::Function(_) => true,
            Self::Residual { layers } => layers.iter().any(Self::has_function),
            _ => false,
        }
    }

    /// For a layer with a gradient policy: the name of its kind in the policy registry, used if its position is not registered, and its own
    /// policy.
    pub fn gradient_policy(&self) -> Option<(&'static str, Option<Policy>)> {
        match self {
            Self::Rational(layer) => Some(("scm_rational", layer.policy)),
            Self::MaskedNorm { policy, .. } => Some(("scm_norm", *policy)),
            Self::MaskedSoftmax { policy } => Some(("scm_softmax", *policy)),
            _ => None,
        }
    }
}

/// A rational function as a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RationalLayer {
    /// Degree of the numerator.
    pub numerator: usize,
    /// Degree of the denominator.
    pub denominator: usize,
    /// The polynomials.
    pub basis: Basis,
    /// Whether each column has its own coefficients.
    pub is_per_channel: bool,
    /// Whether the denominator is 1 + |…|, which has no poles.
    pub is_safe: bool,
    /// The result is ⊥ where |Q| is not above this.
    pub epsilon: f32,
    /// Gradient policy at ⊥; if absent, that of the scope or of the run's registry (`scm::policy`).
    pub policy: Option<Policy>,
}

record! { RationalLayer { numerator, denominator, basis, is_per_channel, is_safe, epsilon, policy } }

impl RationalLayer {
    /// A layer of these degrees, shared by all columns, with poles where |Q| <= 1e-6 and gradient 0 there.
    pub fn new(numerator: usize, denominator: usize) -> Self {
        let basis = Basis::Monomial;
        Self { numerator, denominator, basis, is_per_channel: false, is_safe: false, epsilon: 1e-6, policy: None }
    }

    /// An activation without poles (Molina et al. 2020).
    pub fn safe(numerator: usize, denominator: usize) -> Self {
        Self { is_per_channel: true, is_safe: true, ..Self::new(numerator, denominator) }
    }

    /// Its function.
    pub fn form(&self) -> Rational {
        let Self { numerator, denominator, basis, is_safe, epsilon, .. } = *self;
        Rational { numerator, denominator, basis, is_safe, epsilon }
    }

    fn check(&self) -> Result<()> {
        let (most, least) = (self.numerator.max(self.denominator), self.epsilon);
        if most > MAX_DEGREE {
            return Err(Error::new(format!("a rational layer's degree: got {most}, expected at most {MAX_DEGREE}")));
        }
        if !(least.is_finite() && least >= 0.0) {
            return Err(Error::new(format!(
                "a rational layer's epsilon: got {}, expected a finite number of at least 0",
                number(least)
            )));
        }
        Ok(())
    }
}

/// Maximal number of values of one weight, well below the limit of 32-bit sizes in words.
const MAX_WORDS: usize = 1 << 30;
/// Maximal number of layers of a model or a residual block. Preparing a step takes time that grows faster than their number; this many take seconds.
const MAX_LAYERS: usize = 1024;

impl Spec {
    /// A multi-layer perceptron: linear layers with an activation between them.
    pub fn mlp(inputs: usize, hidden: &[usize], outputs: usize, function: Activation) -> Self {
        let linear = |outputs| Layer::Linear { outputs, bias: true, init: Init::Linear };
        let mut layers = Vec::new();
        for &width in hidden {
            layers.extend([linear(width), Layer::Activation { function: function.clone() }]);
        }
        layers.push(linear(outputs));
        Self { inputs, layers }
    }

    /// The perceptron with a projective head on top.
    pub fn projective(inputs: usize, hidden: &[usize], head: Head, function: Activation) -> Self {
        let mut spec = Self::mlp(inputs, hidden, head.features(), function);
        spec.layers.push(Layer::Projective(head));
        spec
    }

    /// The projective head, if the model ends in one.
    pub fn head(&self) -> Option<&Head> {
        if let Some(Layer::Projective(head)) = self.layers.last() { Some(head) } else { None }
    }

    /// The same, to change its thresholds.
    pub(crate) fn head_mut(&mut self) -> Option<&mut Head> {
        if let Some(Layer::Projective(head)) = self.layers.last_mut() { Some(head) } else { None }
    }

    /// Values per row that the model predicts; a pair counts once.
    pub fn values(&self) -> Result<usize> {
        let outputs = self.outputs()?;
        Ok(self.head().map_or(outputs, |head| head.outputs))
    }

    /// Outputs per row; an error names the invalid layer.
    pub fn outputs(&self) -> Result<usize> {
        if self.inputs == 0 {
            return Err(Error::new("model: got 0 inputs, expected at least 1"));
        }
        let Some((Layer::Projective(head), before)) = self.layers.split_last() else {
            if let Some((at, why)) = self.layers.iter().map(bottoms).enumerate().find_map(|(at, why)| Some((at, why?)))
            {
                return Err(Error::new(format!("model: layers.{at}: {why}")));
            }
            return width_after(&self.layers, self.inputs, "layers");
        };
        let wrong = |what: String| Error::new(format!("model: layers.{}: {what}", before.len()));
        head.check().map_err(|error| wrong(error.to_string()))?;
        let (features, width) = (head.features(), width_after(before, self.inputs, "layers")?);
        if width != features {
            return Err(wrong(format!("the head's features: got {width} values, expected {features}")));
        }
        Ok(2 * head.outputs)
    }

    /// Widths of the linear layers and their activation, if the model is a plain perceptron with the same activation everywhere,
    /// optionally with a projective head.
    pub fn as_mlp(&self) -> Option<(Vec<usize>, Activation)> {
        let layers = match self.layers.split_last() {
            Some((Layer::Projective(_), before)) => before,
            _ => &self.layers,
        };
        if let [Layer::Function(graph)] = layers {
            let (widths, function) = graph.as_perceptron()?;
            return Some((widths, function.map_or(Some(Activation::identity()), |text| Activation::parse(text).ok())?));
        }
        let mut widths = Vec::new();
        let mut function = None;
        for (at, layer) in layers.iter().enumerate() {
            match (at % 2, layer) {
                (0, Layer::Linear { outputs, bias: true, .. }) => widths.push(*outputs),
                (1, Layer::Activation { function: f }) if function.as_ref().is_none_or(|known| known == f) => {
                    function = Some(f.clone());
                }
                _ => return None,
            }
        }
        (layers.len() % 2 == 1).then_some((widths, function.unwrap_or_else(Activation::identity)))
    }
}

/// For a layer that can turn numbers into ⊥: the reason, and what to do about it.
fn bottoms(layer: &Layer) -> Option<&'static str> {
    match layer {
        Layer::Rational(layer) if !layer.is_safe => Some(
            "a rational layer has poles; end the model in a projective head, which can predict ⊥, or make the layer safe",
        ),
        Layer::MaskedNorm { epsilon: 0.0, .. } => Some(
            "a masked norm is ⊥ in a column of variance 0; end the model in a projective head, which can predict ⊥, or set its epsilon",
        ),
        Layer::Residual { layers } => layers.iter().find_map(bottoms),
        _ => None,
    }
}

/// The function of a name or a formula, as ops of a graph name it.
pub(crate) fn curve_of(text: &str) -> Result<Arc<Curve>> {
    Activation::parse(text).map(|function| function.curve().clone())
}

fn width_after(layers: &[Layer], mut width: usize, path: &str) -> Result<usize> {
    for (at, layer) in layers.iter().enumerate() {
        let wrong = |what: String| Error::new(format!("model: {path}.{at}: {what}"));
        match layer {
            _ if at >= MAX_LAYERS => return Err(wrong("too many layers: expected at most 1024".into())),
            Layer::Linear { outputs: 0, .. } => {
                return Err(wrong("a linear layer's outputs: got 0, expected at least 1".into()));
            }
            Layer::Linear { outputs, .. } if width.checked_mul(*outputs).is_none_or(|words| words > MAX_WORDS) => {
                return Err(wrong(format!(
                    "a weight of {outputs} x {width} is too large: expected at most {MAX_WORDS} values"
                )));
            }
            Layer::Linear { outputs, .. } => width = *outputs,
            Layer::Dropout { rate } if !(0.0..1.0).contains(rate) => {
                return Err(wrong(format!("dropout rate: got {}, expected at least 0 and less than 1", number(*rate))));
            }
            Layer::LayerNorm { epsilon } if *epsilon <= 0.0 => {
                return Err(wrong(format!(
                    "layer norm's epsilon: got {}, expected a number above 0",
                    number(*epsilon)
                )));
            }
            Layer::Residual { layers } => {
                let inner = width_after(layers, width, &format!("{path}.{at}.layers"))?;
                if inner != width {
                    return Err(wrong(format!(
                        "a residual block must keep the width: got {inner} outputs, expected {width}"
                    )));
                }
            }
            Layer::Rational(layer) => layer.check().map_err(|error| wrong(error.to_string()))?,
            // Some devices flush a subnormal number to 0.
            Layer::MaskedNorm { epsilon, .. } if *epsilon != 0.0 && !(epsilon.is_normal() && *epsilon > 0.0) => {
                return Err(wrong(format!(
                    "a masked norm's epsilon: got {}, expected 0 or a positive normal number",
                    number(*epsilon)
                )));
            }
            Layer::Function(graph) if graph.inputs != width => {
                return Err(wrong(format!("a function of {} inputs: got {width} values", graph.inputs)));
            }
            Layer::Function(graph) => {
                graph.check(curve_of).map_err(|error| wrong(error.to_string()))?;
                width = graph.columns;
            }
            Layer::Projective(_) => return Err(wrong("a projective head can only be the last layer".into())),
            _ => {}
        }
    }
    Ok(width)
}
