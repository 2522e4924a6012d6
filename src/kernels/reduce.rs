//! Reductions over the middle of [outer, extent, inner], with a pointwise program as prologue.
//! sum: out = scale · Σ value, max: out = max value, argmax: out = the first index of the largest value.

mod cases;

use std::any::Any;
use std::rc::Rc;
use std::sync::Mutex;

use super::pointwise::{IterationSpace, MAX_INPUTS, Pointwise, Registers, TILE};
use super::{common, map};
use crate::device::{Body, Call, Cost, Dispatch, EXCHANGE, Kernel, View, groups};
use crate::params;
use crate::program::Program;
use crate::simd::widened;

pub use cases::cases;

/// The `reduce` kernel.
pub static REDUCE: Kernel = Kernel {
    name: "reduce",
    params: Params::FIELDS,
    wgsl: &[common::SCALAR, common::INDEX, EXCHANGE, crate::wgsl!("reduce")],
    cpu: run,
    grid: |dispatch| {
        let params: Params = dispatch.params();
        groups(params.results() * body(dispatch).lanes as usize, 128)
    },
    cost: |dispatch| Cost {
        flops: (1 + body(dispatch).value.program.operations()) * dispatch.params::<Params>().elements(),
        bytes: dispatch.bytes(),
    },
    fuse: Some(fuse),
    in_place: None,
};

params! {
    /// `chunk` is the part of the extent that one result covers; `scale` multiplies a sum.
    pub struct Params {
        dims: [u32; 4],
        strides: [[u32; 4]; MAX_INPUTS],
        outer: u32,
        extent: u32,
        inner: u32,
        chunk: u32,
        scale: f32,
    }
}

impl Params {
    fn results(&self) -> usize {
        (self.outer * self.inner) as usize * self.chunks()
    }

    fn chunks(&self) -> usize {
        (self.extent as usize).div_ceil(self.chunk.max(1) as usize).max(1)
    }

    fn elements(&self) -> u64 {
        u64::from(self.outer) * u64::from(self.extent) * u64::from(self.inner)
    }
}

/// How values are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// Sum, multiplied by the scale.
    Sum,
    /// Largest.
    Max,
    /// Index of the largest; of equal ones, the first.
    Argmax,
}

/// A prologue, a join, and the number of lanes that share a result.
pub struct Reduction {
    value: Pointwise,
    join: Join,
    lanes: u32,
}

impl Body for Reduction {
    fn wgsl(&self) -> String {
        let (start, join, finish) = match self.join {
            Join::Sum => ("0.0", "Item(a.value + b.value, a.place)", "f32 { return item.value * scale; }"),
            Join::Max => ("-0x1.fffffep+127f", "Item(max(a.value, b.value), a.place)", "f32 { return item.value; }"),
            Join::Argmax => (
                "-0x1.fffffep+127f",
                "Item(max(a.value, b.value), select(a.place, b.place, b.value > a.value || (b.value == a.value && b.place < a.place)))",
                "u32 { return item.place; }",
            ),
        };
        format!(
            "const LANES: u32 = {}u;\nstruct Item {{ value: f32, place: u32, }}\nfn start() -> f32 {{ return {start}; }}\n\
             fn join(a: Item, b: Item) -> Item {{ return {join}; }}\nfn finish(item: Item, scale: f32) -> {finish}\n{}",
            self.lanes,
            self.value.wgsl()
        )
    }
}

/// Extents up to this are reduced by one invocation each.
const SHORT: u32 = 32;
/// So are extents with at least this many results next to each other: the invocations read neighbouring words, and none waits for others.
const WIDE: u32 = 128;

/// A reduction of `program` over `space`, seen as [outer, extent, inner]; `out` has outer · ceil(extent / chunk) · inner words.
#[allow(clippy::too_many_arguments, reason = "a launch is a flat record; grouping its parts would only rename them")]
pub fn dispatch(
    join: Join,
    program: Program,
    space: IterationSpace,
    [outer, extent, inner]: [u32; 3],
    chunk: u32,
    scale: f32,
    inputs: Vec<View>,
    out: View,
) -> Dispatch {
    let params = Params { dims: space.dims, strides: space.strides, outer, extent, inner, chunk, scale };
    let mut value = Pointwise::over(program, &space);
    value.word = if join == Join::Argmax { "u32" } else { "f32" };
    let lanes = if chunk <= SHORT || inner >= WIDE { 1 } else { 128 };
    let body = Rc::new(Reduction { value, join, lanes });
    Dispatch { kernel: &REDUCE, body: Some(body), params: params.words(), inputs, outputs: vec![out] }
}

fn body(dispatch: &Dispatch) -> &Reduction {
    let body: &dyn Any = &**dispatch.body.as_ref().expect("a reduction has a body");
    body.downcast_ref().expect("its body is a reduction")
}

