//! Sums of gradients: over the parts of a step and, in a group of steps, over the steps before. With them come their norms, one for each line of
//! 64 words, in which no two tensors meet, and a few whose union is the norm of all.

use std::ops::Add;

use super::common::{self, each};
use super::evidence::{Numbers, case, within, words};
use super::optimise::limit::Norm;
use super::optimise::sizes::TAIL;
use crate::device::{Call, Case, Cost, Dispatch, Expected, Kernel, View};
use crate::params;
use crate::simd::widened;

pub use super::optimise::sizes::LINE;

/// The `fold` kernel: inputs partials [parts, total + tail], control; output sums, see [`words_of`].
pub static FOLD: Kernel = Kernel {
    name: "fold",
    params: Params::FIELDS,
    wgsl: &[common::NORM, crate::wgsl!("fold")],
    cpu: run,
    grid: |dispatch| [dispatch.params::<Params>().workgroups, 1, 1],
    cost: |dispatch| {
        let Params { total, parts, .. } = dispatch.params();
        let [total, parts] = [total, parts].map(u64::from);
        Cost { flops: total * (parts + 4), bytes: 4 * total * (parts + 1) }
    },
    fuse: None,
    in_place: None,
};

params! {
    /// Words of parameters, parts of a step, steps whose gradients are summed, workgroups.
    pub struct Params {
        total: u32,
        parts: u32,
        group: u32,
        workgroups: u32,
    }
}

/// Lanes of sums on the CPU.
const LANES: usize = 16;
/// Sizes whose squares are far from the smallest and the largest numbers.
const SIZES: std::ops::RangeInclusive<f32> = 1e-15..=1e15;
/// Fewer words are no work for several threads.
const FEW: usize = 1 << 16;
/// Lines that a workgroup takes at a time.
const BLOCK: usize = 4;
/// Most workgroups: the update joins their norms.
const MOST: usize = 256;

/// Workgroups for so many words of parameters.
pub fn workgroups(total: usize) -> usize {
    (total / LINE).div_ceil(BLOCK).clamp(1, MOST)
}

/// Words of the sums of `total` parameters: gradients, the tail (loss sum and weight of the step, weight of the group), a [`Figure`] for each line and
/// for each workgroup.
pub fn words_of(total: usize) -> usize {
    total + TAIL + 4 * (total / LINE + workgroups(total))
}

/// The launch over partials, control and sums: sums of `parts` parts, added to those before unless the step is the first of its group of `group` steps.
pub fn dispatch(total: usize, parts: usize, group: usize, [partials, control, sums]: [View; 3]) -> Dispatch {
    let [total, parts, group, workgroups] = [total, parts, group.max(1), workgroups(total)].map(|size| size as u32);
    let params = Params { total, parts, group, workgroups };
    Dispatch { kernel: &FOLD, body: None, params: params.words(), inputs: vec![partials, control], outputs: vec![sums] }
}

/// A norm: the largest size, the sum of squares over the largest's, how many numbers are not finite and how many are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figure {
    largest: f32,
    squares: f32,
    bad: f32,
    zeros: f32,
}

