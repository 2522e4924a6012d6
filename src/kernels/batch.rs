//! The first dispatch of a recorded training step: copies the rows that `order` names for this step next to each other.
//! control = [`step_a`, `cursor_a`, `step_b`, `cursor_b`]: this dispatch reads the first two and one invocation writes the others
//! as (`step_a` + 1, `cursor_a`); the step's last dispatch does the reverse, so nothing is read and written at once.
//! order = 4 words per step (the optimiser's table), then the permutation of all rows; the caller must keep it and the cursor valid.

use super::common;
use super::evidence::{Numbers, case};
use crate::device::{Bound, Call, Case, Cost, Dispatch, Expected, Kernel, View, groups};
use crate::params;

/// The `batch` kernel.
pub static BATCH: Kernel = Kernel {
    name: "batch",
    params: Params::FIELDS,
    wgsl: &[common::INDEX, crate::wgsl!("batch")],
    cpu: run,
    grid: |dispatch| {
        let params: Params = dispatch.params();
        groups(params.batch as usize * params.inputs.max(params.targets).max(1) as usize, 256)
    },
    cost: |dispatch| {
        let params: Params = dispatch.params();
        let words = u64::from(params.batch) * u64::from(params.inputs + params.targets + 1);
        Cost { flops: 0, bytes: 8 * words }
    },
    fuse: None,
    in_place: None,
};

params! {
    /// Rows in all, rows and steps per epoch, words of a row of x and of y.
    pub struct Params {
        rows: u32,
        batch: u32,
        steps: u32,
        inputs: u32,
        targets: u32,
    }
}

/// Outputs: the counters, the batch's inputs and targets, and a weight per row: 1 for a row of the batch, 0 for a repeated row.
pub struct Outputs {
    /// u32[4], also read.
    pub control: View,
    /// [batch, inputs].
    pub x: View,
    /// [batch, targets].
    pub y: View,
    /// [batch].
    pub weight: View,
}

/// Copies the batch at the cursor from x: [rows, inputs] and y: [rows, targets]; a short last batch repeats its first row.
#[track_caller]
pub fn dispatch(params: Params, x: View, y: View, order: View, out: Outputs) -> Dispatch {
    let Params { rows, batch, steps, .. } = params;
    assert!(
        batch > 0 && steps == rows.div_ceil(batch),
        "batch: got {steps} steps for {rows} rows in batches of {batch}, expected rows / batch rounded up"
    );
    Dispatch {
        kernel: &BATCH,
        body: None,
        params: params.words(),
        inputs: vec![x, y, order],
        outputs: vec![out.control, out.x, out.y, out.weight],
    }
}

fn run(call: Call<'_>) {
    let params: Params = call.params();
    let [batch, rows] = [params.batch, params.rows].map(|size| size as usize);
    let [x, y, order] = call.inputs else { unreachable!("batch has three inputs") };
    let [control, xb, yb, wb] = call.outputs else { unreachable!("batch has four outputs") };
    let first = control[1] as usize * batch;
    let order = &order[4 * params.steps as usize..][first..rows.min(first + batch)];
    let copy = |from: &[u32], to: &mut [u32], width: usize| {
        for (s, to) in to.chunks_exact_mut(width.max(1)).take(batch).enumerate() {
            let row = *order.get(s).unwrap_or(&order[0]) as usize;
            to.copy_from_slice(&from[row * width..][..width]);
        }
    };
    copy(x, xb, params.inputs as usize);
    copy(y, yb, params.targets as usize);
    for (s, weight) in wb[..batch].iter_mut().enumerate() {
        *weight = f32::to_bits(if s < order.len() { 1.0 } else { 0.0 });
    }
    control[2] = control[0] + 1;
    control[3] = control[1];
}

/// Cases: a first, a middle and a short last batch; one row; more targets than inputs.
pub fn cases() -> Vec<Case> {
    [
        ("first", [100, 32, 5, 1], 0),
        ("middle", [100, 32, 5, 1], 2),
        ("short", [100, 32, 5, 1], 3),
        ("one row", [1, 1, 1, 1], 0),
        ("many targets", [70, 64, 2, 9], 1),
        ("wide", [300, 256, 64, 10], 1),
    ]
    .map(|(name, shape, cursor)| example(name, shape, cursor))
    .into()
}

fn example(name: &str, [rows, batch, inputs, targets]: [u32; 4], cursor: u32) -> Case {
    let (mut numbers, steps, step) = (Numbers::new(61), rows.div_ceil(batch), 40);
    let mut filled = |count: u32| (0..count).map(|_| numbers.word()).collect::<Vec<_>>();
    let (x, y, table) = (filled(rows * inputs), filled(rows * targets), filled(4 * steps));
    // Not the identity: 7 is coprime to every number of rows here except 70, and there rows may repeat.
    let order: Vec<u32> = (0..rows).map(|i| (7 * i + 3) % rows).collect();
    let slot = |s: u32| cursor * batch + s;
    let row = |s: u32| order[slot(if slot(s) < rows { s } else { 0 }) as usize];
    let copied = |from: &[u32], width: u32| {
        let words = (0..batch).flat_map(|s| from[(row(s) * width) as usize..][..width as usize].to_vec());
        Expected::Words(words.collect())
    };
    let weights = (0..batch).map(|s| f32::to_bits(if slot(s) < rows { 1.0 } else { 0.0 })).collect();
    let control = Expected::Words(vec![step, cursor, step + 1, cursor]);
    let expected = vec![control, copied(&x, inputs), copied(&y, targets), Expected::Words(weights)];
    let inputs_given = vec![x, y, [table, order.clone()].concat()];
    let params = Params { rows, batch, steps, inputs, targets };
    let mut made = case(name, Bound::Exact, inputs_given, expected, |given, out| {
        let [control, x, y, weight] = [0, 1, 2, 3].map(|at: usize| out[at].clone());
        let out = Outputs { control, x, y, weight };
        dispatch(params, given[0].clone(), given[1].clone(), given[2].clone(), out)
    });
    made.outputs[0] = vec![step, cursor, 0, 0];
    made
}
