//! A kernel is one `static` record of data and function pointers, without a trait.
//! WGSL is composed by joining fragments; bindings follow from counts: group 0 holds the inputs, then the outputs, group 1 the parameters.

use std::any::Any;
use std::rc::Rc;

use super::product::Product;
use super::recording::Dispatch;
use crate::error::{Error, Result};
use crate::host::ThreadPool;

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
}

/// The arguments of a CPU path: the bindings of one dispatch as slices of words.
pub struct Call<'a> {
    /// The `Params` uniform, as words.
    pub params: &'a [u32],
    /// The dispatch's body, if the kernel takes one.
    pub body: Option<&'a dyn Body>,
    /// Input buffers in binding order.
    pub inputs: &'a [&'a [u32]],
    /// Output buffers in binding order; they may also be read.
    pub outputs: &'a mut [&'a mut [u32]],
    /// The threads to use.
    pub pool: &'a ThreadPool,
}

impl<'a> Call<'a> {
    /// The uniform as the kernel's own `Params`.
    pub fn params<P: bytemuck::AnyBitPattern>(&self) -> P {
        bytemuck::pod_read_unaligned(bytemuck::cast_slice(self.params))
    }

    /// Input `at` as floats.
    pub fn floats(&self, at: usize) -> &'a [f32] {
        bytemuck::cast_slice(self.inputs[at])
    }

    /// Output `at` as floats.
    pub fn floats_mut(&mut self, at: usize) -> &mut [f32] {
        bytemuck::cast_slice_mut(self.outputs[at])
    }

    /// The body as the kernel's own type.
    pub fn body<B: Body>(&self) -> &'a B {
        let body: &'a dyn Any = self.body.expect("the kernel takes a body");
        body.downcast_ref().expect("the body is of the kernel's type")
    }
}

/// Work that a kernel takes as data: a program of scalar ops or a choice of fragments. Devices only see its text.
pub trait Body: Any + Send + Sync {
    /// The WGSL declarations that the kernel's own fragments call.
    fn wgsl(&self) -> String;
    /// Fields of the uniform that are worth compiling in, because its launches repeat with them very often: sizes that loops run to. A device that
    /// compiles for itself may do so. The uniform's words are `params`.
    fn sizes(&self, params: &[u32]) -> &'static [&'static str] {
        let _ = params;
        &[]
    }
    /// What its launch computes, if that is a matrix product and nothing else, for a device with a library for those.
    fn product(&self, params: &[u32]) -> Option<Product> {
        let _ = params;
        None
    }
}

/// A body shared between the recording and the plans made from it.
pub type SharedBody = Rc<dyn Body>;

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

/// How far a device's result may be from the f64 oracle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// The same bits.
    Exact,
    /// |got - expected| <= relative * |expected| + absolute.
    Within {
        /// Factor of the expected magnitude.
        relative: f64,
        /// Floor under it.
        absolute: f64,
    },
}

/// One example launch of a kernel, for tests of parity and of writes out of bounds, and for timing, on every device.
pub struct Case {
    /// What it tests.
    pub name: String,
    /// The kernel.
    pub kernel: &'static Kernel,
    /// The dispatch's body, if the kernel takes one.
    pub body: Option<SharedBody>,
    /// The uniform.
    pub params: Vec<u32>,
    /// Contents of the inputs.
    pub inputs: Vec<Vec<u32>>,
    /// Contents of the outputs before the dispatch; their length is the output's length.
    pub outputs: Vec<Vec<u32>>,
    /// The expected outputs, from a plain f64 function.
    pub expected: Vec<Expected>,
    /// The admissible error.
    pub bound: Bound,
}

/// The oracle's answer for one output.
#[derive(Clone, Debug)]
pub enum Expected {
    /// Floats, compared within the case's bound.
    Floats(Vec<f64>),
    /// Half floats, two a word, the first in the low half; compared within the case's bound.
    Halves(Vec<f64>),
    /// Words, compared exactly.
    Words(Vec<u32>),
    /// A number of words that are not compared (scratch).
    Anything(usize),
}

impl Expected {
    /// The output's length in words.
    pub fn words(&self) -> usize {
        match self {
            Self::Floats(values) => values.len(),
            Self::Halves(values) => values.len().div_ceil(2),
            Self::Words(words) => words.len(),
            Self::Anything(words) => *words,
        }
    }
}

impl Bound {
    /// Whether `got` is close enough to `expected`; any NaN is equal to NaN.
    pub fn admits(&self, got: f64, expected: f64) -> bool {
        match *self {
            _ if expected.is_nan() => got.is_nan(),
            Self::Exact => got == expected,
            // Infinities have no difference.
            Self::Within { relative, absolute } => {
                got == expected || (got - expected).abs() <= relative * expected.abs() + absolute
            }
        }
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
pub(super) fn check_grid(kernel: &Kernel, grid: [u32; 3]) -> Result<()> {
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
