//! A model as data: its `Spec`, the layout of its parameters, their initial values, and its forward pass in ops.

pub mod activation;
mod forward;
pub(crate) mod head;
mod layout;
mod spec;

pub use crate::graph::Init;
pub use crate::scm::policy::{Policy, Registry};
pub use activation::Activation;
pub use forward::{Pass, RunningStats, bottoms, forward, layer_outputs, learn};
pub use head::{Basis, Decoding, Denominators, Head, HeadForm, PairNormalization, Threshold};
pub use layout::{Layout, Parameter, initialise};
pub(crate) use spec::curve_of;
pub use spec::{Layer, RationalLayer, Spec};
