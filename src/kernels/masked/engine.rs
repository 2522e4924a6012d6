//! Masked programs in vector lanes, a tile at a time: every scalar op is a pass over registers of a few vectors. ⊥ bits become
//! non-finite values on input, and bits again on output.
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use pulp::{Simd, WithSimd};

use crate::kernels::halves::Values;
use crate::kernels::pointwise::{IterationSpace, gather};
use crate::program::ScalarOp;
use crate::simd::masked::{self, BLOCK, Lanes, Source};

/// Elements per tile, whole blocks: few enough that the CPU prefetches the next tile while it computes this one, enough that
/// dispatching an instruction costs little.
pub(super) const WIDTH: usize = 128;

pub(super) static NO_BITS: [u32; WIDTH / BLOCK] = [0; WIDTH / BLOCK];

/// A tile's values.
#[repr(align(64))]
pub(super) struct Register([f32; WIDTH]);

impl Register {
    /// Initial contents of the instruction's register.
    pub(super) fn of(step: &Step<'_>) -> Self {
        Self([if let Step::Constant(value) = step { *value } else { 1.0 }; WIDTH])
    }
}

/// An instruction as it is executed.
pub(super) enum Step<'a> {
    /// A constant; its register is filled once.
    Constant(f32),
    /// An input read in place. Only the last instruction applies its bits.
    Direct(Source<'a>),
    /// An input copied to a register, with ⊥ as NaN.
    Marked(Source<'a>),
    /// An input read by strides, with ⊥ already as NaN.
    Strided(Vec<f32>, [u32; 4]),
    /// A scalar op in lanes, and the number of its arguments.
    Lanes(Lanes, [u16; 3], usize),
    /// A scalar op by its scalar function.
    ScalarOp(&'static ScalarOp, [u16; 3]),
}

/// First element and length of a tile; registers are padded to whole blocks.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    pub(super) start: usize,
    pub(super) count: usize,
}

impl Tile {
    #[inline(always)]
    fn padded(self) -> usize {
        self.count.next_multiple_of(BLOCK)
    }

    #[inline(always)]
    fn is_whole(self) -> bool {
        self.count.is_multiple_of(BLOCK)
    }
}

/// Runs a program over whole blocks, or over less than one block, which it pads.
pub(super) struct Engine<'a> {
    pub(super) steps: &'a [Step<'a>],
    pub(super) space: &'a IterationSpace,
    /// Whether the last instruction may write the result directly.
    pub(super) ends_by_lanes: bool,
    pub(super) registers: &'a mut [Register],
    pub(super) whole: Tile,
    pub(super) values: &'a mut [f32],
    pub(super) bits: &'a mut [u32],
}

impl WithSimd for Engine<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (last, before) = self.steps.split_last().expect("a program has a result");
        let tiles = self.values.chunks_mut(WIDTH).zip(self.bits.chunks_mut(WIDTH / BLOCK));
        for (k, (values, bits)) in tiles.enumerate() {
            let tile = Tile { start: self.whole.start + k * WIDTH, count: WIDTH.min(self.whole.count - k * WIDTH) };
            let mut at = 0;
            // The last instruction fills its register only if it does not write the result.
            let ends =
                if let (Step::Lanes(..), true) = (last, self.ends_by_lanes) { before.len() } else { self.steps.len() };
            while at < ends {
                step(simd, (self.steps, self.space), self.registers, at, tile);
                at += 1;
            }
            if let (Step::Lanes(row, arguments, count), true) = (last, self.ends_by_lanes) {
                let sources = sources(self.steps, self.registers, arguments, *count, tile);
                row.whole(simd, &sources[..*count], values, bits);
            } else {
                let result = source(self.steps, self.registers, before.len() as u16, tile).values;
                masked::canonicalize_blocks(simd, result, values, bits);
            }
        }
    }
}

/// The values of instruction `a`: a register, or an input in place if whole blocks of it remain.
#[inline(always)]
pub(super) fn source<'a>(steps: &'a [Step<'_>], registers: &'a [Register], a: u16, tile: Tile) -> Source<'a> {
    if let Step::Direct(source) = &steps[a as usize]
        && tile.is_whole()
    {
        let bits = if source.bits.is_empty() { &NO_BITS } else { &source.bits[tile.start / BLOCK..] };
        return Source { values: &source.values[tile.start..][..tile.count], bits };
    }
    Source { values: &registers[a as usize].0[..tile.padded()], bits: &NO_BITS }
}

#[inline(always)]
fn sources<'a>(
    steps: &'a [Step<'_>],
    registers: &'a [Register],
    arguments: &[u16; 3],
    count: usize,
    tile: Tile,
) -> [Source<'a>; 3] {
    let mut sources = [Source { values: &[], bits: &[] }; 3];
    for (source_of, &a) in sources.iter_mut().zip(&arguments[..count]) {
        *source_of = source(steps, registers, a, tile);
    }
    sources
}

/// Fills the register of instruction `at`.
#[inline(always)]
fn step<S: Simd>(
    simd: S,
    (steps, space): (&[Step<'_>], &IterationSpace),
    registers: &mut [Register],
    at: usize,
    tile: Tile,
) {
    let (before, rest) = registers.split_at_mut(at);
    let target = &mut rest[0].0;
    match &steps[at] {
        Step::Constant(_) => {}
        Step::Lanes(row, arguments, count) => {
            let sources = sources(steps, before, arguments, *count, tile);
            row.inner(simd, &sources[..*count], &mut target[..tile.padded()]);
        }
        Step::Direct(source) | Step::Marked(source) => {
            let bits = if source.bits.is_empty() { &NO_BITS } else { &source.bits[tile.start / BLOCK..] };
            let source = Source { values: &source.values[tile.start..], bits };
            match &steps[at] {
                Step::Direct(_) if tile.is_whole() => {}
                _ if tile.is_whole() => masked::mark_blocks(simd, source, &mut target[..tile.count]),
                _ => masked::mark(source, &mut target[..tile.count]),
            }
        }
        Step::Strided(values, strides) => {
            gather(space, *strides, Values::Floats(values), tile.start, &mut target[..tile.count]);
        }
        Step::ScalarOp(row, arguments) => {
            let sources = sources(steps, before, arguments, row.arguments.len(), tile);
            by_scalar_function(row, &sources[..row.arguments.len()], &mut target[..tile.padded()]);
        }
    }
}

/// Runs a scalar op that has no masked pass: its scalar function, then NaN where it has no value.
fn by_scalar_function(row: &'static ScalarOp, sources: &[Source<'_>], target: &mut [f32]) {
    let slices: [&[f32]; 3] = std::array::from_fn(|at| sources[at.min(sources.len() - 1)].values);
    let sources = &slices[..sources.len()];
    (row.f32)(sources, target);
    for source in sources {
        target.iter_mut().zip(*source).for_each(|(y, x)| *y = if x.is_finite() { *y } else { f32::NAN });
    }
    for predicate in
        [row.masked.inside, row.masked.fits].into_iter().flatten().filter(|predicate| predicate.wgsl != "true")
    {
        let mut arguments = [0.0; 3];
        for (i, y) in target.iter_mut().enumerate().filter(|(_, y)| !y.is_nan()) {
            sources.iter().zip(&mut arguments).for_each(|(source, argument)| *argument = source[i]);
            if !(predicate.holds)(&arguments[..sources.len()]) {
                *y = f32::NAN;
            }
        }
    }
    if row.masked.fits.is_some() {
        for y in target {
            *y = y.clamp(-f32::MAX, f32::MAX);
        }
    }
}
