//! A handle to an open device, its buffers and what it is set to.

use std::cell::Cell;
use std::rc::Rc;

use super::backend::Backend;
use super::cpu::Cpu;
use super::dry::Dry;
use super::geometry::Geometry;
use super::info::{Counters, Info};
use super::inner::Inner;
use super::record::{Buffer, Slot};
use super::request::Request;
use super::table;
use super::watch::MemoryWatch;
use crate::error::{Error, Result};

/// A handle to an open device. Clones share the device.
#[derive(Clone)]
pub struct Device(pub(super) Rc<Inner>);

impl Device {
    /// Opens a device by name. `auto` opens a hardware adapter if there is one, else the CPU; software adapters only open by name.
    pub async fn open(request: &Request) -> Result<Self> {
        let opened = Self::over(table::open(request).await?);
        let device = opened.info().device;
        if request.products.needs_library() && !opened.0.backend.has_library()? {
            return Err(Error::usage(format!(
                "products: device \"{device}\" has no library for them: expected device cuda with cuBLAS, or products fastest or own"
            )));
        }
        opened.0.geometries.set(request.geometries.into());
        Ok(opened)
    }

    /// Describes every device that is here, best first, without opening it.
    pub async fn list() -> Vec<Info> {
        table::list().await
    }

    /// The CPU device, for callers that cannot wait. Panics where the system cannot start the threads; `open` returns an error.
    pub fn cpu(threads: usize) -> Self {
        Self::over(Box::new(Cpu::new(threads.max(1)).unwrap_or_else(|error| panic!("{error}"))))
    }

    /// The dry device: plans and counts, and runs nothing.
    pub fn dry() -> Self {
        Self::over(Box::new(Dry::new(2)))
    }

    /// A device of the caller's own.
    pub fn over(backend: Box<dyn Backend>) -> Self {
        Self(Inner::new(backend))
    }

    /// The device and its capabilities.
    pub fn info(&self) -> &Info {
        self.0.backend.info()
    }

    /// Whether two handles are of one device.
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// What it is called in messages: the device and its name.
    pub fn title(&self) -> &str {
        &self.0.owner
    }

    /// What it did so far, in numbers.
    pub fn counters(&self) -> Counters {
        let (pipelines, bind_groups) = self.0.backend.made();
        Counters { pipelines, bind_groups, ..self.0.counters.get() }
    }

    /// A buffer of `words` words without memory.
    pub fn buffer(&self, words: usize) -> Buffer {
        self.slot(words, false, None)
    }

    /// The same for words that are all floats, which a plan may store in 16 bits.
    pub fn floats(&self, words: usize) -> Buffer {
        self.slot(words, true, None)
    }

    fn slot(&self, words: usize, holds_floats: bool, refused: Option<Error>) -> Buffer {
        Buffer(Rc::new(Slot {
            owner: self.0.owner.clone(),
            words,
            holds_floats,
            tag: self.0.tag.get(),
            memory: Cell::new(None),
            refused,
            release: self.0.release.clone(),
        }))
    }

    /// A buffer holding `data`. A capture may call this: no recorded command refers to the new buffer.
    pub fn upload(&self, data: &[u32]) -> Result<Buffer> {
        let buffer = self.buffer(data.len());
        self.put(&buffer, 0, data)?;
        Ok(buffer)
    }

    /// A buffer holding `data`, for code that records and cannot fail. If the device refuses it, every plan or read that uses the buffer fails
    /// with the reason.
    pub fn constant(&self, data: &[u32]) -> Buffer {
        self.upload(data).unwrap_or_else(|error| self.slot(data.len(), false, Some(error)))
    }

    pub(super) fn put(&self, buffer: &Buffer, offset: usize, data: &[u32]) -> Result<()> {
        self.back(buffer)?;
        let Some(memory) = buffer.0.memory.get() else { return Ok(()) };
        self.0.count(|counters| counters.uploaded_bytes += 4 * data.len() as u64);
        self.0.backend.write(memory, offset, data)
    }

    /// Frees the memory of a buffer that never received contents.
    pub(super) fn unback(&self, buffer: &Buffer) {
        if let Some(memory) = buffer.0.memory.take() {
            self.0.release(memory, buffer.words());
        }
    }

    /// Allocates a buffer's memory if it has none.
    pub(super) fn back(&self, buffer: &Buffer) -> Result<()> {
        if let Some(error) = &buffer.0.refused {
            return Err(error.clone());
        }
        if buffer.0.memory.get().is_none() {
            buffer.0.memory.set(Some(self.0.take(buffer.words(), buffer.0.tag, false)?));
        }
        Ok(())
    }

    /// Frees the memory that is kept for the next buffers.
    pub fn trim(&self) {
        self.0.drain();
    }

    /// Reports to `watch`, instead of an earlier one, what memory is taken and released; `None` ends it.
    pub fn watch_memory(&self, watch: Option<Rc<dyn MemoryWatch>>) {
        self.0.watch.replace(watch);
    }

    /// Reports blocks no longer, if it is this watch that they are reported to.
    pub fn unwatch_memory(&self, watch: &dyn MemoryWatch) {
        let mut known = self.0.watch.borrow_mut();
        if known.as_ref().is_some_and(|known| std::ptr::addr_eq(Rc::as_ptr(known), std::ptr::from_ref(watch))) {
            *known = None;
        }
    }

    /// How a kernel splits a batch of so many rows here.
    pub fn geometry(&self, rows: usize) -> Geometry {
        self.known_geometry(rows).unwrap_or(Geometry::DEFAULT)
    }

    /// The same; `None` if it should be measured first.
    pub fn known_geometry(&self, rows: usize) -> Option<Geometry> {
        self.0.geometries.get().of(rows)
    }

    /// Sets the geometry of batches of so many rows, and of similar ones, for what is recorded from now on; `None` if it should be measured first.
    pub fn set_geometry(&self, rows: usize, geometry: Option<Geometry>) {
        self.0.geometries.set(self.0.geometries.get().with(rows, geometry));
    }
}
