//! What closures see: parameters, and whether the pass trains.

use super::{config, data, line};
use meromorph::autograd::Var;
use meromorph::device::Device;
use meromorph::model::{Initial, Network};
use meromorph::train::{Flow, StepKind, Trainer, TrainerConfig};
use meromorph::{Result, ops};
use pollster::block_on;

#[test]
fn closures_see_parameters_and_the_pass_and_return_results() -> Result<()> {
    let device = Device::cpu(1);
    let trained = |network: Network| -> Result<Vec<f32>> {
        let mut trainer = Trainer::new(&device, network, config(), data())?;
        block_on(trainer.run(&mut |_| Flow::Continue))?;
        block_on(trainer.parameters())
    };
    let squares = |outputs: &[Var], y: &Var| {
        let error = &outputs[0] - y;
        ops::mul(&error, &error)
    };
    // Losses of rows, and their mean, are the same loss: rows that fill a batch count in neither.
    let mean = trained(line().with_loss(move |z, batch| batch.mean(&squares(z, &batch.y))))?;
    let rows = trained(line().with_loss(move |z, batch| squares(z, &batch.y)))?;
    assert_eq!(rows, mean);
    // A penalty on a parameter in training alone.
    let held = trained(line().with_loss(move |z, batch| -> Result<Var> {
        let rows = squares(z, &batch.y);
        let penalty = ops::mul(batch.parameters.get("b")?, batch.parameters.get("b")?);
        Ok(if batch.is_training() { ops::add(&rows, &ops::fused(&[&penalty], |v| 100.0 * v[0])) } else { rows })
    }))?;
    assert!(held[64].abs() < 0.1 && mean[64] > 0.2, "{} {}", held[64], mean[64]);
    // A perceptron of `ops::layer` alone takes the fused step, but not one that trains otherwise than it predicts.
    let layered = |is_shifted: bool| {
        Network::function(2, [("w", Initial::zeros([1, 2])), ("b", Initial::zeros([1]))], move |p, x| {
            let y = ops::layer(x, &p["w"], Some(&p["b"]), None);
            if is_shifted && p.is_training() { ops::fused(&[&y], |v| v[0] + 1.0) } else { y }
        })
    };
    for (is_shifted, kind) in [(false, StepKind::Fused), (true, StepKind::Recorded)] {
        let trainer = Trainer::new(&device, layered(is_shifted), config(), data())?;
        assert_eq!(trainer.step_kind(), kind);
    }
    // A model that knows whether it trains.
    let noisy = Network::function(2, [("w", Initial::zeros([2, 1])), ("b", Initial::zeros([1]))], |p, x| {
        let shift = if p.is_training() { 1.0 } else { 0.0 };
        ops::fused(&[&ops::matmul(x, &p["w"]), &p["b"]], |v| v[0] + v[1] + shift)
    });
    let mut trainer = Trainer::new(&device, noisy, TrainerConfig { epochs: 200, ..config() }, data())?;
    block_on(trainer.run(&mut |_| Flow::Continue))?;
    // In training b + 1 is the constant 1/2; in prediction b alone.
    let got = block_on(trainer.predict(&[0.0, 0.0]))?[0];
    assert!((got + 0.5).abs() < 0.05, "{got}");
    let failing = line().with_loss(|_, batch| batch.parameters.get("slope").cloned());
    let said = Trainer::new(&device, failing, config(), data()).map(drop).unwrap_err().to_string();
    assert_eq!(said, "train: the loss: network: unknown parameter: got \"slope\", expected one of w, b");
    Ok(())
}
