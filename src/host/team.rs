//! A team of one: work runs in order. The twin of `team.rs` where there are no threads.

/// A fork-join team.
pub struct Team;

impl Team {
    /// A team; the number of threads is ignored.
    pub fn new(_threads: usize) -> Self {
        Self
    }

    /// Its size.
    pub fn threads(&self) -> usize {
        1
    }

    /// Runs `work(0..count)`.
    pub fn parallel(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(work);
    }
}
