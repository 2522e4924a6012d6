//! The dry device runs nothing. It plans and counts without any hardware, and reads back constants alone.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
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
    /// The contents of small blocks that no launch writes, such as constants.
    contents: RefCell<HashMap<Memory, Vec<u32>>>,
}

/// Larger contents are not kept.
const KEPT_WORDS: usize = 1 << 20;

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
        Self { info, blocks: Cell::new(0), made: Cell::new((0, 0)), contents: RefCell::default() }
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

    fn free(&self, memory: Memory) {
        self.contents.borrow_mut().remove(&memory);
    }

    fn write(&self, memory: Memory, offset: usize, data: &[u32]) -> Result<()> {
        let mut contents = self.contents.borrow_mut();
        if offset == 0 && data.len() <= KEPT_WORDS {
            contents.insert(memory, data.to_vec());
        } else {
            contents.remove(&memory);
        }
        Ok(())
    }

    fn prepare(&self, commands: Vec<BoundCommand>) -> Result<Box<dyn Prepared>> {
        for command in &commands {
            let written = match command {
                BoundCommand::Dispatch { outputs, .. } => &outputs[..],
                BoundCommand::Copy { to, .. } => std::slice::from_ref(to),
            };
            for region in written {
                self.free(region.memory);
            }
        }
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

    fn read(&self, region: Region) -> Pin<Box<dyn Future<Output = Result<Vec<u32>>> + '_>> {
        let contents = self.contents.borrow();
        let kept = contents.get(&region.memory).and_then(|words| words.get(region.offset..)?.get(..region.words));
        let unknown = || Error::usage("the dry device runs nothing, so there is nothing to read");
        Box::pin(ready(kept.map(<[u32]>::to_vec).ok_or_else(unknown)))
    }

    fn made(&self) -> (u64, u64) {
        self.made.get()
    }
}