impl Figure {
    /// Of some numbers; those that are not finite count as 0 in the norm.
    #[expect(clippy::inline_always, reason = "compiled for the caller's instruction set")]
    #[inline(always)]
    fn of(line: &[f32; LINE]) -> Self {
        let [mut sizes, mut squares, mut zeros] = [[0.0_f32; LANES]; 3];
        for part in line.as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                let g = part[lane];
                sizes[lane] = larger(sizes[lane], g.abs());
                squares[lane] += g * g;
                zeros[lane] += if g == 0.0 { 1.0 } else { 0.0 };
            }
        }
        let [largest, squares, zeros] = [tree(sizes, larger), tree(squares, Add::add), tree(zeros, Add::add)];
        // NaN is no size, but a square.
        if squares.is_nan() || !(largest == 0.0 || SIZES.contains(&largest)) {
            return Self::carefully(line);
        }
        let share = if largest > 0.0 { largest.recip() } else { 0.0 };
        Self { largest, squares: squares * share * share, bad: 0.0, zeros }
    }

    /// The same where some are not finite, or where squares may not be numbers.
    #[cold]
    fn carefully(line: &[f32]) -> Self {
        let finite = || line.iter().copied().filter(|g| g.is_finite());
        let largest = finite().fold(0.0_f32, |largest, g| largest.max(g.abs()));
        let bad = (line.len() - finite().count()) as f32;
        let zeros = finite().filter(|g| *g == 0.0).count() as f32;
        if largest <= 0.0 {
            return Self { bad, zeros, ..Self::default() };
        }
        Self { largest, squares: finite().map(|g| (g / largest) * (g / largest)).sum(), bad, zeros }
    }

    /// Of several sets of numbers together.
    pub fn union(figures: impl Iterator<Item = Self> + Clone) -> Self {
        // Two passes, so that no division waits for the one before.
        let largest = figures.clone().fold(0.0, |largest, figure| larger(largest, figure.largest));
        let mut whole = Self { largest, ..Self::default() };
        for figure in figures {
            let share = if largest > 0.0 { figure.largest / largest } else { 0.0 };
            whole.squares += figure.squares * share * share;
            whole.bad += figure.bad;
            whole.zeros += figure.zeros;
        }
        whole
    }

    /// The norm, times a factor.
    pub(crate) fn norm(self, factor: f32) -> Norm {
        Norm { largest: self.largest * factor, root: self.squares.sqrt() }
    }

    /// The root mean square of `count` numbers.
    pub fn rms(self, count: usize) -> f64 {
        f64::from(self.largest) * (f64::from(self.squares) / count as f64).sqrt()
    }

    /// The largest size.
    pub fn largest(self) -> f32 {
        self.largest
    }

    /// How many numbers are not finite, and how many are 0.
    pub fn odd(self) -> [f32; 2] {
        [self.bad, self.zeros]
    }

    /// Its words.
    pub fn words(self) -> [f32; 4] {
        [self.largest, self.squares, self.bad, self.zeros]
    }

    /// Whether all numbers are finite.
    pub fn is_finite(self) -> bool {
        self.bad == 0.0
    }

    /// The figures of `count` lines, or workgroups, from four words each.
    pub fn read(words: &[f32]) -> impl Iterator<Item = Self> + Clone + '_ {
        words.as_chunks::<4>().0.iter().map(|&[largest, squares, bad, zeros]| Self { largest, squares, bad, zeros })
    }
}

/// The larger of two sizes; NaN is none.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the caller's instruction set")]
fn larger(one: f32, other: f32) -> f32 {
    if other > one { other } else { one }
}

/// All lanes joined, halves at a time, which registers do lane by lane.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the caller's instruction set")]
fn tree(mut lanes: [f32; LANES], join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        let (low, high) = lanes.split_at_mut(width);
        low.iter_mut().zip(&*high).for_each(|(low, high)| *low = join(*low, *high));
    }
    lanes[0]
}

fn run(mut call: Call<'_>) {
    let params: Params = call.params();
    let [total, parts, group, workgroups] =
        [params.total, params.parts, params.group, params.workgroups].map(|size| size as usize);
    let partials = call.floats(0);
    let is_first = (call.inputs[1][3] as usize).is_multiple_of(group);
    let pool = call.pool;
    let sums = call.floats_mut(0);
    let stride = total + TAIL;
    let (gradients, rest) = sums.split_at_mut(total);
    let (tail, figures) = rest.split_at_mut(TAIL);
    let (lines, wholes) = figures.split_at_mut(4 * (total / LINE));
    let pieces = if total * parts < FEW { 1 } else { 2 * pool.threads() };
    let share = (total / LINE).div_ceil(pieces).max(1);
    let pieces = gradients.chunks_mut(share * LINE).zip(lines.chunks_mut(4 * share)).enumerate();
    each(pieces, pool, |(piece, (gradients, lines))| {
        widened(|| {
            let first = piece * share * LINE;
            for (at, (sum, figure)) in gradients.chunks_exact_mut(LINE).zip(lines.as_chunks_mut::<4>().0).enumerate() {
                let start = first + at * LINE;
                let part = |part: usize| &partials[part * stride + start..][..LINE];
                let mut line = [0.0; LINE];
                if is_first {
                    line.copy_from_slice(part(0));
                } else {
                    line.iter_mut().zip(part(0)).zip(&*sum).for_each(|((line, g), sum)| *line = g + sum);
                }
                for other in 1..parts {
                    line.iter_mut().zip(part(other)).for_each(|(line, g)| *line += g);
                }
                sum.copy_from_slice(&line);
                *figure = Figure::of(&line).words();
            }
        });
    });
    for (at, whole) in wholes.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let blocks = lines.chunks(4 * BLOCK).skip(at).step_by(workgroups);
        *whole = Figure::union(blocks.flat_map(Figure::read)).words();
    }
    let sum = |word: usize| (0..parts).map(|part| partials[part * stride + total + word]).sum::<f32>();
    let weight = sum(1) + if is_first { 0.0 } else { tail[2] };
    tail[..3].copy_from_slice(&[sum(0), sum(1), weight]);
    tail[3] = 0.0;
}

