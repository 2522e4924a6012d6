//! The loss of a step: the weighted sum of row losses, in ops.

use super::{Loss, gaussian, kl, pairs};
use crate::autograd::Var;
use crate::ops;
use crate::tensor::Tensor;

/// The weighted sum of row losses and the sum of weights, both of shape [1].
///
/// `z` is [rows, outputs]; `y` is [rows, outputs], [rows, outputs / 2] for [`Loss::Gaussian`], or [rows, 1] class indices for cross-entropy; `rows` is [rows, 1],
/// the weight of each row; `classes` is [outputs], the weight of each class; `tau` is the threshold of this step, which
/// only pair losses use.
pub fn sums(loss: &Loss, z: &Var, y: &Var, rows: &Var, classes: &Var, tau: &dyn Fn([f32; 2]) -> Var) -> (Var, Var) {
    let pointwise = match loss {
        Loss::CrossEntropy { smoothing } => return cross_entropy(*smoothing, z, y, rows, classes),
        Loss::Gaussian => return (total(&gaussian::each(z, y, rows)), total(rows)),
        Loss::KullbackLeibler => return (total(&kl::each(z, y, rows)), total(rows)),
        Loss::Pairs(loss) => {
            let ((p, q), (yn, yd)) = (pairs::halves(z), pairs::halves(y));
            let compared = pairs::Pairs { p: &p, q: &q, yn: &yn, yd: &yd, rows };
            let weight = total(rows);
            return (ops::mul(&pairs::total(loss, &compared, &tau(loss.tau)), &weight), weight);
        }
        Loss::Pointwise(loss) => loss,
    };
    let share = 1.0 / z.shape().sizes()[1] as f32;
    let each = ops::fused(&[z, y, rows], |v| v[2] * share * pointwise.curve.value.emit(&v[..2]));
    (total(&each), total(rows))
}

/// -w_y Σ_c q_c log p_c with q = (1 - s) onehot(y) + s/C; the mean divides by the sum of w_y. The weight multiplies the row, as in Keras
/// and scikit-learn. torch multiplies each term by its own class's weight; with smoothing, a class that weighs more than about C/s times
/// another is then the most probable target of the other's rows too (pytorch issue 104776).
fn cross_entropy(smoothing: f32, z: &Var, y: &Var, rows: &Var, classes: &Var) -> (Var, Var) {
    let count = z.shape().sizes()[1];
    let numbers: Vec<f32> = (0..count).map(|class| class as f32).collect();
    let device = z.value().device();
    let numbers = Tensor::constant(device, [1, count], &numbers);
    let own = ops::eq(y, &Var::constant(numbers));
    let weight = ops::sum(&ops::fused(&[&own, classes, rows], |v| v[0] * v[1] * v[2]), 1..2);
    let log_p = ops::log_softmax(z);
    let spread = smoothing / count as f32;
    let each = ops::fused(&[&log_p, &own, &weight], |v| -(v[0] * v[2] * (v[1] * (1.0 - smoothing) + spread)));
    (total(&each), total(&weight))
}

fn total(x: &Var) -> Var {
    ops::reshape(&ops::sum(x, 0..x.shape().rank()), [1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::error::Result;
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
        let (sum, weight) = sums(&Loss::CrossEntropy { smoothing: 0.2 }, &z, &y, &rows, &classes, &|_| unreachable!());
        let gradient = ops::grad(&sum, &[&z])?[0].clone().expect("a gradient");
        let read = |x: &Var| block_on(x.value().to_f32()).expect("values");
        // Row 0: 1/2 (0.9 (-ln 3/4) + 0.1 (-ln 1/4)), and 1/2 [3/4 - 0.9, 1/4 - 0.1].
        // Row 2: 12 (0.1 (-ln 3/4) + 0.9 (-ln 1/4)), and 12 [3/4 - 0.1, 1/4 - 0.9].
        let (near, far) = (-(0.75_f32.ln()), -(0.25_f32.ln()));
        let loss = 0.5 * (0.9 * near + 0.1 * far) + 12.0 * (0.1 * near + 0.9 * far);
        let got = [read(&sum), read(&weight), read(&gradient)].concat();
        let wanted = [loss, 12.5, -0.075, 0.075, 0.0, 0.0, 7.8, -7.8];
        let is_near = |(got, wanted): (&f32, &f32)| (got - wanted).abs() <= 1e-6 * wanted.abs() + 1e-6;
        assert!(got.len() == wanted.len() && got.iter().zip(&wanted).all(is_near), "{got:?} {wanted:?}");
        Ok(())
    }
}
