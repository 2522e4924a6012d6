//! The CPU path of `optimise`: g = sum over parts of the partial gradients / weight sum, as far as limits admit it, then the rule's program for each
//! parameter, and the batch loss into the report.
#![allow(unsafe_code, reason = "pieces write disjoint ranges of one slice")]

use std::ops::Range;

use super::fold::Figure;
use super::optimise::limit::{Limit, SCALE_AT, STATE, UpdateState};
use super::optimise::piece::ParameterPiece;
use super::optimise::rule::Rule;
use super::optimise::sizes::{FROZEN, LINE, LINE_WORDS, RATES, Sizes, TAIL, lines_at};
use crate::host::{Disjoint, ThreadPool};
use crate::program::slices::{Memory, Registers, Source, WIDTH};

/// Updates params [total] and moments by one step; report[cursor] = loss of the batch (0 if the weight sum is 0); advances control.
pub(super) fn optimise(
    sizes: Sizes,
    rule: &Rule,
    order: &[u32],
    partials: &[f32],
    [params, moments, report]: [&mut [f32]; 3],
    control: &mut [u32],
    pool: &ThreadPool,
) {
    let Sizes { total, parts, steps, group, folded, .. } = sizes;
    let stride = folded + TAIL;
    assert!(total.is_multiple_of(LINE), "optimise: got {total} words of parameters, expected a multiple of {LINE}");
    let cursor = control[3] as usize;
    control[0] = control[2];
    control[1] = ((cursor + 1) % steps) as u32;
    let sum = |word: usize| (0..parts).map(|part| partials[part * stride + word]).sum::<f32>();
    let (loss, seen) = (sum(folded), sum(folded + 1));
    report[cursor] = if seen == 0.0 { 0.0 } else { loss / seen };
    let (moments, state) = moments.split_at_mut(rule.arrays() * total);
    let is_last = (cursor + 1).is_multiple_of(group) || cursor + 1 >= steps;
    let weight = if rule.bounds.needs_fold() { partials[folded + 2] } else { seen };
    let folded = Folded { words: folded, partials };
    let mut share = if weight == 0.0 { 0.0 } else { 1.0 / weight };
    let (mut row, mut factor) = (cursor, 1.0);
    let mut is_applied = is_last;
    if rule.bounds.needs_fold() {
        let mut memory = UpdateState::read(&state[STATE * (control[2] as usize % 2)..]);
        if cursor < group {
            memory.begin();
        }
        // A second launch of a step has no memory of its own.
        row = if rule.bounds.limit == Limit::Trust { cursor } else { (memory.applied as usize * group).min(steps - 1) };
        share = memory.unscaled(share, rule.bounds.scale);
        let whole = folded.whole();
        if is_last && (whole.is_finite() || !rule.bounds.skips) {
            factor = rule.bounds.limit.factor(whole.norm(share), &mut memory);
        } else if is_last {
            memory.skipped += 1.0;
            is_applied = false;
        }
        if is_last {
            memory.rescale(rule.bounds.scale, whole.is_finite());
        }
        state[SCALE_AT] = memory.scale;
        memory.write(&mut state[STATE * ((control[2] as usize + 1) % 2)..]);
    }
    if !is_applied {
        return;
    }
    let runs = Runs { sizes, rule, order, folded: &folded, row, share };
    let ranges = runs.ranges();
    let array = |at: usize| if at < rule.arrays() { total } else { 0 };
    let (m, v) = moments.split_at_mut(array(0));
    let (v, a) = v.split_at_mut(array(1));
    let (params, m, v, a) = (Disjoint::new(params), Disjoint::new(m), Disjoint::new(v), Disjoint::new(a));
    let pieces = pool.threads();
    let part = (total / LINE).div_ceil(pieces) * LINE;
    pool.parallel(pieces, &|piece| {
        let own = (piece * part).min(total)..((piece + 1) * part).min(total);
        for (range, rates, of_tensor) in &ranges {
            let range = range.start.max(own.start)..range.end.min(own.end);
            if range.is_empty() {
                continue;
            }
            let kept = |at: usize| if at < rule.arrays() { range.clone() } else { 0..0 };
            // SAFETY: pieces have no range in common, nor do the ranges of one.
            let (params, m, v, a) =
                unsafe { (params.range(range.clone()), m.range(kept(0)), v.range(kept(1)), a.range(kept(2))) };
            let mean = share * factor * of_tensor;
            let largest = rule.bounds.largest;
            let piece =
                ParameterPiece { mean, largest, partials: &partials[range.start..], stride, parts, params, m, v, a };
            match &rule.by_hand {
                Some(by_hand) if largest.is_none() && !rule.has_mean() => by_hand(*rates, piece),
                _ => run(piece, rule, *rates),
            }
        }
    });
}

