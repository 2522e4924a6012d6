//! Page-locked memory on the host, which the GPU copies from and to while the host goes on.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::result::{free_host, malloc_host, memcpy_dtoh_async, memcpy_htod_async};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError, sys::CUdeviceptr};

/// More than this is copied in parts.
const MOST_WORDS: usize = 4 << 20;
/// Copies under way at a time, and blocks that are kept for later ones.
const MOST_BLOCKS: usize = 4;

/// A block of page-locked words.
struct Pinned {
    words: *mut u32,
    length: usize,
    context: Arc<CudaContext>,
}

impl Pinned {
    #[allow(unsafe_code, reason = "the driver allocates the memory")]
    fn new(context: &Arc<CudaContext>, length: usize) -> Result<Self, DriverError> {
        context.bind_to_thread()?;
        // SAFETY: a context is bound.
        let words = unsafe { malloc_host(4 * length, 0) }?;
        Ok(Self { words: words.cast(), length, context: context.clone() })
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
        let _ = self.context.bind_to_thread();
        // SAFETY: no copy uses it: a `Copying` waits for its copy before it gives the block away.
        let _ = unsafe { free_host(self.words.cast::<c_void>()) };
    }
}

/// A copy under way and its block.
struct Copying {
    block: Option<Pinned>,
    words: usize,
    stream: Arc<CudaStream>,
    done: Option<CudaEvent>,
}

impl Copying {
    /// Of a copy that is about to be started.
    fn new(block: Pinned, words: usize, stream: &Arc<CudaStream>) -> Self {
        Self { block: Some(block), words, stream: stream.clone(), done: None }
    }

    /// To be called once the copy is in the stream.
    fn started(&mut self) -> Result<(), DriverError> {
        self.done = Some(self.stream.record_event(None)?);
        Ok(())
    }

    fn block(&mut self) -> &mut [u32] {
        self.block.as_mut().expect("the block is there until the copy is done").words(self.words)
    }

    fn is_done(&self) -> bool {
        self.done.as_ref().is_some_and(CudaEvent::is_complete)
    }

    fn wait(&self) -> Result<(), DriverError> {
        match &self.done {
            Some(done) => done.synchronize(),
            None => self.stream.synchronize(),
        }
    }

    /// Waits for the copy and gives the block back.
    fn finish(mut self) -> Result<Pinned, DriverError> {
        self.wait()?;
        Ok(self.block.take().expect("the block is there until the copy is done"))
    }
}

impl Drop for Copying {
    fn drop(&mut self) {
        // Its memory must outlive the copy, also if nobody waits for what is read, or if an error ends the call.
        if self.block.is_some() {
            let _ = self.wait();
        }
    }
}

/// Page-locked blocks: those that are free, and those that an upload still reads.
#[derive(Default)]
pub(super) struct Staging {
    free: RefCell<Vec<Pinned>>,
    uploads: RefCell<VecDeque<Copying>>,
}

/// A copy from the GPU that is under way.
pub(super) struct Download {
    words: Vec<u32>,
    parts: VecDeque<Copying>,
}

impl Staging {
    /// A block of at least so many words.
    fn take(&self, stream: &CudaStream, words: usize) -> Result<Pinned, DriverError> {
        let mut free = self.free.borrow_mut();
        match free.iter().position(|block| block.length >= words) {
            Some(at) => Ok(free.swap_remove(at)),
            None => Pinned::new(stream.context(), words.next_power_of_two().max(1024)),
        }
    }

    /// Keeps a block for later copies, unless there are enough.
    fn keep(&self, block: Pinned) {
        let mut free = self.free.borrow_mut();
        if free.len() < MOST_BLOCKS {
            free.push(block);
        }
    }

    /// Copies words to the GPU, after everything before it in the stream.
    #[allow(unsafe_code, reason = "the driver copies")]
    pub(super) fn upload(&self, stream: &Arc<CudaStream>, to: CUdeviceptr, data: &[u32]) -> Result<(), DriverError> {
        for (part, at) in data.chunks(MOST_WORDS).zip((0..).step_by(MOST_WORDS)) {
            self.keep_done()?;
            let mut copying = Copying::new(self.take(stream, part.len())?, part.len(), stream);
            copying.block().copy_from_slice(part);
            stream.context().bind_to_thread()?;
            // SAFETY: the block lives until the copy is done (`Copying`).
            unsafe { memcpy_htod_async(to + 4 * at as u64, copying.block(), stream.cu_stream()) }?;
            copying.started()?;
            self.uploads.borrow_mut().push_back(copying);
        }
        Ok(())
    }

    /// Takes back the blocks of uploads that are done, and waits for the first if too many are not.
    fn keep_done(&self) -> Result<(), DriverError> {
        let mut uploads = self.uploads.borrow_mut();
        while uploads.len() >= MOST_BLOCKS || uploads.front().is_some_and(Copying::is_done) {
            let Some(first) = uploads.pop_front() else { break };
            self.keep(first.finish()?);
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
        let mut download = Download { words: Vec::new(), parts: VecDeque::new() };
        for at in (0..words).step_by(MOST_WORDS) {
            if download.parts.len() == MOST_BLOCKS {
                self.receive(&mut download)?;
            }
            let count = MOST_WORDS.min(words - at);
            let mut copying = Copying::new(self.take(stream, count)?, count, stream);
            stream.context().bind_to_thread()?;
            // SAFETY: the block lives until the copy is done (`Copying`).
            unsafe { memcpy_dtoh_async(copying.block(), from + 4 * at as u64, stream.cu_stream()) }?;
            copying.started()?;
            download.parts.push_back(copying);
        }
        Ok(download)
    }

    /// Waits for the first part of a download that is under way.
    fn receive(&self, download: &mut Download) -> Result<(), DriverError> {
        if let Some(first) = download.parts.pop_front() {
            let count = first.words;
            let mut block = first.finish()?;
            download.words.extend_from_slice(block.words(count));
            self.keep(block);
        }
        Ok(())
    }

    /// Waits for a copy from the GPU and returns the words.
    pub(super) fn finish(&self, mut download: Download) -> Result<Vec<u32>, DriverError> {
        while !download.parts.is_empty() {
            self.receive(&mut download)?;
        }
        Ok(download.words)
    }
}
