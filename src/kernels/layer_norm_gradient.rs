//! The gradient of `layer_norm` from its results: da[r, c] = rstd[r] · (dy[r, c] - mean(dy) - y[r, c] · mean(dy · y)), means over a row
//! (Ba, Kiros and Hinton 2016).

use std::rc::Rc;

use super::common::{self, Variant};
use super::evidence::{Numbers, case, within, words};
use super::oracle;
use crate::device::{Call, Case, Cost, Dispatch, EXCHANGE, Expected, Kernel, View, groups};
use crate::params;
use crate::simd::widened;

/// The `layer_norm_gradient` kernel.
pub static LAYER_NORM_GRADIENT: Kernel = Kernel {
    name: "layer_norm_gradient",
    params: Params::FIELDS,
    wgsl: &[common::INDEX, EXCHANGE, common::TREE, crate::wgsl!("layer_norm_gradient")],
    cpu: run,
    grid: |dispatch| {
        let params: Params = dispatch.params();
        groups(params.rows as usize * common::lanes(params.columns) as usize, 128)
    },
    cost: |dispatch| {
        let params: Params = dispatch.params();
        Cost { flops: 8 * u64::from(params.rows) * u64::from(params.columns), bytes: dispatch.bytes() }
    },
    fuse: None,
    in_place: None,
};

params! {
    /// The shape of the rows.
    pub struct Params {
        rows: u32,
        columns: u32,
    }
}

/// The gradient of the rows `y` [rows, columns] with the scales `rstd` [rows], for the gradient `dy` of y, into `da`.
pub fn dispatch([rows, columns]: [u32; 2], [y, rstd, dy]: [View; 3], da: View) -> Dispatch {
    let kind = common::lanes(columns);
    Dispatch {
        kernel: &LAYER_NORM_GRADIENT,
        body: Some(Rc::new(Variant { kind, wgsl: format!("const LANES: u32 = {kind}u;\n") })),
        params: Params { rows, columns }.words(),
        inputs: vec![y, rstd, dy],
        outputs: vec![da],
    }
}

fn run(mut call: Call<'_>) {
    let params: Params = call.params();
    let (rows, columns) = (params.rows as usize, params.columns as usize);
    let [y, dy] = [0, 2].map(|at| &call.floats(at)[..rows * columns]);
    let (rstd, pool) = (&call.floats(1)[..rows], call.pool);
    let da = &mut call.floats_mut(0)[..rows * columns];
    let piece = common::rows_per_piece(rows, columns, pool);
    let pieces = da.chunks_mut(piece * columns).enumerate();
    common::each(pieces, pool, |(at, da)| {
        let rows = at * piece..;
        for (da, at) in da.chunks_exact_mut(columns).zip(rows) {
            let [y, dy] = [y, dy].map(|all| &all[at * columns..][..columns]);
            widened(|| row(rstd[at], y, dy, da));
        }
    });
}

#[expect(clippy::inline_always, reason = "compiled for the caller's instruction set")]
#[inline(always)]
fn row(scale: f32, y: &[f32], dy: &[f32], da: &mut [f32]) {
    // The products stand where the result will, so that their sum is that of a slice.
    da.iter_mut().zip(y).zip(dy).for_each(|((da, y), dy)| *da = dy * y);
    let share = 1.0 / y.len() as f64;
    let [mean, slope] = [dy, &*da].map(|values| (common::sum(values) * share) as f32);
    da.iter_mut().zip(y).zip(dy).for_each(|((da, y), dy)| *da = scale * (dy - mean - y * slope));
}

/// Cases: row lengths around the short-row limit and around a workgroup.
pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1], [3, 7], [129, 32], [130, 33], [3, 128], [2, 129], [5, 3000], [70_000, 33]];
    shapes.map(example).into()
}

fn example(shape: [u32; 2]) -> Case {
    let [rows, columns] = shape;
    let mut numbers = Numbers::new(29);
    let [y, dy] = [(); 2].map(|()| numbers.floats((rows * columns) as usize));
    let rstd: Vec<f32> = numbers.floats(rows as usize).iter().map(|x| 1.0 + x.abs()).collect();
    let (wide_y, wide_dy) = (oracle::wide(&y), oracle::wide(&dy));
    let mut da = Vec::new();
    let lines = wide_y.chunks(columns as usize).zip(wide_dy.chunks(columns as usize));
    for ((y, dy), scale) in lines.zip(oracle::wide(&rstd)) {
        let mean = dy.iter().sum::<f64>() / f64::from(columns);
        let slope = y.iter().zip(dy).map(|(y, dy)| y * dy).sum::<f64>() / f64::from(columns);
        da.extend(y.iter().zip(dy).map(|(y, dy)| scale * (dy - mean - y * slope)));
    }
    let inputs = vec![words(&y), words(&rstd), words(&dy)];
    case(format!("{rows} x {columns}"), within(1e-5, 5e-6), inputs, vec![Expected::Floats(da)], |inputs, out| {
        dispatch(shape, [0, 1, 2].map(|at| inputs[at].clone()), out[0].clone())
    })
}
