//! A differential equation as the loss: u' = -2 x u with u(0) = 1, whose solution is e^(-x²). The network is differentiated by its input.
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::prelude::*;

fn main() -> Result<()> {
    // Points at which the equation shall hold; there are no targets.
    let x: Vec<f32> = (0..128).map(|i| i as f32 / 48.0 - 1.333).collect();
    let data = Data { inputs: 1, targets: 1, train: Examples { y: vec![0.0; x.len()], x }, ..Data::default() };

    // u = 1 + x N(x) is 1 at 0, whatever the network N is.
    let network = Network::from(Spec::mlp(1, &[16, 16], 1, Activation::tanh())).with_loss(|outputs, batch| {
        let u = ops::fused(&[&outputs[0], &batch.x], |v| 1.0 + v[0] * v[1]);
        let gradients = ops::grad(&u, &[&batch.x]).expect("every op here has a gradient");
        let slope = gradients[0].as_ref().expect("u depends on x");
        let residual = ops::fused(&[slope, &u, &batch.x], |v| square(v[0] + 2.0 * v[2] * v[1]));
        batch.mean(&residual)
    });

    let config = TrainerConfig { epochs: 600, batch: 128, lr: 2e-2, patience: 0, ..TrainerConfig::default() };
    let mut trainer = Trainer::new(&Device::cpu(1), network, config, data)?;
    pollster::block_on(trainer.run(&mut |_| Flow::Continue))?;

    let points = [-1.2_f32, -0.5, 0.3, 1.0];
    let outputs = pollster::block_on(trainer.predict(&points))?;
    for (x, n) in points.iter().zip(outputs) {
        let (got, expected) = (1.0 + x * n, (-x * x).exp());
        println!("u({x}) = {got:.4}, e^(-x²) = {expected:.4}");
        assert!((got - expected).abs() < 0.02, "the equation must hold");
    }
    Ok(())
}
