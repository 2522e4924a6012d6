//! The engine's contrastive rule against the reference, step by step, and its estimate against the gradient of the loss by `ops::grad`.

use super::oracle::tasks::Task;
use super::oracle::{Geometry, Rates, descend};
use super::properties::learning::score;
use crate::devices::devices;
use crate::noise::noise;
use meromorph::autograd::Var;
use meromorph::contrast::{Bank, Contrast, Cue, Form, Map, Metric, Retrieval, Rotors, States, Update};
use meromorph::device::Device;
use meromorph::model::Network;
use meromorph::optim::{Optimizer, Schedule};
use meromorph::program::expr::{ln, sqrt};
use meromorph::tensor::Tensor;
use meromorph::train::{Data, Examples, Keep, Trainer, TrainerConfig};
use meromorph::{Result, ops};
use pollster::block_on;

pub(super) fn narrow(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

/// Rows [rows, width] with a number as the last column.
fn numbered(values: &[f32], width: usize, number: impl Fn(usize) -> f32) -> Vec<f32> {
    let rows = values.chunks_exact(width).enumerate();
    rows.flat_map(|(row, values)| [values, &[number(row)]].concat()).collect()
}

/// The classes of one-hot rows.
fn classes(rows: &[f32], width: usize) -> Vec<f32> {
    rows.chunks_exact(width).map(|row| row.iter().position(|&x| x == 1.0).expect("a class") as f32).collect()
}

/// The states of rows, as vectors or, for cross-entropy, as classes.
fn shown(one_hot: Vec<f32>, states: States) -> Vec<f32> {
    if states == States::Classes { classes(&one_hot, 8) } else { one_hot }
}

/// The rule of a task.
pub(super) fn source(task: &Task, states: States) -> Result<Contrast> {
    let retrieval = &task.energy.retrieval;
    Ok(Contrast {
        map: Map::new(8, Form::Metric(Metric::Diagonal, Some(Rotors::ring(8, 8)?)))?,
        retrieval: Retrieval { sharpness: 5.0, nudge: 0.1, is_symmetric: true, steps: 64, rate: 0.25, epsilon: 1e-8 },
        curvature: 1.0,
        states,
        bank: Bank {
            slots: retrieval.keys.len() / 8,
            keys: narrow(&retrieval.keys),
            states: numbered(&shown(narrow(&retrieval.states), states), states.width(), |row| row as f32),
            grows: false,
        },
        update: Update::Steps { metric: task.rates.metric as f32, angles: task.rates.theta as f32 },
    })
}

/// A run over the first windows of a task.
fn trainer(device: &Device, task: &Task, windows: usize, states: States) -> Result<Trainer> {
    trainer_of(device, task, windows, states, source(task, states)?.network(None))
}

/// The same for a network with a rule.
pub(super) fn trainer_of(
    device: &Device,
    task: &Task,
    windows: usize,
    states: States,
    network: Network,
) -> Result<Trainer> {
    let width = states.width();
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for window in 0..windows {
        let rows = task.rows(window);
        x.extend(narrow(&rows.batch.queries));
        y.extend(numbered(&shown(narrow(&rows.batch.targets), states), width, |_| -1.0));
    }
    let count = x.len() / 8;
    let data = Data { inputs: 8, targets: width + 1, train: Examples { x, y }, ..Data::default() };
    let config = TrainerConfig { epochs: 1, batch: 32, patience: 0, keep: Keep::Last, ..TrainerConfig::default() };
    let mut trainer = Trainer::new(device, network, config, data)?;
    trainer.shuffle_with(move |_| (0..count as u32).collect());
    Ok(trainer)
}

/// The metric and the angles.
pub(super) fn geometry(trainer: &Trainer) -> Result<Geometry> {
    let flat = block_on(trainer.parameters())?;
    let part = |name: &str| -> Vec<f64> {
        let all = &trainer.network().layout().parameters;
        let parameter = all.iter().find(|parameter| parameter.name == name).expect("a parameter of the map");
        flat[parameter.offset..][..8].iter().map(|&value| f64::from(value)).collect()
    };
    let metric = part("log_metric").iter().map(|log| log.exp()).collect();
    Ok(Geometry { metric, theta: part("angles") })
}

/// Over 100 windows of the tasks, each step from the engine's own parameters is that of the reference within 1e-4. At a tenth of the rates so are the
/// parameters after all of them; at the full rates the tasks amplify the rounding of f32 from window to window.
#[test]
fn steps_are_those_of_the_reference() -> Result<()> {
    for device in devices(&[1, 2]) {
        for task in [Task::metric(1, 64), Task::rotation(2, 64)] {
            let mut slow = task.clone();
            slow.rates = Rates { metric: 0.1 * task.rates.metric, theta: 0.1 * task.rates.theta };
            for (task, is_path) in [(task, false), (slow, true)] {
                let mut trainer = trainer(&device, &task, 100, States::Vectors(8, Cue::Squared))?;
                let mut expected = task.geometry();
                for window in 0..100 {
                    trainer.advance(1)?;
                    let gradient = task.energy.contrast(&expected, &task.rows(window).batch, task.nudge);
                    assert!(descend(&mut expected, &gradient, task.rates));
                    let got = geometry(&trainer)?;
                    let worst = apart(&got, &expected);
                    let name = &device.info().device;
                    assert!(worst < 1e-4, "{name}, window {window}: {worst:e} from {expected:?}");
                    if !is_path {
                        expected = got;
                    }
                }
            }
        }
    }
    Ok(())
}

/// The largest difference, relative to values above 1.
pub(super) fn apart(got: &Geometry, expected: &Geometry) -> f64 {
    let pairs = got.metric.iter().chain(&got.theta).zip(expected.metric.iter().chain(&expected.theta));
    pairs.map(|(got, expected)| (got - expected).abs() / expected.abs().max(1.0)).fold(0.0, f64::max)
}

/// The engine learns the tasks of the specification from five seeds each in 200 windows, judged by the reference on rows that no window has seen.
#[test]
fn the_tasks_are_learned() -> Result<()> {
    let device = Device::cpu(2);
    let learned = |task: &Task| -> Result<[f64; 2]> {
        let mut trainer = trainer(&device, task, 200, States::Vectors(8, Cue::Squared))?;
        trainer.advance(200)?;
        Ok(score(task, &geometry(&trainer)?))
    };
    for seed in 1..=5 {
        let [loss, accuracy] = learned(&Task::metric(seed, 256))?;
        assert!(accuracy == 1.0 && loss < 1e-3, "metric, seed {seed}: loss {loss}, accuracy {accuracy}");
        let [loss, accuracy] = learned(&Task::rotation(seed, 256))?;
        assert!(accuracy >= 0.94, "rotation, seed {seed}: loss {loss}, accuracy {accuracy}");
        let control = Task::control(seed, 256);
        let before = score(&control, &control.geometry());
        let after = learned(&control)?;
        assert!(after[0] < before[0] && after[1] >= before[1], "control, seed {seed}: {before:?} to {after:?}");
    }
    Ok(())
}

/// The loss of the free phase in ops, and its gradient by the map's parameters.
fn exact(device: &Device, contrast: &Contrast, parameters: &[Var], x: &[f32], y: &[f32]) -> Result<Vec<f32>> {
    let (map, n) = (contrast.map, contrast.map.inputs);
    let constant = |values: &[f32], shape: [usize; 2]| Var::constant(Tensor::constant(device, shape, values));
    let (rows, keys) = (x.len() / n, contrast.bank.keys.len() / n);
    let matrix = map.matrix(parameters);
    let queries = ops::product(&constant(x, [rows, n]), &matrix, false, true);
    let memory = ops::product(&constant(&contrast.bank.keys, [keys, n]), &matrix, false, true);
    let m = map.outputs();
    let apart = ops::fused(&[&ops::reshape(&queries, [rows, 1, m]), &ops::reshape(&memory, [1, keys, m])], |v| {
        (v[0] - v[1]) * (v[0] - v[1])
    });
    let squares = ops::reshape(&ops::sum(&apart, 2..3), [rows, keys]);
    let (sharpness, epsilon) = (contrast.retrieval.sharpness * contrast.curvature, contrast.retrieval.epsilon);
    let weights = ops::softmax(&ops::fused(&[&squares], |v| -sharpness * sqrt(v[0] + epsilon)));
    let one_hot = |values: &[f32]| -> Vec<f32> {
        let class =
            |row: &[f32]| (0..CLASSES).map(|class| f32::from(u8::from(row[0] == class as f32))).collect::<Vec<_>>();
        match contrast.states {
            States::Classes => values.chunks_exact(2).flat_map(class).collect(),
            States::Vectors(width, _) | States::Halves(width, _) => {
                values.chunks_exact(width + 1).flat_map(|row| row[..width].to_vec()).collect()
            }
        }
    };
    let mix = ops::matmul(&weights, &constant(&one_hot(&contrast.bank.states), [keys, CLASSES]));
    let target = constant(&one_hot(y), [rows, CLASSES]);
    let losses = match contrast.states {
        States::Classes => ops::fused(&[&ops::sum(&ops::mul(&mix, &target), 1..2)], |v| -ln(v[0] + 1e-3)),
        _ => ops::sum(&ops::fused(&[&mix, &target], |v| 0.5 * (v[0] - v[1]) * (v[0] - v[1])), 1..2),
    };
    let found = ops::grad(&ops::mean(&losses, 0..2), &parameters.iter().collect::<Vec<_>>())?;
    let mut all = Vec::new();
    for gradient in found.into_iter().flatten() {
        all.extend(block_on(gradient.value().to_f32())?);
    }
    Ok(all)
}

const CLASSES: usize = 3;

/// A window of 24 rows in 8 coordinates against a memory of 60, of three classes.
fn contrast(form: Form, states: States, nudge: f32, is_symmetric: bool) -> Result<Contrast> {
    Ok(Contrast {
        map: Map::new(8, form)?,
        retrieval: Retrieval { sharpness: 2.0, nudge, is_symmetric, steps: 64, rate: 0.25, epsilon: 1e-6 },
        curvature: 1.5,
        states,
        bank: Bank { slots: 60, keys: noise(60 * 8, 4), states: labels(60, states), grows: false },
        update: Update::Optimizer,
    })
}

/// The classes of rows, as states with numbers: in memory no row of a window has them.
fn labels(rows: usize, states: States) -> Vec<f32> {
    let number = |row: usize| if rows == 60 { row as f32 } else { -1.0 };
    let class = |row: usize| match states {
        States::Classes => vec![(row % CLASSES) as f32],
        _ => (0..CLASSES).map(|class| f32::from(u8::from(row % CLASSES == class))).collect(),
    };
    (0..rows).flat_map(|row| [class(row), vec![number(row)]].concat()).collect()
}

/// How far the step of a window is from the gradient of the loss, relative to its norm.
fn estimate_error(device: &Device, make: impl Fn() -> Result<Contrast>) -> Result<f64> {
    let (x, y) = (noise(24 * 8, 3), labels(24, make()?.states));
    let targets = make()?.states.width() + 1;
    let data = Data { inputs: 8, targets, train: Examples { x: x.clone(), y: y.clone() }, ..Data::default() };
    let config = TrainerConfig {
        epochs: 1,
        batch: 24,
        patience: 0,
        optimizer: Optimizer::sgd(0.0)?,
        schedule: Schedule::CONSTANT,
        lr: 1.0,
        ..TrainerConfig::default()
    };
    let network = make()?.network(None);
    // Away from the start, where a metric has equal weights and no rotation.
    let start: Vec<f32> = noise(network.layout().total, 9).iter().map(|x| 0.3 * x).collect();
    let mut trainer = Trainer::with_parameters(device, network, config, data, &start)?;
    let before = block_on(trainer.parameters())?;
    trainer.advance(1)?;
    let after = block_on(trainer.parameters())?;
    let (mut got, mut leaves) = (Vec::new(), Vec::new());
    for one in &trainer.network().layout().parameters {
        let range = one.offset..one.offset + one.shape.len();
        got.extend(range.clone().map(|at| before[at] - after[at]));
        leaves.push(Var::leaf(Tensor::constant(device, one.shape.clone(), &before[range])));
    }
    let expected = exact(device, &make()?, &leaves, &x, &y)?;
    assert_eq!(got.len(), expected.len());
    let norm = |values: Vec<f32>| values.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    Ok(norm(got.iter().zip(&expected).map(|(got, expected)| got - expected).collect()) / norm(expected))
}

/// At b = 1e-2 the symmetric estimate is within 5e-4 of the gradient of the loss, for every form of the map; one-sided it is off by some percent.
#[test]
fn the_estimate_is_the_gradient_of_the_loss() -> Result<()> {
    let forms = [
        Form::Metric(Metric::Diagonal, None),
        Form::Metric(Metric::Diagonal, Some(Rotors::ring(8, 6)?)),
        Form::Metric(Metric::Diagonal, Some(Rotors::butterfly(8)?)),
        Form::Metric(Metric::Block(2), Some(Rotors::ring(8, 7)?)),
        Form::Metric(Metric::LowRank(3), None),
        Form::Linear(5),
    ];
    for device in devices(&[1]) {
        for form in forms {
            // The slope of a cross-entropy is that of 1 / p: its nudges are larger.
            let halves = States::Halves(CLASSES, Cue::Squared);
            for (states, nudge) in
                [(States::Vectors(CLASSES, Cue::Squared), 1e-2), (halves, 1e-2), (States::Classes, 3e-3)]
            {
                let error = |is_symmetric| estimate_error(&device, || contrast(form, states, nudge, is_symmetric));
                let [symmetric, one_sided] = [error(true)?, error(false)?];
                let name = &device.info().device;
                assert!(symmetric < 5e-4, "{name}, {form:?}, {states:?}: {symmetric}");
                assert!((2e-3..0.1).contains(&one_sided), "{name}, {form:?}, {states:?}: {one_sided}");
            }
        }
    }
    Ok(())
}
