//! The layers, one file each. To add one: a file with a record of its options that implements `LayerKind`, and its word in the list here, with `name`
//! behind it if it is a norm that an option can name (`NamedNorm`).

pub(crate) use function::curve_of;

use super::kind::{LayerKind, NamedNorm};
use crate::record;

macro_rules! layers {
    ($($(#[$doc:meta])* $name:ident($file:ident::$record:ident) $($norm:ident)?;)+) => {
        $(mod $file;
        pub use $file::$record;)+

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
    Linear(linear::Linear);
    /// A pointwise function.
    Activation(activation::ActivationLayer);
    /// (x - mean) / √(variance + epsilon) per row, times gain, plus bias.
    LayerNorm(layer_norm::LayerNorm) name;
    /// (x - mean) / √(variance + epsilon) of each group of columns, times gain, plus bias.
    GroupNorm(group_norm::GroupNorm) name;
    /// In training, sets a random share of the values to zero and scales the rest by 1 / (1 - rate).
    Dropout(dropout::Dropout);
    /// x + layers(x).
    Residual(residual::Residual);
    /// A learnt rational function of each value.
    Rational(rational::RationalLayer);
    /// (x - mean) / √(variance + epsilon) of each column, ignoring ⊥.
    MaskedNorm(masked_norm::MaskedNorm) name;
    /// e^x / Σ e^x of each row, with ⊥.
    MaskedSoftmax(masked_softmax::MaskedSoftmax);
    /// A function of the values, as a graph of ops with parameters of its own.
    Function(function::Graph);
    /// A numerator and a denominator per output; only as the last layer.
    Projective(projective::Head);
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
