//! Cases of `optimise`, and their oracle: one weight's update in f64.

use std::sync::Arc;

use crate::device::{Case, Expected, Tiles};
use crate::kernels::evidence::{Numbers, case, device, within, words};
use crate::kernels::optimise::{self, RATES, Rule, Sizes, TAIL};
use crate::program::Program;

/// The new p, m and v in plain f64.
pub type Oracle = Arc<dyn Fn(f64, [f64; 3], [f64; RATES]) -> [f64; 3]>;

/// A rule and its oracle: the new p, m and v of a gradient, a state and the step's rates.
#[derive(Clone)]
pub struct RuleCase {
    /// The optimiser and its constants.
    pub name: String,
    /// As the kernel takes it.
    pub rule: Rule,
    /// In plain f64.
    pub oracle: Oracle,
}

/// Cases of `optimise` with an example rule; each optimiser has its own cases as well.
pub fn cases() -> Vec<Case> {
    let program = Program::with_results(Rule::INPUTS, |x| {
        let m = 0.5 * x[2] + x[0];
        let v = 0.75 * x[3] + 0.25 * (x[0] * x[0]);
        vec![x[1] * x[7] - x[4] * m / (v + x[5]) * x[6], m, v]
    });
    let oracle = |g: f64, [p, m, v]: [f64; 3], rates: [f64; RATES]| {
        let (m, v) = (m / 2.0 + g, (3.0 * v + g * g) / 4.0);
        [p * rates[3] - rates[0] * rates[2] * m / (v + rates[1]), m, v]
    };
    let known = RuleCase { name: "stand-in".into(), rule: Rule { program, by_hand: None }, oracle: Arc::new(oracle) };
    let alone = [(64, 1), (8832, 3)].map(|(total, parts)| update_case(&known, total, parts, 1));
    // The first of two that is also the epoch's last, the second of three, the last of three.
    let grouped = [2, 4, 3].map(|group| update_case(&known, 64, 2, group));
    alone.into_iter().chain(grouped).collect()
}

/// Cases of `optimise` with a rule.
pub fn of_rule(known: &RuleCase) -> Vec<Case> {
    [(64, 1, 1), (2112, 3, 1), (64, 2, 3)].map(|(total, parts, group)| update_case(known, total, parts, group)).into()
}

/// The last step of an epoch of three steps, or of more if groups are longer.
fn update_case(known: &RuleCase, total: usize, parts: usize, group: usize) -> Case {
    let mut numbers = Numbers::new(73);
    let (steps, cursor) = (group.max(3) as u32, 2_u32);
    let place = cursor as usize % group;
    let ends = place + 1 == group || cursor + 1 == steps;
    let rates = [0.01_f32, 0.02, 1.5, 0.99];
    let mut order = vec![0; 4 * steps as usize + 7];
    order[4 * cursor as usize..][..4].copy_from_slice(&rates.map(f32::to_bits));
    let mut partials = numbers.floats(parts * (total + 64));
    for part in partials.chunks_exact_mut(total + 64) {
        part[total + 1] = 2.0;
    }
    let (p, m) = (numbers.floats(total), numbers.floats(total));
    let v: Vec<f32> = numbers.floats(total).iter().map(|v| v * v).collect();
    // Weights are positive.
    let mut kept = if group > 1 { numbers.floats(total + TAIL) } else { Vec::new() };
    kept.iter_mut().skip(total).for_each(|weight| *weight = weight.abs());
    let before = |at: usize| if place > 0 { f64::from(kept[at]) } else { 0.0 };
    let sum = |at: usize| (0..parts).map(|part| f64::from(partials[part * (total + 64) + at])).sum::<f64>();
    let weight = sum(total + 1) + before(total + (place + 1) % 2 * 4);
    let next = |i: usize| match [p[i], m[i], v[i]].map(f64::from) {
        state if ends => (known.oracle)((sum(i) + before(i)) / weight, state, rates.map(f64::from)),
        state => state,
    };
    let updated: Vec<[f64; 3]> = (0..total).map(next).collect();
    let column = |k: usize| updated.iter().map(|row| row[k]).collect::<Vec<_>>();
    let mut report = vec![0.0; steps as usize + 2];
    report[cursor as usize] = sum(total) / sum(total + 1);
    let mut sums: Vec<f64> = kept.iter().map(|&x| f64::from(x)).collect();
    if group > 1 {
        (0..total).for_each(|i| sums[i] = sum(i) + before(i));
        sums[total..][place % 2 * 4..][..4].fill(weight);
    }
    let expected = vec![
        Expected::Floats(column(0)),
        Expected::Floats([column(1), column(2), sums].concat()),
        Expected::Words(vec![6, (cursor + 1) % steps, 6, cursor]),
        Expected::Floats(report),
    ];
    let name = format!("{}, {total} words in {parts} parts, {group} steps an update", known.name);
    let mut made = case(name, within(1e-5, 1e-6), vec![order, words(&partials)], expected, |given, out| {
        let outputs = [0, 1, 2, 3].map(|at: usize| out[at].clone());
        optimise::dispatch(
            &device(if parts > 1 { Tiles::FewLarge } else { Tiles::ManySmall }),
            &known.rule,
            Sizes { total, parts, steps: steps as usize, group },
            [given[0].clone(), given[1].clone()],
            outputs,
        )
    });
    made.outputs = vec![words(&p), words(&[m, v, kept].concat()), vec![5, 1, 6, cursor], vec![0; steps as usize + 2]];
    made
}
