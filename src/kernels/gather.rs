//! Words fetched by index from a: [rows, columns]. take_rows: out[i, c] = a[index[i], c]; pick: out[r] = a[r, index[r]].
//! An index is a `u32`; what one outside of a takes is NaN.

use std::rc::Rc;

use super::common::{self, Variant};
use super::evidence::{Numbers, case};
use crate::device::{Bound, Call, Case, Cost, Dispatch, Expected, Kernel, View, groups};
use crate::params;

/// The `gather` kernel.
pub static GATHER: Kernel = Kernel {
    name: "gather",
    params: Params::FIELDS,
    wgsl: &[common::INDEX, crate::wgsl!("gather")],
    cpu: run,
    grid: |dispatch| groups(dispatch.params::<Params>().count as usize, 256),
    // Only the fetched words of `a` count, twice: once read, once written.
    cost: |dispatch| {
        let params: Params = dispatch.params();
        Cost { flops: 0, bytes: 8 * u64::from(params.count) + 4 * dispatch.inputs[1].words as u64 }
    },
    fuse: None,
    in_place: None,
};

params! {
    /// Words of the result, and the shape of the source.
    pub struct Params {
        count: u32,
        rows: u32,
        columns: u32,
    }
}

/// The word for an index outside of a: NaN.
const OUTSIDE: u32 = 0x7fc0_0000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    TakeRows,
    Pick,
}

/// out[i, c] = a[index[i], c] for a: [rows, columns]; `out` has one row per index.
pub fn take_rows(shape: [u32; 2], a: View, index: View, out: View) -> Dispatch {
    let count = index.words as u32 * shape[1];
    gather(Form::TakeRows, "vec2<u32>(index[i / params.columns], i % params.columns)", count, shape, [a, index], out)
}

/// out[r] = a[r, index[r]] for a: [rows, columns].
pub fn pick(shape: [u32; 2], a: View, index: View, out: View) -> Dispatch {
    gather(Form::Pick, "vec2<u32>(i, index[i])", shape[0], shape, [a, index], out)
}

fn gather(
    kind: Form,
    place: &str,
    count: u32,
    [rows, columns]: [u32; 2],
    [a, index]: [View; 2],
    out: View,
) -> Dispatch {
    let wgsl = format!("fn place(i: u32) -> vec2<u32> {{ return {place}; }}\n");
    Dispatch {
        kernel: &GATHER,
        body: Some(Rc::new(Variant { kind, wgsl })),
        params: Params { count, rows, columns }.words(),
        inputs: vec![a, index],
        outputs: vec![out],
    }
}

fn run(call: Call<'_>) {
    let params: Params = call.params();
    let form = call.body::<Variant<Form>>().kind;
    let (count, rows, columns) = (params.count as usize, params.rows as usize, params.columns as usize);
    let (a, index) = (call.inputs[0], call.inputs[1]);
    let out = &mut call.outputs[0][..count];
    if form == Form::Pick {
        for (r, (out, &c)) in out.iter_mut().zip(index).enumerate() {
            *out = if (c as usize) < columns { a[r * columns + c as usize] } else { OUTSIDE };
        }
        return;
    }
    let piece = common::rows_per_piece(index.len(), columns, call.pool);
    let pieces = out.chunks_mut((piece * columns).max(1)).zip(index.chunks(piece));
    common::each(pieces, call.pool, |(out, index)| {
        for (out, &row) in out.chunks_exact_mut(columns.max(1)).zip(index) {
            if (row as usize) < rows {
                out.copy_from_slice(&a[row as usize * columns..][..columns]);
            } else {
                out.fill(OUTSIDE);
            }
        }
    });
}

/// Cases: one word, odd widths, repeated and unordered indices, indices outside.
pub fn cases() -> Vec<Case> {
    let rows = [([1, 1], 1), ([5, 3], 9), ([100, 65], 257), ([7, 1], 300)];
    let inside = rows.map(|(shape, count)| taken(shape, count, shape[0]));
    let picks = [[1, 1], [257, 3], [1000, 10]].map(|shape| picked(shape, shape[1]));
    // Two of three indices are outside.
    inside.into_iter().chain(picks).chain([taken([5, 3], 90, 15), picked([257, 3], 9)]).collect()
}

fn taken(shape: [u32; 2], count: usize, limit: u32) -> Case {
    let ([rows, columns], mut numbers) = (shape, Numbers::new(31));
    let a: Vec<u32> = (0..rows * columns).map(|_| numbers.word()).collect();
    let index = numbers.indices(count, limit);
    let row = |&r: &u32| {
        if r < rows {
            a[(r * columns) as usize..][..columns as usize].to_vec()
        } else {
            vec![OUTSIDE; columns as usize]
        }
    };
    let expected = vec![Expected::Words(index.iter().flat_map(row).collect())];
    case(
        format!("{count} rows of {rows} x {columns}, indices below {limit}"),
        Bound::Exact,
        vec![a.clone(), index],
        expected,
        |inputs, out| take_rows(shape, inputs[0].clone(), inputs[1].clone(), out[0].clone()),
    )
}

fn picked(shape: [u32; 2], limit: u32) -> Case {
    let ([rows, columns], mut numbers) = (shape, Numbers::new(33));
    let a: Vec<u32> = (0..rows * columns).map(|_| numbers.word()).collect();
    let index = numbers.indices(rows as usize, limit);
    let word = |(r, &c): (usize, &u32)| if c < columns { a[r * columns as usize + c as usize] } else { OUTSIDE };
    let expected = vec![Expected::Words(index.iter().enumerate().map(word).collect())];
    case(
        format!("one of each of {rows} x {columns}, indices below {limit}"),
        Bound::Exact,
        vec![a, index],
        expected,
        |inputs, out| pick(shape, inputs[0].clone(), inputs[1].clone(), out[0].clone()),
    )
}
