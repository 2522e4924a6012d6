//! Batched products with transposes and an epilogue: out[z, i, j] = value(Σ_p a[z, i, p] · b[z, p, j], extras[z, i, j]). An epilogue that
//! is a layer, f(sum + bias), may also give its slope, f', as a second output. A product without an epilogue may instead give the sums of
//! the left operand's rows: with a weight's gradient, dzᵀ · x, comes the bias's.

mod cases;
mod cpu;
mod epilogue;
mod matrix;
mod operand;
mod row_sums;
mod tile;

use std::any::Any;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use bytemuck::cast_slice_mut;

use super::cast::conversion::reading;
use super::common;
use super::halves::{Half, Packed};
use super::pointwise::{IterationSpace, MAX_INPUTS, Pointwise, access, join_inputs, natural};
use crate::device::{self, Body, Call, Cost, Dispatch, Factor, Info, Kernel, Numbers, SharedBody, View};
use crate::params;
use crate::program::slices::Memory;
use crate::program::{Curve, Program};
use epilogue::Epilogue;
use matrix::Matrix;
use operand::{Lines, Words};
use tile::{Reads, Tile};

pub use cases::cases;
pub use operand::Operand;

/// The `matmul` kernel.
pub static MATMUL: Kernel = Kernel {
    name: "matmul",
    params: Params::FIELDS,
    wgsl: &[common::SCALAR, common::INDEX, crate::wgsl!("matmul")],
    cpu: run,
    grid: |dispatch| {
        let params: Params = dispatch.params();
        let product = body(dispatch);
        let (tile, sums_rows) = (product.tile(), product.sums_rows);
        // The sums of rows have workgroups past the last tile.
        [
            params.n.div_ceil(tile.columns).max(1) + u32::from(sums_rows),
            params.m.div_ceil(tile.rows).max(1),
            params.batch.max(1),
        ]
    },
    cost: |dispatch| {
        let params: Params = dispatch.params();
        let outputs = u64::from(params.batch) * u64::from(params.m) * u64::from(params.n);
        Cost {
            flops: outputs * (2 * u64::from(params.k) + body(dispatch).epilogue.operations()),
            bytes: dispatch.bytes(),
        }
    },
    fuse: Some(fuse),
    in_place: None,
};

params! {
    /// `dims` and `strides` are the epilogue's index space [1, batch, m, n]; `a_strides` and `b_strides` are
    /// (batch, row, column, last word), in words.
    pub struct Params {
        dims: [u32; 4],
        strides: [[u32; 4]; MAX_INPUTS],
        m: u32,
        k: u32,
        n: u32,
        batch: u32,
        a_strides: [u32; 4],
        b_strides: [u32; 4],
    }
}

/// The epilogue, the operands' layouts, the tile, and whether a second output gets the sums of the left operand's rows.
#[derive(Clone)]
struct Product {
    epilogue: Epilogue,
    a: Lines,
    b: Lines,
    tile: &'static Tile,
    sums_rows: bool,
    /// The tile where both operands are f16 in whole lines, if the device has cooperative matrices.
    of_matrices: Option<&'static Tile>,
}

impl Body for Product {
    fn wgsl(&self) -> String {
        let Lines { is_whole, is_turned } = self.a;
        let tile = self.tile();
        let is_of_matrices = tile.reads == Reads::Halves;
        let a = Lines { is_whole: is_whole && !(is_turned && tile.reads == Reads::Rows), is_turned };
        let head = tile.head([a, self.b]);
        let sums = if self.sums_rows {
            crate::wgsl!("common/matmul_row_sums")
        } else {
            "const SUMS_ROWS: bool = false;\nfn sum_rows(z: u32, row: u32, lane: u32) {}\n"
        };
        let words = [0, 1].map(|at| Words::of(is_of_matrices, self.packed().reads(at)));
        let (a, b) = (a.wgsl('a', 'A', words[0]), self.b.wgsl('b', 'B', words[1]));
        [&head, sums, tile.wgsl, &a, &b, &self.epilogue.wgsl()].concat()
    }

