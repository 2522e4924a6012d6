//! Equilibrium propagation through layers that settle: its gradient against backpropagation, and what it learns.

use crate::devices::devices;
use crate::noise::noise;
use meromorph::Result;
use meromorph::contrast::Equilibrium;
use meromorph::device::Device;
use meromorph::loss::Loss;
use meromorph::model::{Model, Network};
use meromorph::optim::{Optimizer, Schedule};
use meromorph::train::{Data, Examples, Flow, Trainer, TrainerConfig};
use pollster::block_on;

/// Rows of 6 numbers in three classes: where the largest of three products of two neighbours is.
fn examples(rows: usize, seed: u32) -> Examples {
    let x = noise(6 * rows, seed);
    let class = |x: &[f32]| {
        let products = [x[0] * x[1], x[2] * x[3], x[4] * x[5]];
        (0..3).max_by(|&a, &b| products[a].total_cmp(&products[b])).unwrap_or(0) as f32
    };
    let y = x.chunks_exact(6).map(class).collect();
    Examples { x, y }
}

fn trainer(device: &Device, network: Network, rows: usize, config: TrainerConfig) -> Result<Trainer> {
    let data =
        Data { inputs: 6, targets: 1, train: examples(rows, 5), validation: examples(100, 6), ..Data::default() };
    let config = TrainerConfig { loss: Loss::cross_entropy(0.0), patience: 0, seed: 4, ..config };
    Trainer::new(device, network, config, data)
}

/// The difference that a step of descent at rate 1 makes, relative to that of backpropagation through the settling.
fn gradient_error(device: &Device, hidden: &[usize], nudge: f64) -> Result<f64> {
    // Enough sweeps for both phases to rest.
    let settling = Equilibrium { free_steps: 60, nudged_steps: 60, nudge, ..Equilibrium::new(6, hidden, 3) };
    let moved = |network: Network| -> Result<Vec<f32>> {
        let config = TrainerConfig {
            batch: 50,
            lr: 1.0,
            optimizer: Optimizer::sgd(0.0)?,
            schedule: Schedule::CONSTANT,
            epochs: 1,
            ..TrainerConfig::default()
        };
        let mut trainer = trainer(device, network, 50, config)?;
        let before = block_on(trainer.parameters())?;
        trainer.advance(1)?;
        let after = block_on(trainer.parameters())?;
        Ok(before.iter().zip(&after).map(|(before, after)| before - after).collect())
    };
    let (got, expected) = (moved(settling.clone().network()?)?, moved(settling.backpropagated()?)?);
    let norm = |values: &mut dyn Iterator<Item = f32>| values.map(|x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    let apart = norm(&mut got.iter().zip(&expected).map(|(got, expected)| got - expected));
    Ok(apart / norm(&mut expected.iter().copied()))
}

/// The error falls with the square of the nudge, and rounding sets in below 1e-3.
#[test]
fn the_gradient_is_that_of_backpropagation() -> Result<()> {
    for device in devices(&[2]) {
        for hidden in [&[7][..], &[8, 5], &[6, 5, 4]] {
            let [large, small] = [gradient_error(&device, hidden, 0.1)?, gradient_error(&device, hidden, 0.02)?];
            let name = &device.info().device;
            assert!(small < 5e-4, "{name}, {hidden:?}: {small}");
            assert!((15.0..40.0).contains(&(large / small)), "{name}, {hidden:?}: {large} {small}");
        }
    }
    Ok(())
}

/// It learns what backpropagation learns, and its file predicts without it.
#[test]
fn layers_that_settle_learn_as_by_backpropagation() -> Result<()> {
    let device = Device::cpu(2);
    let settling = Equilibrium::new(6, [48, 24], 3);
    let config = || TrainerConfig { batch: 50, lr: 5e-3, epochs: 60, ..TrainerConfig::default() };
    let test = examples(500, 7);
    let right = |outputs: &[f32]| {
        let rows = outputs.chunks_exact(3).zip(&test.y);
        let best = |row: &[f32]| (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0) as f32;
        rows.filter(|(row, class)| best(row) == **class).count()
    };
    let learned = |network: Network| -> Result<(Trainer, usize)> {
        let mut trainer = trainer(&device, network, 1500, config())?;
        block_on(trainer.run(&mut |_| Flow::Continue))?;
        let right = right(&block_on(trainer.predict(&test.x))?);
        Ok((trainer, right))
    };
    let (trainer, right) = learned(settling.clone().network()?)?;
    let (_, backpropagated) = learned(settling.backpropagated()?)?;
    assert!(right > 430 && right + 25 > backpropagated, "{right} and {backpropagated} of 500");
    let model = Model::load(&block_on(trainer.model(None))?.save()?, "a")?;
    let outputs = block_on(model.outputs(&device, &test.x))?;
    assert_eq!(outputs, block_on(trainer.predict(&test.x))?);
    Ok(())
}

#[test]
fn what_cannot_settle_is_an_error() {
    let said = |settling: Equilibrium| settling.network().map(drop).expect_err("it cannot settle").to_string();
    let sizes = "expected at least 1 input, 1 layer and 2 classes";
    for settling in [
        Equilibrium::new(0, [3], 2),
        Equilibrium::new(2, [], 2),
        Equilibrium::new(2, [0], 2),
        Equilibrium::new(2, [3], 1),
    ] {
        assert!(said(settling).contains(sizes));
    }
    for nudge in [0.0, -1.0, f64::NAN] {
        assert!(said(Equilibrium { nudge, ..Equilibrium::new(2, [3], 2) }).contains("expected a positive one"));
    }
}
