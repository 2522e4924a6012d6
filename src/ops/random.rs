//! Random numbers from the counter-based generator: the same on every device for a seed, a stream and a step.

use crate::autograd::Var;
use crate::error::Result;
use crate::kernels::random::{Distribution, dispatch};
use crate::tensor::{DType, Shape, Tensor};

/// 0 with probability `rate`, else 1 / (1 - rate); drawn anew at every step of a replayed plan, whose counters are in `control`.
pub fn dropout_mask(shape: &Shape, rate: f32, seed: u64, stream: u32, control: &Tensor) -> Var {
    Var::constant(drawn(Distribution::Keep(rate), shape, seed, stream, control))
}

/// Uniform in [0, 1); drawn anew at every step of a replayed plan, whose counters are in `control`.
pub fn uniform_each_step(shape: impl Into<Shape>, seed: u64, stream: u32, control: &Tensor) -> Var {
    Var::constant(drawn(Distribution::Uniform, &shape.into(), seed, stream, control))
}

/// Uniform in [0, 1), in steps of 2^-24.
pub fn uniform(device: &crate::Device, shape: impl Into<Shape>, seed: u64, stream: u32) -> Result<Tensor> {
    let still = Tensor::from_u32(device, [4], &[0; 4])?;
    Ok(drawn(Distribution::Uniform, &shape.into(), seed, stream, &still))
}

/// Mean 0, variance 1 (Box and Muller 1958).
pub fn normal(device: &crate::Device, shape: impl Into<Shape>, seed: u64, stream: u32) -> Result<Tensor> {
    let still = Tensor::from_u32(device, [4], &[0; 4])?;
    Ok(drawn(Distribution::Normal, &shape.into(), seed, stream, &still))
}

fn drawn(form: Distribution, shape: &Shape, seed: u64, stream: u32, control: &Tensor) -> Tensor {
    let out = Tensor::empty(control.device(), shape, DType::F32);
    out.launch(dispatch(form, seed, stream, control.view().clone(), out.view().clone()));
    out
}