    fn product(&self, params: &[u32]) -> Option<device::Product> {
        let Params { m, k, n, batch, a_strides, b_strides, .. } =
            bytemuck::pod_read_unaligned(bytemuck::cast_slice(params));
        let packed = self.packed();
        let numbers = |half: Option<Half>| match half {
            None => Numbers::F32,
            Some(Half::F16) => Numbers::F16,
            Some(Half::Bf16) => Numbers::Bf16,
        };
        let operand = |at: usize, strides: [u32; 4], lines: Lines| Factor {
            numbers: numbers(packed.read(at)),
            is_transposed: lines.is_turned,
            is_batched: strides[0] > 0,
        };
        let operands = [operand(0, a_strides, self.a), operand(1, b_strides, self.b)];
        let is_plain = self.epilogue.is_plain() && !self.sums_rows;
        is_plain.then(|| device::Product { sizes: [batch, m, k, n], operands, out: numbers(packed.written(0)) })
    }
}

impl Product {
    /// The tile: cooperative matrices multiply halves, and their sums are floats.
    fn tile(&self) -> &'static Tile {
        let is_fitting = self.a.is_whole && self.b.is_whole;
        let is_of_halves = || [0, 1].iter().all(|&at| self.packed().read(at) == Some(Half::F16));
        self.of_matrices.filter(|_| is_fitting && is_of_halves()).unwrap_or(self.tile)
    }

    /// Which bindings are halves: the operands, the buffers of the epilogue, the outputs.
    fn packed(&self) -> Packed {
        self.epilogue.pointwise.packed
    }

    fn with_packed(&self, packed: Packed) -> Option<Self> {
        Some(Self { epilogue: self.epilogue.with_packed(packed)?, ..self.clone() })
    }
}

/// Reads the halves that a launch unpacks.
fn fuse(producer: &Dispatch, consumer: &Dispatch, at: usize) -> Option<Dispatch> {
    let (inputs, packed) = reading(producer, consumer, at, body(consumer).packed())?;
    Some(Dispatch { body: Some(Rc::new(body(consumer).with_packed(packed)?)), inputs, ..consumer.clone() })
}

/// The body of a product that writes halves of the output at `place`. Each word has two columns, and a panel keeps its sums in the output.
pub(super) fn packing(producer: &Dispatch, half: Half, place: usize) -> Option<SharedBody> {
    let is_product = std::ptr::eq(producer.kernel, &raw const MATMUL);
    let body = is_product.then(|| body(producer))?;
    let is_even = producer.params::<Params>().n.is_multiple_of(2);
    if !is_even || body.tile.reads == Reads::Rows || body.sums_rows {
        return None;
    }
    Some(Rc::new(body.with_packed(body.packed().with_output(half, place)?)?))
}

fn body(dispatch: &Dispatch) -> &Product {
    let body: &dyn Any = &**dispatch.body.as_ref().expect("a product has a body");
    body.downcast_ref().expect("its body is a product")
}

/// out = a · b over [batch, m, k] and [batch, k, n], tiled for a device.
pub fn dispatch(info: &Info, sizes: [u32; 4], a: Operand, b: Operand, out: View) -> Dispatch {
    launch(info, sizes, [a, b], &[], Epilogue::layer(sizes, false, None, 1), vec![out])
}

/// out = aᵀ · b over [k, m] and [k, n], and the sums of a's columns, [m].
pub fn with_sums(info: &Info, [m, k, n]: [u32; 3], [a, b]: [View; 2], [out, sums]: [View; 2]) -> Dispatch {
    let sizes = [1, m, k, n];
    let operand = |view, is_transposed| Operand { view, is_transposed, is_batched: false };
    let mut made = dispatch(info, sizes, operand(a, true), operand(b, false), out);
    made.body = Some(Rc::new(Product { sums_rows: true, ..body(&made).clone() }));
    made.outputs.push(sums);
    made
}

