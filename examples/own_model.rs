//! A model of your own, a function of named parameters, with a loss of your own: finds the pole of y = 1.5 / (x - 0.3) from samples.
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::prelude::*;

fn main() -> Result<()> {
    let x: Vec<f32> = (0..400).map(|i| i as f32 / 200.0 - 0.9975).collect();
    let y = x.iter().map(|x| 1.5 / (x - 0.3)).collect();
    let data = Data { inputs: 1, targets: 1, train: Examples { x, y }, ..Data::default() };

    // y = P / Q with P = residue and Q = x - pole. The loss compares P with y Q, so training never divides.
    let parameters = [("residue", Initial::constant([1, 1], 1.0)), ("pole", Initial::zeros([1, 1]))];
    let model = Network::function(1, parameters, |p, x| {
        let numerator = ops::broadcast_to(&p["residue"], x.shape());
        [numerator, x - &p["pole"]]
    });
    let model = model.with_loss(|outputs, batch| {
        let error = ops::fused(&[&outputs[0], &outputs[1], &batch.y], |v| {
            let (p, q, y) = (v[0], v[1], v[2]);
            square(p - y * q) / (1.0 + square(y))
        });
        batch.mean(&error)
    });

    let device = pollster::block_on(Device::open(&Request::default()))?;
    let config = TrainerConfig { epochs: 300, batch: 50, lr: 1e-2, ..TrainerConfig::default() };
    let mut trainer = Trainer::new(&device, model, config, data)?;
    pollster::block_on(trainer.run(&mut |_| Flow::Continue))?;

    let outputs = pollster::block_on(trainer.predict_each(&[0.0, 1.0]))?;
    let (residue, pole) = (outputs[0][0], -outputs[1][0]);
    println!("residue {residue:.4} at {pole:.4}; at x = 1 the value is {:.4}", outputs[0][1] / outputs[1][1]);
    assert!((residue - 1.5).abs() < 0.01 && (pole - 0.3).abs() < 0.01, "expected 1.5 at 0.3");
    Ok(())
}
