//! A kernel is one `static` record of data and function pointers, without a trait.
//! WGSL is composed by joining fragments; bindings follow from counts: group 0 holds the inputs, then the outputs, group 1 the parameters.

use super::body::{Call, SharedBody};
use super::buffer::View;
use crate::error::{Error, Result};

/// A kernel: device code, CPU path, how many groups it needs and what it costs.
pub struct Kernel {
    /// Its stem: `shaders/<name>.wgsl`, `src/kernels/<name>.rs`.
    pub name: &'static str,
    /// Fields of the `Params` uniform in order: name and size in 32-bit words.
    pub params: &'static [Field],
    /// Fragments of WGSL, joined in order. A dispatch's body and specialisations are added after them.
    pub wgsl: &'static [&'static str],
    /// The CPU path over the same bindings.
    pub cpu: fn(Call<'_>),
    /// Workgroups in x, y and z, from the dispatch.
    pub grid: fn(&Dispatch) -> [u32; 3],
    /// Arithmetic and traffic of one dispatch.
    pub cost: fn(&Dispatch) -> Cost,
    /// Merges a producer into this kernel's dispatch, reading it at input `at`; `None` if that is not possible.
    pub fuse: Option<Fuse>,
    /// Makes a dispatch read an input from its own output; `None` for kernels that cannot.
    pub in_place: Option<InPlace>,
}

/// Merges `producer` into `consumer`, which reads its result at input `at`.
pub type Fuse = fn(producer: &Dispatch, consumer: &Dispatch, at: usize) -> Option<Dispatch>;

/// The dispatch that reads input `at` from its output before it is overwritten there, so that the input is not bound; `None` if it is not read index by
/// index.
pub type InPlace = fn(dispatch: &Dispatch, at: usize) -> Option<Dispatch>;

/// One field of a `Params` struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The field's name, the same in Rust and WGSL.
    pub name: &'static str,
    /// Its size in 32-bit words.
    pub words: usize,
    /// Whether it is a whole number, as counts of rows and columns are.
    pub is_whole: bool,
}

/// One launch of a kernel.
#[derive(Clone)]
pub struct Dispatch {
    /// The kernel's record.
    pub kernel: &'static Kernel,
    /// The program or fragments that specialise the kernel, if it takes any.
    pub body: Option<SharedBody>,
    /// The `Params` uniform.
    pub params: Vec<u32>,
    /// Read-only bindings in order.
    pub inputs: Vec<View>,
    /// Read-write bindings in order.
    pub outputs: Vec<View>,
}

impl Dispatch {
    /// The uniform as the kernel's own `Params`.
    pub fn params<P: bytemuck::AnyBitPattern>(&self) -> P {
        bytemuck::pod_read_unaligned(bytemuck::cast_slice(&self.params))
    }

    /// Bytes bound, counting every input and output once.
    pub fn bytes(&self) -> u64 {
        4 * self.inputs.iter().chain(&self.outputs).map(|view| view.words as u64).sum::<u64>()
    }
}

/// Arithmetic and memory traffic of one dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Floating-point operations; an elementary function counts as one.
    pub flops: u64,
    /// Bytes read and written, each buffer once.
    pub bytes: u64,
}

impl std::ops::Add for Cost {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { flops: self.flops + other.flops, bytes: self.bytes + other.bytes }
    }
}

/// Declares a `Params` uniform once: the Rust struct and the list of fields that tests compare with the WGSL struct.
#[macro_export]
macro_rules! params {
    ($(#[$meta:meta])* pub struct $name:ident { $($field:ident: $ty:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(C)]
        #[allow(missing_docs, reason = "the kernel's formula describes the fields")]
        pub struct $name { $(pub $field: $ty,)* }

        impl $name {
            /// Names and sizes, in order.
            pub const FIELDS: &'static [$crate::device::Field] = &[$($crate::device::Field {
                name: stringify!($field),
                words: std::mem::size_of::<$ty>() / 4,
                is_whole: matches!(stringify!($ty).as_bytes(), b"u32"),
            },)*];

            /// The uniform's words.
            pub fn words(&self) -> Vec<u32> {
                bytemuck::cast_slice(bytemuck::bytes_of(self)).to_vec()
            }
        }
    };
}

/// Most workgroups of a launch in one dimension, on every GPU.
const MOST_GROUPS: u32 = 65_535;

/// Errors if a launch has too many workgroups for a GPU.
pub(in crate::device) fn check_grid(kernel: &Kernel, grid: [u32; 3]) -> Result<()> {
    let found = grid.into_iter().find(|&groups| groups > MOST_GROUPS);
    found.map_or(Ok(()), |groups| {
        Err(Error::device(format!(
            "{}: got sizes for {groups} workgroups in a row, expected at most {MOST_GROUPS}: use fewer rows at a time, or the device cpu",
            kernel.name
        )))
    })
}

/// Workgroups for `items` units of work, in two dimensions if there are more than 65,535, the limit of one dimension.
pub fn groups(items: usize, per_group: usize) -> [u32; 3] {
    let groups = items.div_ceil(per_group).max(1);
    let x = groups.min(32_768);
    [x as u32, groups.div_ceil(x) as u32, 1]
}
