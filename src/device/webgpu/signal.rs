//! Waits for a callback of the driver.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// Whether a buffer was mapped.
type Outcome = Result<(), wgpu::BufferAsyncError>;

/// A one-shot signal: a driver callback raises it and a future waits for it.
#[derive(Clone, Default)]
pub(super) struct Signal(Arc<Mutex<(Option<Outcome>, Option<Waker>)>>);

impl Signal {
    pub(super) fn raise(&self, outcome: Outcome) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = Some(outcome);
        if let Some(waker) = state.1.take() {
            waker.wake();
        }
    }
}

impl Future for Signal {
    type Output = Outcome;
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(outcome) = state.0.take() {
            return Poll::Ready(outcome);
        }
        state.1 = Some(context.waker().clone());
        Poll::Pending
    }
}
