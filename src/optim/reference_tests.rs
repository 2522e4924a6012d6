//! Trajectories of optimisers that torch does not have, against their papers' formulas in f64.

use super::tests::gradient;
use super::*;

const START: [f64; 4] = [1.0, -2.0, 0.5, 3.0];

/// The state of four parameters of one tensor after so many updates: the engine's program, and for a method that moves tensor by tensor the norms.
fn reached(optimizer: &Optimizer, lr: f64, steps: u64) -> [[f64; 2]; 4] {
    let program = optimizer.rule(None).program;
    let mut state = START.map(|p| [p, 0.0, 0.0, 0.0]);
    for step in 1..=steps {
        let rates = (optimizer.method.rates)(&optimizer.constants, lr, step);
        let g = gradient(state.map(|[p, ..]| p));
        let next: Vec<Vec<f64>> =
            (0..4).map(|at| program.at(&[&[g[at]], &state[at][..], &rates[..]].concat())).collect();
        let norm = |values: &dyn Fn(usize) -> f64| (0..4).map(|at| values(at).powi(2)).sum::<f64>().sqrt();
        let trust = norm(&|at| state[at][0]) / norm(&|at| next[at][0]);
        for (state, next) in state.iter_mut().zip(next) {
            let p = if optimizer.motion() == Motion::ByTensor { state[0] - lr * trust * next[0] } else { next[0] };
            *state = [p, next[1], next[2], next[3]];
        }
    }
    state.map(|[p, _, _, a]| [p, p + a])
}

#[test]
fn lamb_follows_its_paper() {
    let optimizer = Optimizer::parse("lamb").unwrap().with_weight_decay(0.1);
    for (steps, most) in [(10, 1e-6), (100, 1e-4)] {
        let (mut p, mut m, mut v) = (START, [0.0; 4], [0.0; 4]);
        for step in 1..=steps {
            let g = gradient(p);
            let mut u = [0.0; 4];
            for at in 0..4 {
                m[at] = 0.9 * m[at] + 0.1 * g[at];
                v[at] = 0.999 * v[at] + 0.001 * g[at] * g[at];
                let (mean, square) = (m[at] / (1.0 - 0.9_f64.powi(step)), v[at] / (1.0 - 0.999_f64.powi(step)));
                u[at] = mean / (square.sqrt() + 1e-8) + 0.1 * p[at];
            }
            let norm = |x: &[f64; 4]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let trust = norm(&p) / norm(&u);
            (0..4).for_each(|at| p[at] -= 0.01 * trust * u[at]);
        }
        for (got, expected) in reached(&optimizer, 0.01, steps as u64).iter().zip(p) {
            assert!((got[0] - expected).abs() < most, "{steps} steps: {} {expected}", got[0]);
        }
    }
}

#[test]
fn schedule_free_follows_its_paper() {
    let optimizer = Optimizer::parse("schedule-free").unwrap().with_weight_decay(0.1);
    for (steps, most) in [(10, 1e-6), (100, 1e-4)] {
        let (mut x, mut z, mut v) = (START, START, [0.0; 4]);
        for step in 1..=steps {
            let y: [f64; 4] = std::array::from_fn(|at| 0.1 * z[at] + 0.9 * x[at]);
            let g = gradient(y);
            for at in 0..4 {
                v[at] = 0.999 * v[at] + 0.001 * g[at] * g[at];
                let square = v[at] / (1.0 - 0.999_f64.powi(step));
                z[at] -= 0.02 * (g[at] / (square.sqrt() + 1e-8) + 0.1 * y[at]);
                x[at] += (z[at] - x[at]) / f64::from(step);
            }
        }
        for (at, [y, mean]) in reached(&optimizer, 0.02, steps as u64).into_iter().enumerate() {
            assert!((mean - x[at]).abs() < most, "{steps} steps: {mean} {}", x[at]);
            assert!((y - 0.1 * z[at] - 0.9 * x[at]).abs() < most, "{steps} steps: {y}");
        }
    }
}

#[test]
fn the_relative_step_of_adafactor_falls_with_the_root_of_the_steps() {
    let optimizer = Optimizer::parse("adafactor").unwrap().with_weight_decay(0.5);
    for (lr, step, expected) in [(0.01, 1, [0.01, 1.0, 0.01, 0.995]), (0.9, 16, [0.9, 0.108818821, 0.25, 0.55])] {
        for (got, expected) in optimizer.row(lr, step).into_iter().zip(expected) {
            assert!((got - expected).abs() < 1e-6, "step {step}: {got} {expected}");
        }
    }
}
