//! Masked programs on the CPU, a tile at a time. Memory is passed over once: bits become values that are not finite on the way in, and bits
//! again on the way out; in between every row is one pass over registers in the first-level cache.

use super::lanes::{self, BLOCK, Pass, Source, Target};
use super::{Params, Planes, Total, plane_words};
use crate::device::Call;
use crate::host::Team;
use crate::kernels::common;
use crate::kernels::pointwise::{Access, Space, gather};
use crate::kernels::program::Instruction;
use crate::kernels::scalar::Row;

/// Elements at a time: a multiple of a block, so that a tile has words of bits to itself.
const TILE: usize = 1024;

static NO_BITS: [u32; TILE / BLOCK] = [0; TILE / BLOCK];

/// An input as the tiles read it.
enum Input<'a> {
    /// One element per index, as it lies in memory.
    Full(Source<'a>),
    /// By strides: ⊥ is NaN already.
    Strided(Vec<f32>, [u32; 4]),
}

/// 0, or why an element is ⊥: 1 by itself, 3 by a fault.
type Cause = u8;
const BOTTOM: Cause = 1;
const FAULT: Cause = 3;

struct Job<'a> {
    total: &'a Total,
    space: Space,
    inputs: Vec<Input<'a>>,
    /// The pass of each instruction that has one, and the one that only settles.
    passes: Vec<Option<Pass>>,
    settle: Pass,
    /// The inputs' causes, where the result's faults are wanted.
    causes: Vec<Vec<f32>>,
}

/// What one thread writes: values, bits and faults of whole tiles.
struct Piece<'a> {
    start: usize,
    values: &'a mut [f32],
    bits: &'a mut [u32],
    faults: Option<&'a mut [u32]>,
}

pub(super) fn run(call: Call<'_>) {
    let params: Params = call.params();
    let total: &Total = call.body();
    let count = params.count as usize;
    let space = Space { dims: params.dims, strides: params.strides };
    let pass = |instruction: &Instruction| match instruction {
        Instruction::Row(row, _) => row.form.lanes.map(|choose| choose()),
        _ => None,
    };
    let job = Job {
        total,
        space,
        inputs: inputs(&call, &params, total),
        passes: total.pointwise.program.code.iter().map(pass).collect(),
        settle: lanes::settle(),
        causes: causes(&call, &params, total),
    };
    let [values, planes] = call.outputs else { unreachable!("a masked launch has two outputs") };
    let values: &mut [f32] = &mut bytemuck::cast_slice_mut(values)[..count];
    let (bits, faults) = planes.split_at_mut(if total.has_fault { plane_words(count) } else { planes.len() });
    let part = part(count, call.team);
    let mut faults = total.has_fault.then(|| faults.chunks_mut(part / BLOCK));
    let pieces = values.chunks_mut(part).zip(bits.chunks_mut(part / BLOCK)).enumerate();
    let pieces = pieces.map(|(at, (values, bits))| Piece {
        start: at * part,
        bits: &mut bits[..values.len().div_ceil(BLOCK)],
        values,
        faults: faults.as_mut().and_then(Iterator::next),
    });
    common::each(pieces, call.team, |piece| job.piece(piece));
}

/// Elements per piece: a few pieces a thread, whole tiles.
fn part(count: usize, team: &Team) -> usize {
    let pieces = if count < 8 * TILE { 1 } else { 4 * team.threads() };
    count.div_ceil(pieces).next_multiple_of(TILE).max(TILE)
}

/// The words beside an input's values, as far as there are any.
#[derive(Clone, Copy, Default)]
struct Words<'a> {
    bottom: Option<&'a [u32]>,
    fault: Option<&'a [u32]>,
}

/// The words of each input.
fn planes<'a>(call: &Call<'a>, params: &Params, total: &Total) -> Vec<Words<'a>> {
    let mut views = call.inputs[total.planes.len()..].iter();
    let read = |(at, planes): (usize, &Planes)| match planes {
        Planes::Bare => Words::default(),
        Planes::Bottom => Words { bottom: views.next().copied(), fault: None },
        Planes::Fault => {
            let words = views.next().expect("planes are bound behind the values");
            Words { bottom: Some(words), fault: Some(&words[params.fault_at[at] as usize..]) }
        }
    };
    total.planes.iter().enumerate().map(read).collect()
}

