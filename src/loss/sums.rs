//! The loss of a step: the weighted sum of row losses, in ops.

use super::{Compared, Loss, pairs};
use crate::autograd::Var;
use crate::ops;
use crate::program::Program;

/// The weighted sum of row losses and the sum of weights, both of shape [1].
///
/// `rows.z` is [rows, outputs]; `rows.y` is [rows, values], or [rows, 1] class indices; `tau` is the threshold of this step, which only pair losses use.
pub fn sums(loss: &Loss, rows: &Compared<'_>, tau: &dyn Fn([f32; 2]) -> Var) -> (Var, Var) {
    match loss {
        Loss::Pairs(loss) => {
            let ((p, q), (yn, yd)) = (pairs::halves(rows.z), pairs::halves(rows.y));
            let compared = pairs::Pairs { p: &p, q: &q, yn: &yn, yd: &yd, rows: rows.rows };
            let weight = total(rows.rows);
            (ops::mul(&pairs::total(loss, &compared, &tau(loss.tau)), &weight), weight)
        }
        Loss::Outputs(loss) => loss.sums(rows),
    }
}

/// The sums of a pointwise loss.
pub(super) fn pointwise(value: &Program, rows: &Compared<'_>) -> (Var, Var) {
    let share = 1.0 / rows.z.shape().sizes()[1] as f32;
    let each = ops::fused(&[rows.z, rows.y, rows.rows], |v| v[2] * share * value.emit(&v[..2]));
    (total(&each), total(rows.rows))
}

pub(super) fn total(x: &Var) -> Var {
    ops::reshape(&ops::sum(x, 0..x.shape().rank()), [1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::error::Result;
    use crate::tensor::Tensor;
    use pollster::block_on;

    #[test]
    fn a_class_weight_multiplies_its_rows_and_not_the_smoothed_target() -> Result<()> {
        let device = Device::cpu(1);
        let var = |shape: [usize; 2], values: &[f32]| Tensor::from_f32(&device, shape, values).map(Var::leaf);
        // Softmax is [3/4, 1/4] in each row; classes 0, 0, 1, of which the last row does not count twice but half.
        let ln3 = 3.0_f32.ln();
        let z = var([3, 2], &[ln3, 0.0, ln3, 0.0, ln3, 0.0])?;
        let (y, rows) = (var([3, 1], &[0.0, 0.0, 1.0])?, var([3, 1], &[1.0, 0.0, 0.5])?);
        let classes = var([1, 2], &[0.5, 24.0])?;
        let compared = Compared { z: &z, y: &y, rows: &rows, classes: &classes };
        let (sum, weight) = sums(&Loss::cross_entropy(0.2), &compared, &|_| unreachable!());
        let gradient = ops::grad(&sum, &[&z])?[0].clone().expect("a gradient");
        let read = |x: &Var| block_on(x.value().to_f32()).expect("values");
        // Row 0: 1/2 (0.9 (-ln 3/4) + 0.1 (-ln 1/4)), and 1/2 [3/4 - 0.9, 1/4 - 0.1].
        // Row 2: 12 (0.1 (-ln 3/4) + 0.9 (-ln 1/4)), and 12 [3/4 - 0.1, 1/4 - 0.9].
        let (near, far) = (-(0.75_f32.ln()), -(0.25_f32.ln()));
        let loss = 0.5 * (0.9 * near + 0.1 * far) + 12.0 * (0.1 * near + 0.9 * far);
        let got = [read(&sum), read(&weight), read(&gradient)].concat();
        let expected = [loss, 12.5, -0.075, 0.075, 0.0, 0.0, 7.8, -7.8];
        let is_near = |(got, expected): (&f32, &f32)| (got - expected).abs() <= 1e-6 * expected.abs() + 1e-6;
        assert!(got.len() == expected.len() && got.iter().zip(&expected).all(is_near), "{got:?} {expected:?}");
        Ok(())
    }
}
