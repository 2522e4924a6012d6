//! Fewer steps: limited gradients, and Newton's method.

use pollster::block_on;

use crate::measures::{noise, settings};
use crate::{Bench, Claim, INPUTS};
use meromorph::Result;
use meromorph::autograd::Var;
use meromorph::nn::{Activation, Spec};
use meromorph::ops;
use meromorph::optim::Optimizer;
use meromorph::program::expr::softplus;
use meromorph::tensor::Tensor;
use meromorph::train::minimise::{FlatLoss, Lbfgs, NewtonDiagonal, lbfgs, newton_diagonal};
use meromorph::train::{Clip, Data, Examples, Flow, GradientConfig, StepKind, Trainer, TrainerConfig};

/// Training rows, of which one in a hundred has a target that is much too large.
const ROWS: usize = 2048;
const EPOCHS: usize = 60;
/// Learning rates that are tried.
const RATES: [f64; 6] = [0.003, 0.01, 0.03, 0.1, 0.3, 1.0];
/// The loss of the clean validation rows to be reached; that of the mean is 0.96.
const GOAL: f64 = 0.2;
/// Parameters of the regression.
const COUNT: usize = 12;

fn spiky() -> Data {
    let part = |rows: usize, seed: u64, spikes: bool| {
        let x = noise(rows * INPUTS, seed);
        let clean = x.chunks_exact(INPUTS).map(|x| x[0] - x[1] * x[2] + (3.0 * x[3]).sin());
        let spike = |(at, y): (usize, f32)| if spikes && at % 100 == 7 { 30.0 * y } else { y };
        Examples { y: clean.enumerate().map(spike).collect(), x }
    };
    Data { inputs: INPUTS, targets: 1, train: part(ROWS, 1, true), validation: part(512, 2, false), ..Data::default() }
}

