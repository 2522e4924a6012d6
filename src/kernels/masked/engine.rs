//! Masked programs by lanes, a tile at a time: every row is a pass over registers of a few vectors. Memory streams by: bits become values
//! that are not finite on the way in, and bits again on the way out.
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use pulp::{Simd, WithSimd};

use crate::kernels::pointwise::{IterationSpace, gather};
use crate::program::op::ScalarOp;
use crate::simd::masked::{self, BLOCK, Lanes, Source};

/// Elements at a time, whole blocks: so few that the machine reads the next tile while it works on this one, so many that choosing what to
/// do next costs little.
pub(super) const WIDTH: usize = 128;

pub(super) static NO_BITS: [u32; WIDTH / BLOCK] = [0; WIDTH / BLOCK];

/// A tile's values.
#[repr(align(64))]
pub(super) struct Register([f32; WIDTH]);

impl Register {
    /// What the instruction finds in its register at first.
    pub(super) fn of(step: &Step<'_>) -> Self {
        Self([if let Step::Constant(value) = step { *value } else { 1.0 }; WIDTH])
    }
}

/// What an instruction comes to.
pub(super) enum Step<'a> {
    /// Its register is filled once.
    Constant(f32),
    /// An input read where it lies. Its bits are seen only by the last row.
    Direct(Source<'a>),
    /// An input whose ⊥ become NaN in a register.
    Marked(Source<'a>),
    /// An input read by strides: ⊥ is NaN already.
    Strided(Vec<f32>, [u32; 4]),
    /// A row by lanes and the number of its arguments.
    Lanes(Lanes, [u16; 3], usize),
    /// A row by its own function.
    ScalarOp(&'static ScalarOp, [u16; 3]),
}

/// Where a tile begins and how many values there are; their registers are filled up to whole blocks.
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

/// A program over whole blocks, or less than one, of which it fills one.
pub(super) struct Engine<'a> {
    pub(super) steps: &'a [Step<'a>],
    pub(super) space: &'a IterationSpace,
    /// Whether the last row may write the result itself.
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
            // The last row fills its register only where it does not write the result.
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
                masked::settle_blocks(simd, result, values, bits);
            }
        }
    }
}

/// The values of instruction `a`: a register, or an input where it lies as long as there are whole blocks of it.
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
        Step::Strided(values, strides) => gather(space, *strides, values, tile.start, &mut target[..tile.count]),
        Step::ScalarOp(row, arguments) => {
            let sources = sources(steps, before, arguments, row.arguments.len(), tile);
            through_row(row, &sources[..row.arguments.len()], &mut target[..tile.padded()]);
        }
    }
}

/// A row without a masked pass: its own function, then a mark where it has no value.
fn through_row(row: &'static ScalarOp, sources: &[Source<'_>], target: &mut [f32]) {
    let slices: [&[f32]; 3] = std::array::from_fn(|at| sources[at.min(sources.len() - 1)].values);
    let sources = &slices[..sources.len()];
    (row.f32)(sources, target);
    for source in sources {
        // 0 is taken away, or NaN where the argument is not finite.
        target.iter_mut().zip(*source).for_each(|(y, x)| *y -= 0.0 * x);
    }
    for question in
        [row.masked.inside, row.masked.fits].into_iter().flatten().filter(|question| question.wgsl != "true")
    {
        let mut arguments = [0.0; 3];
        for (i, y) in target.iter_mut().enumerate().filter(|(_, y)| !y.is_nan()) {
            sources.iter().zip(&mut arguments).for_each(|(source, argument)| *argument = source[i]);
            if !(question.holds)(&arguments[..sources.len()]) {
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
