//! Ctrl-C, SIGTERM and SIGUSR1: the first requests a stop, which the run checks for regularly; the second ends the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use meromorph::internal::host;

static IS_REQUESTED: AtomicBool = AtomicBool::new(false);
/// Set by SIGUSR1, with which schedulers announce that they will end a job.
static USER_SIGNAL: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Makes the first Ctrl-C (or SIGTERM, or SIGUSR1) request a stop instead of ending the process.
pub(crate) fn watch() {
    let request = || {
        if IS_REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(crate::Failure::INTERRUPTED));
        }
    };
    // If no handler can be set, Ctrl-C ends the process as usual.
    let _ = ctrlc::set_handler(request);
    host::on_user_signal(&USER_SIGNAL);
}

/// Whether a stop was requested.
pub(crate) fn is_requested() -> bool {
    IS_REQUESTED.load(Ordering::SeqCst) || USER_SIGNAL.load(Ordering::SeqCst)
}
