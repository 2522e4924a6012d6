//! A loss over `Var` as a function of one flat vector on the host.

use crate::autograd::Var;
use crate::device::{Device, View};
use crate::error::{Error, Result};
use crate::ops;
use crate::tensor::{DType, Shape, Tensor};

/// A loss of parameters of given shapes on a device. A point is their values, one parameter after another. The device computes in f32, so a search
/// over it should have `rounding` near 1e-6. Each evaluation uploads the point and reads one block back.
pub struct FlatLoss<'a> {
    device: Device,
    shapes: Vec<Shape>,
    loss: Box<LossOf<'a>>,
}

type LossOf<'a> = dyn Fn(&[Var]) -> Result<Var> + 'a;

impl<'a> FlatLoss<'a> {
    /// The loss is the sum of what the closure returns for the parameters.
    ///
    /// ```
    /// use meromorph::prelude::*;
    /// use meromorph::train::minimise::{FlatLoss, Lbfgs, lbfgs};
    ///
    /// let device = Device::cpu(1);
    /// // (x - 1)² + (x - 2 y)², minimal at (1, 1/2).
    /// let loss = FlatLoss::new(&device, [[1], [1]], |v| {
    ///     Ok(ops::fused(&[&v[0], &v[1]], |v| square(v[0] - 1.0) + square(v[0] - 2.0 * v[1])))
    /// });
    /// let settings = Lbfgs { rounding: 1e-6, ..Lbfgs::default() };
    /// let found = pollster::block_on(lbfgs(&[0.0, 0.0], &settings, async |x| loss.at(x).await))?;
    /// assert!((found.x[0] - 1.0).abs() < 1e-3 && (found.x[1] - 0.5).abs() < 1e-3);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new<S: Into<Shape>>(
        device: &Device,
        shapes: impl IntoIterator<Item = S>,
        loss: impl Fn(&[Var]) -> Result<Var> + 'a,
    ) -> Self {
        Self { device: device.clone(), shapes: shapes.into_iter().map(Into::into).collect(), loss: Box::new(loss) }
    }

    /// The value and the gradient at a point.
    pub async fn at(&self, x: &[f64]) -> Result<(f64, Vec<f64>)> {
        let parameters = self.parameters(x)?;
        let loss = (self.loss)(&parameters)?;
        let (value, gradient) = (sum(&loss), ops::vjp(&[&loss], &refs(&parameters), &[&ones(&loss)])?);
        let all = self.read([&value].into_iter().chain(&gradient)).await?;
        Ok((all[0], all[1..].to_vec()))
    }

    /// The value, the gradient and an estimate of the diagonal of the Hessian from `probes` vectors of signs, drawn from `seed`
    /// (`ops::hutchinson_diagonal`); with 0 probes the exact diagonal (`ops::hessian_diagonal`).
    pub async fn with_diagonal(&self, x: &[f64], probes: u32, seed: u64) -> Result<super::Diagonal> {
        let parameters = self.parameters(x)?;
        let loss = (self.loss)(&parameters)?;
        let (value, gradient) = (sum(&loss), ops::vjp(&[&loss], &refs(&parameters), &[&ones(&loss)])?);
        let diagonal = |parameter: &Var| match probes {
            0 => ops::hessian_diagonal(&loss, parameter),
            _ => Ok(ops::hutchinson_diagonal(&loss, parameter, probes, seed)?.0),
        };
        let diagonal: Vec<Var> = parameters.iter().map(diagonal).collect::<Result<_>>()?;
        let all = self.read([&value].into_iter().chain(&gradient).chain(&diagonal)).await?;
        let (gradient, diagonal) = all[1..].split_at(x.len());
        Ok((all[0], gradient.to_vec(), diagonal.to_vec()))
    }

    fn parameters(&self, x: &[f64]) -> Result<Vec<Var>> {
        let count: usize = self.shapes.iter().map(Shape::len).sum();
        if x.len() != count {
            return Err(Error::usage(format!("loss: got a point of {} elements, expected {count}", x.len())));
        }
        let mut rest = x;
        let mut parameter = |shape: &Shape| {
            let (own, others) = rest.split_at(shape.len());
            rest = others;
            let values: Vec<f32> = own.iter().map(|value| *value as f32).collect();
            Ok(Var::leaf(Tensor::from_f32(&self.device, shape, &values)?))
        };
        self.shapes.iter().map(&mut parameter).collect()
    }

    /// Values of all, from one readback.
    async fn read(&self, all: impl Iterator<Item = &Var>) -> Result<Vec<f64>> {
        let all: Vec<&Tensor> = all.map(Var::value).collect();
        let block = Tensor::empty(&self.device, [all.iter().map(|part| part.len()).sum::<usize>()], DType::F32);
        let mut offset = block.view().offset;
        for part in all {
            part.copy_into(&View { buffer: block.view().buffer.clone(), offset, words: part.len() });
            offset += part.len();
        }
        Ok(block.to_f32().await?.into_iter().map(f64::from).collect())
    }
}

fn refs(vars: &[Var]) -> Vec<&Var> {
    vars.iter().collect()
}

fn sum(loss: &Var) -> Var {
    ops::sum(loss, 0..loss.shape().rank())
}

fn ones(loss: &Var) -> Var {
    ops::broadcast_to(&ops::constant(loss, 1.0), loss.shape())
}
