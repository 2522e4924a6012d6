//! Everything that `mero profile` shows.

use meromorph::profile::{Ceilings, MemoryProfile, StepProfile};
use meromorph::train::Trainer;

/// Everything that is shown.
pub(super) struct Findings<'f> {
    pub trainer: &'f Trainer,
    pub profile: StepProfile,
    pub ceilings: Ceilings,
    pub memory: Option<MemoryProfile>,
}
