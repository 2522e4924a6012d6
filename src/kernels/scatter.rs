//! The transposes of `gather`, into out: [rows, columns]. add_rows: out[r, c] = Σ over i with index[i] = r of values[i, c], in order of i;
//! place: out[r, c] = values[r] where c = index[r], else 0. No atomics: a workgroup owns some rows and scans all indices for them, so that the order of the
//! sums is always the same. Values whose index is outside of out are left out.

use std::any::Any;
use std::rc::Rc;

use super::common::{self, Variant};
use super::evidence::{Numbers, case, within, words};
use crate::device::{Bound, Call, Case, Cost, Dispatch, Expected, Kernel, SharedBody, View, groups};
use crate::params;

/// The `scatter` kernel.
pub static SCATTER: Kernel = Kernel {
    name: "scatter",
    params: Params::FIELDS,
    wgsl: &[common::INDEX, crate::wgsl!("scatter")],
    cpu: run,
    grid: |dispatch| {
        let params: Params = dispatch.params();
        match dispatch.body.as_ref().map(form) {
            Some(Form::AddRows) => groups(params.rows.div_ceil(params.span) as usize * params.blocks as usize, 1),
            _ => groups(params.rows as usize * params.columns as usize, 256),
        }
    },
    cost: |dispatch| {
        let params: Params = dispatch.params();
        Cost { flops: u64::from(params.count) * u64::from(params.columns), bytes: dispatch.bytes() }
    },
    fuse: None,
    in_place: None,
};

params! {
    /// Number of indices, and the shape of the result; rows of a workgroup, workgroups side by side, columns of each.
    pub struct Params {
        count: u32,
        rows: u32,
        columns: u32,
        span: u32,
        blocks: u32,
        width: u32,
    }
}

/// Invocations of a workgroup.
const LANES: u32 = 256;
/// Elements of a workgroup, if that leaves [`FEW`] workgroups: with fewer, the indices are read too often.
const ELEMENTS: u32 = 4096;
/// Workgroups that keep a GPU busy.
const FEW: u32 = 64;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    AddRows,
    Place,
}

/// out[index[i], :] += values[i, :] over an `out`: [rows, columns] of zeros.
pub fn add_rows(shape: [u32; 2], values: View, index: View, out: View) -> Dispatch {
    scatter(Form::AddRows, shape, [values, index], out)
}

/// out[r, index[r]] = values[r] over an `out`: [rows, columns] of zeros.
pub fn place(shape: [u32; 2], values: View, index: View, out: View) -> Dispatch {
    scatter(Form::Place, shape, [values, index], out)
}

fn scatter(kind: Form, [rows, columns]: [u32; 2], [values, index]: [View; 2], out: View) -> Dispatch {
    let wgsl = match kind {
        Form::AddRows => crate::wgsl!("common/scatter_add"),
        Form::Place => crate::wgsl!("common/scatter_place"),
    };
    let width = columns.clamp(1, LANES);
    let span = (ELEMENTS / width).min(rows.div_ceil(FEW)).max(1);
    let blocks = columns.div_ceil(LANES).max(1);
    Dispatch {
        kernel: &SCATTER,
        body: Some(Rc::new(Variant { kind, wgsl: wgsl.to_owned() })),
        params: Params { count: index.words as u32, rows, columns, span, blocks, width }.words(),
        inputs: vec![values, index],
        outputs: vec![out],
    }
}

/// The form of a launch.
fn form(body: &SharedBody) -> Form {
    let body: &dyn Any = &**body;
    body.downcast_ref::<Variant<Form>>().expect("a launch of scatter has a form").kind
}

fn run(mut call: Call<'_>) {
    let params: Params = call.params();
    let form = call.body::<Variant<Form>>().kind;
    let (rows, columns) = (params.rows as usize, params.columns as usize);
    let (values, index, pool) = (call.floats(0), &call.inputs[1][..params.count as usize], call.pool);
    let out = &mut call.floats_mut(0)[..rows * columns];
    out.fill(0.0);
    if form == Form::Place {
        for ((out, &value), &c) in out.chunks_exact_mut(columns.max(1)).zip(values).zip(index) {
            if let Some(out) = out.get_mut(c as usize) {
                *out = value;
            }
        }
        return;
    }
    // Each piece owns some rows and scans all indices for them: the order of the sums does not depend on the number of threads.
    let pieces = if index.len() * columns < 1 << 15 { 1 } else { pool.threads() };
    let piece = rows.div_ceil(pieces).max(1);
    let pieces = out.chunks_mut((piece * columns).max(1)).enumerate();
    common::each(pieces, pool, |(at, out)| {
        let first = at * piece;
        for (values, &row) in values.chunks_exact(columns.max(1)).zip(index) {
            let inside = Some(row as usize).filter(|&row| row < rows).and_then(|row| row.checked_sub(first));
            let Some(out) = inside.and_then(|r| out.get_mut(r * columns..(r + 1) * columns)) else { continue };
            out.iter_mut().zip(values).for_each(|(out, value)| *out += value);
        }
    });
}

/// Cases: one word, rows hit many times and never, odd widths, more columns than a workgroup has, several tiles of indices, indices outside.
pub fn cases() -> Vec<Case> {
    let rows = [
        ([1, 1], 1),
        ([5, 3], 9),
        ([100, 65], 257),
        ([700, 1], 300),
        ([3, 300], 1000),
        ([130, 257], 90),
        ([9000, 2], 4100),
        ([700, 32], 2048),
    ];
    let inside = rows.map(|(shape, count)| added(shape, count, shape[0]));
    let placed_inside = [[1, 1], [257, 3], [1000, 10]].map(|shape| placed(shape, shape[1]));
    // Two of three indices are outside.
    inside.into_iter().chain(placed_inside).chain([added([5, 3], 90, 15), placed([257, 3], 9)]).collect()
}

fn added(shape: [u32; 2], count: usize, limit: u32) -> Case {
    let ([rows, columns], mut numbers) = (shape, Numbers::new(41));
    let (values, index) = (numbers.floats(count * columns as usize), numbers.indices(count, limit));
    let mut sums = vec![0.0; (rows * columns) as usize];
    for (at, value) in values.iter().enumerate() {
        let (i, c) = (at / columns as usize, at % columns as usize);
        if index[i] < rows {
            sums[index[i] as usize * columns as usize + c] += f64::from(*value);
        }
    }
    // Numbers below 1, each sum in one f32.
    let bound = within(1e-6, 1e-7 * count as f64 / f64::from(rows) + 1e-6);
    let name = format!("{count} rows added to {rows} x {columns}, indices below {limit}");
    case(name, bound, vec![words(&values), index], vec![Expected::Floats(sums)], |inputs, out| {
        add_rows(shape, inputs[0].clone(), inputs[1].clone(), out[0].clone())
    })
}

fn placed(shape: [u32; 2], limit: u32) -> Case {
    let ([rows, columns], mut numbers) = (shape, Numbers::new(43));
    let (values, index) = (numbers.floats(rows as usize), numbers.indices(rows as usize, limit));
    let mut out = vec![0; (rows * columns) as usize];
    for (r, (value, &c)) in values.iter().zip(&index).enumerate() {
        if c < columns {
            out[r * columns as usize + c as usize] = value.to_bits();
        }
    }
    let name = format!("one of each of {rows} x {columns}, indices below {limit}");
    case(name, Bound::Exact, vec![words(&values), index], vec![Expected::Words(out)], |inputs, out| {
        place(shape, inputs[0].clone(), inputs[1].clone(), out[0].clone())
    })
}
