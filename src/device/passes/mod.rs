//! Passes over a recording before it is planned: pointwise chains are fused, copies of results are left out, and what a caller chooses is stored in
//! 16 bits, computed again or written over inputs. Then it is known which results can share memory.

mod copies;
mod fuse;
mod halves;
mod in_place;
mod liveness;
mod options;
mod outline;
mod recompute;

use copies::without_copies;
use fuse::fuse;
use halves::in_halves;

use super::handle::Device;
use super::record::Recording;

pub(super) use in_place::in_place;
pub(super) use liveness::{Sharing, Uses};
pub use options::{Choice, Halves, Passes, Recompute};
pub use outline::Outline;
pub(super) use recompute::recomputed;

/// The recording after all passes but those of results that are computed again and of inputs that are overwritten.
pub(in crate::device) fn rewritten(device: &Device, recording: Recording, passes: &Passes) -> Recording {
    let fused = without_copies(fuse(recording));
    let Some(halves) = &passes.halves else { return fused };
    let converted = in_halves(device, fused, halves);
    if halves.is_merged { fuse(converted) } else { converted }
}