/// Cases: one part and several, the first step of a group and a later one, several blocks for a workgroup, numbers that are not finite.
pub fn cases() -> Vec<Case> {
    let plain = [(64, 1, 1, 0), (832, 3, 1, 0), (832, 2, 4, 4), (832, 2, 4, 6), (66_560, 2, 1, 0)];
    let mut cases: Vec<Case> =
        plain.map(|(total, parts, group, cursor)| case_of(total, parts, group, cursor, &[])).into();
    cases.push(case_of(832, 2, 1, 0, &[(3, f32::NAN), (70, f32::INFINITY), (831, f32::NEG_INFINITY)]));
    cases.push(case_of(128, 1, 1, 0, &[(5, 3e38), (6, -3e38), (7, 0.0)]));
    cases
}

fn case_of(total: usize, parts: usize, group: usize, cursor: u32, odd: &[(usize, f32)]) -> Case {
    let mut numbers = Numbers::new(91);
    let mut partials = numbers.floats(parts * (total + TAIL));
    for &(at, value) in odd {
        partials[at] = value;
    }
    let before = numbers.floats(words_of(total));
    let is_first = (cursor as usize).is_multiple_of(group);
    let sum = |at: usize| {
        let parts = (0..parts).map(|part| f64::from(partials[part * (total + TAIL) + at])).sum::<f64>();
        parts + if is_first || at >= total { 0.0 } else { f64::from(before[at]) }
    };
    let gradients: Vec<f64> = (0..total).map(sum).collect();
    let weight = sum(total + 1) + if is_first { 0.0 } else { f64::from(before[total + 2]) };
    let mut tail: Vec<f64> = before[total..][..TAIL].iter().map(|&x| f64::from(x)).collect();
    tail[..4].copy_from_slice(&[sum(total), sum(total + 1), weight, 0.0]);
    let figure = |of: &[usize]| {
        let values: Vec<f64> = of.iter().map(|&at| gradients[at]).collect();
        let finite: Vec<f64> = values.iter().copied().filter(|g| g.is_finite()).collect();
        let largest = finite.iter().fold(0.0_f64, |largest, g| largest.max(g.abs()));
        let squares = finite.iter().map(|g| (g / largest).powi(2)).sum::<f64>();
        let zeros = values.iter().filter(|g| **g == 0.0).count();
        [largest, squares, (values.len() - finite.len()) as f64, zeros as f64]
    };
    let range = |line: usize| (line * LINE..(line + 1) * LINE).collect::<Vec<usize>>();
    let lines: Vec<Vec<usize>> = (0..total / LINE).map(range).collect();
    let workgroups = workgroups(total);
    let wholes = (0..workgroups).map(|at| {
        let own: Vec<usize> = lines.chunks(BLOCK).skip(at).step_by(workgroups).flatten().flatten().copied().collect();
        figure(&own)
    });
    let figures: Vec<f64> = lines.iter().map(|line| figure(line)).chain(wholes).flatten().collect();
    let expected = vec![Expected::Floats([gradients.clone(), tail, figures].concat())];
    let name = format!("{total} words in {parts} parts, step {cursor} of groups of {group}, {} odd", odd.len());
    let mut made =
        case(name, within(1e-5, 1e-6), vec![words(&partials), vec![7, 9, 8, cursor]], expected, |given, out| {
            dispatch(total, parts, group, [&given[0], &given[1], &out[0]].map(View::clone))
        });
    made.outputs = vec![words(&before)];
    made
}
