//! Pairs (P, Q) in place of plain outputs: made from the last layer's features, compared with target pairs, on the CPU and as WGSL.

pub(crate) mod pairing;
pub(crate) mod rule;
mod terms;
pub(super) mod tile;
mod wgsl;
