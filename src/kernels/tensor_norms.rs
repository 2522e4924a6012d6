//! Norms of whole tensors, from those of their lines: one launch between `fold` and an update that depends on them.

use super::common;
use super::evidence::{Numbers, case, within, words};
use super::fold::Figure;
use super::optimise::sizes::{LINE, LINE_WORDS, Sizes, TAIL, lines_at};
use crate::device::{Call, Case, Cost, Dispatch, Expected, Kernel, View};
use crate::params;

/// The `tensor_norms` kernel: input order; output sums of `fold`, in which the figure of a tensor's first line becomes that of the tensor, and those of
/// its other lines become 0.
pub static TENSOR_NORMS: Kernel = Kernel {
    name: "tensor_norms",
    params: Params::FIELDS,
    wgsl: &[common::NORM, crate::wgsl!("tensor_norms")],
    cpu: run,
    grid: |dispatch| [dispatch.params::<Params>().lines.clamp(1, 4096), 1, 1],
    cost: |dispatch| {
        let Params { lines, sets, .. } = dispatch.params();
        let figures = u64::from(lines) * u64::from(sets);
        Cost { flops: 8 * figures, bytes: 4 * (u64::from(lines) * LINE_WORDS as u64 + 8 * figures) }
    },
    fuse: None,
    in_place: None,
};

params! {
    /// Lines of parameters, how often as many words were summed, where the words of lines begin in `order`, and figures, each of four words, in the sums.
    pub struct Params {
        lines: u32,
        sets: u32,
        table: u32,
        figures: u32,
    }
}

/// The launch over the order and the sums.
pub fn dispatch(sizes: &Sizes, order: View, sums: View) -> Dispatch {
    let (lines, figures) = (sizes.total / LINE, (sizes.folded + TAIL) / 4);
    let [lines, sets, table, figures] =
        [lines, sizes.folded / sizes.total.max(1), lines_at(sizes), figures].map(|size| size as u32);
    let params = Params { lines, sets, table, figures };
    Dispatch { kernel: &TENSOR_NORMS, body: None, params: params.words(), inputs: vec![order], outputs: vec![sums] }
}

fn run(mut call: Call<'_>) {
    let params: Params = call.params();
    let [lines, table, figures] = [params.lines, params.table, params.figures].map(|size| size as usize);
    let order = call.inputs[0];
    let sums = call.floats_mut(0);
    let sets = sums[4 * figures..].chunks_exact_mut(4 * lines.max(1)).take(params.sets as usize);
    for set in sets {
        for (line, words) in order[table..].chunks_exact(LINE_WORDS).take(lines).enumerate() {
            if words[1] as usize == line {
                let own = &mut set[4 * line..4 * words[2] as usize];
                let whole = Figure::union(Figure::read(own));
                own.fill(0.0);
                own[..4].copy_from_slice(&whole.words());
            }
        }
    }
}

/// Cases: tensors of one line and of several, more lines than a workgroup has lanes, gradients alone and with the parameters, one that is not finite.
pub fn cases() -> Vec<Case> {
    [(vec![1], 1), (vec![1, 3, 70, 2], 1), (vec![130, 1, 65], 2)].map(|(tensors, sets)| case_of(&tensors, sets)).into()
}

fn case_of(tensors: &[usize], sets: usize) -> Case {
    let lines: usize = tensors.iter().sum();
    let (total, steps, rows) = (lines * LINE, 2, 3);
    let sizes = Sizes { total, parts: 1, steps, group: 1, rows, tables: 1, folded: sets * total, figures: 1 };
    let mut order = vec![0_u32; lines_at(&sizes)];
    let mut ranges = Vec::new();
    let mut first = 0;
    for &count in tensors {
        ranges.push(first..first + count);
        for _ in 0..count {
            order.extend([0, first as u32, (first + count) as u32]);
        }
        first += count;
    }
    let mut numbers = Numbers::new(17);
    let mut sums = numbers.floats(sizes.folded + TAIL);
    // (largest, squares over the largest's, not finite, zeros); the third line has no number but 0.
    let figures: Vec<[f32; 4]> = (0..sets * lines)
        .map(|at| match at {
            2 => [0.0, 0.0, 0.0, LINE as f32],
            _ => [numbers.floats(1)[0].abs() + 0.1, 1.0 + at as f32 % 7.0, f32::from(u8::from(at == 1)), 2.0],
        })
        .collect();
    sums.extend(figures.iter().flatten());
    sums.extend([5.0; 4]);
    let mut expected: Vec<f64> = sums.iter().map(|&x| f64::from(x)).collect();
    for set in 0..sets {
        for range in &ranges {
            let own = &figures[set * lines..][range.clone()];
            let largest = own.iter().fold(0.0_f64, |largest, figure| largest.max(f64::from(figure[0])));
            let squares: f64 =
                own.iter().map(|figure| f64::from(figure[1]) * (f64::from(figure[0]) / largest).powi(2)).sum();
            let count = |at: usize| own.iter().map(|figure| f64::from(figure[at])).sum::<f64>();
            let place = sizes.folded + TAIL + 4 * set * lines;
            expected[place + 4 * range.start..place + 4 * range.end].fill(0.0);
            expected[place + 4 * range.start..][..4].copy_from_slice(&[largest, squares, count(2), count(3)]);
        }
    }
    let name = format!("tensors of {tensors:?} lines, {sets} for each");
    let inputs = vec![order];
    let mut made = case(name, within(1e-5, 1e-6), inputs, vec![Expected::Floats(expected)], move |given, out| {
        dispatch(&sizes, given[0].clone(), out[0].clone())
    });
    made.outputs = vec![words(&sums)];
    made
}
