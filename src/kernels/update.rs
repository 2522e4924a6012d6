//! The CPU path of `optimise`: g = sum over parts of the partial gradients / weight sum, then one optimiser step per parameter, and the batch loss into the report.
//!   AdamW: p *= decay;      m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2;  p -= scale m / (sqrt(v) root + eps)
//!   Adam:  g += wd p, the rest as AdamW without decay
//!   SGD:   g += wd p;       m = momentum m + g;   p -= lr m  (nesterov: lr (g + momentum m))
#![allow(unsafe_code, reason = "vector registers are read and written through pointers inside checked ranges")]
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use pulp::{Simd, WithSimd};

use super::optimise::{Rule, Sizes, TAIL};
use super::simd::{dispatch, fma, fnma, load, store};
use crate::host::{Disjoint, Team};

/// One step's row of the table at the head of `order`.
#[derive(Clone, Copy)]
struct Schedule {
    lr: f32,
    scale: f32,
    root: f32,
    decay: f32,
}

/// Pieces are whole cache lines of `params`.
const LINE: usize = 64;

/// params [total] and moments take one step; report[cursor] = loss of the batch (0 where no sample weighs anything); control moves on.
/// Behind the moments lie the sums of a group's steps before the last.
pub(super) fn optimise(
    sizes: Sizes,
    rule: Rule,
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
    let [lr, scale, root, decay] = std::array::from_fn(|i| f32::from_bits(order[4 * cursor + i]));
    let schedule = Schedule { lr, scale, root, decay };
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
        dispatch(Update { rule, schedule, mean, partials: &partials[range.start..], stride, parts, params, m, v });
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

struct Update<'a> {
    rule: Rule,
    schedule: Schedule,
    mean: f32,
    partials: &'a [f32],
    stride: usize,
    parts: usize,
    params: &'a mut [f32],
    m: &'a mut [f32],
    v: &'a mut [f32],
}

impl WithSimd for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let s = self.schedule;
        match self.rule {
            Rule::AdamW { beta1, beta2, eps } => self.run(
                simd,
                Moments { scale: s.scale, root: s.root, decay: s.decay, weight_decay: 0.0, beta1, beta2, eps },
            ),
            Rule::Adam { beta1, beta2, eps, weight_decay } => {
                self.run(simd, Moments { scale: s.scale, root: s.root, decay: 1.0, weight_decay, beta1, beta2, eps });
            }
            Rule::Sgd { momentum, weight_decay, nesterov } => {
                self.run(simd, Momentum { lr: s.lr, momentum, weight_decay, nesterov });
            }
        }
    }
}

impl Update<'_> {
    #[inline(always)]
    fn run<S: Simd, R: Follow>(self, simd: S, rule: R) {
        let len = self.params.len();
        assert!(len.is_multiple_of(LINE) && self.m.len() == len && self.v.len() == len);
        assert!(len == 0 || self.partials.len() >= (self.parts - 1) * self.stride + len);
        let (p, m, v) = (self.params.as_mut_ptr(), self.m.as_mut_ptr(), self.v.as_mut_ptr());
        let mean = simd.splat_f32s(self.mean);
        for i in (0..len).step_by(S::F32_LANES) {
            // SAFETY: i + lanes <= len by the assertions.
            unsafe {
                let mut g = load::<S>(self.partials.as_ptr().add(i));
                for part in 1..self.parts {
                    g = simd.add_f32s(g, load::<S>(self.partials.as_ptr().add(part * self.stride + i)));
                }
                let state = [load::<S>(p.add(i)), load::<S>(m.add(i)), load::<S>(v.add(i))];
                let [new_p, new_m, new_v] = rule.apply(simd, simd.mul_f32s(g, mean), state);
                store::<S>(p.add(i), new_p);
                store::<S>(m.add(i), new_m);
                store::<S>(v.add(i), new_v);
            }
        }
    }
}

/// The new [p, m, v] for the mean gradient g.
trait Follow: Copy {
    fn apply<S: Simd>(self, simd: S, g: S::f32s, state: [S::f32s; 3]) -> [S::f32s; 3];
}

#[derive(Clone, Copy)]
struct Moments {
    scale: f32,
    root: f32,
    decay: f32,
    weight_decay: f32,
    beta1: f32,
    beta2: f32,
    eps: f32,
}

impl Follow for Moments {
    #[inline(always)]
    fn apply<S: Simd>(self, simd: S, g: S::f32s, [p, m, v]: [S::f32s; 3]) -> [S::f32s; 3] {
        let word = |x| simd.splat_f32s(x);
        let g = fma(simd, word(self.weight_decay), p, g);
        let m = fma(simd, word(self.beta1), m, simd.mul_f32s(word(1.0 - self.beta1), g));
        let v = fma(simd, word(self.beta2), v, simd.mul_f32s(word(1.0 - self.beta2), simd.mul_f32s(g, g)));
        let width = fma(simd, simd.sqrt_f32s(v), word(self.root), word(self.eps));
        let shift = simd.div_f32s(simd.mul_f32s(word(self.scale), m), width);
        [simd.sub_f32s(simd.mul_f32s(p, word(self.decay)), shift), m, v]
    }
}

#[derive(Clone, Copy)]
struct Momentum {
    lr: f32,
    momentum: f32,
    weight_decay: f32,
    nesterov: bool,
}

impl Follow for Momentum {
    #[inline(always)]
    fn apply<S: Simd>(self, simd: S, g: S::f32s, [p, m, v]: [S::f32s; 3]) -> [S::f32s; 3] {
        let momentum = simd.splat_f32s(self.momentum);
        let g = fma(simd, simd.splat_f32s(self.weight_decay), p, g);
        let m = fma(simd, momentum, m, g);
        let shift = if self.nesterov { fma(simd, momentum, m, g) } else { m };
        [fnma(simd, simd.splat_f32s(self.lr), shift, p), m, v]
    }
}
