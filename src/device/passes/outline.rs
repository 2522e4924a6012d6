//! What a plan would take.

use super::in_place::transient_bytes;
use super::options::Passes;
use super::recompute::Saved;
use crate::device::handle::Device;
use crate::device::record::{Command, Recording};

/// What a plan of a recording would take, before anything is bound or allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Launches.
    pub launches: usize,
    /// Bytes of memory that only the plan's intermediate results take, after sharing.
    pub transient_bytes: u64,
    /// The fewest that they take if as many as useful are dropped and computed again.
    pub least_bytes: u64,
}

impl Outline {
    pub(in crate::device) fn of(device: &Device, recording: &Recording, passes: &Passes) -> Self {
        let transient_bytes = transient_bytes(recording, None, passes);
        let mut least_bytes = transient_bytes;
        if let Some(turn) = recording.turn {
            for (bytes, _) in Saved::of(recording, turn).all(device, recording, passes) {
                least_bytes = least_bytes.min(bytes);
            }
        }
        let is_launch = |command: &&Command| matches!(command, Command::Dispatch(_));
        let launches = recording.commands.iter().filter(is_launch).count();
        Self { launches, transient_bytes, least_bytes }
    }
}
