//! Cases of the update with every optimiser, at its defaults and with every constant changed.

use std::sync::Arc;

use super::{ALL, Motion, Optimizer, State};
use crate::device::Case;
use crate::kernels::optimise::Rule;
use crate::kernels::optimise::cases::{DISTINCT, RuleCase, of_rule};

/// Cases of `optimise`.
pub fn of_update() -> Vec<Case> {
    ALL.iter().flat_map(|method| [Optimizer::new(method), changed(Optimizer::new(method))]).flat_map(cases).collect()
}

/// Changes every constant from its default.
fn changed(mut optimizer: Optimizer) -> Optimizer {
    for constant in optimizer.method.constants {
        let value = match constant.default {
            0.0 if (constant.is_valid)(1.0) => 1.0,
            0.0 => 0.5,
            default if (constant.is_valid)(0.9 * default) => 0.9 * default,
            // A whole number, or a flag.
            default => default - 1.0,
        };
        optimizer = optimizer.with(constant.name, value).expect("in the range of every constant");
    }
    optimizer
}

fn cases(optimizer: Optimizer) -> Vec<Case> {
    let (name, rule, motion) = (format!("{optimizer:?}"), optimizer.rule(None), optimizer.motion());
    let oracle = move |g, [p, m, v, a]: [f64; 4], rates| {
        (optimizer.method.oracle)(&State { g, p, m, v, a, rates }, &optimizer.constants)
    };
    let known = RuleCase { name, rule, oracle: Arc::new(oracle), rates: DISTINCT };
    let mut cases = of_rule(&known);
    if matches!(motion, Motion::OfTensors(motion) if motion.is_of_matrices) {
        let [rate, .., decay] = DISTINCT;
        let (name, rates) = (format!("{} of matrices", known.name), [rate, 0.0, 0.0, decay]);
        cases.extend(of_rule(&RuleCase { name, rates, ..known.clone() }));
    }
    // If there is a hand-written version, the formula is tested as well.
    if known.rule.by_hand.is_some() {
        let rule = Rule { by_hand: None, ..known.rule.clone() };
        cases.extend(of_rule(&RuleCase { name: format!("{} by formula", known.name), rule, ..known }));
    }
    cases
}