impl Bench<'_> {
    /// The first epoch after which the clean rows are learned, at the best of the rates; `None` if there is none.
    fn epochs_to_goal(&self, clip: Option<Clip>, seed: u64) -> Result<Option<usize>> {
        let mut best: Option<usize> = None;
        for lr in RATES {
            let epochs = best.unwrap_or(if self.is_quick { 2 } else { EPOCHS });
            let gradients = GradientConfig { clip, ..GradientConfig::default() };
            let optimizer = Optimizer::sgd(0.9)?;
            let step = Some(StepKind::Fused);
            let settings = TrainerConfig { gradients, optimizer, lr, epochs, seed, batch: 32, step, ..settings() };
            let spec = Spec::mlp(INPUTS, &[32, 32], 1, Activation::tanh());
            let mut trainer = Trainer::new(self.device, spec, settings, spiky())?;
            // A rate that is too large ends in numbers that are not finite, and counts as not reached.
            block_on(trainer.run(&mut |_| Flow::Continue))?;
            let reached = trainer.history().iter().position(|epoch| epoch.val_loss.is_some_and(|loss| loss <= GOAL));
            best = reached.map(|at| at + 1).or(best);
        }
        Ok(best)
    }

    pub(crate) fn clipped_steps(&self) -> Result<Vec<Claim>> {
        let seeds = if self.is_quick { 1 } else { 10 };
        let count = |clip: Option<Clip>| -> Result<(f64, usize)> {
            let epochs = (0..seeds).map(|seed| self.epochs_to_goal(clip, seed)).collect::<Result<Vec<_>>>()?;
            let reached = epochs.iter().flatten().count();
            let mut all: Vec<f64> = epochs.into_iter().map(|one| one.map_or(f64::INFINITY, |one| one as f64)).collect();
            all.sort_by(f64::total_cmp);
            Ok((f64::midpoint(all[(all.len() - 1) / 2], all[all.len() / 2]), reached))
        };
        let (plain, plain_reached) = count(None)?;
        let (limited, limited_reached) = count(Some(Clip::Norm { most: 1.0 }))?;
        let fewer = 100.0 * (1.0 - limited / plain);
        let of = |epochs: f64, reached: usize| {
            let median = if epochs.is_finite() { format!("{epochs:.1}") } else { format!("more than {EPOCHS}") };
            format!("{median} epochs ({reached} of {seeds} reach it)")
        };
        let percent =
            if plain.is_finite() && limited.is_finite() { format!(", {fewer:.0} % fewer") } else { String::new() };
        Ok(vec![Claim {
            what: "a limit of the gradient's norm needs at least 20 % fewer steps".into(),
            how: "median epochs until clean rows have a loss of 0.2, 1 % of the training targets 30 times too large, SGD at the best of 6 rates, 10 seeds",
            figure: format!("{} without, {} with{percent}", of(plain, plain_reached), of(limited, limited_reached)),
            is_met: Some(limited.is_finite() && limited <= 0.8 * plain),
        }])
    }

    /// Logistic regression whose inputs have sizes from 1 to 100, so that the curvatures lie 10,000 apart.
    pub(crate) fn newton(&self) -> Result<Vec<Claim>> {
        let rows = if self.is_quick { 64 } else { 1024 };
        let mut x = noise(rows * COUNT, 7);
        for row in x.chunks_exact_mut(COUNT) {
            row.iter_mut().enumerate().for_each(|(at, x)| *x *= 100_f32.powf(at as f32 / (COUNT - 1) as f32));
        }
        let chance = noise(rows, 8);
        let label = |(row, chance): (&[f32], &f32)| {
            let z: f32 = row.iter().enumerate().map(|(at, x)| x / 100_f32.powf(at as f32 / (COUNT - 1) as f32)).sum();
            if z + chance > 0.0 { 1.0 } else { 0.0 }
        };
        let y: Vec<f32> = x.chunks_exact(COUNT).zip(&chance).map(label).collect();
        let [x, y] = [(vec![rows, COUNT], x), (vec![rows, 1], y)]
            .map(|(shape, values)| Tensor::from_f32(self.device, shape, &values).map(Var::constant));
        let (x, y) = (x?, y?);
        let loss = FlatLoss::new(self.device, [[COUNT, 1]], |w| {
            let z = ops::matmul(&x, &w[0]);
            Ok(ops::mean(&ops::reshape(&ops::fused(&[&z, &y], |v| softplus(v[0]) - v[1] * v[0]), [rows]), 0..1))
        });
        let start = vec![0.0; COUNT];
        let settings = Lbfgs { rounding: 1e-6, ..Lbfgs::default() };
        let least = block_on(lbfgs(&start, &settings, async |w| loss.at(w).await))?.value;
        let first = block_on(loss.at(&start))?.0;
        let goal = least + 0.01 * (first - least);
        let most = if self.is_quick { 200 } else { 20_000 };
        let descent = descent(&loss, &start, goal, most)?;
        let benchmark = self.benchmark("iteration");
        let cost = |probes: u32| {
            benchmark.compare(|| block_on(loss.at(&start)), || block_on(loss.with_diagonal(&start, probes, 0)))
        };
        let at_least = if descent == most { "at least " } else { "" };
        let (exact, estimated) =
            (newton_iterations(&loss, &start, goal, 0)?, newton_iterations(&loss, &start, goal, 2)?);
        let fewer = [exact, estimated].map(|iterations| descent as f64 / iterations as f64);
        let costs = [cost(0)?.1.median, cost(2)?.1.median];
        let faster: Vec<f64> = fewer.iter().zip(costs).map(|(fewer, cost)| fewer / cost).collect();
        Ok(vec![
            Claim {
                what: "Newton's method by the diagonal needs at least 3 times fewer iterations than descent".into(),
                how: "iterations to 1 % of the first excess of the loss: logistic regression, 12 inputs whose sizes differ by 100, the best of 24 rates for descent; exact diagonal, and estimated from two vectors of signs",
                figure: format!("{exact} and {estimated} instead of {at_least}{descent}"),
                is_met: Some(fewer.iter().all(|fewer| *fewer >= 3.0)),
            },
            Claim {
                what: "an iteration takes at most twice as long, and the whole at least 50 % less time".into(),
                how: "time of loss, gradient and diagonal over that of loss and gradient, and the whole; exact and estimated",
                figure: format!(
                    "{:.2} and {:.2} times as long, the whole {:.0} and {:.0} times as fast",
                    costs[0], costs[1], faster[0], faster[1]
                ),
                is_met: Some(costs.iter().all(|cost| *cost <= 2.0) && faster.iter().all(|faster| *faster >= 2.0)),
            },
        ])
    }
}

/// Iterations of plain descent at the best rate, at most `most`.
fn descent(loss: &FlatLoss<'_>, start: &[f64], goal: f64, most: usize) -> Result<usize> {
    let mut best = most;
    for power in -14..10 {
        let rate = 2_f64.powi(power);
        let mut w = start.to_vec();
        for iteration in 0..best {
            let (value, gradient) = block_on(loss.at(&w))?;
            if value <= goal {
                best = iteration;
                break;
            }
            // A rate that is too large: the loss has left the bowl.
            if !value.is_finite() || value > 100.0 {
                break;
            }
            w.iter_mut().zip(gradient).for_each(|(w, g)| *w -= rate * g);
        }
    }
    Ok(best)
}

/// Iterations of Newton's method with the diagonal, exact or estimated from so many vectors of signs.
fn newton_iterations(loss: &FlatLoss<'_>, start: &[f64], goal: f64, probes: u32) -> Result<usize> {
    const MOST: usize = 1000;
    let decay = if probes == 0 { 0.0 } else { 0.9 };
    let settings =
        NewtonDiagonal { rate: 0.5, decay, iterations: MOST, gradient_tolerance: 0.0, ..NewtonDiagonal::default() };
    let (mut evaluations, mut reached) = (0, MOST);
    block_on(newton_diagonal(start, &settings, async |w| {
        let found = loss.with_diagonal(w, probes, evaluations as u64).await?;
        if found.0 <= goal {
            reached = reached.min(evaluations);
            // A gradient of 0 ends the search.
            return Ok((found.0, vec![0.0; w.len()], found.2));
        }
        evaluations += 1;
        Ok(found)
    }))?;
    Ok(reached)
}
