//! What a check-up measures besides its findings, for the practices.

use pollster::block_on;

use super::figures::Figure;
use meromorph::error::Result;
use meromorph::model::Model;
use meromorph::profile::{Grouping, MemoryProfile, StepProfile};
use meromorph::run::{Finding, Trained, Verdict};

/// Marks of the memory, with a step before each.
const MARKS: usize = 8;
/// Pairs of windows of measured steps.
const WINDOWS: usize = 3;

/// What was measured.
pub(super) struct Measured<'m> {
    pub(super) model: &'m Model,
    pub(super) findings: &'m [Finding],
    pub(super) trained: &'m Trained,
    pub(super) figures: &'m [Figure],
    /// Where the time of a step goes; the reason, if the device cannot say.
    pub(super) profile: Result<StepProfile>,
    /// Blocks of memory that are probably never released.
    pub(super) leaks: usize,
    /// The most bytes in use at once on the device.
    pub(super) peak_bytes: u64,
    /// Figures that are worse than those of a baseline, if there is one.
    pub(super) baseline: Option<usize>,
    /// Limits, and those that are exceeded.
    pub(super) limits: usize,
    pub(super) alerts: usize,
}

/// The time of a step by launch.
pub(super) fn profile(trained: &mut Trained) -> Result<StepProfile> {
    block_on(StepProfile::of(&mut trained.trainer, None, WINDOWS))
}

/// Memory that is probably never released, over some steps.
pub(super) fn leaks(trained: &mut Trained) -> Result<usize> {
    let memory = MemoryProfile::of(trained.trainer.device());
    memory.mark("before");
    for step in 0..MARKS {
        trained.trainer.advance(1)?;
        block_on(trained.trainer.batch_losses())?;
        memory.mark(format!("step {step}"));
    }
    memory.end();
    Ok(memory.leaks().len())
}

impl Measured<'_> {
    fn finding(&self, check: &str) -> Option<&Finding> {
        self.findings.iter().find(|one| one.check == check)
    }

    /// What a check saw.
    pub(super) fn seen(&self, check: &str) -> String {
        self.finding(check).map_or_else(|| "not checked".to_owned(), |one| one.seen.clone())
    }

    /// Whether a check passed.
    pub(super) fn passes(&self, check: &str) -> bool {
        self.finding(check).is_some_and(|one| one.verdict == Verdict::Pass)
    }

    fn shares(&self, by: Grouping) -> std::result::Result<Vec<(String, f64)>, String> {
        let profile = self.profile.as_ref().map_err(|error| format!("not measured: {error}"))?;
        Ok(profile.grouped(by).into_iter().map(|group| (group.name, group.share)).collect())
    }

    /// The shares of the passes in a step.
    pub(super) fn directions(&self) -> String {
        match self.shares(Grouping::Direction) {
            Ok(shares) => {
                let text = shares.iter().map(|(name, share)| format!("{name} {:.0} %", 100.0 * share));
                text.collect::<Vec<_>>().join(", ")
            }
            Err(reason) => reason,
        }
    }

    /// The op that takes most time.
    pub(super) fn slowest(&self) -> String {
        match self.shares(Grouping::Op) {
            Ok(shares) => match shares.first() {
                Some((name, share)) => format!("{name} takes {:.0} % of a step", 100.0 * share),
                None => "a step has no launches".to_owned(),
            },
            Err(reason) => reason,
        }
    }

    /// What the slowest op could give.
    pub(super) fn speedup(&self) -> String {
        match self.shares(Grouping::Op) {
            Ok(shares) => match shares.first() {
                Some((name, share)) => {
                    format!("{name} twice as fast: a step {:.2} times as fast", StepProfile::amdahl(*share, 2.0))
                }
                None => "a step has no launches".to_owned(),
            },
            Err(reason) => reason,
        }
    }
}
