//! Trajectories step by step: those of torch, and that of the paper of NovoGrad.

use super::{KINDS, optimizer, settings};
use crate::devices::devices;
use meromorph::model::{Initial, Network};
use meromorph::nn::{Activation, Layout, Spec};
use meromorph::optim::Schedule;
use meromorph::train::{Data, Examples, Flow, Trainer, TrainerConfig};
use meromorph::{Result, ops};
use pollster::block_on;

/// A name in `torch_optimizers.txt`, the optimiser, its constants and learning rate.
type Known = (&'static str, &'static str, &'static [(&'static str, f32)], f64);

const TORCH: [Known; 4] = [
    ("muon", "muon", &[], 0.002),
    ("muon-rms", "muon", &[("nesterov", 0.0), ("match_rms", 1.0), ("weight_decay", 0.0)], 0.002),
    ("adafactor", "adafactor", &[], 0.01),
    (
        "adafactor-decay",
        "adafactor",
        &[("beta2_decay", -0.6), ("least_rms", 0.02), ("largest_rms", 1.1), ("weight_decay", 0.05)],
        0.01,
    ),
];

/// sin(first), sin(first + 1), … rounded to f32, as in `torch_optimizers.py`.
fn sines(count: usize, first: usize) -> Vec<f32> {
    (first..first + count).map(|at| (at as f64).sin() as f32).collect()
}

/// Parameters in order, without padding, after so many updates.
fn known(name: &str, steps: usize) -> Vec<f64> {
    let text = include_str!("../../data/torch_optimizers.txt");
    let start = format!("{name} {steps} ");
    let line = text.lines().find_map(|line| line.strip_prefix(start.as_str())).expect("a line of that name");
    line.split(' ').map(|value| value.parse().expect("a number")).collect()
}

#[test]
fn trajectories_are_those_of_torch() -> Result<()> {
    let spec = Spec::mlp(3, &[4, 3], 1, Activation::tanh());
    let layout = Layout::of(&spec);
    let mut flat = vec![0.0; layout.total];
    let mut first = 1;
    for parameter in &layout.parameters {
        let count = parameter.shape.len();
        let values = sines(count, first).into_iter().map(|value| value / 2.0);
        flat[parameter.offset..][..count].iter_mut().zip(values).for_each(|(p, value)| *p = value);
        first += count;
    }
    let data =
        Data { inputs: 3, targets: 1, train: Examples { x: sines(24, 100), y: sines(8, 200) }, ..Data::default() };
    for device in devices(&[1, 2]) {
        for kind in KINDS {
            for (name, method, constants, lr) in TORCH {
                let config = TrainerConfig {
                    optimizer: optimizer(method, constants),
                    schedule: Schedule::CONSTANT,
                    lr,
                    batch: 8,
                    step: Some(kind),
                    epochs: 101,
                    patience: 0,
                    ..TrainerConfig::default()
                };
                let mut trainer = Trainer::with_parameters(&device, spec.clone(), config, data.clone(), &flat)?;
                trainer.shuffle_with(|_| (0..8).collect());
                for (more, steps, most) in [(10, 10, 1e-6), (90, 100, 1e-4)] {
                    // An epoch is one step, and every epoch has rates of its own.
                    for _ in 0..more {
                        block_on(trainer.epoch(&mut |_| Flow::Continue))?;
                    }
                    let got = block_on(trainer.parameters())?;
                    let got = layout.parameters.iter().flat_map(|parameter| layout.slice(parameter, &got));
                    let apart = got.zip(known(name, steps)).map(|(got, expected)| (f64::from(*got) - expected).abs());
                    let worst = apart.fold(0.0, f64::max);
                    assert!(worst < most, "{name} {kind:?} on {}, {steps} steps: {worst:e}", device.info().device);
                }
            }
        }
    }
    Ok(())
}

/// Σ over rows of (p - y)²/rows has the gradient 2 (p - mean y) by each entry of p, whatever x is.
#[test]
fn novograd_follows_its_paper() -> Result<()> {
    let (rows, x) = (4, vec![1.0; 4]);
    let y = [1.0_f32, -2.0, 0.5, 3.0, 2.0, -1.0, 1.5, 1.0, 0.0, 0.0, 1.0, 2.0];
    let mean = |output: usize| y.iter().skip(output).step_by(3).map(|y| f64::from(*y)).sum::<f64>() / rows as f64;
    let (lr, beta1, beta2, decay) = (0.05, 0.9, 0.8, 0.1);
    let (mut p, mut m, mut v) = ([[0.5, -1.0, 2.0], [0.0; 3]], [[0.0; 3]; 2], [0.0; 2]);
    for _ in 0..20 {
        let outputs: [f64; 3] = std::array::from_fn(|at| p[0][at] + p[1][at]);
        let g: [f64; 3] = std::array::from_fn(|at| 2.0 * (outputs[at] - mean(at)) / 3.0);
        for tensor in 0..2 {
            let square = g.iter().map(|g| g * g).sum::<f64>();
            v[tensor] = if v[tensor] == 0.0 { square } else { beta2 * v[tensor] + (1.0 - beta2) * square };
            for at in 0..3 {
                m[tensor][at] = beta1 * m[tensor][at] + g[at] / (v[tensor].sqrt() + 1e-8);
                p[tensor][at] = p[tensor][at] * (1.0 - lr * decay) - lr * m[tensor][at];
            }
        }
    }
    let data = Data { inputs: 1, targets: 3, train: Examples { x, y: y.to_vec() }, ..Data::default() };
    let parameters = [("weight", Initial::values([1, 3], [0.5, -1.0, 2.0])), ("bias", Initial::zeros([3]))];
    let constants = [("beta1", beta1 as f32), ("beta2", beta2 as f32), ("weight_decay", decay as f32)];
    let optimizer = optimizer("novograd", &constants);
    let config =
        TrainerConfig { optimizer, schedule: Schedule::CONSTANT, lr, batch: 4, ..settings("novograd", KINDS[1]) };
    for device in devices(&[1]) {
        let network = Network::function(1, parameters.clone(), |p, x| &ops::matmul(x, &p["weight"]) + &p["bias"]);
        let mut trainer = Trainer::new(&device, network, config.clone(), data.clone())?;
        trainer.advance(20)?;
        let flat = block_on(trainer.parameters())?;
        let got = [[flat[0], flat[1], flat[2]], [flat[64], flat[65], flat[66]]].map(|tensor| tensor.map(f64::from));
        let apart = got.iter().flatten().zip(p.iter().flatten()).map(|(got, expected)| (got - expected).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-5, "{}: {got:?} {p:?}", device.info().device);
    }
    Ok(())
}
