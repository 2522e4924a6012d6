//! Pointwise programs: out[i] = value(x0[i], x1[i], …) over up to four dimensions, inputs broadcast by stride 0.

pub(crate) mod cases;

use std::any::Any;
use std::rc::Rc;
use std::sync::Mutex;

use super::cast::conversion::reading;
use super::common;
use super::halves::Half;
use super::matmul;
use super::pointwise::{Access, IterationSpace, MAX_INPUTS, Pointwise, Registers, TILE, join_inputs, natural};
use crate::device::{Call, Cost, Dispatch, Kernel, SharedBody, View, groups};
use crate::params;
use crate::program::Program;
use crate::program::slices::Memory;

pub use cases::cases;

/// The `map` kernel.
pub static MAP: Kernel = Kernel {
    name: "map",
    params: Params::FIELDS,
    wgsl: &[common::SCALAR, common::INDEX, crate::wgsl!("map")],
    cpu: run,
    grid: |dispatch| {
        let per_group = if body(dispatch).packed.writes(0) { 512 } else { 256 };
        groups(dispatch.params::<Params>().count as usize, per_group)
    },
    cost: |dispatch| Cost {
        flops: body(dispatch).program.operations() * u64::from(dispatch.params::<Params>().count),
        bytes: dispatch.bytes() + if body(dispatch).is_in_place() { 4 * dispatch.outputs[0].words as u64 } else { 0 },
    },
    fuse: Some(fuse),
    in_place: Some(in_place),
};

params! {
    /// The index space; `count` is the product of `dims`.
    pub struct Params {
        dims: [u32; 4],
        strides: [[u32; 4]; MAX_INPUTS],
        count: u32,
    }
}

/// A launch of `program` over `space` into `out`.
pub fn dispatch(program: Program, space: IterationSpace, inputs: Vec<View>, out: View) -> Dispatch {
    let params = Params { dims: space.dims, strides: space.strides, count: space.len() as u32 };
    let body = Rc::new(Pointwise::over(program, &space));
    Dispatch { kernel: &MAP, body: Some(body), params: params.words(), inputs, outputs: vec![out] }
}

/// The program of a dispatch of `map` or of another kernel that has one.
pub fn body(dispatch: &Dispatch) -> &Pointwise {
    let body: &dyn Any = &**dispatch.body.as_ref().expect("a pointwise dispatch has a program");
    body.downcast_ref().expect("its body is a program")
}

fn run(mut call: Call<'_>) {
    let params: Params = call.params();
    let body: &Pointwise = call.body();
    let mut bound = (0..call.inputs.len()).map(|at| call.floats(at));
    let mut input = |access: &Access| if *access == Access::InPlace { None } else { bound.next() };
    let inputs: Vec<&[f32]> = body.access.iter().map(|access| input(access).unwrap_or_default()).collect();
    let space = IterationSpace { dims: params.dims, strides: params.strides };
    let pool = call.pool;
    let count = params.count as usize;
    let Some(half) = body.packed.written(0) else {
        let out = &mut call.floats_mut(0)[..count];
        return in_tiles(&body.program, out, TILE, pool, |registers, start, tile| {
            if !body.is_in_place() {
                return body.evaluate(&space, &inputs, &[], start, registers, tile);
            }
            // Results that are copied are faster than a copied input, whose words would have to come from memory first.
            let mut memory = Memory::take(tile.len());
            let results = &mut memory.words()[..tile.len()];
            body.evaluate(&space, &inputs, &[tile], start, registers, results);
            tile.copy_from_slice(results);
        });
    };
    in_tiles(&body.program, &mut call.outputs[0][..count.div_ceil(2)], TILE / 2, pool, |registers, start, words| {
        let mut tile = [0.0; TILE];
        let tile = &mut tile[..(count - 2 * start).min(TILE)];
        body.evaluate(&space, &inputs, &[], 2 * start, registers, tile);
        half.pack(tile, words);
    });
}

