//! Learns y = 1/x with a head that makes pairs (P, Q) and divides only when it predicts: near 0 it says ⊥ instead of a number.
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::prelude::*;
use meromorph::train::lift;

fn main() -> Result<()> {
    let x: Vec<f32> = (0..1000).map(|i| (i as f32 - 499.5) / 250.0).collect();
    let y: Vec<f32> = x.iter().map(|x| if x.abs() < 0.02 { f32::INFINITY } else { 1.0 / x }).collect();
    let data = Data { inputs: 1, targets: 2, train: Examples { x, y: lift(&y, 1, false)? }, ..Data::default() };

    let head = Head {
        decoding: Decoding { tau_infer: 0.05, tau_train: Some(0.15), ..Decoding::default() },
        ..Head::rational(1)
    };
    let spec = Spec::projective(1, &[16, 16], head, Activation::tanh());
    let loss = Loss::Pairs(PairLoss::default());
    let settings = TrainerConfig { loss, epochs: 150, batch: 64, lr: 5e-3, patience: 0, ..TrainerConfig::default() };

    let device = Device::cpu(2);
    let mut trainer = Trainer::new(&device, spec.clone(), settings, data)?;
    pollster::block_on(trainer.run(&mut |_| Flow::Continue))?;
    let parameters = pollster::block_on(trainer.parameters())?;
    let model = Model::new(spec, Loss::Pairs(PairLoss::default()), parameters, None);

    let at = [-1.0, -0.5, 0.0, 0.25, 2.0];
    let decoded = pollster::block_on(model.decoded(&device, &at))?;
    for (i, x) in at.iter().enumerate() {
        let value = if decoded.is_bottom(i) { "⊥".to_owned() } else { format!("{:.3}", decoded.value[i]) };
        println!("1 / {x} = {value}{}", if decoded.gap[i] { " (near a pole)" } else { "" });
    }
    assert!(decoded.is_bottom(2) && !decoded.is_bottom(0), "no value at the pole, one away from it");
    Ok(())
}
