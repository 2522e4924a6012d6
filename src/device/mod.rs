//! Devices: what a kernel is, and how a recording of kernels runs on buffers of words.
//! Nothing here depends on a particular kernel, on tensor shapes or on gradients.

mod backend;
mod cpu;
#[cfg(not(target_arch = "wasm32"))]
pub mod cuda;
mod dry;
mod geometry;
mod handle;
mod info;
mod inner;
mod passes;
mod pool;
mod record;
mod replay;
mod request;
mod switches;
mod table;
mod timings;
mod watch;
mod webgpu;

pub use backend::{Backend, Entry, Prepared};
pub use geometry::{Geometries, Geometry, MANY_ROWS};
pub use handle::Device;
pub use info::{Counters, Execution, Info, Tiles};
pub use passes::{Choice, Halves, Outline, Passes, Recompute};
pub use record::{
    Body, Bound, BoundCommand, Buffer, Call, Case, Command, Cost, Dispatch, EXCHANGE, Expected, Factor, Field, Fuse,
    InPlace, Kernel, Label, Memory, Numbers, Product, Products, Recording, Region, SharedBody, Tag, VIEW_WORDS, View,
    compose, compose_sized, groups, lean, lean_length,
};
pub use replay::{Code, Launch, Plan, Summary};
pub use request::{AUTO, Request};
pub use table::{choices, entries, find, split};
pub use timings::Timings;
pub use watch::{Block, MemoryWatch};
pub use webgpu::{MATRICES_BYTES, MATRICES_FEATURE};

/// The devices in the order in which `auto` tries them.
#[cfg(not(target_arch = "wasm32"))]
static DEVICES: [&Entry; 4] = [&cuda::ENTRY, &webgpu::ENTRY, &cpu::ENTRY, &dry::ENTRY];
#[cfg(target_arch = "wasm32")]
static DEVICES: [&Entry; 3] = [&webgpu::ENTRY, &cpu::ENTRY, &dry::ENTRY];

/// What is decided when the engine is built.
impl Info {
    /// How kernels split their work. Browsers on llvmpipe are too rare for the bytes of its shaders, so the browser build leaves them out.
    pub(crate) fn tiles(&self) -> Tiles {
        match self.tiles {
            Tiles::PerInvocation => Tiles::PerInvocation,
            Tiles::FewLarge if !cfg!(target_arch = "wasm32") => Tiles::FewLarge,
            _ => Tiles::ManySmall,
        }
    }

    /// Whether kernels may use cooperative matrices. No browser has them, so the browser build leaves their shaders out.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "so that the compiler sees where it is never true")]
    pub fn has_matrices(&self) -> bool {
        !cfg!(target_arch = "wasm32") && self.features.iter().any(|feature| feature == MATRICES_FEATURE)
    }
}
