//! Models that may divide by zero: pair losses compared with closed formulas and published values, layers and heads, training and its
//! errors. The numbers in the names are those of the properties that ZeroProofML 0.6's tests check.

mod curriculum;
mod layers;
mod losses;
mod masked;
mod training;

use meromorph::Device;
use meromorph::autograd::Var;
use meromorph::tensor::Tensor;
use pollster::block_on;

/// A column of numbers, tracked.
fn column(device: &Device, values: &[f32]) -> Var {
    Var::leaf(Tensor::from_f32(device, [values.len(), 1], values).unwrap())
}

fn numbers(var: &Var) -> Vec<f32> {
    block_on(var.value().to_f32()).unwrap()
}

fn near(got: &[f32], expected: &[f64], relative: f64) {
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        let error = (f64::from(*got) - expected).abs();
        assert!(error <= relative * expected.abs().max(1e-9), "{got} for {expected}");
    }
}
