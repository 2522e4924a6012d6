//! Everything that `mero profile` shows.

use crate::options::sizes::Loading;
use meromorph::profile::{Bottleneck, Ceilings, MemoryProfile, Part, StepProfile, bottlenecks};
use meromorph::train::Trainer;

/// Everything that is shown.
pub(super) struct Findings<'f> {
    pub trainer: &'f Trainer,
    pub profile: StepProfile,
    pub ceilings: Ceilings,
    pub memory: Option<MemoryProfile>,
    /// What the fused launch does inside; empty if the step has none.
    pub parts: Vec<Part>,
    /// How long the table took before the steps, if it was read here.
    pub loading: Option<Loading>,
}

impl Findings<'_> {
    /// What holds a run of all epochs up.
    pub(super) fn bottlenecks(&self) -> Vec<Bottleneck> {
        let read_ms = self.loading.map_or(0.0, |loading| loading.read_ms + loading.encode_ms);
        bottlenecks(&self.profile, &self.ceilings, [read_ms, self.steps() as f64])
    }

    /// Steps of a run of all epochs.
    pub(super) fn steps(&self) -> usize {
        self.trainer.steps_per_epoch() * self.trainer.settings().epochs
    }
}
