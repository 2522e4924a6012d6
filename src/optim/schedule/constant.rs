//! 1 throughout.

use super::kind::{Moment, NamedShape, ShapeKind};

/// 1 throughout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Constant;

impl NamedShape for Constant {
    const NAME: &str = "constant";
    const DOC: &str = "No change";

    fn standard(_epochs: usize) -> Self {
        Self
    }
}

impl ShapeKind for Constant {
    fn factor(&self, _at: &Moment) -> f64 {
        1.0
    }
}
