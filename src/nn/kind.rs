//! What a layer is: a record with everything that is known about it.

use super::activation::Activation;
use super::pass::Forward;
use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::graph::Init;
use crate::scm::policy::Policy;
use crate::tensor::Shape;

/// Everything about a kind of layer: one file implements it, one word in the list of `layer/mod.rs` makes it known. Its options are the fields of its
/// record in model files; it is exported as the ops that it applies.
pub trait LayerKind {
    /// Its kind, as in model files.
    fn kind(&self) -> &'static str;

    /// In a few words.
    fn text(&self) -> String;

    /// Errors (by [`wrong`]) if its options make no sense or do not fit `width` values per row before it.
    fn check(&self, width: usize, path: &str) -> Result<()>;

    /// Values per row after it, of `width` before it.
    fn width(&self, width: usize) -> usize {
        width
    }

    /// Its parameters, of `width` values per row before it.
    fn parameters(&self, width: usize) -> Vec<NewParameter> {
        let _ = width;
        Vec::new()
    }

    /// Its values for `x` [rows, width]. An activation comes only if it takes one.
    fn forward(&self, pass: &mut Forward<'_>, x: Var, path: &str, activation: Option<&Activation>) -> Var;

    /// Whether an activation after it is part of its launch.
    fn takes_activation(&self) -> bool {
        false
    }

    /// The function, if it is nothing but a pointwise function.
    fn activation(&self) -> Option<&Activation> {
        None
    }

    /// The layers inside it.
    fn inner(&self) -> Vec<&dyn LayerKind> {
        Vec::new()
    }

    /// The names of the blocks of a function.
    fn blocks(&self) -> Vec<String> {
        Vec::new()
    }

    /// If it can turn numbers into ⊥: the reason, and what to do about it.
    fn bottoms(&self) -> Option<&'static str> {
        self.inner().iter().find_map(|layer| layer.bottoms())
    }

    /// For a layer with a gradient policy: the name of its kind in the policy registry, used if its position is not registered, and its own
    /// policy.
    fn gradient_policy(&self) -> Option<(&'static str, Option<Policy>)> {
        None
    }

    /// Version of the schema of model files that first had it.
    fn format(&self) -> u32 {
        self.inner().iter().map(|layer| layer.format()).max().unwrap_or(2)
    }
}

/// A layer that normalises, as an option names it.
pub trait NamedNorm {
    /// Its name.
    const NAME: &str;
    /// What it normalises.
    const DOC: &str;

    /// With the usual options.
    fn standard() -> Self;
}

/// A parameter that a layer needs.
pub struct NewParameter {
    /// Its name within the layer.
    pub name: String,
    /// Its shape; a weight is [outputs, inputs].
    pub shape: Shape,
    /// Its initialisation.
    pub init: Init,
    /// Inputs and outputs of its layer, for the initialisation.
    pub fan: (usize, usize),
    /// Whether it is a running statistic, which a step sets and no gradient changes.
    pub is_statistic: bool,
}

impl NewParameter {
    /// A parameter with a gradient.
    pub fn new(name: impl Into<String>, shape: impl Into<Shape>, init: Init, fan: (usize, usize)) -> Self {
        Self { name: name.into(), shape: shape.into(), init, fan, is_statistic: false }
    }
}

/// The gain, 1, and the bias, 0, of each of so many columns, which norms have.
pub(super) fn gain_and_bias(width: usize) -> Vec<NewParameter> {
    [("gain", Init::One), ("bias", Init::Zero)]
        .map(|(name, init)| NewParameter::new(name, [width], init, (width, width)))
        .into()
}

/// The error of a layer at a path.
pub fn wrong(path: &str, what: &str) -> Error {
    Error::new(format!("model: {path}: {what}"))
}

/// Most layers of a model or a residual block. Preparing a step takes time that grows faster than their number; this many take seconds.
const MAX_LAYERS: usize = 1024;

/// Values per row after these layers; an error names the invalid one.
pub fn width_after(layers: &[&dyn LayerKind], width: usize, path: &str) -> Result<usize> {
    layers.iter().enumerate().try_fold(width, |width, (at, layer)| {
        let path = format!("{path}.{at}");
        if at >= MAX_LAYERS {
            return Err(wrong(&path, "too many layers: expected at most 1024"));
        }
        layer.check(width, &path)?;
        Ok(layer.width(width))
    })
}

/// The parameters of these layers, each with the path of its layer.
pub fn parameters_of(layers: &[&dyn LayerKind], width: usize, path: &str) -> Vec<NewParameter> {
    let (mut all, mut width) = (Vec::new(), width);
    for (at, layer) in layers.iter().enumerate() {
        let own = layer.parameters(width).into_iter();
        all.extend(own.map(|own| NewParameter { name: format!("{path}.{at}.{}", own.name), ..own }));
        width = layer.width(width);
    }
    all
}
