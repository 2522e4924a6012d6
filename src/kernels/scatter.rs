//! The transposes of `gather`, into out: [rows, columns]. add_rows: out[r, c] = Σ over i with index[i] = r of values[i, c], in order of i;
//! place: out[r, c] = values[r] where c = index[r], else 0. No atomics: each element's invocation scans the indices, so add_rows
//! costs rows · columns · indices. Indices must be in range: otherwise the CPU path panics, and a GPU drops the value.

use std::rc::Rc;

use super::common::{self, Variant};
use super::evidence::{Numbers, case, within, words};
use crate::device::{Bound, Call, Case, Cost, Dispatch, Expected, Kernel, View, groups};
use crate::params;

/// The `scatter` kernel.
pub static SCATTER: Kernel = Kernel {
    name: "scatter",
    params: Params::FIELDS,
    wgsl: &[common::INDEX, crate::wgsl!("scatter")],
    cpu: run,
    grid: |dispatch| {
        let params: Params = dispatch.params();
        groups(params.rows as usize * params.columns as usize, 256)
    },
    cost: |dispatch| {
        let params: Params = dispatch.params();
        Cost { flops: u64::from(params.count) * u64::from(params.columns), bytes: dispatch.bytes() }
    },
    fuse: None,
    in_place: None,
};

params! {
    /// Number of indices, and the shape of the result.
    pub struct Params {
        count: u32,
        rows: u32,
        columns: u32,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    AddRows,
    Place,
}

/// out[index[i], :] += values[i, :] over an `out`: [rows, columns] of zeros.
pub fn add_rows(shape: [u32; 2], values: View, index: View, out: View) -> Dispatch {
    let element = "var sum = 0.0;
    for (var i = 0u; i < params.count; i++) {
        if index[i] == r { sum += values[i * params.columns + c]; }
    }
    return sum;";
    scatter(Form::AddRows, element, shape, [values, index], out)
}

/// out[r, index[r]] = values[r] over an `out`: [rows, columns] of zeros.
pub fn place(shape: [u32; 2], values: View, index: View, out: View) -> Dispatch {
    scatter(Form::Place, "return select(0.0, values[r], index[r] == c);", shape, [values, index], out)
}

fn scatter(kind: Form, element: &str, [rows, columns]: [u32; 2], [values, index]: [View; 2], out: View) -> Dispatch {
    let wgsl = format!("fn element(r: u32, c: u32) -> f32 {{\n    {element}\n}}\n");
    Dispatch {
        kernel: &SCATTER,
        body: Some(Rc::new(Variant { kind, wgsl })),
        params: Params { count: index.words as u32, rows, columns }.words(),
        inputs: vec![values, index],
        outputs: vec![out],
    }
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
            assert!((c as usize) < columns, "scatter: column {c} of {columns}");
            out[c as usize] = value;
        }
        return;
    }
    assert!(index.iter().all(|&row| (row as usize) < rows), "scatter: an index is not below {rows}");
    // Each piece owns some rows and scans all indices for them: the order of the sums does not depend on the number of threads.
    let pieces = if index.len() * columns < 1 << 15 { 1 } else { pool.threads() };
    let piece = rows.div_ceil(pieces).max(1);
    let pieces = out.chunks_mut((piece * columns).max(1)).enumerate();
    common::each(pieces, pool, |(at, out)| {
        let first = at * piece;
        for (values, &row) in values.chunks_exact(columns).zip(index) {
            let Some(out) = (row as usize).checked_sub(first).and_then(|r| out.get_mut(r * columns..(r + 1) * columns))
            else {
                continue;
            };
            out.iter_mut().zip(values).for_each(|(out, value)| *out += value);
        }
    });
}

/// Cases: one word, rows hit many times and never, odd widths.
pub fn cases() -> Vec<Case> {
    let rows = [([1, 1], 1), ([5, 3], 9), ([100, 65], 257), ([700, 1], 300), ([3, 300], 1000)];
    let added = rows.map(|(shape, count)| added(shape, count));
    let placed = [[1, 1], [257, 3], [1000, 10]].map(placed);
    added.into_iter().chain(placed).collect()
}

fn added(shape: [u32; 2], count: usize) -> Case {
    let ([rows, columns], mut numbers) = (shape, Numbers::new(41));
    let (values, index) = (numbers.floats(count * columns as usize), numbers.indices(count, rows));
    let mut sums = vec![0.0; (rows * columns) as usize];
    for (at, value) in values.iter().enumerate() {
        let (i, c) = (at / columns as usize, at % columns as usize);
        sums[index[i] as usize * columns as usize + c] += f64::from(*value);
    }
    // Numbers below 1, each sum in one f32.
    let bound = within(1e-6, 1e-7 * count as f64 / f64::from(rows) + 1e-6);
    let name = format!("{count} rows added to {rows} x {columns}");
    case(name, bound, vec![words(&values), index], vec![Expected::Floats(sums)], |inputs, out| {
        add_rows(shape, inputs[0].clone(), inputs[1].clone(), out[0].clone())
    })
}

fn placed(shape: [u32; 2]) -> Case {
    let ([rows, columns], mut numbers) = (shape, Numbers::new(43));
    let (values, index) = (numbers.floats(rows as usize), numbers.indices(rows as usize, columns));
    let mut out = vec![0; (rows * columns) as usize];
    for (r, (value, c)) in values.iter().zip(&index).enumerate() {
        out[r * columns as usize + *c as usize] = value.to_bits();
    }
    let name = format!("one of each of {rows} x {columns}");
    case(name, Bound::Exact, vec![words(&values), index], vec![Expected::Words(out)], |inputs, out| {
        place(shape, inputs[0].clone(), inputs[1].clone(), out[0].clone())
    })
}
