//! Normalises rows to mean 0 and variance 1: out[r, c] = (a[r, c] - mean_r) · rstd[r], rstd[r] = 1 / √(variance_r + eps).
//! The gradient needs only the two results: da = rstd · (dout - mean(dout) - out · mean(dout · out)), means over a row.

use std::rc::Rc;

use super::common::{self, Variant};
use super::evidence::{Numbers, case, within, words};
use super::oracle;
use crate::device::{Call, Case, Cost, Dispatch, EXCHANGE, Expected, Kernel, View, groups};
use crate::params;
use crate::simd::widened;

/// The `layer_norm` kernel.
pub static LAYER_NORM: Kernel = Kernel {
    name: "layer_norm",
    params: Params::FIELDS,
    wgsl: &[common::INDEX, EXCHANGE, common::TREE, crate::wgsl!("layer_norm")],
    cpu: run,
    grid: |dispatch| {
        let params: Params = dispatch.params();
        groups(params.rows as usize * common::lanes(params.columns) as usize, 128)
    },
    cost: |dispatch| {
        let params: Params = dispatch.params();
        Cost { flops: 6 * u64::from(params.rows) * u64::from(params.columns), bytes: dispatch.bytes() }
    },
    fuse: None,
    in_place: None,
};

params! {
    /// The shape of the input, and the constant added to the variance.
    pub struct Params {
        rows: u32,
        columns: u32,
        eps: f32,
    }
}

/// The rows of a: [rows, columns], normalised, into `out`; their scales into `rstd`: [rows].
#[track_caller]
pub fn dispatch([rows, columns]: [u32; 2], eps: f32, a: View, out: View, rstd: View) -> Dispatch {
    assert!(columns > 0, "layer_norm: got 0 columns, expected at least 1");
    let kind = common::lanes(columns);
    Dispatch {
        kernel: &LAYER_NORM,
        body: Some(Rc::new(Variant { kind, wgsl: format!("const LANES: u32 = {kind}u;\n") })),
        params: Params { rows, columns, eps }.words(),
        inputs: vec![a],
        outputs: vec![out, rstd],
    }
}

fn run(call: Call<'_>) {
    let params: Params = call.params();
    let (rows, columns) = (params.rows as usize, params.columns as usize);
    let a = &call.floats(0)[..rows * columns];
    let [out, rstd] = call.outputs else { unreachable!("layer_norm has two outputs") };
    let out: &mut [f32] = bytemuck::cast_slice_mut(&mut out[..rows * columns]);
    let rstd: &mut [f32] = bytemuck::cast_slice_mut(&mut rstd[..rows]);
    let piece = common::rows_per_piece(rows, columns, call.pool);
    let pieces = out.chunks_mut(piece * columns).zip(rstd.chunks_mut(piece)).zip(a.chunks(piece * columns));
    common::each(pieces, call.pool, |((out, rstd), a)| {
        for ((out, rstd), a) in out.chunks_exact_mut(columns).zip(rstd).zip(a.chunks_exact(columns)) {
            *rstd = widened(|| row(params.eps, a, out));
        }
    });
}

#[expect(clippy::inline_always, reason = "compiled for the caller's instruction set")]
#[inline(always)]
fn row(eps: f32, a: &[f32], out: &mut [f32]) -> f32 {
    let share = 1.0 / a.len() as f64;
    let mean = (common::sum(a) * share) as f32;
    out.iter_mut().zip(a).for_each(|(out, a)| *out = a - mean);
    let squares: f64 = out.chunks(4096).map(|deviations| common::sum_of(deviations, |d| d * d)).sum();
    let rstd = (1.0 / (squares * share + f64::from(eps)).sqrt()) as f32;
    for out in out.iter_mut() {
        *out *= rstd;
    }
    rstd
}

/// Cases: row lengths around the short-row limit and around a workgroup, rows far from zero, constant rows.
pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1], [3, 7], [129, 32], [130, 33], [2, 127], [3, 128], [2, 129], [5, 3000], [2, 10_000]];
    let plain = shapes.map(|shape| example("around 0", shape, |x| x));
    let far = example("around 100", [40, 50], |x| 100.0 + x);
    let constant = example("constant", [9, 64], |_| 0.25);
    plain.into_iter().chain([far, constant, example("rows past 65,535", [70_000, 33], |x| x)]).collect()
}

fn example(name: &str, shape: [u32; 2], made: fn(f32) -> f32) -> Case {
    let ([rows, columns], eps) = (shape, 1e-5_f32);
    let a: Vec<f32> = Numbers::new(23).floats((rows * columns) as usize).into_iter().map(made).collect();
    let (mut out, mut rstd) = (Vec::new(), Vec::new());
    for row in oracle::wide(&a).chunks(columns as usize) {
        let share = 1.0 / f64::from(columns);
        let mean = row.iter().sum::<f64>() * share;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() * share;
        rstd.push(1.0 / (variance + f64::from(eps)).sqrt());
        out.extend(row.iter().map(|x| (x - mean) * rstd[rstd.len() - 1]));
    }
    // The mean is rounded by half a unit of the largest value, and rstd scales that error into the result.
    let top = a.iter().fold(0.0_f32, |top, x| top.max(x.abs()));
    let bound = within(3e-6, 3e-7 * f64::from(top) * rstd.iter().copied().fold(0.0, f64::max).min(10.0));
    let expected = vec![Expected::Floats(out), Expected::Floats(rstd)];
    case(format!("{name}, {rows} x {columns}"), bound, vec![words(&a)], expected, |inputs, out| {
        dispatch(shape, eps, inputs[0].clone(), out[0].clone(), out[1].clone())
    })
}
