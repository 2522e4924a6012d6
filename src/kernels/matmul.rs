//! Batched products with transposes and an epilogue: out[z, i, j] = value(Σ_p a[z, i, p] · b[z, p, j], extras[z, i, j]).

use std::rc::Rc;

use super::common;
use super::map::{self, in_tiles};
use super::pointwise::{MAX_INPUTS, Pointwise, Space, access, natural};
use super::program::Program;
use crate::device::{Call, Cost, Dispatch, Kernel, View};
use crate::{host, params};

/// The `matmul` kernel.
pub static MATMUL: Kernel = Kernel {
    name: "matmul",
    params: Params::FIELDS,
    wgsl: &[common::SCALAR, common::INDEX, include_str!("../../shaders/matmul.wgsl")],
    cpu: run,
    grid: |dispatch| {
        let params: Params = dispatch.params();
        [params.n.div_ceil(64).max(1), params.m.div_ceil(64).max(1), params.batch.max(1)]
    },
    cost: |dispatch| {
        let params: Params = dispatch.params();
        let outputs = u64::from(params.batch) * u64::from(params.m) * u64::from(params.n);
        Cost {
            flops: outputs * (2 * u64::from(params.k) + map::body(dispatch).program.operations()),
            bytes: dispatch.bytes(),
        }
    },
    fuse: None,
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

/// An operand: its words, and whether it is stored transposed.
pub struct Operand {
    /// [batch, rows, columns] as stored; a batch of 1 is shared by all.
    pub view: View,
    /// Whether the product uses its transpose.
    pub is_transposed: bool,
    /// Whether it has a batch dimension of its own.
    pub is_batched: bool,
}

impl Operand {
    fn strides(&self, rows: u32, columns: u32) -> [u32; 4] {
        let batch = if self.is_batched { rows * columns } else { 0 };
        let (row, column) = if self.is_transposed { (1, rows) } else { (columns, 1) };
        [batch, row, column, (self.view.words as u32).saturating_sub(1)]
    }
}

/// out = a · b over [batch, m, k] and [batch, k, n].
pub fn dispatch([batch, m, k, n]: [u32; 4], a: Operand, b: Operand, out: View) -> Dispatch {
    let params = Params {
        dims: [1, batch, m, n],
        strides: [[0; 4]; MAX_INPUTS],
        m,
        k,
        n,
        batch,
        a_strides: a.strides(m, k),
        b_strides: b.strides(k, n),
    };
    let program = Program::build(1, |values| values[0]);
    let body = Pointwise { program, access: Vec::new(), given: 1, bound: 2, word: "f32" };
    Dispatch {
        kernel: &MATMUL,
        body: Some(Rc::new(body)),
        params: params.words(),
        inputs: vec![a.view, b.view],
        outputs: vec![out],
    }
}

/// A `map` that reads a product index by index becomes its epilogue; called by `map`'s own rule.
pub fn with_epilogue(product: &Dispatch, consumer: &Dispatch, at: usize) -> Option<Dispatch> {
    let mut params: Params = product.params();
    let space: map::Params = consumer.params();
    let (inner, outer) = (map::body(product), map::body(consumer));
    let is_same_space = natural(space.dims) == space.strides[at]
        && space.count == params.batch * params.m * params.n
        && (space.dims == params.dims || collapses(space.dims, params.dims));
    if !is_same_space || !inner.access.is_empty() || consumer.inputs.len() - 1 + 2 > MAX_INPUTS {
        return None;
    }
    let extras: Vec<usize> = (0..consumer.inputs.len()).filter(|&input| input != at).collect();
    // The product's value comes first, the consumer's other inputs follow.
    let places: Vec<usize> =
        (0..consumer.inputs.len()).map(|input| extras.iter().position(|&e| e == input).map_or(0, |p| p + 1)).collect();
    let program = Program::build(extras.len() + 1, |values| {
        let taken: Vec<_> = places.iter().map(|&place| values[place]).collect();
        outer.program.emit(&taken)
    });
    params.dims = space.dims;
    params.strides = [[0; 4]; MAX_INPUTS];
    for (slot, &input) in params.strides.iter_mut().zip(&extras) {
        *slot = space.strides[input];
    }
    let access = params.strides[..extras.len()].iter().map(|&strides| access(space.dims, strides)).collect();
    let body = Pointwise { program, access, given: 1, bound: 2, word: "f32" };
    let mut inputs = product.inputs.clone();
    inputs.extend(extras.iter().map(|&input| consumer.inputs[input].clone()));
    Some(Dispatch {
        kernel: &MATMUL,
        body: Some(Rc::new(body)),
        params: params.words(),
        inputs,
        outputs: consumer.outputs.clone(),
    })
}

/// Whether two shapes are the same list of sizes once ones are dropped.
fn collapses(a: [u32; 4], b: [u32; 4]) -> bool {
    a.iter().filter(|&&d| d != 1).eq(b.iter().filter(|&&d| d != 1))
}

fn run(mut call: Call<'_>) {
    let params: Params = call.params();
    let body: &Pointwise = call.body();
    let (a, b) = (call.floats(0), call.floats(1));
    let extras: Vec<&[f32]> = (2..call.inputs.len()).map(|at| call.floats(at)).collect();
    let (m, k, n) = (params.m as usize, params.k as usize, params.n as usize);
    let team = call.team;
    let out = &mut call.floats_mut(0)[..params.batch as usize * m * n];
    // Small products are done before threads have woken up.
    let threads = if m * n * k < 1 << 18 { 1 } else { team.threads() };
    for (z, out) in out.chunks_exact_mut((m * n).max(1)).enumerate() {
        let operand = |words: &'_ [f32], s: [u32; 4]| (z * s[0] as usize).min(words.len());
        let a = (&a[operand(a, params.a_strides)..], [params.a_strides[1] as usize, params.a_strides[2] as usize]);
        let b = (&b[operand(b, params.b_strides)..], [params.b_strides[1] as usize, params.b_strides[2] as usize]);
        host::product(m, k, n, a, b, out, threads);
    }
    let is_plain = body.program.operations() == 0;
    if !is_plain {
        let space = Space { dims: params.dims, strides: params.strides };
        in_tiles(out, team, |registers, start, tile| {
            let given = tile.to_vec();
            body.evaluate(&space, &extras, &[&given], start, registers, tile);
        });
    }
}
