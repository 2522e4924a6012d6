//! Masked programs on the CPU, a tile at a time. Memory is read once: ⊥ bits become non-finite values on input and bits again on
//! output; in between every scalar op is one pass over registers in the first-level cache.

use super::engine::{Engine, Register, Step, Tile, WIDTH, source};
use super::{Params, Planes, Total, plane_words};
use crate::device::Call;
use crate::host::ThreadPool;
use crate::kernels::common;
use crate::kernels::halves::Values;
use crate::kernels::pointwise::{Access, IterationSpace, gather};
use crate::program::Instruction;
use crate::simd;
use crate::simd::masked::{BLOCK, Source};

/// The cause of an element's ⊥, or 0: 1 undefined, 3 a fault.
type Cause = u8;
const BOTTOM: Cause = 1;
const FAULT: Cause = 3;

struct Job<'a> {
    total: &'a Total,
    space: IterationSpace,
    steps: Vec<Step<'a>>,
    /// The inputs' causes, if the result's faults are written.
    causes: Vec<Vec<f32>>,
}

/// The output of one thread: values, bits and faults of whole tiles.
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
    let space = IterationSpace { dims: params.dims, strides: params.strides };
    let job = Job { total, space, steps: steps(&call, &params, total), causes: causes(&call, &params, total) };
    let [values, planes] = call.outputs else { unreachable!("a masked launch has two outputs") };
    let values: &mut [f32] = &mut bytemuck::cast_slice_mut(values)[..count];
    let (bits, faults) = planes.split_at_mut(if total.has_fault { plane_words(count) } else { planes.len() });
    let part = part(count, call.pool);
    let mut faults = total.has_fault.then(|| faults.chunks_mut(part / BLOCK));
    let pieces = values.chunks_mut(part).zip(bits.chunks_mut(part / BLOCK)).enumerate();
    let pieces = pieces.map(|(at, (values, bits))| Piece {
        start: at * part,
        bits: &mut bits[..values.len().div_ceil(BLOCK)],
        values,
        faults: faults.as_mut().and_then(Iterator::next),
    });
    common::each(pieces, call.pool, |piece| job.piece(piece));
}

/// The length of a piece is a multiple of this many elements.
const GRAIN: usize = 1024;

/// Elements per piece: a few pieces per thread.
fn part(count: usize, pool: &ThreadPool) -> usize {
    let pieces = if count < 8 * GRAIN { 1 } else { 4 * pool.threads() };
    count.div_ceil(pieces).next_multiple_of(GRAIN).max(GRAIN)
}

/// The plane words of an input, if it has any.
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
            let words = views.next().expect("planes are bound after the values");
            Words { bottom: Some(words), fault: Some(&words[params.fault_at[at] as usize..]) }
        }
    };
    total.planes.iter().enumerate().map(read).collect()
}

fn steps<'a>(call: &Call<'a>, params: &Params, total: &Total) -> Vec<Step<'a>> {
    let code = &total.pointwise.program.code;
    let planes = planes(call, params, total);
    let (last, before) = code.split_last().expect("a program has a result");
    let is_read = |at: usize| {
        before
            .iter()
            .any(|step| matches!(step, Instruction::Op(row, a) if a[..row.arguments.len()].contains(&(at as u16))))
    };
    let ends_by_lanes = !total.has_fault && matches!(last, Instruction::Op(row, _) if row.masked.lanes.is_some());
    let step = |(at, instruction): (usize, &Instruction)| match *instruction {
        Instruction::Constant(value) => Step::Constant(value as f32),
        Instruction::Op(row, arguments) => match row.masked.lanes {
            Some(lanes) => Step::Lanes(lanes, arguments, row.arguments.len()),
            None => Step::ScalarOp(row, arguments),
        },
        Instruction::Input(input) => {
            let (values, bits) = (call.floats(input as usize), planes[input as usize].bottom);
            if total.pointwise.access[input as usize] != Access::Full {
                return Step::Strided(with_nan(values, bits), params.strides[input as usize]);
            }
            let source = Source { values, bits: bits.unwrap_or_default() };
            if bits.is_none() || (ends_by_lanes && !is_read(at)) { Step::Direct(source) } else { Step::Marked(source) }
        }
    };
    code.iter().enumerate().map(step).collect()
}