/// The sums of `fold`.
struct Folded<'f> {
    words: usize,
    partials: &'f [f32],
}

impl Folded<'_> {
    /// The figure of the tensor that begins at a line, from `tensor_norms`.
    fn tensor(&self, line: usize) -> Figure {
        Figure::union(Figure::read(&self.partials[self.words + TAIL + 4 * line..][..4]))
    }

    /// The figure of all.
    fn whole(&self) -> Figure {
        Figure::union(Figure::read(&self.partials[self.words + TAIL + 4 * (self.words / LINE)..]))
    }
}

/// Ranges of parameters with the same rates and the same factor.
struct Runs<'r> {
    sizes: Sizes,
    rule: &'r Rule,
    order: &'r [u32],
    folded: &'r Folded<'r>,
    row: usize,
    share: f32,
}

impl Runs<'_> {
    fn rates(&self, table: usize) -> [f32; RATES] {
        let Sizes { steps, rows, .. } = self.sizes;
        let at = RATES * self.row + if table == 0 { 0 } else { rows + RATES * steps * table };
        std::array::from_fn(|i| f32::from_bits(self.order[at + i]))
    }

    /// Without those of frozen parameters.
    fn ranges(&self) -> Vec<(Range<usize>, [f32; RATES], f32)> {
        if !self.rule.is_grouped {
            return vec![(0..self.sizes.total, self.rates(0), 1.0)];
        }
        let lines = self.order[lines_at(&self.sizes)..].chunks_exact(LINE_WORDS).take(self.sizes.total / LINE);
        let mut ranges: Vec<(Range<usize>, [f32; RATES], f32)> = Vec::new();
        // A tensor is one range.
        for (at, line) in lines.enumerate() {
            let [table, first, end] = [line[0], line[1], line[2]];
            if first as usize == at && table != FROZEN {
                let limit = self.rule.bounds.limit;
                let own = if limit.is_by_tensor() { self.folded.tensor(at) } else { Figure::default() };
                let size = || self.folded.tensor(self.sizes.total / LINE + at).norm(1.0);
                let factor = limit.factor_of_tensor(own.norm(self.share), size);
                ranges.push((at * LINE..end as usize * LINE, self.rates(table as usize), factor));
            }
        }
        ranges
    }
}

/// Runs the rule's program over a piece.
fn run(piece: ParameterPiece<'_>, rule: &Rule, rates: [f32; RATES]) {
    let ParameterPiece { mean, largest, partials, stride, parts, params, m, v, a } = piece;
    let program = &rule.program;
    let mut memory = Memory::take(Registers::<f32>::words(program));
    let mut registers = Registers::new(program, memory.words());
    let rates = rates.map(|rate| [rate; WIDTH]);
    let mut gradient = [0.0; WIDTH];
    let zeros = [0.0; WIDTH];
    for start in (0..params.len()).step_by(WIDTH) {
        let count = WIDTH.min(params.len() - start);
        let range = start..start + count;
        let gradient = &mut gradient[..count];
        gradient.copy_from_slice(&partials[range.clone()]);
        for part in 1..parts {
            gradient.iter_mut().zip(&partials[part * stride + start..]).for_each(|(sum, g)| *sum += g);
        }
        for g in gradient.iter_mut() {
            *g *= mean;
        }
        if let Some(largest) = largest {
            for g in gradient.iter_mut() {
                *g = g.clamp(-largest, largest);
            }
        }
        let kept = |array: &[f32]| if array.is_empty() { 0..0 } else { range.clone() };
        let [of_m, of_v, of_a] = [kept(m), kept(v), kept(a)];
        let state = [&mut params[range.clone()], &mut m[of_m], &mut v[of_v], &mut a[of_a]];
        let source = |at: usize| {
            Source::Slice(match at {
                0 => &*gradient,
                1..=4 if state[at - 1].is_empty() => &zeros[..count],
                1..=4 => &*state[at - 1],
                _ => &rates[at - 5],
            })
        };
        program.evaluate(count, &mut registers, &source);
        for (at, state) in state.into_iter().enumerate() {
            if let Some(new) = program.computed(at, count, &registers) {
                state.copy_from_slice(new);
            } else if rule.is_gradient(at) {
                state.copy_from_slice(gradient);
            }
        }
    }
}
