//! Ctrl-C: the first requests a stop, which the run checks for regularly; the second ends the process.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_REQUESTED: AtomicBool = AtomicBool::new(false);

/// Makes the first Ctrl-C (or SIGTERM) request a stop instead of ending the process.
pub(super) fn watch() {
    let request = || {
        if IS_REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(super::Failure::INTERRUPTED));
        }
    };
    // If no handler can be set, Ctrl-C ends the process as usual.
    let _ = ctrlc::set_handler(request);
}

/// Whether a stop was requested.
pub(super) fn is_requested() -> bool {
    IS_REQUESTED.load(Ordering::SeqCst)
}