/// Runs `work(registers, start, tile)` over tiles of `out`, split over the thread pool in fixed runs; `registers` are those of `program`.
fn in_tiles<T: Send>(
    program: &Program,
    out: &mut [T],
    width: usize,
    pool: &crate::host::ThreadPool,
    work: impl Fn(&mut Registers<'_, f32>, usize, &mut [T]) + Sync,
) {
    // Below a few tiles, handing work to threads costs more than it gains.
    let parts = if out.len() < 8 * width { 1 } else { pool.threads() };
    let part = out.len().div_ceil(parts).next_multiple_of(width).max(width);
    let pieces: Vec<_> = out.chunks_mut(part).enumerate().map(|(at, piece)| Mutex::new((at * part, piece))).collect();
    pool.parallel(pieces.len(), &|at| {
        let mut piece = pieces[at].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let start = piece.0;
        let mut memory = Memory::take(Registers::<f32>::words(program));
        let mut registers = Registers::new(program, memory.words());
        for (k, tile) in piece.1.chunks_mut(width).enumerate() {
            work(&mut registers, start + k * width, tile);
        }
    });
}

/// Most instructions of a merged program: merging copies them, so that a chain of launches without a limit would take cubic time to plan, and
/// shader compilers take longer still.
const LONGEST: usize = 256;

/// Inlines a `map` producer whose result the consumer reads index by index, or makes the consumer the epilogue of a matrix product.
fn fuse(producer: &Dispatch, consumer: &Dispatch, at: usize) -> Option<Dispatch> {
    if body(consumer).is_in_place() {
        return None;
    }
    if std::ptr::eq(producer.kernel, &raw const matmul::MATMUL) {
        let Params { dims, strides, .. } = consumer.params();
        return matmul::with_epilogue(producer, consumer, (body(consumer), IterationSpace { dims, strides }), at);
    }
    if let Some((inputs, packed)) = reading(producer, consumer, at, body(consumer).packed) {
        let body = Rc::new(Pointwise { packed, ..body(consumer).clone() });
        return Some(Dispatch { body: Some(body), inputs, ..consumer.clone() });
    }
    let params: Params = consumer.params();
    let (views, strides, program) = inlined(producer, consumer, at, params.dims, &params.strides, 0, 0)?;
    let mut space = IterationSpace { dims: params.dims, strides: [[0; 4]; MAX_INPUTS] };
    space.strides[..strides.len()].copy_from_slice(&strides);
    Some(dispatch(program, space, views, consumer.outputs[0].clone()))
}

/// Reads the view at input `at` from the output, if the launch reads it index by index.
fn in_place(dispatch: &Dispatch, at: usize) -> Option<Dispatch> {
    let (view, out, body) = (&dispatch.inputs[at], &dispatch.outputs[0], body(dispatch));
    // `packed` is indexed by binding, and removing an input would shift the bindings.
    if body.is_in_place()
        || body.packed.is_any()
        || view.words != out.words
        || view.words != dispatch.params::<Params>().count as usize
    {
        return None;
    }
    let is_it = |input: usize| {
        let other = &dispatch.inputs[input];
        body.access[input] == Access::Full && other.buffer.is(&view.buffer) && other.offset == view.offset
    };
    let (mut access, mut inputs) = (body.access.clone(), Vec::new());
    for (input, other) in dispatch.inputs.iter().enumerate() {
        if is_it(input) {
            access[input] = Access::InPlace;
        } else {
            inputs.push(other.clone());
        }
    }
    let body = Pointwise { access, ..body.clone() };
    body.is_in_place().then(|| Dispatch { body: Some(Rc::new(body)), inputs, ..dispatch.clone() })
}

/// The body of a `map` that writes halves of its whole result.
pub(super) fn packing(producer: &Dispatch, half: Half) -> Option<SharedBody> {
    let is_map = std::ptr::eq(producer.kernel, &raw const MAP);
    let body = is_map.then(|| body(producer))?;
    Some(Rc::new(Pointwise { packed: body.packed.with_output(half, 0)?, ..body.clone() }))
}

/// The views, strides and program of a consumer with its `map` producer inlined at buffer input `at`.
/// The consumer's first `bound` views belong to its kernel, and the kernel supplies its program's first `given` inputs.
pub fn inlined(
    producer: &Dispatch,
    consumer: &Dispatch,
    at: usize,
    dims: [u32; 4],
    strides: &[[u32; 4]; MAX_INPUTS],
    bound: usize,
    given: usize,
) -> Option<(Vec<View>, Vec<[u32; 4]>, Program)> {
    if !std::ptr::eq(producer.kernel, &raw const MAP) || at < bound {
        return None;
    }
    let source: Params = producer.params();
    let (outer, inner) = (body(consumer), body(producer));
    if inner.is_in_place() || outer.packed.is_any() || inner.packed.is_any() {
        return None;
    }
    let instructions = outer.program.code.len() + inner.program.code.len();
    if source.dims != dims || strides[at - bound] != natural(dims) || instructions > LONGEST {
        return None;
    }
    let (mut views, mut placed) = (Vec::new(), Vec::new());
    let list = |dispatch: &Dispatch, from: usize, strides: &[[u32; 4]]| -> Vec<(View, [u32; 4])> {
        dispatch.inputs[from..].iter().cloned().zip(strides.iter().copied()).collect()
    };
    let mut own = list(consumer, bound, strides);
    let inner_list = list(producer, 0, &source.strides);
    // The inlined input is removed; the producer's value replaces it in the consumer's program.
    let hole = at - bound;
    own.remove(hole);
    let limit = MAX_INPUTS - bound;
    let mut outer_places = join_inputs(&mut views, &mut placed, &own, limit)?;
    let inner_places = join_inputs(&mut views, &mut placed, &inner_list, limit)?;
    outer_places.insert(hole, 0);
    let shift = |places: Vec<usize>| places.into_iter().map(|place| place + given).collect::<Vec<_>>();
    let outer_places: Vec<usize> = (0..given).chain(shift(outer_places)).collect();
    let inputs = views.len() + given;
    if inputs == 0 {
        return None;
    }
    let program = outer.program.inlined(given + hole, &inner.program, inputs, &outer_places, &shift(inner_places));
    Some((views, placed, program))
}
