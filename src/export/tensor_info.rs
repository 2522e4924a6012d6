//! Inputs and outputs of a graph.

use serde::{Deserialize, Serialize};

/// An input or output tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorInfo {
    /// Its name in the graph.
    pub name: String,
    /// Its sizes; the first is `batch`.
    pub shape: Vec<Size>,
    /// `float32`, `uint8`, `bool` or `int64`.
    pub dtype: String,
}

/// A size of a shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Size {
    /// A fixed size.
    Fixed(usize),
    /// A free size with a name.
    Named(String),
}
