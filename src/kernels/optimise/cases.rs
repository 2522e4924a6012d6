//! Cases of `optimise`, and their oracle: one weight's update in f64.

use crate::device::{Case, Expected};
use crate::kernels::evidence::{Cut, Numbers, case, device, within, words};
use crate::kernels::optimise::{self, Rule, Sizes, TAIL};

/// Cases of `optimise`.
pub fn cases() -> Vec<Case> {
    [
        ("AdamW", Rule::AdamW { beta1: 0.9, beta2: 0.999, eps: 1e-8 }),
        ("Adam", Rule::Adam { beta1: 0.8, beta2: 0.99, eps: 1e-6, weight_decay: 0.01 }),
        ("SGD", Rule::Sgd { momentum: 0.0, weight_decay: 0.0, nesterov: false }),
        ("momentum", Rule::Sgd { momentum: 0.9, weight_decay: 0.01, nesterov: false }),
        ("Nesterov", Rule::Sgd { momentum: 0.9, weight_decay: 0.01, nesterov: true }),
    ]
    .into_iter()
    .flat_map(|(name, rule)| {
        let alone = [(64, 1), (8832, 3)].map(|(total, parts)| update_case(name, rule, total, parts, 1));
        // The first of two that is also the epoch's last, the second of three, the last of three.
        let grouped = [2, 4, 3].map(|group| update_case(name, rule, 64, 2, group));
        alone.into_iter().chain(grouped)
    })
    .collect()
}

/// The step at the epoch's third place of three, or of more where groups are longer.
fn update_case(name: &str, rule: Rule, total: usize, parts: usize, group: usize) -> Case {
    let mut numbers = Numbers::new(73);
    let (steps, cursor) = (group.max(3) as u32, 2_u32);
    let place = cursor as usize % group;
    let ends = place + 1 == group || cursor + 1 == steps;
    let rates = [0.01_f32, 0.02, 1.5, if matches!(rule, Rule::AdamW { .. }) { 0.99 } else { 1.0 }];
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
        state if ends => follow(rule, rates.map(f64::from), (sum(i) + before(i)) / weight, state),
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
    let name = format!("{name}, {total} words in {parts} parts, {group} steps an update");
    let mut made = case(name, within(1e-5, 1e-6), vec![order, words(&partials)], expected, |given, out| {
        let outputs = [0, 1, 2, 3].map(|at: usize| out[at].clone());
        optimise::dispatch(
            &device(if parts > 1 { Cut::Coarse } else { Cut::Fine }),
            &rule,
            Sizes { total, parts, steps: steps as usize, group },
            [given[0].clone(), given[1].clone()],
            outputs,
        )
    });
    made.outputs = vec![words(&p), words(&[m, v, kept].concat()), vec![5, 1, 6, cursor], vec![0; steps as usize + 2]];
    made
}

/// The new p, m and v for the mean gradient g.
fn follow(rule: Rule, [lr, scale, root, decay]: [f64; 4], g: f64, [p, m, v]: [f64; 3]) -> [f64; 3] {
    let adam = |beta1: f32, beta2: f32, eps: f32, g: f64, p: f64| {
        let (beta1, beta2) = (f64::from(beta1), f64::from(beta2));
        let (m, v) = (beta1 * m + (1.0 - beta1) * g, beta2 * v + (1.0 - beta2) * g * g);
        [p - scale * m / (v.sqrt() * root + f64::from(eps)), m, v]
    };
    match rule {
        Rule::AdamW { beta1, beta2, eps } => adam(beta1, beta2, eps, g, p * decay),
        Rule::Adam { beta1, beta2, eps, weight_decay } => adam(beta1, beta2, eps, g + f64::from(weight_decay) * p, p),
        Rule::Sgd { momentum, weight_decay, nesterov } => {
            let g = g + f64::from(weight_decay) * p;
            let m = f64::from(momentum) * m + g;
            [p - lr * if nesterov { g + f64::from(momentum) * m } else { m }, m, v]
        }
    }
}
