//! What a plan is, before it runs: its launches with their code, its memory and its cost.

use std::fmt;

use crate::device::record::{Cost, Kernel, Label, SharedBody, compose, compose_sized};

/// The launches, memory and cost of a plan, known before it runs.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The launches in order.
    pub launches: Vec<Launch>,
    /// The copies in order, as launches of `copy`.
    pub copies: Vec<Launch>,
    /// Arithmetic and traffic of one run.
    pub cost: Cost,
    /// Bytes of memory that only the plan's intermediate results take, after sharing.
    pub transient_bytes: u64,
    /// The same if every buffer had a block of its own; a launch in place has one buffer less.
    pub unshared_bytes: u64,
    /// Bytes of the buffers it reads and writes that outlive it.
    pub persistent_bytes: u64,
    /// How many of the launches compute again what was dropped, and what they cost.
    pub recomputed: (usize, Cost),
}

/// A launch of a plan.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: &'static str,
    /// Its code; a copy has none.
    pub code: Option<Code>,
    /// What it is part of.
    pub label: Label,
    /// Its arithmetic and traffic.
    pub cost: Cost,
    /// Its place among the commands of the plan, copies included.
    pub place: usize,
    /// Bytes of intermediate results that are in use while it runs, each in a buffer of its own.
    pub live_bytes: u64,
}

/// The code of a launch: a kernel, its body and its uniform.
#[derive(Clone)]
pub struct Code {
    pub(super) kernel: &'static Kernel,
    pub(super) body: Option<SharedBody>,
    pub(super) params: Vec<u32>,
}

impl Code {
    /// The whole numbers of its uniform by name, such as rows and columns.
    pub fn sizes(&self) -> Vec<(&'static str, u32)> {
        let (mut at, mut sizes) = (0, Vec::new());
        for field in self.kernel.params {
            if let Some(value) = self.params.get(at).filter(|_| field.is_whole) {
                sizes.push((field.name, *value));
            }
            at += field.words;
        }
        sizes
    }

    /// Its WGSL for a device whose subgroups have so many lanes; 1 without subgroups.
    pub fn wgsl(&self, lanes: u32) -> String {
        compose(self.kernel, self.body.as_ref(), lanes)
    }

    /// The same with its sizes compiled in; `None` if it has none that are worth it.
    pub fn sized_wgsl(&self, lanes: u32) -> Option<String> {
        compose_sized(self.kernel, self.body.as_ref(), &self.params, lanes)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kernel.name)
    }
}
