//! The `mero` binary.

fn main() {}
