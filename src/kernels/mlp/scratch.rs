//! How a device stores activations in scratch.

use crate::device::Info;

/// Storage type of a prediction's inputs, activations and outputs; weights and sums are f32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// The only type on the CPU.
    #[default]
    F32,
    /// Half the memory on a GPU: its f16 type if it has one, otherwise two packed into a word. If a row exceeds ±65,504, some of its outputs are 1e38.
    F16,
}

impl Precision {
    /// All precisions, with their names.
    pub const ALL: [(&'static str, Self); 2] = [("f32", Self::F32), ("f16", Self::F16)];
}

/// Storage format of a quad in scratch: its number of words, and its fragments.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ScratchFormat(pub usize, pub &'static [&'static str]);

pub(super) static WORDS: ScratchFormat = ScratchFormat(4, &[crate::wgsl!("common/kept_f32")]);
static HALVES: ScratchFormat = ScratchFormat(2, &[crate::wgsl!("common/kept_f16"), crate::wgsl!("common/halves")]);
static PACKED: ScratchFormat = ScratchFormat(2, &[crate::wgsl!("common/kept_packed"), crate::wgsl!("common/halves")]);

impl ScratchFormat {
    pub(super) fn of(info: &Info, precision: Precision) -> &'static Self {
        match precision {
            Precision::F32 => &WORDS,
            Precision::F16 if info.features.iter().any(|name| name == "f16") => &HALVES,
            Precision::F16 => &PACKED,
        }
    }
}
