//! What blocks of memory hold. Without a watch over the memory, a tag is one byte of a buffer.

/// What a block of memory holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tag {
    /// Weights, and copies of them.
    Parameters,
    /// Gradients and their sums.
    Gradients,
    /// What an optimiser remembers.
    Optimizer,
    /// Results of a forward pass.
    Activations,
    /// Rows and their order.
    Data,
    /// Anything else.
    #[default]
    Workspace,
}

impl Tag {
    /// Every tag in order.
    pub const ALL: [Self; 6] =
        [Self::Parameters, Self::Gradients, Self::Optimizer, Self::Activations, Self::Data, Self::Workspace];
}