fn fuse(producer: &Dispatch, consumer: &Dispatch, at: usize) -> Option<Dispatch> {
    let params: Params = consumer.params();
    let reduction = body(consumer);
    // `inlined` expects a `map` as consumer, so the prologue is passed as one.
    let space = IterationSpace { dims: params.dims, strides: params.strides };
    let prologue =
        map::dispatch(reduction.value.program.clone(), space, consumer.inputs.clone(), consumer.outputs[0].clone());
    let (views, strides, program) = map::inlined(producer, &prologue, at, params.dims, &params.strides, 0, 0)?;
    let mut space = IterationSpace { dims: params.dims, strides: [[0; 4]; MAX_INPUTS] };
    space.strides[..strides.len()].copy_from_slice(&strides);
    let shape = [params.outer, params.extent, params.inner];
    let out = consumer.outputs[0].clone();
    Some(dispatch(reduction.join, program, space, shape, params.chunk, params.scale, views, out))
}

fn run(mut call: Call<'_>) {
    let params: Params = call.params();
    let reduction: &Reduction = call.body();
    let inputs: Vec<&[f32]> = (0..call.inputs.len()).map(|at| call.floats(at)).collect();
    let space = IterationSpace { dims: params.dims, strides: params.strides };
    let (inner, chunks) = (params.inner as usize, params.chunks());
    let pool = call.pool;
    let out = &mut call.floats_mut(0)[..params.results()];
    // One row of `inner` results at a time: [outer, chunk] are independent.
    let rows: Vec<_> = out.chunks_mut(inner.max(1)).map(Mutex::new).collect();
    let parts = if params.elements() < 16_384 { 1 } else { rows.len().min(4 * pool.threads()) };
    let per_part = rows.len().div_ceil(parts.max(1)).max(1);
    pool.parallel(rows.len().div_ceil(per_part), &|part| {
        let program = &reduction.value.program;
        let mut memory = vec![0.0; Registers::<f32>::words(program)];
        let registers = Registers::new(program, &mut memory);
        let mut state = State { registers, tile: vec![0.0; TILE], best: Vec::new(), place: Vec::new() };
        for (at, row) in rows.iter().enumerate().skip(part * per_part).take(per_part) {
            let mut row = row.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let first = (at % chunks) * params.chunk as usize;
            let last = (first + params.chunk as usize).min(params.extent as usize);
            let base = (at / chunks) * params.extent as usize;
            state.reduce(reduction, &space, &inputs, (base + first) * inner..(base + last) * inner, inner);
            state.finish(reduction.join, params.scale, first, &mut row);
        }
    });
}

/// Intermediate state of one row of results. Sums are kept in f64.
struct State<'a> {
    registers: Registers<'a, f32>,
    tile: Vec<f32>,
    best: Vec<f64>,
    place: Vec<u32>,
}

impl State<'_> {
    fn reduce(
        &mut self,
        reduction: &Reduction,
        space: &IterationSpace,
        inputs: &[&[f32]],
        range: std::ops::Range<usize>,
        inner: usize,
    ) {
        let start = if reduction.join == Join::Sum { 0.0 } else { f64::from(f32::MIN) };
        self.best.clear();
        self.best.resize(inner, start);
        self.place.clear();
        self.place.resize(inner, 0);
        let mut at = range.start;
        while at < range.end {
            let count = TILE.min(range.end - at);
            let tile = &mut self.tile[..count];
            reduction.value.evaluate(space, inputs, &[], at, &mut self.registers, tile);
            match reduction.join {
                Join::Sum if inner == 1 => self.best[0] += widened(|| common::sum(tile)),
                Join::Sum => widened(|| add_rows(&mut self.best, tile, (at - range.start) % inner)),
                Join::Max | Join::Argmax => {
                    for (k, &value) in tile.iter().enumerate() {
                        let index = at - range.start + k;
                        let column = index % inner;
                        if f64::from(value) > self.best[column] {
                            self.best[column] = f64::from(value);
                            self.place[column] = (index / inner) as u32;
                        }
                    }
                }
            }
            at += count;
        }
    }

    fn finish(&self, join: Join, scale: f32, first: usize, out: &mut [f32]) {
        for (column, out) in out.iter_mut().enumerate() {
            *out = match join {
                Join::Sum => (self.best[column] * f64::from(scale)) as f32,
                Join::Max => self.best[column] as f32,
                Join::Argmax => f32::from_bits(self.place[column] + first as u32),
            };
        }
    }
}

#[expect(clippy::inline_always, reason = "compiled for the caller's instruction set")]
#[inline(always)]
fn add_rows(best: &mut [f64], tile: &[f32], mut column: usize) {
    let mut rest = tile;
    while !rest.is_empty() {
        let run = (best.len() - column).min(rest.len());
        for (sum, value) in best[column..column + run].iter_mut().zip(rest) {
            *sum += f64::from(*value);
        }
        rest = &rest[run..];
        column = 0;
    }
}
