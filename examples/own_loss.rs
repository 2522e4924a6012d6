//! A loss and an activation of one's own: formulas, as closures or as text. Fits y = sin 3x with a few outliers.
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::prelude::*;

fn main() -> Result<()> {
    let x: Vec<f32> = (0..512).map(|i| i as f32 / 256.0 - 1.0).collect();
    let y = x.iter().enumerate().map(|(i, x)| if i % 40 == 7 { 5.0 } else { (3.0 * x).sin() }).collect();
    let data = Data { inputs: 1, targets: 1, train: Examples { x, y }, ..Data::default() };

    let mish = Activation::of(|x| x * tanh(softplus(x)));
    let robust = Loss::parse("log(1 + (p - y)^2)")?;
    let settings =
        TrainerConfig { loss: robust, epochs: 300, batch: 64, lr: 5e-3, patience: 0, ..TrainerConfig::default() };

    let device = pollster::block_on(Device::open(&Request::default()))?;
    let mut trainer = Trainer::new(&device, Spec::mlp(1, &[32, 32], 1, mish), settings, data)?;
    pollster::block_on(trainer.run(&mut |_| Flow::Continue))?;

    let predicted = pollster::block_on(trainer.predict(&[0.5]))?[0];
    println!("sin 1.5 = {:.3}, predicted {predicted:.3}", 1.5_f32.sin());
    assert!((predicted - 1.5_f32.sin()).abs() < 0.1, "the outliers at 5 must not pull the fit");
    Ok(())
}
