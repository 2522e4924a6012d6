//! Simultaneous perturbation: exact for one parameter, near the gradient in the mean of many directions, and silent while steps are accepted.

use super::oracle::tasks::Task;
use super::rule::geometry;
use super::scalar::{rule, trainer};
use crate::devices::devices;
use meromorph::Result;
use meromorph::autograd::Var;
use meromorph::contrast::{Form, Map, Metric, ScalarRule, Spsa, Windowed};
use meromorph::device::Device;
use meromorph::model::{Direction, GradientSource, Initial, Network, SourceStep, Sourced};
use meromorph::ops;
use meromorph::tensor::Tensor;
use meromorph::train::{Data, Examples, Keep, Trainer, TrainerConfig};
use pollster::block_on;

/// The loss Σ a_i θ_i² / 2, by a rule whose own step is to 7 and is accepted or not.
struct Quadratic {
    is_accepted: f32,
}

const CURVATURE: [f32; 4] = [1.0, 2.0, -0.5, 3.0];

impl GradientSource for Quadratic {
    fn name(&self) -> &'static str {
        "quadratic"
    }

    fn step(&self, step: &SourceStep<'_>) -> Result<Sourced> {
        let value = &step.parameters.values()[0];
        let one = |value: f32| Var::constant(Tensor::constant(step.batch.x.value().device(), [1], &[value]));
        let seven = ops::fused(&[value], |v| 0.0 * v[0] + 7.0);
        Ok(Sourced {
            direction: Direction::Parameters { values: vec![seven], is_accepted: Some(one(self.is_accepted)) },
            loss: one(0.0),
            weight: one(1.0),
            state: Vec::new(),
        })
    }
}

impl Windowed for Quadratic {
    fn map(&self) -> Map {
        Map::new(4, Form::Metric(Metric::Diagonal, None)).expect("a map")
    }

    fn loss_at(&self, _: &SourceStep<'_>, parameters: &[Var]) -> Result<Var> {
        let value = &parameters[0];
        let count = value.shape().len();
        let a = Var::constant(Tensor::constant(value.value().device(), [count], &CURVATURE[..count]));
        Ok(ops::sum(&ops::fused(&[&a, value], |v| 0.5 * v[0] * v[1] * v[1]), 0..1))
    }
}

/// What steps of so many directions take from (1, -2, 3, -4), or from its first numbers, in each of so many windows.
fn moves(device: &Device, is_accepted: f32, count: usize, directions: usize, windows: usize) -> Result<Vec<Vec<f32>>> {
    let first = &[1.0, -2.0, 3.0, -4.0][..count];
    let rule = Spsa { rule: Quadratic { is_accepted }, directions, sigma: 0.25, rate: 0.001, seed: 5 };
    let network = Network::function(1, [("theta", Initial::values([count], first))], |parameters, x| {
        ops::matmul(x, &ops::reshape(&ops::sum(&parameters["theta"], 0..1), [1, 1]))
    });
    let data = Data { inputs: 1, targets: 1, train: Examples { x: vec![1.0], y: vec![0.0] }, ..Data::default() };
    let config = TrainerConfig { epochs: 1, batch: 1, patience: 0, keep: Keep::Last, ..TrainerConfig::default() };
    let mut trainer = Trainer::new(device, network.with_source(rule), config, data)?;
    let mut all = Vec::new();
    for _ in 0..windows {
        let before = block_on(trainer.parameters())?;
        trainer.advance(1)?;
        let after = block_on(trainer.parameters())?;
        all.push(before.iter().zip(&after).map(|(before, after)| (before - after) / 0.001).collect());
    }
    Ok(all)
}

#[test]
fn one_parameter_has_its_exact_slope() -> Result<()> {
    for device in devices(&[1]) {
        // d(θ² / 2) = θ = 1, whatever the sign.
        let slope = moves(&device, 0.0, 1, 1, 1)?[0][0];
        assert!((slope - 1.0).abs() < 1e-3, "{slope}");
    }
    Ok(())
}

#[test]
fn the_mean_of_many_directions_is_near_the_gradient() -> Result<()> {
    let expected: [f32; 4] = [1.0, -4.0, -1.5, -12.0];
    let error = |slope: &[f32]| slope.iter().zip(expected).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt();
    for device in devices(&[1]) {
        let few = moves(&device, 0.0, 4, 4, 20)?;
        let many = &moves(&device, 0.0, 4, 256, 2)?;
        // An error of √3 |g| for one direction, and 1 / √256 of it in the mean of 256.
        assert!(many.iter().all(|slope| error(slope) < 3.0), "{many:?}");
        assert!(few.iter().any(|slope| error(slope) > 4.0), "{few:?}");
        // Signs are drawn anew in each step, and are the same in each run.
        assert!(few.windows(2).any(|pair| (pair[0][0] - pair[1][0]).abs() > 1.0), "{few:?}");
        assert_eq!(few, moves(&device, 0.0, 4, 4, 20)?);
    }
    Ok(())
}

#[test]
fn a_step_that_is_accepted_stays_as_it_is() -> Result<()> {
    for device in devices(&[1]) {
        let moved = moves(&device, 1.0, 4, 4, 2)?;
        let expected = [1.0, -2.0, 3.0, -4.0].map(|first: f32| (first - 7.0) / 0.001);
        assert!(moved[0].iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1.0), "{moved:?}");
        assert!(moved[1].iter().all(|step| *step == 0.0), "{moved:?}");
    }
    Ok(())
}

/// The scalar rule rejects a window whose nudged cost is infinite. With the fallback it then goes down its cost.
#[test]
fn a_rejected_window_of_the_scalar_rule_goes_down_its_cost() -> Result<()> {
    let task = Task::control(1, 64);
    let steps = |is_broken: bool, has_fallback: bool| -> Result<Vec<f64>> {
        let run = |rule: ScalarRule| if is_broken { ScalarRule { nudge: 1e38, ..rule } } else { rule };
        let rule = run(ScalarRule { rate: 0.1, steps: 2, ..rule()? });
        let device = Device::cpu(1);
        let mut trainer = if has_fallback {
            let map = Map::new(8, Form::Metric(Metric::Diagonal, Some(rule.rotors)))?;
            let spsa = Spsa { rule, directions: 8, sigma: 0.01, rate: 0.05, seed: 1 };
            let plain = trainer(&device, &task, 10, self::rule()?)?;
            let network = spsa.rule.clone().network()?.with_source(spsa);
            assert_eq!(network.layout().count(), map.parameters(None).len() * 8);
            let mut own = Trainer::new(&device, network, plain.settings().clone(), plain.data().clone())?;
            own.shuffle_with(|_| (0..320).collect());
            own
        } else {
            trainer(&device, &task, 10, rule)?
        };
        trainer.advance(10)?;
        let at = geometry(&trainer)?;
        Ok([at.metric, at.theta].concat())
    };
    assert_eq!(steps(false, true)?, steps(false, false)?);
    let start = [vec![1.0; 8], vec![0.0; 8]].concat();
    assert_eq!(steps(true, false)?, start);
    // Shorter distances cost less.
    let moved = steps(true, true)?;
    assert!(moved[..8].iter().sum::<f64>() < 7.5, "{moved:?}");
    Ok(())
}
