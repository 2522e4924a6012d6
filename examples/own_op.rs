//! An op of your own with a gradient of its own: rounding to levels, whose slope is 0 almost everywhere, passes the gradient of the number that it rounds, so
//! that a model with rounded weights can be trained.
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::prelude::*;
use meromorph::program::expr::{floor, le};
use pollster::block_on;

/// x rounded to multiples of 1/4. In the backward pass it is x itself where |x| is at most 2, and a constant beyond.
fn rounded(x: &Var) -> Var {
    let value = |x: &[Var]| ops::fused(&[&x[0]], |v| floor(4.0 * max(-2.0, min(v[0], 2.0)) + 0.5) * 0.25);
    ops::custom("rounded", &[x], value, |x, _value, gradient| {
        let passed = ops::fused(&[&x[0], gradient], |v| le(abs(v[0]), 2.0) * v[1]);
        Ok(vec![Some(passed)])
    })
}

fn main() -> Result<()> {
    // y = 3/4 a - 3/2 b, whose weights are levels.
    let x: Vec<f32> = (0..256_u16).flat_map(|i| [i % 16, i / 16].map(|at| f32::from(at) / 7.5 - 1.0)).collect();
    let y = x.chunks_exact(2).map(|x| 0.75 * x[0] - 1.5 * x[1]).collect();
    let data = Data { inputs: 2, targets: 1, train: Examples { x, y }, ..Data::default() };
    let model =
        Network::function(2, [("weight", Initial::zeros([2, 1]))], |p, x| ops::matmul(x, &rounded(&p["weight"])));
    let settings = TrainerConfig { epochs: 100, batch: 64, lr: 2e-2, ..TrainerConfig::default() };
    let device = Device::cpu(1);
    let mut trainer = Trainer::new(&device, model, settings, data)?;
    block_on(trainer.run(&mut |_| Flow::Continue))?;
    let outputs = block_on(trainer.predict(&[1.0, 0.0, 0.0, 1.0]))?;
    println!("the rounded weights are {} and {}", outputs[0], outputs[1]);
    assert_eq!(outputs, [0.75, -1.5]);

    // A file holds the ops of the value and of its gradient, so that the model predicts and is trained on without this program.
    let model = Model::load(&block_on(trainer.model(None))?.save()?, "rounded.safetensors")?;
    assert_eq!(block_on(model.outputs(&device, &[1.0, 0.0, 0.0, 1.0]))?, outputs);
    Ok(())
}
