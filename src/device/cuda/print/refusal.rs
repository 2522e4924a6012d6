//! Why a kernel cannot be printed.

use crate::error::Error;

/// An error of WGSL that does not hold together.
pub(super) fn refused(what: &str) -> Error {
    Error::internal(format!("cuda: the kernel cannot be printed: {what}"))
}

/// An error of WGSL outside the subset.
pub(super) fn unsupported(what: impl std::fmt::Display) -> Error {
    refused(&format!("got {what}, expected the compute subset of WGSL"))
}
