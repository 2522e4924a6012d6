//! Gradients are made of operations, so they have gradients: d²/dx² of sin(x)·x at a few points.
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::prelude::*;

fn main() -> Result<()> {
    let device = Device::cpu(1);
    let x = Var::leaf(Tensor::from_f32(&device, [3], &[0.0, 1.0, 2.0])?);
    let y = &ops::sin(&x) * &x;
    let first = ops::grad(&y, &[&x])?.remove(0).expect("y depends on x");
    let second = ops::grad(&first, &[&x])?.remove(0).expect("so does its gradient");

    let got = pollster::block_on(second.value().to_f32())?;
    let expected: Vec<f32> = [0.0_f32, 1.0, 2.0].iter().map(|x| 2.0 * x.cos() - x * x.sin()).collect();
    println!("got {got:?}, 2 cos x - x sin x = {expected:?}");
    assert!(got.iter().zip(&expected).all(|(got, expected)| (got - expected).abs() < 1e-5));
    Ok(())
}
