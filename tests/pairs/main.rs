//! Models that may divide by zero: losses of pairs against closed formulas and published values, layers and heads, training and its
//! refusals. The numbers in the names are those of the properties that ZeroProofML 0.6's own tests check.

mod curriculum;
#[path = "../devices/mod.rs"]
mod devices;
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

fn near(got: &[f32], wanted: &[f64], relative: f64) {
    assert_eq!(got.len(), wanted.len());
    for (got, wanted) in got.iter().zip(wanted) {
        let error = (f64::from(*got) - wanted).abs();
        assert!(error <= relative * wanted.abs().max(1e-9), "{got} for {wanted}");
    }
}
