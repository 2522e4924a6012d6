//! Arithmetic that may divide by zero: a value or ⊥, which absorbs. No NaN and no infinity, in gradients neither.
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::prelude::*;

fn main() -> Result<()> {
    let device = Device::cpu(1);
    let x = Var::leaf(Tensor::from_f32(&device, [4], &[2.0, 0.0, -4.0, 1e-30])?);
    let y = 1.0 / &Masked::from(&x);

    let values = pollster::block_on(y.value().value().to_f32())?;
    let bottom = scm::unpack(&pollster::block_on(y.mask())?, 4);
    for (i, value) in values.iter().enumerate() {
        println!("1 / x[{i}] = {}", if bottom[i] { "⊥".to_owned() } else { value.to_string() });
    }
    // 1e-30 has a quotient, but no slope that is a float, so it is ⊥ as well.
    assert_eq!((values[0], bottom), (0.5, vec![false, true, false, true]));

    let gradient = scm::grad(y.value(), &[&x])?.remove(0).expect("y depends on x");
    println!("d(sum of y)/dx = {:?}", pollster::block_on(gradient.value().to_f32())?);
    Ok(())
}
