//! Reading and writing buffers, in order with what is recorded.

use crate::device::handle::Device;
use crate::device::record::{Buffer, Region, View};
use crate::error::{Error, Result};

impl Device {
    /// Overwrites words of a buffer, ordered after everything recorded before.
    pub fn write(&self, buffer: &Buffer, offset: usize, data: &[u32]) -> Result<()> {
        assert!(
            offset + data.len() <= buffer.words(),
            "write: {} words at {offset} into {}",
            data.len(),
            buffer.words()
        );
        self.flush()?;
        self.put(buffer, offset, data)
    }

    /// Waits for the work before it and copies a view out.
    pub async fn read(&self, view: &View) -> Result<Vec<u32>> {
        let region = self.readable(view)?;
        self.0.backend.read(region).await
    }

    /// Copies a view out without waiting. Errors on a device that does not compute on the CPU.
    pub fn read_now(&self, view: &View, out: &mut [u32]) -> Result<()> {
        let region = self.readable(view)?;
        if self.0.backend.read_now(region, out) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "read: {} computes while the program goes on; its results have to be waited for",
            self.info().device
        )))
    }

    /// Where a view is in memory, once the work before it has been submitted.
    fn readable(&self, view: &View) -> Result<Region> {
        self.flush()?;
        let slot = &view.buffer.0;
        let empty = || slot.refused.clone().unwrap_or_else(|| Error::usage("read: the buffer was never written"));
        let memory = slot.memory.get().ok_or_else(empty)?;
        self.0.count(|counters| counters.readbacks += 1);
        Ok(Region { memory, offset: view.offset, words: view.words })
    }
}
