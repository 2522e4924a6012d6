//! The kinds of payload of a message.

use super::method::Bits;

/// What a payload is, by its number in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// All values.
    All,
    /// Values, and their places as a list.
    List,
    /// Values, and their places as bits.
    Map,
    /// Levels of values in blocks.
    Levels(Bits),
}

/// Every kind; its place is its number.
pub(super) const ENCODINGS: [Encoding; 5] =
    [Encoding::All, Encoding::List, Encoding::Map, Encoding::Levels(Bits::Eight), Encoding::Levels(Bits::Four)];
