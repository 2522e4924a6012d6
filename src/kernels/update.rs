//! The CPU path of `optimise`: g = sum over parts of the partial gradients / weight sum, then the rule's program for each parameter, and the
//! batch loss into the report.
#![allow(unsafe_code, reason = "vector registers are read and written through pointers inside checked ranges")]
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use super::optimise::{RATES, Rule, Sizes, TAIL};
use pulp::{Simd, WithSimd};

use crate::host::{Disjoint, ThreadPool};
use crate::program::slices::{Memory, Registers, Source, WIDTH};
use crate::simd::{dispatch, load, store};

/// Pieces are whole cache lines of `params`.
const LINE: usize = 64;

/// Updates params [total] and moments by one step; report[cursor] = loss of the batch (0 if the weight sum is 0); advances control.
/// The sums of a group's steps before the last are stored after the moments.
pub(super) fn optimise(
    sizes: Sizes,
    rule: &Rule,
    order: &[u32],
    partials: &[f32],
    [params, moments, report]: [&mut [f32]; 3],
    control: &mut [u32],
    pool: &ThreadPool,
) {
    let Sizes { total, parts, steps, group } = sizes;
    assert!(total.is_multiple_of(LINE), "optimise: got {total} words of parameters, expected a multiple of {LINE}");
    let cursor = control[3] as usize;
    control[0] = control[2];
    control[1] = ((cursor + 1) % steps) as u32;
    let rates: [f32; RATES] = std::array::from_fn(|i| f32::from_bits(order[RATES * cursor + i]));
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
    let pieces = pool.threads();
    let share = (total / LINE).div_ceil(pieces) * LINE;
    pool.parallel(pieces, &|piece| {
        let range = (piece * share).min(total)..((piece + 1) * share).min(total);
        // SAFETY: one range per piece.
        let (params, m, v) = unsafe { (params.range(range.clone()), m.range(range.clone()), v.range(range.clone())) };
        let piece = ParameterPiece { mean, partials: &partials[range.start..], stride, parts, params, m, v };
        match &rule.by_hand {
            Some(by_hand) => by_hand(rates, piece),
            None => piece.run(rule, rates),
        }
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

/// One piece of the parameters, their moments, and the partial gradients, whose sum times `mean` is g.
pub struct ParameterPiece<'a> {
    mean: f32,
    partials: &'a [f32],
    stride: usize,
    parts: usize,
    params: &'a mut [f32],
    m: &'a mut [f32],
    v: &'a mut [f32],
}

impl ParameterPiece<'_> {
    /// Runs the rule's program over the piece.
    fn run(self, rule: &Rule, rates: [f32; RATES]) {
        let Self { mean, partials, stride, parts, params, m, v } = self;
        let program = &rule.program;
        let mut memory = Memory::take(Registers::<f32>::words(program));
        let mut registers = Registers::new(program, memory.words());
        let rates = rates.map(|rate| [rate; WIDTH]);
        let mut gradient = [0.0; WIDTH];
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

    /// Runs an update written by hand over the piece.
    pub fn follow(self, rule: impl ByHandUpdate) {
        dispatch(Following { piece: self, rule });
    }
}

/// An update written by hand: the new [p, m, v] for the mean gradient g.
pub trait ByHandUpdate: Copy {
    /// One vector of each.
    fn apply<S: Simd>(self, simd: S, g: S::f32s, state: [S::f32s; 3]) -> [S::f32s; 3];
}

struct Following<'a, F> {
    piece: ParameterPiece<'a>,
    rule: F,
}

impl<F: ByHandUpdate> WithSimd for Following<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ParameterPiece { mean, partials, stride, parts, params, m, v } = self.piece;
        let len = params.len();
        assert!(len.is_multiple_of(LINE) && m.len() == len && v.len() == len);
        assert!(len == 0 || partials.len() >= (parts - 1) * stride + len);
        let (p, m, v) = (params.as_mut_ptr(), m.as_mut_ptr(), v.as_mut_ptr());
        let mean = simd.splat_f32s(mean);
        for i in (0..len).step_by(S::F32_LANES) {
            // SAFETY: i + lanes <= len by the assertions.
            unsafe {
                let mut g = load::<S>(partials.as_ptr().add(i));
                for part in 1..parts {
                    g = simd.add_f32s(g, load::<S>(partials.as_ptr().add(part * stride + i)));
                }
                let state = [load::<S>(p.add(i)), load::<S>(m.add(i)), load::<S>(v.add(i))];
                let [new_p, new_m, new_v] = self.rule.apply(simd, simd.mul_f32s(g, mean), state);
                store::<S>(p.add(i), new_p);
                store::<S>(m.add(i), new_m);
                store::<S>(v.add(i), new_v);
            }
        }
    }
}
