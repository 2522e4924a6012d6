//! A model as data: its `Spec`, the layout of its parameters, their first values, and its forward pass in ops.

mod forward;
mod head;
mod init;
mod layout;
mod spec;

pub use crate::scm::policy::{Policy, Registry};
pub use forward::{Mode, Seen, bottoms, forward, learn};
pub use head::{Basis, Decoding, Denominators, Form, Gauge, Head, Threshold};
pub use init::{Init, initialise};
pub use layout::{Layout, Parameter};
pub use spec::{Activation, Layer, RationalLayer, Spec};
