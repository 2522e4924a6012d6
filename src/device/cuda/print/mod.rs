//! Prints a kernel's WGSL as CUDA C++, from naga's form of it. The subset is that of compute shaders; any other construct is an error that names it.
//!
//! What a WGSL function sees as globals are the members of a struct here, made from the kernel's arguments: functions that use globals are its member
//! functions, always inlined, so that the struct itself never is in memory. Other functions are free functions.

mod body;
mod constant;
mod expression;
mod math;
mod module;
mod names;
mod part;
mod printed;
mod printer;
mod refusal;
mod statement;
mod types;
mod whole;

use crate::error::Result;
use module::parsed;

pub use printed::{Arguments, ENTRY, Form, Guards, Printed};
pub use whole::{Member, whole};

/// What printed kernels call.
pub const PRELUDE: &str = include_str!("../prelude.cuh");
/// What the prelude and printed kernels take from the GPU, from compute capability 5.3 on.
pub const INTRINSICS: &str = include_str!("../intrinsics.cuh");

/// Prints composed WGSL with one entry point.
pub fn print(source: &str, form: Form) -> Result<Printed> {
    parsed(source, form, |printer| {
        let part = printer.part("kernel")?;
        Ok(Printed {
            text: format!("{}{}", part.text, part.entry_point()),
            threads: part.threads,
            shared_bytes: part.shared_bytes,
            arguments: vec![part.arguments],
        })
    })
}
