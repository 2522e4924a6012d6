//! Batched products with transposes and an epilogue: out[z, i, j] = value(Σ_p a[z, i, p] · b[z, p, j], extras[z, i, j]).

use std::rc::Rc;

use super::common;
use super::map::{self, in_tiles};
use super::pointwise::{MAX_INPUTS, Pointwise, Space, access, join_inputs, natural};
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

/// A `map` that reads a product index by index becomes its epilogue, after the epilogue it has; called by `map`'s own rule.
pub fn with_epilogue(product: &Dispatch, consumer: &Dispatch, at: usize) -> Option<Dispatch> {
    let mut params: Params = product.params();
    let space: map::Params = consumer.params();
    let (inner, outer) = (map::body(product), map::body(consumer));
    let is_first = inner.access.is_empty();
    let is_same_space = natural(space.dims) == space.strides[at]
        && space.count == params.batch * params.m * params.n
        && (space.dims == params.dims || is_first && collapses(space.dims, params.dims));
    if !is_same_space {
        return None;
    }
    let list = |views: &[View], strides: &[[u32; 4]]| -> Vec<(View, [u32; 4])> {
        views.iter().cloned().zip(strides.iter().copied()).collect()
    };
    let (mut views, mut strides) = (Vec::new(), Vec::new());
    let own = list(&product.inputs[2..], &params.strides);
    let mut others = list(&consumer.inputs, &space.strides);
    others.remove(at);
    let limit = MAX_INPUTS - 2;
    let own_places = join_inputs(&mut views, &mut strides, &own, limit)?;
    let mut places = join_inputs(&mut views, &mut strides, &others, limit)?;
    places.insert(at, 0);
    // The product's own value is input 0 of the joined program, the buffers follow.
    let program = Program::build(views.len() + 1, |values| {
        let own: Vec<_> = std::iter::once(values[0]).chain(own_places.iter().map(|&place| values[place + 1])).collect();
        let mut taken: Vec<_> = places.iter().map(|&place| values[(place + 1).min(views.len())]).collect();
        taken[at] = inner.program.emit(&own);
        outer.program.emit(&taken)
    });
    params.dims = space.dims;
    params.strides = [[0; 4]; MAX_INPUTS];
    params.strides[..strides.len()].copy_from_slice(&strides);
    let access = strides.iter().map(|&strides| access(space.dims, strides)).collect();
    let body = Pointwise { program, access, given: 1, bound: 2, word: "f32" };
    let inputs = product.inputs[..2].iter().cloned().chain(views).collect();
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
