//! Softmax, log softmax and log sum exp over the last axis of a: [rows, columns]; each subtracts the row's largest value first.
//! softmax: out[r, c] = exp(a[r, c]) / Σ, log softmax: its logarithm, log sum exp: out[r] = ln Σ, with Σ = Σ_c exp(a[r, c]).

use std::rc::Rc;

use super::common::{self, Variant};
use super::evidence::{Numbers, case, within, words};
use super::oracle;
use super::pointwise::TILE;
use crate::device::{Call, Case, Cost, Dispatch, EXCHANGE, Expected, Kernel, View, groups};
use crate::params;
use crate::simd::vector;

/// The `softmax` kernel.
pub static SOFTMAX: Kernel = Kernel {
    name: "softmax",
    params: Params::FIELDS,
    wgsl: &[common::INDEX, EXCHANGE, common::TREE, crate::wgsl!("softmax")],
    cpu: run,
    grid: |dispatch| {
        let params: Params = dispatch.params();
        groups(params.rows as usize * common::lanes(params.columns) as usize, 128)
    },
    cost: |dispatch| {
        let params: Params = dispatch.params();
        Cost { flops: 5 * u64::from(params.rows) * u64::from(params.columns), bytes: dispatch.bytes() }
    },
    fuse: None,
    in_place: None,
};

params! {
    /// The shape of the input.
    pub struct Params {
        rows: u32,
        columns: u32,
    }
}

/// Function of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoftmaxForm {
    /// Probabilities.
    Softmax,
    /// Their logarithms.
    LogSoftmax,
    /// The logarithm of the sum of exponentials, one per row.
    LogSumExp,
}

/// `form` of each row of a: [rows, columns]; `columns` is at least 1.
#[track_caller]
pub fn dispatch(form: SoftmaxForm, [rows, columns]: [u32; 2], a: View, out: View) -> Dispatch {
    assert!(columns > 0, "softmax: got 0 columns, expected at least 1");
    let (is_one_per_row, finish) = match form {
        SoftmaxForm::Softmax => (false, "exp(x - top) / total"),
        SoftmaxForm::LogSoftmax => (false, "x - top - log(total)"),
        SoftmaxForm::LogSumExp => (true, "top + log(total)"),
    };
    let wgsl = format!(
        "const LANES: u32 = {}u;\nconst ONE_PER_ROW: bool = {is_one_per_row};\n\
         fn finish(x: f32, top: f32, total: f32) -> f32 {{ return {finish}; }}\n",
        common::lanes(columns)
    );
    Dispatch {
        kernel: &SOFTMAX,
        body: Some(Rc::new(Variant { kind: form, wgsl })),
        params: Params { rows, columns }.words(),
        inputs: vec![a],
        outputs: vec![out],
    }
}

fn run(mut call: Call<'_>) {
    let params: Params = call.params();
    let form = call.body::<Variant<SoftmaxForm>>().kind;
    let (rows, columns) = (params.rows as usize, params.columns as usize);
    let width = if form == SoftmaxForm::LogSumExp { 1 } else { columns };
    let (a, pool) = (&call.floats(0)[..rows * columns], call.pool);
    let piece = common::rows_per_piece(rows, columns, pool);
    let pieces = call.floats_mut(0)[..rows * width].chunks_mut(piece * width).zip(a.chunks(piece * columns));
    common::each(pieces, pool, |(out, a)| {
        for (out, a) in out.chunks_exact_mut(width).zip(a.chunks_exact(columns)) {
            row(form, a, out);
        }
    });
}

fn row(form: SoftmaxForm, a: &[f32], out: &mut [f32]) {
    let top = common::largest(a);
    let (mut shifted, mut terms) = ([0.0; TILE], [0.0; TILE]);
    let mut total = 0.0;
    for (at, a) in a.chunks(TILE).enumerate() {
        let shifted = &mut shifted[..a.len()];
        shifted.iter_mut().zip(a).for_each(|(shifted, a)| *shifted = a - top);
        let terms = if form == SoftmaxForm::Softmax { &mut out[at * TILE..][..a.len()] } else { &mut terms[..a.len()] };
        vector::exp(&[shifted], terms);
        total += common::sum(terms);
    }
    match form {
        SoftmaxForm::Softmax => {
            let scale = (1.0 / total) as f32;
            for out in out.iter_mut() {
                *out *= scale;
            }
        }
        SoftmaxForm::LogSoftmax => {
            let log = total.ln() as f32;
            out.iter_mut().zip(a).for_each(|(out, a)| *out = a - top - log);
        }
        SoftmaxForm::LogSumExp => out[0] = (f64::from(top) + total.ln()) as f32,
    }
}

/// Cases: row lengths around the short-row limit, a workgroup and a CPU tile; values that overflow without the shift.
pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1], [3, 7], [129, 32], [130, 33], [2, 127], [3, 128], [2, 129], [5, 3000], [2, 10_000]];
    let made = |form: SoftmaxForm| shapes.map(|shape| example(form, shape, 4.0));
    let all = [SoftmaxForm::Softmax, SoftmaxForm::LogSoftmax, SoftmaxForm::LogSumExp].into_iter().flat_map(made);
    let far = [SoftmaxForm::Softmax, SoftmaxForm::LogSoftmax, SoftmaxForm::LogSumExp]
        .map(|form| example(form, [40, 50], 1e4));
    all.chain(far).chain([example(SoftmaxForm::LogSumExp, [70_000, 33], 4.0)]).collect()
}

fn example(form: SoftmaxForm, shape: [u32; 2], size: f32) -> Case {
    let [rows, columns] = shape;
    let a: Vec<f32> = Numbers::new(21).floats((rows * columns) as usize).iter().map(|x| x * size).collect();
    let wide = oracle::wide(&a);
    let each_row = wide.chunks(columns as usize).flat_map(|row| {
        let top = row.iter().copied().fold(f64::MIN, f64::max);
        let log = top + row.iter().map(|x| (x - top).exp()).sum::<f64>().ln();
        let values = row.iter().map(|x| if form == SoftmaxForm::Softmax { (x - log).exp() } else { x - log });
        if form == SoftmaxForm::LogSumExp { vec![log] } else { values.collect() }
    });
    let expected = vec![Expected::Floats(each_row.collect())];
    // A difference of values below `size` is rounded by half a unit of it; WGSL's exponential and logarithm add their errors.
    let rounding = 1.2e-7 * f64::from(size);
    let bound = match form {
        SoftmaxForm::Softmax => within(3e-6 + rounding.min(1e-4), 1e-37),
        SoftmaxForm::LogSoftmax | SoftmaxForm::LogSumExp => within(1e-6, 1e-6 + rounding),
    };
    case(format!("{form:?} {rows} x {columns}, up to {size}"), bound, vec![words(&a)], expected, |inputs, out| {
        dispatch(form, shape, inputs[0].clone(), out[0].clone())
    })
}
