//! Cases: random pairs, every pair of special patterns, both thresholds, several numerators per denominator, validity factors.

use super::{Decoding, Outputs, Pairs, Threshold, dispatch, plane_words, provenance_words};
use crate::device::{Case, Expected};
use crate::kernels::evidence::{Numbers, case, within, words};

/// The cases.
pub fn cases() -> Vec<Case> {
    let angle = Decoding { threshold: Threshold::Angle, tau_infer: 1e-3, tau_train: Some(0.1) };
    let raw = Decoding::raw(1e-2, Some(0.5));
    let joined = Pairs::joined(37, 3);
    let mut all = vec![];
    for (name, decoding) in [("angle", angle), ("raw", raw), ("no gap", Decoding { tau_train: None, ..angle })] {
        all.push(example(&format!("special pairs, {name}"), decoding, Pairs::apart(676, 1), &special(), &[]));
        all.push(example(&format!("joined, {name}"), decoding, joined, &random(joined, 3), &[]));
    }
    let deep = Pairs::apart(70, 3);
    all.push(example("three numerators", angle, deep, &random(deep, 4), &[]));
    let long = Pairs::joined(9000, 1);
    all.push(example("validity factors", raw, long, &random(long, 5), &[0.1, 0.02]));
    all
}

/// P and Q in memory layout; one buffer if they are joined.
struct Made {
    p: Vec<f32>,
    q: Vec<f32>,
}

fn random(pairs: Pairs, seed: u64) -> Made {
    let mut numbers = Numbers::new(seed);
    let mut made = |count: u32| -> Vec<f32> {
        let (size, kind) = (numbers.floats(count as usize), numbers.indices(count as usize, 8));
        // Sizes over sixty powers of two, and zeros.
        size.iter()
            .zip(kind)
            .map(|(x, kind)| if kind == 0 { 0.0 } else { x * (-8.0 * f32::from(kind as u8) + 30.0).exp2() })
            .collect()
    };
    if pairs.q_start > 0 {
        let p = made(pairs.rows * pairs.p_row);
        return Made { q: p.clone(), p };
    }
    Made { p: made(pairs.rows * pairs.p_row), q: made(pairs.rows * pairs.q_row) }
}

fn special() -> Made {
    let sizes: [f32; 13] = [
        0.0,
        1e-45,
        1.1e-38,
        f32::MIN_POSITIVE,
        1e-30,
        1e-19,
        9.99e-3,
        1.0,
        1.000_001e-2,
        3e19,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
    ];
    let signed: Vec<f32> = sizes.iter().flat_map(|x| [*x, -*x]).collect();
    let pair = |i: usize| (signed[i / 26], signed[i % 26]);
    Made { p: (0..676).map(|i| pair(i).0).collect(), q: (0..676).map(|i| pair(i).1).collect() }
}

fn example(name: &str, decoding: Decoding, pairs: Pairs, made: &Made, taus: &[f32]) -> Case {
    let count = pairs.count() as usize;
    let mut numbers = Numbers::new(9);
    let factors: Vec<f32> = (0..taus.len().max(1)).flat_map(|_| numbers.floats(count)).collect();
    let (mut values, mut planes) = (Vec::new(), vec![0_u32; 4 * plane_words(count)]);
    let mut provenance = vec![0_u32; provenance_words(count)];
    for i in 0..count {
        let (row, column) = (i / pairs.inner as usize, i % pairs.inner as usize);
        let q = made.q[row * pairs.q_row as usize + pairs.q_start as usize + column];
        let first = row * pairs.p_row as usize + column * pairs.depth as usize;
        let p = &made.p[first..first + pairs.depth as usize];
        let factors: Vec<f32> = (0..taus.len()).map(|k| factors[k * count + i]).collect();
        let [fault, semantic, gap] = verdict(&decoding, p, q, &factors, taus);
        let is_bottom = fault || semantic;
        let bits = [is_bottom, gap && !is_bottom, fault, semantic];
        for (plane, bit) in bits.into_iter().enumerate() {
            planes[plane * plane_words(count) + i / 32] |= u32::from(bit) << (i % 32);
        }
        provenance[i / 16] |= (u32::from(fault) + 2 * u32::from(semantic)) << (2 * (i % 16));
        values.extend(p.iter().map(|p| if is_bottom { 0.0 } else { f64::from(*p) / f64::from(q) }));
    }
    let expected = vec![Expected::Floats(values), Expected::Words(planes), Expected::Words(provenance)];
    let inputs = vec![words(&made.p), words(&made.q), words(&factors)];
    // WGSL allows a quotient an error of 2.5 units in the last place, and a device may flush subnormals.
    case(name, within(4e-7, 1.2e-38), inputs, expected, |inputs, out| {
        let out = Outputs { value: out[0].clone(), planes: out[1].clone(), provenance: out[2].clone() };
        dispatch(&decoding, pairs, [inputs[0].clone(), inputs[1].clone()], inputs[2].clone(), taus, out)
    })
}

/// The definitions, in f64: fault, semantic, gap.
fn verdict(decoding: &Decoding, p: &[f32], q: f32, factors: &[f32], taus: &[f32]) -> [bool; 3] {
    let is_angle = decoding.threshold == Threshold::Angle;
    let [infer, train] = decoding.limits().map(f64::from);
    let kept = |x: f32| if x.is_normal() { f64::from(x.abs()) } else { 0.0 };
    let largest = p.iter().map(|p| kept(*p)).fold(0.0, f64::max);
    let near = |limit: f64| {
        if is_angle {
            // The limit times the size, rounded as the kernel's one multiplication is.
            let scale = 2.0_f64.powi(-exponent(largest));
            q.is_finite() && (kept(q) == 0.0 || kept(q) * scale < f64::from((limit * largest * scale) as f32))
        } else {
            q.abs() == 0.0 || f64::from(q.abs()) < limit
        }
    };
    let semantic = near(infer) || factors.iter().zip(taus).any(|(factor, tau)| factor.abs() < *tau);
    let gap = near(train) && !near(infer);
    let overflows = |p: &f32| (f64::from(*p) / f64::from(q)).abs() >= f64::from(f32::MAX) * (1.0 + 2.0_f64.powi(-25));
    let is_bad = !q.is_finite() || p.iter().chain(factors).any(|x| !x.is_finite());
    [is_bad || !semantic && p.iter().any(overflows), semantic, gap]
}

fn exponent(x: f64) -> i32 {
    if x == 0.0 { 0 } else { x.log2().floor() as i32 }
}