/// A layer: out = f(a · b + bias) over [m, k] and [k, n]; the bias, if any, has n words, and the curve has one input. A second output gets
/// f'(a · b + bias).
pub fn layer(
    info: &Info,
    [m, k, n]: [u32; 3],
    operands: [Operand; 2],
    bias: Option<View>,
    curve: Option<&Arc<Curve>>,
    outputs: Vec<View>,
) -> Dispatch {
    let sizes = [1, m, k, n];
    let epilogue = Epilogue::layer(sizes, bias.is_some(), curve, outputs.len());
    let strides: &[[u32; 4]] = if bias.is_some() { &[[0, 0, 0, 1]] } else { &[] };
    let mut made = launch(info, sizes, operands, strides, epilogue, outputs);
    made.inputs.extend(bias);
    made
}

fn launch(
    info: &Info,
    [batch, m, k, n]: [u32; 4],
    [a, b]: [Operand; 2],
    extras: &[[u32; 4]],
    epilogue: Epilogue,
    outputs: Vec<View>,
) -> Dispatch {
    let mut params = Params {
        dims: [1, batch, m, n],
        strides: [[0; 4]; MAX_INPUTS],
        m,
        k,
        n,
        batch,
        a_strides: a.strides(m, k),
        b_strides: b.strides(k, n),
    };
    params.strides[..extras.len()].copy_from_slice(extras);
    let body = Product {
        epilogue,
        a: a.lines(m, k),
        b: b.lines(k, n),
        tile: Tile::of(info, [batch, m, k, n]),
        sums_rows: false,
        of_matrices: Tile::of_matrices(info, [batch, m, k, n]),
    };
    Dispatch {
        kernel: &MATMUL,
        body: Some(Rc::new(body)),
        params: params.words(),
        inputs: vec![a.view, b.view],
        outputs,
    }
}

/// Makes a launch of a program over a space, which reads a product at `at` index by index, its epilogue, after an existing one; called by the
/// fusion rule of `map`.
pub(super) fn with_epilogue(
    product: &Dispatch,
    consumer: &Dispatch,
    (outer, space): (&Pointwise, IterationSpace),
    at: usize,
) -> Option<Dispatch> {
    let mut params: Params = product.params();
    if product.outputs.len() > 1 || body(product).packed().is_any() || outer.packed.is_any() {
        return None;
    }
    let inner = &body(product).epilogue.pointwise;
    let made = &consumer.inputs[at].buffer;
    let reads: Vec<bool> = consumer.inputs.iter().map(|view| view.buffer.is(made)).collect();
    let is_natural = (0..reads.len()).all(|input| !reads[input] || space.strides[input] == natural(space.dims));
    let is_same_space = space.len() == (params.batch * params.m * params.n) as usize
        && (space.dims == params.dims || inner.access.is_empty() && collapses(space.dims, params.dims));
    if !is_natural || !is_same_space {
        return None;
    }
    let (mut views, mut strides) = (Vec::new(), Vec::new());
    let known: Vec<_> = product.inputs[2..].iter().cloned().zip(params.strides).collect();
    let more = consumer.inputs.iter().cloned().zip(space.strides).zip(&reads);
    let more: Vec<_> = more.filter_map(|(extra, is_read)| (!is_read).then_some(extra)).collect();
    let inner_places = join_inputs(&mut views, &mut strides, &known, MAX_INPUTS - 2)?;
    let outer_places = join_inputs(&mut views, &mut strides, &more, MAX_INPUTS - 2)?;
    // The product's value is the first input, the buffers follow.
    let program = Program::build(views.len() + 1, |values| {
        let taken = |places: &[usize]| places.iter().map(|&place| values[place + 1]).collect::<Vec<_>>();
        let value = inner.program.emit(&[&values[..1], &taken(&inner_places)].concat());
        let mut rest = taken(&outer_places).into_iter();
        let all: Vec<_> = reads.iter().map(|&is_read| if is_read { Some(value) } else { rest.next() }).collect();
        outer.program.emit(&all.into_iter().flatten().collect::<Vec<_>>())
    });
    params.dims = space.dims;
    params.strides = [[0; 4]; MAX_INPUTS];
    params.strides[..strides.len()].copy_from_slice(&strides);
    let access = strides.iter().map(|&strides| access(space.dims, strides)).collect();
    let epilogue =
        Epilogue::of(Pointwise { program, access, given: 1, bound: 2, word: "f32", packed: Packed::default() });
    let body = Product { epilogue, ..*body(product) };
    Some(Dispatch {
        kernel: &MATMUL,
        body: Some(Rc::new(body)),
        params: params.words(),
        inputs: [&product.inputs[..2], &views].concat(),
        outputs: consumer.outputs.clone(),
    })
}

