//! Commands bound to memory: what a plan hands to a backend.

use super::body::SharedBody;
use super::buffer::Memory;
use super::kernel::{Cost, Kernel};

/// A command whose views have become memory.
pub enum BoundCommand {
    /// Run a kernel over regions.
    Dispatch {
        /// The kernel.
        kernel: &'static Kernel,
        /// Its body.
        body: Option<SharedBody>,
        /// Its uniform.
        params: Vec<u32>,
        /// Workgroups.
        grid: [u32; 3],
        /// Arithmetic and traffic.
        cost: Cost,
        /// Inputs in order.
        inputs: Vec<Region>,
        /// Outputs in order.
        outputs: Vec<Region>,
    },
    /// Copy between regions.
    Copy {
        /// Source.
        from: Region,
        /// Destination.
        to: Region,
    },
}

/// A run of words in a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The block.
    pub memory: Memory,
    /// First word.
    pub offset: usize,
    /// Number of words.
    pub words: usize,
}
