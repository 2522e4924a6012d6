//! What a kernel is, and what is recorded: launches and copies over buffers, with their labels. Nothing here knows how it runs.

mod body;
mod bound;
mod buffer;
mod case;
mod compose;
mod kernel;
mod label;
mod product;
mod recording;
mod source;
mod tag;

pub use body::{Body, Call, SharedBody};
pub use bound::{BoundCommand, Region};
pub use buffer::{Buffer, Memory, VIEW_WORDS, View};
pub(super) use buffer::{Owner, Release, Slot};
pub use case::{Bound, Case, Expected};
pub use compose::{EXCHANGE, compose, compose_sized};
pub(super) use kernel::check_grid;
pub use kernel::{Cost, Dispatch, Field, Fuse, InPlace, Kernel, groups};
pub use label::Label;
pub use product::{Factor, Numbers, Product, Products};
pub use recording::{Command, Recording};
pub use source::{lean, lean_length};
pub use tag::Tag;
