//! The allocator of the command: the system's, but memory that runs out ends the command with a message instead of an abort. What is large is judged
//! before it is allocated (`host::has_room`); this is for all that is not.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use meromorph::internal::host;

#[global_allocator]
static ALLOCATOR: Checked = Checked;

struct Checked;

#[allow(unsafe_code, reason = "an allocator is unsafe to implement; this one hands every request to the system's")]
// SAFETY: every call is passed on unchanged; a null pointer is the system's, or the process ends.
unsafe impl GlobalAlloc for Checked {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `realloc`.
        checked(unsafe { System.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

fn checked(block: *mut u8, size: usize) -> *mut u8 {
    if block.is_null() && !host::is_trying() {
        exhausted(size);
    }
    block
}

/// Ends the process. Nothing here allocates.
fn exhausted(size: usize) -> ! {
    static IS_SAID: AtomicBool = AtomicBool::new(false);
    // Only the first of several threads says it.
    if !IS_SAID.swap(true, Ordering::Relaxed) {
        let what = "expected free memory within the limits (cgroup, ulimit -v); use fewer rows or columns";
        let _ =
            writeln!(std::io::stderr(), "mero: does not fit in memory: {size} bytes more cannot be allocated, {what}");
    }
    process::exit(1)
}
