//! Sizes of an update, and how its buffers are laid out.

/// Words after a part's gradients: loss sum, weight sum, and padding to the binding alignment.
pub const TAIL: usize = 64;

/// Words of a line.
pub const LINE: usize = 64;
/// Numbers per step that a rule reads from the table at the start of `order`.
pub const RATES: usize = 4;
/// The table of a line of parameters that are not changed.
pub const FROZEN: u32 = u32::MAX;
/// Words for each line of parameters at the end of `order`, if there are groups of them: its table, then the first and the end line of its tensor.
pub const LINE_WORDS: usize = 3;

/// Sizes of an update.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Words of parameters.
    pub total: usize,
    /// Partial gradients of a step; 1 if `fold` has summed them.
    pub parts: usize,
    /// Steps of an epoch.
    pub steps: usize,
    /// Steps that make one update; the last group of an epoch may have fewer.
    pub group: usize,
    /// Rows whose order follows the first table of rates.
    pub rows: usize,
    /// Tables of rates, one for each group of parameters.
    pub tables: usize,
    /// Words that `fold` has summed: those of the gradients, and perhaps those of the parameters after them.
    pub folded: usize,
    /// Figures of norms whose union is that of all gradients.
    pub figures: usize,
}

/// Where the words of lines begin in `order`.
pub fn lines_at(sizes: &Sizes) -> usize {
    sizes.rows + RATES * sizes.steps * sizes.tables
}
