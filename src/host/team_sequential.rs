//! The team where there are no threads (wasm): the same items, everything in order on the caller.

/// One member: the caller.
pub struct Team;

impl Team {
    /// `threads` is taken for the sake of the threaded twin; the team has one.
    pub fn new(_threads: usize) -> Team {
        Team
    }

    /// One.
    pub fn threads(&self) -> usize {
        1
    }

    /// Runs work(0), ..., work(count - 1) in order.
    pub fn parallel(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(work);
    }
}
