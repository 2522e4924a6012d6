//! A model as data: its `Spec`, the layout of its parameters, their initial values, and its forward pass in ops.

pub mod activation;
mod forward;
pub(crate) mod head;
pub mod kind;
mod layer;
mod layout;
mod pass;
mod spec;

pub use crate::graph::Init;
pub use crate::scm::policy::{Policy, Registry};
pub use activation::Activation;
pub use forward::{bottoms, forward, layer_outputs, learn};
pub(crate) use forward::{learn_each, traced};
pub use head::{Basis, Decoding, Denominators, HeadForm, PairNormalization, Threshold};
pub(crate) use layer::curve_of;
pub use layer::*;
pub use layout::{Layout, Parameter, initialise};
pub use pass::{Forward, Pass, RunningStats};
pub use spec::Spec;
