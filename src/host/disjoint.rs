//! A slice that several threads write at once, each in its own range.
#![allow(unsafe_code, reason = "ranges of one slice, each handed out once")]

use std::marker::PhantomData;
use std::ops::Range;

/// A slice that is handed out range by range.
pub struct Disjoint<'a, T> {
    at: *mut T,
    len: usize,
    owner: PhantomData<&'a mut [T]>,
}

// SAFETY: it hands out ranges that, by the contract of `range`, never overlap; T crosses threads, so it must be Send.
unsafe impl<T: Send> Sync for Disjoint<'_, T> {}

impl<'a, T> Disjoint<'a, T> {
    /// Borrows a slice exclusively.
    pub fn new(slice: &'a mut [T]) -> Disjoint<'a, T> {
        Disjoint { at: slice.as_mut_ptr(), len: slice.len(), owner: PhantomData }
    }

    /// The address of a word.
    pub fn at(&self, index: usize) -> *mut T {
        assert!(index < self.len, "index {index} of {}", self.len);
        self.at.wrapping_add(index)
    }

    /// The part `range` of the slice.
    ///
    /// # Safety
    /// No two ranges alive at the same time overlap.
    #[allow(clippy::mut_from_ref, reason = "its purpose is to hand out disjoint parts of one slice")]
    pub unsafe fn range(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.len, "range {range:?} of {}", self.len);
        // SAFETY: in bounds by the assertion, alone by the caller.
        unsafe { std::slice::from_raw_parts_mut(self.at.add(range.start), range.end - range.start) }
    }
}