/// Values, with NaN where they are ⊥.
fn with_nan(values: &[f32], bits: Option<&[u32]>) -> Vec<f32> {
    let is_bottom = |at: usize| bits.is_some_and(|words| bit(words, at));
    values.iter().enumerate().map(|(at, &x)| if is_bottom(at) { f32::NAN } else { x }).collect()
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

/// A thread's registers and causes.
struct State {
    registers: Vec<Register>,
    causes: Vec<Vec<f32>>,
}

impl State {
    fn new(steps: &[Step<'_>]) -> Self {
        Self { registers: steps.iter().map(Register::of).collect(), causes: vec![Vec::new(); steps.len()] }
    }
}

impl Job<'_> {
    fn piece(&self, piece: Piece<'_>) {
        let whole = piece.values.len() / BLOCK * BLOCK;
        let (values, tail) = piece.values.split_at_mut(whole);
        let (bits, last) = piece.bits.split_at_mut(whole / BLOCK);
        let (mut faults, last_faults) = piece.faults.map(|faults| faults.split_at_mut(whole / BLOCK)).unzip();
        let mut state = State::new(&self.steps);
        // Causes are read from a tile's registers; without faults a whole piece is processed at once.
        let stretch = if faults.is_some() { WIDTH } else { whole.max(BLOCK) };
        for (k, (values, bits)) in values.chunks_mut(stretch).zip(bits.chunks_mut(stretch / BLOCK)).enumerate() {
            let tile = Tile { start: piece.start + k * stretch, count: values.len() };
            let faults = faults.as_mut().map(|faults| &mut faults[k * stretch / BLOCK..][..bits.len()]);
            self.run(&mut state, tile, values, bits, faults);
        }
        if !tail.is_empty() {
            let tile = Tile { start: piece.start + whole, count: tail.len() };
            let mut padded = [0.0; BLOCK];
            self.run(&mut state, tile, &mut padded, last, last_faults);
            tail.copy_from_slice(&padded[..tail.len()]);
            last[0] &= (1 << tail.len()) - 1;
        }
    }

    /// Computes values and bits of whole blocks, or of a part of one. With faults, of one tile at most.
    fn run(&self, state: &mut State, tile: Tile, values: &mut [f32], bits: &mut [u32], faults: Option<&mut [u32]>) {
        simd::dispatch(Engine {
            steps: &self.steps,
            space: &self.space,
            ends_by_lanes: !self.total.has_fault,
            registers: &mut state.registers,
            whole: tile,
            values,
            bits,
        });
        if let Some(faults) = faults {
            self.faults(state, tile, bits, faults);
        }
    }

    /// Computes which of the bits came from a fault: runs the program once more on causes.
    fn faults(&self, state: &mut State, tile: Tile, bits: &[u32], faults: &mut [u32]) {
        let State { registers, causes } = state;
        let code = &self.total.pointwise.program.code;
        for (at, instruction) in code.iter().enumerate() {
            let (before, rest) = causes.split_at_mut(at);
            let target = &mut rest[0];
            target.clear();
            target.resize(tile.count, 0.0);
            match *instruction {
                Instruction::Constant(_) => {}
                Instruction::Input(input) => {
                    let strides = self.space.strides[input as usize];
                    gather(&self.space, strides, Values::Floats(&self.causes[input as usize]), tile.start, target);
                }
                Instruction::Op(row, arguments) => {
                    let arguments = &arguments[..row.arguments.len()];
                    let y = source(&self.steps, registers, at as u16, tile).values;
                    for (i, cause) in target.iter_mut().enumerate() {
                        let first = arguments.iter().map(|&a| before[a as usize][i]).find(|&cause| cause != 0.0);
                        let own = || {
                            let mut x = [0.0; 3];
                            for (x, &a) in x.iter_mut().zip(arguments) {
                                *x = source(&self.steps, registers, a, tile).values[i];
                            }
                            let is_inside = row.masked.inside.is_none_or(|inside| (inside.holds)(&x));
                            f32::from(if is_inside { FAULT } else { BOTTOM })
                        };
                        *cause = first.unwrap_or_else(|| if y[i].is_finite() { 0.0 } else { own() });
                    }
                }
            }
        }
        let result = &causes[code.len() - 1];
        faults.fill(0);
        for (i, cause) in result.iter().enumerate() {
            faults[i / BLOCK] |= u32::from(bit(bits, i) && *cause == f32::from(FAULT)) << (i % BLOCK);
        }
    }
}
