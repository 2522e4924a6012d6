//! Page-locked memory on the host, which the GPU copies from and to while the host goes on.

use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::result::{free_host, malloc_host, memcpy_dtoh_async, memcpy_htod_async};
use cudarc::driver::{CudaEvent, CudaStream, DriverError, sys::CUdeviceptr};

/// More than this is copied in parts.
const MOST_WORDS: usize = 4 << 20;

/// A block of page-locked words.
struct Pinned {
    words: *mut u32,
    length: usize,
}

impl Pinned {
    #[allow(unsafe_code, reason = "the driver allocates the memory")]
    fn new(length: usize) -> Result<Self, DriverError> {
        // SAFETY: a context is bound (`Staging::take`).
        let words = unsafe { malloc_host(4 * length, 0) }?;
        Ok(Self { words: words.cast(), length })
    }

    #[allow(unsafe_code, reason = "the driver allocated the memory")]
    fn words(&mut self, count: usize) -> &mut [u32] {
        assert!(count <= self.length, "staging: a block is too short");
        // SAFETY: the block holds `length` words, and any bits are a word.
        unsafe { std::slice::from_raw_parts_mut(self.words, count) }
    }
}

impl Drop for Pinned {
    #[allow(unsafe_code, reason = "the driver allocated the memory")]
    fn drop(&mut self) {
        // SAFETY: no copy uses it: `Staging` keeps blocks until their copies are done.
        let _ = unsafe { free_host(self.words.cast::<c_void>()) };
    }
}

/// Page-locked blocks: those that are free, and those that a copy still reads.
#[derive(Default)]
pub(super) struct Staging {
    free: RefCell<Vec<Pinned>>,
    busy: RefCell<Vec<(Pinned, CudaEvent)>>,
}

/// A copy from the GPU that is under way.
pub(super) struct Download {
    parts: Vec<(Pinned, usize, CudaEvent)>,
}

impl Staging {
    /// A block of at least so many words.
    fn take(&self, stream: &CudaStream, words: usize) -> Result<Pinned, DriverError> {
        stream.context().bind_to_thread()?;
        let mut busy = self.busy.borrow_mut();
        for at in (0..busy.len()).rev() {
            if busy[at].1.is_complete() {
                self.free.borrow_mut().push(busy.remove(at).0);
            }
        }
        let mut free = self.free.borrow_mut();
        let fits = free.iter().position(|block| block.length >= words);
        match fits {
            Some(at) => Ok(free.swap_remove(at)),
            None => Pinned::new(words.next_power_of_two().max(1024)),
        }
    }

    /// Copies words to the GPU, after everything before it in the stream.
    #[allow(unsafe_code, reason = "the driver copies")]
    pub(super) fn upload(&self, stream: &Arc<CudaStream>, to: CUdeviceptr, data: &[u32]) -> Result<(), DriverError> {
        for (part, at) in data.chunks(MOST_WORDS).zip((0..).step_by(MOST_WORDS)) {
            let mut block = self.take(stream, part.len())?;
            block.words(part.len()).copy_from_slice(part);
            // SAFETY: the block lives until the event says that the copy is done.
            unsafe { memcpy_htod_async(to + 4 * at as u64, block.words(part.len()), stream.cu_stream()) }?;
            let done = stream.record_event(None)?;
            self.busy.borrow_mut().push((block, done));
        }
        Ok(())
    }

    /// Begins to copy words from the GPU, after everything before it in the stream.
    #[allow(unsafe_code, reason = "the driver copies")]
    pub(super) fn download(
        &self,
        stream: &Arc<CudaStream>,
        from: CUdeviceptr,
        words: usize,
    ) -> Result<Download, DriverError> {
        let mut parts = Vec::new();
        for at in (0..words).step_by(MOST_WORDS) {
            let count = MOST_WORDS.min(words - at);
            let mut block = self.take(stream, count)?;
            // SAFETY: the block lives until `finish` has waited for the event.
            unsafe { memcpy_dtoh_async(block.words(count), from + 4 * at as u64, stream.cu_stream()) }?;
            parts.push((block, count, stream.record_event(None)?));
        }
        Ok(Download { parts })
    }

    /// Waits for a copy from the GPU and returns the words.
    pub(super) fn finish(&self, mut download: Download) -> Result<Vec<u32>, DriverError> {
        let mut words = Vec::new();
        for (mut block, count, done) in download.parts.drain(..) {
            done.synchronize()?;
            words.extend_from_slice(block.words(count));
            self.free.borrow_mut().push(block);
        }
        Ok(words)
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        // A read that nobody waits for: its memory must outlive the copy.
        for (_, _, done) in &self.parts {
            let _ = done.synchronize();
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        for (_, done) in self.busy.get_mut() {
            let _ = done.synchronize();
        }
    }
}