/// Whether two shapes have the same sizes if sizes of 1 are dropped.
fn collapses(a: [u32; 4], b: [u32; 4]) -> bool {
    a.iter().filter(|&&d| d != 1).eq(b.iter().filter(|&&d| d != 1))
}

/// Rows whose results the CPU computes as floats before it packs them.
const PACKED_ROWS: usize = 1024;

fn run(call: Call<'_>) {
    let params: Params = call.params();
    let (body, pool) = (call.body::<Product>(), call.pool);
    let packed = body.packed();
    let [a, b] = [0, 1].map(|at| packed.values(at, call.inputs[at]));
    let extras: [&[f32]; MAX_INPUTS] =
        std::array::from_fn(|at| if at + 2 < call.inputs.len() { call.floats(at + 2) } else { &[] });
    let (m, k, n) = (params.m as usize, params.k as usize, params.n as usize);
    let space = IterationSpace { dims: params.dims, strides: params.strides };
    let (out, more) = call.outputs.split_first_mut().expect("a product has an output");
    let mut slopes = more.first_mut();
    if body.sums_rows
        && let Some(sums) = slopes.take()
    {
        row_sums::sum_columns(a.until(k * m), &mut cast_slice_mut(sums)[..m], pool);
    }
    let formats = [packed.written(0), packed.written(1)];
    let block = if formats == [None; 2] { m } else { m.min(PACKED_ROWS) };
    let floats = formats.map(|half| if half.is_some() { block * n } else { 0 });
    let mut memory = Memory::take(floats[0] + floats[1]);
    let (sums, derivatives) = memory.words().split_at_mut(floats[0]);
    for (z, row) in (0..params.batch as usize).flat_map(|z| (0..m).step_by(block.max(1)).map(move |row| (z, row))) {
        let rows = block.min(m - row);
        let first = (z * m + row) * n;
        let part = first..first + rows * n;
        let (a, b) = (Matrix::of(a, params.a_strides, [z, row]), Matrix::of(b, params.b_strides, [z, 0]));
        let made = place(out, sums, part.clone(), formats[0]);
        let sloped = slopes.as_deref_mut().map(|slopes| place(slopes, derivatives, part.clone(), formats[1]));
        body.epilogue.on_cpu(&space, &extras, sloped, first, |ends| {
            cpu::multiply([rows, k, n], a, b, made, ends, pool);
        });
        let words = part.start / 2..part.end / 2;
        if let Some(half) = formats[0] {
            half.pack_all(&sums[..part.len()], &mut out[words.clone()], pool);
        }
        if let (Some(half), Some(slopes)) = (formats[1], slopes.as_deref_mut()) {
            half.pack_all(&derivatives[..part.len()], &mut slopes[words], pool);
        }
    }
}

/// Where the CPU computes a part of an output: in the output or, if that is to have halves, in scratch.
fn place<'a>(out: &'a mut [u32], scratch: &'a mut [f32], part: Range<usize>, half: Option<Half>) -> &'a mut [f32] {
    if half.is_some() { &mut scratch[..part.len()] } else { cast_slice_mut(&mut out[part]) }
}
