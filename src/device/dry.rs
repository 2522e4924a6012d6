//! The dry device runs nothing. It plans and counts without any hardware.

use std::cell::Cell;
use std::future::{Future, ready};
use std::pin::Pin;

use super::backend::{Backend, Entry, Prepared};
use super::info::{Execution, Info, Tiles};
use super::record::{BoundCommand, Memory, Region};
use crate::error::{Error, Result};
use crate::host;

pub(super) struct Dry {
    info: Info,
    blocks: Cell<u32>,
    made: Cell<(u64, u64)>,
}

pub(super) static ENTRY: Entry = Entry {
    name: "dry",
    summary: "counts launches, bytes and flops, runs nothing",
    is_here: true,
    is_choice: false,
    open: |opening| Box::pin(ready(Ok(Box::new(Dry::new(opening.request.threads())) as Box<dyn Backend>))),
    list: || Box::pin(ready(vec![Dry::new(host::threads()).info])),
};

impl Dry {
    pub(super) fn new(threads: usize) -> Self {
        let info = Info {
            device: ENTRY.name,
            name: "counts launches, bytes and flops".into(),
            driver: "none".into(),
            execution: Execution::Nothing,
            tiles: Tiles::ManySmall,
            is_software: false,
            threads,
            max_binding_bytes: 128 << 20,
            workgroup_bytes: 16 << 10,
            subgroup: 1,
            features: Vec::new(),
        };
        Self { info, blocks: Cell::new(0), made: Cell::new((0, 0)) }
    }
}

struct Nothing;

impl Prepared for Nothing {}

impl Backend for Dry {
    fn info(&self) -> &Info {
        &self.info
    }

    fn allocate(&self, _words: usize) -> Result<Memory> {
        self.blocks.set(self.blocks.get() + 1);
        Ok(Memory(self.blocks.get()))
    }

    fn free(&self, _memory: Memory) {}

    fn write(&self, _memory: Memory, _offset: usize, _data: &[u32]) -> Result<()> {
        Ok(())
    }

    fn prepare(&self, commands: Vec<BoundCommand>) -> Result<Box<dyn Prepared>> {
        let dispatches =
            commands.iter().filter(|command| matches!(command, BoundCommand::Dispatch { .. })).count() as u64;
        let (pipelines, bind_groups) = self.made.get();
        // One pipeline and one bind group per dispatch: the count of a device without caches.
        self.made.set((pipelines + dispatches, bind_groups + dispatches));
        Ok(Box::new(Nothing))
    }

    fn run(&self, _prepared: &dyn Prepared, _times: usize) -> Result<()> {
        Ok(())
    }

    fn read(&self, _region: Region) -> Pin<Box<dyn Future<Output = Result<Vec<u32>>> + '_>> {
        Box::pin(ready(Err(Error::usage("the dry device runs nothing, so there is nothing to read"))))
    }

    fn made(&self) -> (u64, u64) {
        self.made.get()
    }
}
