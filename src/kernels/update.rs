//! The CPU path of `optimise`: g = sum over parts of the partial gradients / weight sum, then the rule's program for each parameter, and the
//! batch loss into the report.
#![allow(unsafe_code, reason = "pieces are handed out by ranges that do not overlap")]

use super::optimise::{RATES, Rule, Sizes, TAIL};
use crate::host::{Disjoint, Team};
use crate::program::slices::{Memory, Registers, Source, WIDTH};

/// Pieces are whole cache lines of `params`.
const LINE: usize = 64;

/// params [total] and moments take one step; report[cursor] = loss of the batch (0 where no sample weighs anything); control moves on.
/// Behind the moments lie the sums of a group's steps before the last.
pub(super) fn optimise(
    sizes: Sizes,
    rule: &Rule,
    order: &[u32],
    partials: &[f32],
    [params, moments, report]: [&mut [f32]; 3],
    control: &mut [u32],
    team: &Team,
) {
    let Sizes { total, parts, steps, group } = sizes;
    assert!(total.is_multiple_of(LINE), "optimise: {total} words of parameters, not a multiple of {LINE}");
    let cursor = control[3] as usize;
    control[0] = control[2];
    control[1] = ((cursor + 1) % steps) as u32;
    let rates: [[f32; WIDTH]; RATES] = std::array::from_fn(|i| [f32::from_bits(order[RATES * cursor + i]); WIDTH]);
    let sum = |word: usize| (0..parts).map(|part| partials[part * (total + TAIL) + word]).sum::<f32>();
    let (loss, weight) = (sum(total), sum(total + 1));
    report[cursor] = if weight == 0.0 { 0.0 } else { loss / weight };
    let (moments, kept) = moments.split_at_mut(2 * total);
    let place = cursor % group;
    let mut taken = Taken { partials, parts, stride: total + TAIL, weight };
    if group > 1 {
        let before = if place == 0 { 0.0 } else { kept[total + (place + 1) % 2 * 4] };
        taken.weight += before;
        keep(&taken, place == 0, &mut kept[..total]);
        kept[total + place % 2 * 4..][..4].fill(taken.weight);
        if place + 1 < group && cursor + 1 < steps {
            return;
        }
        taken = Taken { partials: kept, parts: 1, ..taken };
    }
    let Taken { partials, parts, stride, weight } = taken;
    let mean = if weight == 0.0 { 0.0 } else { 1.0 / weight };
    let (m, v) = moments.split_at_mut(total);
    let (params, m, v) = (Disjoint::new(params), Disjoint::new(m), Disjoint::new(v));
    let pieces = team.threads();
    let share = (total / LINE).div_ceil(pieces) * LINE;
    team.parallel(pieces, &|piece| {
        let range = (piece * share).min(total)..((piece + 1) * share).min(total);
        // SAFETY: one range per piece.
        let (params, m, v) = unsafe { (params.range(range.clone()), m.range(range.clone()), v.range(range.clone())) };
        Update { rule, rates: &rates, mean, partials: &partials[range.start..], stride, parts, params, m, v }.run();
    });
}

/// Gradients to be summed, and the weight they are divided by.
struct Taken<'a> {
    partials: &'a [f32],
    parts: usize,
    stride: usize,
    weight: f32,
}

/// Adds a step's gradients to those of its group.
fn keep(taken: &Taken<'_>, is_first: bool, kept: &mut [f32]) {
    if is_first {
        kept.fill(0.0);
    }
    for part in taken.partials.chunks(taken.stride).take(taken.parts) {
        kept.iter_mut().zip(part).for_each(|(kept, gradient)| *kept += gradient);
    }
}

/// One piece of the parameters and of what the rule keeps beside them.
struct Update<'a> {
    rule: &'a Rule,
    rates: &'a [[f32; WIDTH]; RATES],
    mean: f32,
    partials: &'a [f32],
    stride: usize,
    parts: usize,
    params: &'a mut [f32],
    m: &'a mut [f32],
    v: &'a mut [f32],
}

impl Update<'_> {
    fn run(self) {
        let Self { rule, rates, mean, partials, stride, parts, params, m, v } = self;
        let program = &rule.program;
        let mut memory = Memory::take(Registers::<f32>::words(program));
        let mut registers = Registers::new(program, memory.words());
        let mut gradient = [0.0; WIDTH];
        for start in (0..params.len()).step_by(WIDTH) {
            let count = WIDTH.min(params.len() - start);
            let range = start..start + count;
            let gradient = &mut gradient[..count];
            gradient.copy_from_slice(&partials[range.clone()]);
            for part in 1..parts {
                gradient.iter_mut().zip(&partials[part * stride + start..]).for_each(|(sum, g)| *sum += g);
            }
            gradient.iter_mut().for_each(|g| *g *= mean);
            let state = [&mut params[range.clone()], &mut m[range.clone()], &mut v[range]];
            let source = |at: usize| {
                Source::Slice(match at {
                    0 => &*gradient,
                    1..=3 => &*state[at - 1],
                    _ => &rates[at - 4],
                })
            };
            program.evaluate(count, &mut registers, &source);
            for (at, state) in state.into_iter().enumerate() {
                if let Some(new) = program.computed(at, count, &registers) {
                    state.copy_from_slice(new);
                }
            }
        }
    }
}
