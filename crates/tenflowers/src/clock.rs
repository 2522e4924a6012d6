//! Tells a running benchmark when a tape has computed gradients, which the guide's benchmark takes for the end of a run.

use std::cell::RefCell;

use meromorph::internal::host;

thread_local! {
    static TIMES: RefCell<Option<Vec<f64>>> = const { RefCell::new(None) };
}

/// Notes times from here on, and the time now.
pub(crate) fn start() {
    TIMES.set(Some(vec![host::now_ms()]));
}

/// Notes the time now, if a benchmark runs.
pub(crate) fn tick() {
    TIMES.with_borrow_mut(|times| {
        if let Some(times) = times {
            times.push(host::now_ms());
        }
    });
}

/// The times noted, in milliseconds, the first that of the start.
pub(crate) fn end() -> Vec<f64> {
    TIMES.take().unwrap_or_default()
}
