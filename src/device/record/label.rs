//! What commands are part of: an op, a layer of a model, a direction.

use std::fmt;
use std::rc::Rc;

/// What a command is part of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The op that recorded it; empty if no op did.
    pub op: &'static str,
    /// The layer of the model, such as `layers.3`, or another part of a step; empty if nobody said.
    pub layer: Rc<str>,
    /// Whether it computes a gradient.
    pub is_backward: bool,
}

impl Label {
    /// Commands of a part of a step: a layer such as `layers.3`, or `loss`, or `update`.
    pub fn part(name: &str) -> Self {
        Self { layer: name.into(), ..Self::default() }
    }

    /// For the commands of an op, unless they are those of the gradient of another.
    #[must_use]
    pub fn of_op(self, op: &'static str) -> Self {
        if self.op.is_empty() { Self { op, ..self } } else { self }
    }

    /// For the commands of its gradient.
    #[must_use]
    pub fn of_gradient(&self) -> Self {
        Self { is_backward: true, ..self.clone() }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.is_backward { "backward" } else { "" };
        let words = [&*self.layer, self.op, direction];
        f.write_str(&words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
    }
}