fn inputs<'a>(call: &Call<'a>, params: &Params, total: &Total) -> Vec<Input<'a>> {
    let read = |(at, words): (usize, Words<'a>)| {
        let (values, bits) = (call.floats(at), words.bottom);
        if total.pointwise.access[at] == Access::Full {
            return Input::Full(Source { values, bits: bits.unwrap_or_default() });
        }
        let is_bottom = |at: usize| bits.is_some_and(|words| bit(words, at));
        let marked = values.iter().enumerate().map(|(at, &x)| if is_bottom(at) { f32::NAN } else { x });
        Input::Strided(marked.collect(), params.strides[at])
    };
    planes(call, params, total).into_iter().enumerate().map(read).collect()
}

fn causes(call: &Call<'_>, params: &Params, total: &Total) -> Vec<Vec<f32>> {
    if !total.has_fault {
        return Vec::new();
    }
    let of_input = |(at, planes): (usize, Words<'_>)| {
        let cause = |(at, x): (usize, &f32)| match planes.bottom.is_some_and(|words| bit(words, at)) {
            true if planes.fault.is_some_and(|words| bit(words, at)) => FAULT,
            true => BOTTOM,
            false if x.is_finite() => 0,
            false => FAULT,
        };
        call.floats(at).iter().enumerate().map(|element| f32::from(cause(element))).collect()
    };
    planes(call, params, total).into_iter().enumerate().map(of_input).collect()
}

fn bit(words: &[u32], at: usize) -> bool {
    words[at / BLOCK] >> (at % BLOCK) & 1 == 1
}

/// A thread's registers: a value for each instruction, arguments freed of their bits, causes.
#[derive(Default)]
struct Registers {
    values: Vec<Vec<f32>>,
    bare: [Vec<f32>; 3],
    causes: Vec<Vec<f32>>,
}

