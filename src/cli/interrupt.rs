//! Ctrl-C: the first one is a question that the run answers at its next look, the second ends the process.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// From here on Ctrl-C (and a polite termination) only asks.
pub(super) fn watch() {
    let ask = || {
        if IS_ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(super::Failure::INTERRUPTED));
        }
    };
    // Where no handler can be set, Ctrl-C ends the process as ever.
    let _ = ctrlc::set_handler(ask);
}

/// Whether somebody asked to stop.
pub(super) fn is_asked() -> bool {
    IS_ASKED.load(Ordering::SeqCst)
}
