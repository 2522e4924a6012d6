//! The layers, one file each. To add one: a file with a record of its options that implements `LayerKind`, and its word here.

mod activation;
mod dropout;
mod function;
mod layer_norm;
mod linear;
mod masked_norm;
mod masked_softmax;
mod projective;
mod rational;
mod residual;

pub use activation::ActivationLayer;
pub use dropout::Dropout;
pub(crate) use function::curve_of;
pub use layer_norm::LayerNorm;
pub use linear::Linear;
pub use masked_norm::MaskedNorm;
pub use masked_softmax::MaskedSoftmax;
pub use rational::RationalLayer;
pub use residual::Residual;

use super::head::Head;
use super::kind::{LayerKind, NamedNorm};
use crate::graph::Graph;
use crate::record;

macro_rules! layers {
    ($($(#[$doc:meta])* $name:ident($record:ident) $($norm:ident)?;)+) => {
        /// One layer.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Layer {
            $($(#[$doc])* $name($record),)+
        }

        record! { enum Layer { $($name(_)),+ } }

        impl Layer {
            /// Everything about it.
            pub fn as_kind(&self) -> &dyn LayerKind {
                match self {
                    $(Self::$name(record) => record,)+
                }
            }
        }

        /// The layers that an option can name to normalise values.
        pub static NORMS: &[Norm] = &[$($(Norm {
            $norm: <$record as NamedNorm>::NAME,
            doc: <$record as NamedNorm>::DOC,
            layer: || Layer::$name(<$record as NamedNorm>::standard()),
        },)?)+];

        $(impl From<$record> for Layer {
            fn from(record: $record) -> Self {
                Self::$name(record)
            }
        })+
    };
}

layers! {
    /// y = W x + b.
    Linear(Linear);
    /// A pointwise function.
    Activation(ActivationLayer);
    /// (x - mean) / √(variance + epsilon) per row, times gain, plus bias.
    LayerNorm(LayerNorm) name;
    /// In training, sets a random share of the values to zero and scales the rest by 1 / (1 - rate).
    Dropout(Dropout);
    /// x + layers(x).
    Residual(Residual);
    /// A learnt rational function of each value.
    Rational(RationalLayer);
    /// (x - mean) / √(variance + epsilon) of each column, ignoring ⊥.
    MaskedNorm(MaskedNorm) name;
    /// e^x / Σ e^x of each row, with ⊥.
    MaskedSoftmax(MaskedSoftmax);
    /// A function of the values, as a graph of ops with parameters of its own.
    Function(Graph);
    /// A numerator and a denominator per output; only as the last layer.
    Projective(Head);
}

impl Layer {
    /// Its kind, as in model files.
    pub fn kind(&self) -> &'static str {
        self.as_kind().kind()
    }
}

/// A layer that normalises values to mean 0 and variance 1, as an option names it.
#[derive(Clone, Copy, Debug)]
pub struct Norm {
    /// Its name.
    pub name: &'static str,
    /// What it normalises.
    pub doc: &'static str,
    /// The layer, with the usual options.
    pub layer: fn() -> Layer,
}

impl Norm {
    /// The norm of a name.
    pub fn named(name: &str) -> Option<Self> {
        NORMS.iter().find(|norm| norm.name == name).copied()
    }
}

/// Norms with the same name are equal.
impl PartialEq for Norm {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Everything about each of these layers.
pub(crate) fn kinds(layers: &[Layer]) -> Vec<&dyn LayerKind> {
    layers.iter().map(Layer::as_kind).collect()
}