impl Job<'_> {
    fn piece(&self, piece: Piece<'_>) {
        let Piece { start, values, bits, mut faults } = piece;
        let mut registers = Registers::default();
        registers.values.resize_with(self.total.pointwise.program.code.len(), Vec::new);
        registers.causes.resize_with(self.total.pointwise.program.code.len(), Vec::new);
        for (k, (values, bits)) in values.chunks_mut(TILE).zip(bits.chunks_mut(TILE / BLOCK)).enumerate() {
            let start = start + k * TILE;
            let count = values.len();
            self.tile(&mut registers, start, Target { values, bits: Some(bits) });
            if let Some(faults) = &mut faults {
                let words = &mut faults[k * TILE / BLOCK..][..count.div_ceil(BLOCK)];
                self.faults(&mut registers, start, bits, words, count);
            }
        }
    }

    /// The values and bits of indices from `start` on.
    fn tile(&self, registers: &mut Registers, start: usize, target: Target<'_>) {
        let count = target.values.len();
        let (last, before) = self.total.pointwise.program.code.split_last().expect("a program has a result");
        for (at, instruction) in before.iter().enumerate() {
            self.step(registers, *instruction, at, start, count);
        }
        if let Instruction::Row(row, arguments) = last
            && let (Some(pass), false) = (self.passes[before.len()], self.total.has_fault)
        {
            let sources = self.sources(&registers.values, row, *arguments, start, count);
            return pass(&sources[..row.arguments.len()], target);
        }
        self.step(registers, *last, before.len(), start, count);
        (self.settle)(&[self.source(&registers.values, before.len() as u16, start, count)], target);
    }

    /// The values of instruction `a`: a register, or an input where it lies.
    #[inline]
    fn source<'a>(&'a self, registers: &'a [Vec<f32>], a: u16, start: usize, count: usize) -> Source<'a> {
        if let Instruction::Input(input) = self.total.pointwise.program.code[a as usize]
            && let Input::Full(source) = &self.inputs[input as usize]
        {
            let values = &source.values[start..start + count];
            let bits = if source.bits.is_empty() { &NO_BITS } else { &source.bits[start / BLOCK..] };
            return Source { values, bits };
        }
        Source { values: &registers[a as usize][..count], bits: &NO_BITS }
    }

    #[inline]
    fn sources<'a>(
        &'a self,
        registers: &'a [Vec<f32>],
        row: &Row,
        arguments: [u16; 3],
        start: usize,
        count: usize,
    ) -> [Source<'a>; 3] {
        let mut sources = [Source { values: &[], bits: &[] }; 3];
        for (source, &argument) in sources.iter_mut().zip(&arguments[..row.arguments.len()]) {
            *source = self.source(registers, argument, start, count);
        }
        sources
    }

    /// Fills the register of instruction `at`.
    fn step(&self, registers: &mut Registers, instruction: Instruction, at: usize, start: usize, count: usize) {
        let (before, rest) = registers.values.split_at_mut(at);
        let target = &mut rest[0];
        let is_new = target.len() != count;
        match instruction {
            Instruction::Constant(value) if is_new => {
                target.clear();
                target.resize(count, value);
            }
            Instruction::Constant(_) => {}
            Instruction::Input(input) => {
                if let Input::Strided(values, strides) = &self.inputs[input as usize] {
                    target.resize(count, 0.0);
                    gather(&self.space, *strides, values, start, target);
                }
            }
            Instruction::Row(row, arguments) => {
                target.resize(count, 0.0);
                let sources = self.sources(before, row, arguments, start, count);
                let sources = &sources[..row.arguments.len()];
                match self.passes[at] {
                    Some(pass) => pass(sources, Target { values: target, bits: None }),
                    None => through_row(row, sources, self.settle, &mut registers.bare, target),
                }
            }
        }
    }

    /// Which of the bits came from a fault: causes are followed through the program once more.
    fn faults(&self, registers: &mut Registers, start: usize, bits: &[u32], faults: &mut [u32], count: usize) {
        let code = &self.total.pointwise.program.code;
        for (at, instruction) in code.iter().enumerate() {
            let (before, rest) = registers.causes.split_at_mut(at);
            let target = &mut rest[0];
            target.clear();
            target.resize(count, 0.0);
            match *instruction {
                Instruction::Constant(_) => {}
                Instruction::Input(input) => {
                    let strides = self.space.strides[input as usize];
                    gather(&self.space, strides, &self.causes[input as usize], start, target);
                }
                Instruction::Row(row, arguments) => {
                    let arguments = &arguments[..row.arguments.len()];
                    let y = self.source(&registers.values, at as u16, start, count).values;
                    for (i, cause) in target.iter_mut().enumerate() {
                        let first = arguments.iter().map(|&a| before[a as usize][i]).find(|&cause| cause != 0.0);
                        let own = || {
                            let mut x = [0.0; 3];
                            for (x, &a) in x.iter_mut().zip(arguments) {
                                *x = self.source(&registers.values, a, start, count).values[i];
                            }
                            let is_inside = row.form.inside.is_none_or(|inside| (inside.holds)(&x));
                            f32::from(if is_inside { FAULT } else { BOTTOM })
                        };
                        *cause = first.unwrap_or_else(|| if y[i].is_finite() { 0.0 } else { own() });
                    }
                }
            }
        }
        let result = &registers.causes[code.len() - 1];
        faults.fill(0);
        for (i, cause) in result.iter().enumerate() {
            faults[i / BLOCK] |= u32::from(bit(bits, i) && *cause == f32::from(FAULT)) << (i % BLOCK);
        }
    }
}

/// A row without a masked pass: its own function, then a mark where it has no value.
fn through_row(row: &'static Row, sources: &[Source<'_>], settle: Pass, bare: &mut [Vec<f32>; 3], target: &mut [f32]) {
    let count = target.len();
    for (bare, &source) in bare.iter_mut().zip(sources) {
        bare.resize(count, 0.0);
        settle(&[source], Target { values: bare, bits: None });
    }
    let slices: [&[f32]; 3] = std::array::from_fn(|at| &bare[at.min(sources.len() - 1)][..count]);
    let slices = &slices[..sources.len()];
    (row.cpu)(slices, target);
    for slice in slices {
        // 0 is taken away, or NaN where the argument is not finite.
        target.iter_mut().zip(*slice).for_each(|(y, x)| *y -= 0.0 * x);
    }
    for question in [row.form.inside, row.form.fits].into_iter().flatten().filter(|question| question.wgsl != "true") {
        let mut arguments = [0.0; 3];
        for (i, y) in target.iter_mut().enumerate().filter(|(_, y)| !y.is_nan()) {
            slices.iter().zip(&mut arguments).for_each(|(slice, argument)| *argument = slice[i]);
            if !(question.holds)(&arguments[..slices.len()]) {
                *y = f32::NAN;
            }
        }
    }
    if row.form.fits.is_some() {
        for y in target {
            *y = y.clamp(-f32::MAX, f32::MAX);
        }
    }
}
