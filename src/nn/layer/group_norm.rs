//! Group norm (Wu and He 2018), over groups of neighbouring columns.

use crate::autograd::Var;
use crate::error::Result;
use crate::host::number;
use crate::nn::activation::Activation;
use crate::nn::kind::{LayerKind, NamedNorm, NewParameter, gain_and_bias, wrong};
use crate::nn::pass::Forward;
use crate::ops;
use crate::record;

/// (x - mean) / √(variance + epsilon) of each group of columns of a row, times gain, plus bias, of each column.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupNorm {
    /// The number of groups, a divisor of the columns.
    pub groups: usize,
    /// Added to the variance.
    pub epsilon: f32,
}

record! { GroupNorm { groups, epsilon } }

impl NamedNorm for GroupNorm {
    const NAME: &str = "group";
    const DOC: &str = "Each of 8 groups of columns of a row";

    fn standard() -> Self {
        Self { groups: 8, epsilon: 1e-5 }
    }
}

impl LayerKind for GroupNorm {
    fn kind(&self) -> &'static str {
        "group_norm"
    }

    fn text(&self) -> String {
        format!("group norm of {}", self.groups)
    }

    fn check(&self, width: usize, path: &str) -> Result<()> {
        if self.groups == 0 || !width.is_multiple_of(self.groups) {
            let groups = self.groups;
            return Err(wrong(
                path,
                &format!("group norm of {groups} groups: got {width} values, expected a multiple of {groups}"),
            ));
        }
        if self.epsilon > 0.0 {
            return Ok(());
        }
        let got = number(self.epsilon);
        Err(wrong(path, &format!("group norm's epsilon: got {got}, expected a number above 0")))
    }

    fn parameters(&self, width: usize) -> Vec<NewParameter> {
        gain_and_bias(width)
    }

    fn forward(&self, pass: &mut Forward<'_>, x: Var, _path: &str, _activation: Option<&Activation>) -> Var {
        pass.mask = pass.rows();
        let [rows, width] = [x.shape().sizes()[0], x.shape().sizes()[1]];
        let normal = ops::layer_norm(&ops::reshape(&x, [rows, self.groups, width / self.groups]), self.epsilon);
        ops::fused(&[&ops::reshape(&normal, [rows, width]), &pass.next(), &pass.next()], |v| v[0] * v[1] + v[2])
    }

    fn format(&self) -> u32 {
        3
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::nn::{Layer, Layout, Linear, Pass, Spec, forward};
    use crate::tensor::Tensor;
    use pollster::block_on;

    #[test]
    fn groups_are_normalised_apart() -> Result<()> {
        let device = Device::cpu(1);
        let spec = Spec { inputs: 4, layers: vec![GroupNorm { groups: 2, epsilon: 0.25 }.into()] };
        let layout = Layout::of(&spec);
        let names: Vec<&str> = layout.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        assert_eq!(names, ["layers.0.gain", "layers.0.bias"]);
        let mut flat = vec![0.0_f32; layout.total];
        flat[..4].copy_from_slice(&[1.0, 2.0, 1.0, 1.0]);
        flat[layout.parameters[1].offset..][..4].copy_from_slice(&[0.0, 0.0, 10.0, 0.0]);
        let leaves = layout.leaves(&device, &device.upload(bytemuck::cast_slice(&flat))?);
        let x = Var::constant(Tensor::from_f32(&device, [2, 4], &[1.0, 3.0, 5.0, 5.0, 0.0, 0.0, -2.0, 4.0])?);
        let y = block_on(forward(&spec, &leaves, &x, &Pass::Predict).value().to_f32())?;
        // (1, 3): mean 2, variance 1: ±1 / √1.25. (-2, 4): mean 1, variance 9: ±3 / √9.25.
        let [one, three] = [1.0 / 1.25_f32.sqrt(), 3.0 / 9.25_f32.sqrt()];
        let expected = [-one, 2.0 * one, 10.0, 0.0, 0.0, 0.0, 10.0 - three, three];
        assert!(
            y.iter().zip(expected).all(|(y, expected)| (y - expected).abs() < 1e-6),
            "{y:?}, expected {expected:?}"
        );
        Ok(())
    }

    #[test]
    fn groups_that_do_not_fit_are_an_error() {
        let said = |groups, epsilon| {
            let layers = vec![Linear::new(6).into(), Layer::from(GroupNorm { groups, epsilon })];
            Spec { inputs: 1, layers }.outputs().unwrap_err().to_string()
        };
        assert_eq!(said(4, 1e-5), "model: layers.1: group norm of 4 groups: got 6 values, expected a multiple of 4");
        assert_eq!(said(0, 1e-5), "model: layers.1: group norm of 0 groups: got 6 values, expected a multiple of 0");
        assert_eq!(said(3, 0.0), "model: layers.1: group norm's epsilon: got 0, expected a number above 0");
    }
}
