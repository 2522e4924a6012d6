//! What a user asks of a device.

use super::geometry::{Geometries, Geometry};
use super::record::Products;
use crate::host;

/// The name that leaves the choice to the engine.
pub const AUTO: &str = "auto";

/// The device that a user chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `auto` or the name of an [`Entry`](super::Entry), perhaps with which of several: `cuda:1`.
    pub device: String,
    /// Threads of the CPU device; 0 = all.
    pub threads: usize,
    /// Whether kernels may use the device's subgroups. Results are bitwise the same.
    pub subgroups: bool,
    /// Whether plans can be timed ([`Plan::run_timed`](super::Plan::run_timed)), where a GPU has timestamps. The CPU can always time them.
    pub timestamps: bool,
    /// How the fused training step splits a batch on a GPU.
    pub geometries: Geometries,
    /// Which matrix products are left to a library.
    pub products: Products,
}

impl Request {
    /// The number of threads in place of 0.
    pub(super) fn threads(&self) -> usize {
        if self.threads == 0 { host::threads() } else { self.threads }
    }
}

impl Default for Request {
    fn default() -> Self {
        Self {
            device: AUTO.into(),
            threads: 0,
            subgroups: true,
            timestamps: false,
            geometries: Geometries::Fixed(Geometry::DEFAULT),
            products: Products::default(),
        }
    }
}
