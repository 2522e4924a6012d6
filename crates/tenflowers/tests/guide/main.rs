//! The calls of the guide's snippets, in its forms and with its imports: each runs, and gives what is computed by hand. Free variables of a snippet are
//! arguments of its function. What the guide leaves to its reader (`model`, `optimizer`, `compute_norm`, …) is in `common.rs`.

#![allow(
    clippy::needless_borrow,
    clippy::unused_self,
    clippy::unnecessary_wraps,
    clippy::items_after_statements,
    clippy::let_and_return,
    clippy::needless_range_loop,
    clippy::uninlined_format_args,
    clippy::manual_assert,
    reason = "the forms of the guide"
)]

extern crate meromorph_tenflowers as tenflowers_autograd;

mod advanced;
mod common;
mod computation;
mod memory;
mod profiling;
