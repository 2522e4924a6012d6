//! How a kernel is printed, and what comes of it.

/// Whether a printed kernel checks what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guards {
    /// Only divisions of integers.
    None,
    /// Indices as well: one past the end is the last, as in WGSL.
    Indices,
}

/// How a kernel is printed.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// What it checks.
    pub guards: Guards,
    /// Whether its loops are unrolled, because their lengths are constants.
    pub unrolls: bool,
}

impl Form {
    /// Without guards, with loops as they are.
    pub const PLAIN: Self = Self { guards: Guards::None, unrolls: false };
    /// With guards.
    pub const GUARDED: Self = Self { guards: Guards::Indices, ..Self::PLAIN };
    /// For a kernel with its sizes compiled in.
    pub const SIZED: Self = Self { unrolls: true, ..Self::PLAIN };
}

/// A kernel in CUDA C++ and what its launch needs.
#[derive(Clone, Debug)]
pub struct Printed {
    /// The kernel, without the prelude.
    pub text: String,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// What it takes: one element, or one for each kernel of a [`whole()`](super::whole()).
    pub arguments: Vec<Arguments>,
}

/// What a kernel takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// The bindings of group 0, in the order of the arguments: for each a pointer and a number of bytes. After them comes the uniform.
    pub bindings: Vec<u32>,
    /// Whether it takes a uniform.
    pub has_uniform: bool,
}

/// The name of the printed entry point.
pub const ENTRY: &str = "kernel_entry";
