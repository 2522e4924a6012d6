//! Buffers of packed halves that a kernel reads and writes itself, so that no launch of `cast` converts them. The bits are those of the conversions.

pub(super) mod cases;

use bytemuck::{cast_slice, cast_slice_mut};
use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};
use half::{bf16, f16};

use super::common;
use crate::host::ThreadPool;

/// A format of 16 bits for results of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Half {
    /// 5 bits of exponent and 10 of fraction: up to 65,504.
    #[default]
    F16,
    /// 8 bits of exponent, as f32, and 7 of fraction.
    Bf16,
}

impl Half {
    /// WGSL of `half_of`, to the nearest half, ties to the even one, of `float_of`, and of words of two.
    pub(super) fn wgsl(self) -> &'static str {
        match self {
            Self::F16 => crate::wgsl!("common/half_f16", "common/half_words"),
            Self::Bf16 => crate::wgsl!("common/half_bf16", "common/half_words"),
        }
    }

    /// Two floats per word; an odd last one is padded with 0.
    pub(super) fn pack(self, x: &[f32], out: &mut [u32]) {
        if let Some(last) = out.last_mut() {
            *last = 0;
        }
        let out: &mut [u16] = &mut cast_slice_mut(out)[..x.len()];
        match self {
            Self::F16 => out.reinterpret_cast_mut::<f16>().convert_from_f32_slice(x),
            Self::Bf16 => out.iter_mut().zip(x).for_each(|(out, x)| *out = bf16::from_f32(*x).to_bits()),
        }
    }

    /// The same, spread over the thread pool.
    pub(super) fn pack_all(self, x: &[f32], out: &mut [u32], pool: &ThreadPool) {
        let piece = 2 * common::rows_per_piece(x.len().div_ceil(2), 2, pool);
        common::each(x.chunks(piece).zip(out.chunks_mut(piece / 2)), pool, |(x, out)| self.pack(x, out));
    }

    #[inline]
    pub(super) fn unpack(self, halves: &[u16], out: &mut [f32]) {
        match self {
            Self::F16 => halves.reinterpret_cast::<f16>().convert_to_f32_slice(out),
            Self::Bf16 => out.iter_mut().zip(halves).for_each(|(out, half)| *out = bf16::from_bits(*half).to_f32()),
        }
    }
}

/// Numbers of a binding on the CPU.
#[derive(Clone, Copy)]
pub(super) enum Values<'a> {
    Floats(&'a [f32]),
    Halves(Half, &'a [u16]),
}

impl Values<'_> {
    pub(super) fn len(self) -> usize {
        match self {
            Self::Floats(floats) => floats.len(),
            Self::Halves(_, halves) => halves.len(),
        }
    }

    /// Those from a place on, or none behind the end.
    pub(super) fn from(self, first: usize) -> Self {
        let first = first.min(self.len());
        match self {
            Self::Floats(floats) => Self::Floats(&floats[first..]),
            Self::Halves(half, halves) => Self::Halves(half, &halves[first..]),
        }
    }

    /// The first ones.
    pub(super) fn until(self, count: usize) -> Self {
        match self {
            Self::Floats(floats) => Self::Floats(&floats[..count]),
            Self::Halves(half, halves) => Self::Halves(half, &halves[..count]),
        }
    }

    /// Copies as many as `out` has, from a place on.
    pub(super) fn copy(self, first: usize, out: &mut [f32]) {
        match self {
            Self::Floats(floats) => out.copy_from_slice(&floats[first..first + out.len()]),
            Self::Halves(half, halves) => half.unpack(&halves[first..first + out.len()], out),
        }
    }

    pub(super) fn at(self, place: usize) -> f32 {
        match self {
            Self::Floats(floats) => floats[place],
            Self::Halves(half, halves) => {
                let mut one = [0.0];
                half.unpack(&halves[place..=place], &mut one);
                one[0]
            }
        }
    }
}

/// Which bindings of a launch are packed halves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    half: Half,
    /// A bit per input and, above `OUTPUTS`, per output.
    bindings: u32,
}

/// The bit of the first output.
const OUTPUTS: usize = 16;

impl Packed {
    pub(super) fn is_any(self) -> bool {
        self.bindings != 0
    }

    pub(super) fn reads(self, input: usize) -> bool {
        self.bindings >> input & 1 == 1
    }

    pub(super) fn writes(self, output: usize) -> bool {
        self.reads(OUTPUTS + output)
    }

    /// The format of what an input is read in, if not in floats.
    pub(super) fn read(self, input: usize) -> Option<Half> {
        self.reads(input).then_some(self.half)
    }

    /// The format of what an output is written in, if not in floats.
    pub(super) fn written(self, output: usize) -> Option<Half> {
        self.writes(output).then_some(self.half)
    }

    /// The conversions, if there are any.
    pub(super) fn wgsl(self) -> &'static str {
        if self.is_any() { self.half.wgsl() } else { "" }
    }

    /// The words of an input.
    pub(super) fn values(self, input: usize, words: &[u32]) -> Values<'_> {
        if self.reads(input) { Values::Halves(self.half, cast_slice(words)) } else { Values::Floats(cast_slice(words)) }
    }

    /// With another binding; `None` if the others have another format.
    fn with(self, half: Half, bit: usize) -> Option<Self> {
        (!self.is_any() || self.half == half).then_some(Self { half, bindings: self.bindings | 1 << bit })
    }

    /// With an input in halves.
    pub(super) fn with_input(self, half: Half, input: usize) -> Option<Self> {
        self.with(half, input)
    }

    /// With an output in halves.
    pub(super) fn with_output(self, half: Half, output: usize) -> Option<Self> {
        self.with(half, OUTPUTS + output)
    }
}
