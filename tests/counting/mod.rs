//! An allocator that counts the bytes held and the most that were held: all tests of a program share it, so that such a program has one test.
#![allow(unsafe_code, reason = "an allocator that counts passes each call on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The allocator.
pub(crate) struct Counting;

/// Bytes held now.
pub(crate) static HELD: AtomicUsize = AtomicUsize::new(0);
/// The most bytes held so far.
pub(crate) static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(HELD.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: by the caller.
        unsafe { System.dealloc(at, layout) }
    }
}
