//! Ctrl-C, SIGTERM and SIGUSR1. Before and after a piece of work they end the process with a message. During it the first requests a stop, which the
//! work checks for regularly; the second ends the process.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use super::console::complain_of;
use crate::Failure;
use meromorph::internal::host;

static IS_REQUESTED: AtomicBool = AtomicBool::new(false);
/// Whether something is being computed that can be stopped in order.
static IS_WORKING: AtomicBool = AtomicBool::new(false);

/// Makes signals end the process with a message until [`watch`] is called.
pub(crate) fn watch_until_work() {
    install();
}

/// Makes the first Ctrl-C (or SIGTERM, or SIGUSR1) request a stop instead of ending the process.
pub(crate) fn watch() {
    IS_WORKING.store(true, Ordering::SeqCst);
    install();
}

/// The work is done: nothing checks for a stop any more.
pub(crate) fn work_is_done() {
    IS_WORKING.store(false, Ordering::SeqCst);
}

/// Whether a stop was requested.
pub(crate) fn is_requested() -> bool {
    IS_REQUESTED.load(Ordering::SeqCst)
}

fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // If no handler can be set, Ctrl-C ends the process as usual.
        let _ = ctrlc::set_handler(|| request(true));
        // Schedulers announce with SIGUSR1 that they will end a job, some more than once.
        host::on_user_signal(|| request(false));
    });
}

fn request(ends_if_repeated: bool) {
    if !IS_WORKING.load(Ordering::SeqCst) {
        complain_of("interrupted outside of the work itself; nothing was written");
        std::process::exit(i32::from(Failure::INTERRUPTED));
    }
    if IS_REQUESTED.swap(true, Ordering::SeqCst) && ends_if_repeated {
        std::process::exit(i32::from(Failure::INTERRUPTED));
    }
}
