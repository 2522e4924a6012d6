//! Losses: per row, weighted, summed. A row's loss is the mean over its outputs (regression, bce) or its cross-entropy;
//! the step's loss is the sum over rows divided by the sum of their weights.

pub mod pairs;

use crate::autograd::Var;
pub use crate::kernels::mlp::{Loss, PairLoss};
use crate::ops;
use crate::tensor::Tensor;

/// The weighted sum of row losses and the sum of weights, both of shape [1].
///
/// `z` is [rows, outputs]; `y` is [rows, outputs], or [rows, 1] class indices for cross-entropy; `rows` is [rows, 1],
/// the weight of each row; `classes` is [outputs], the weight of each class; `tau` is the threshold of this step, which
/// only pairs ask for.
pub fn sums(loss: Loss, z: &Var, y: &Var, rows: &Var, classes: &Var, tau: &dyn Fn([f32; 2]) -> Var) -> (Var, Var) {
    match loss {
        Loss::CrossEntropy { smoothing } => return cross_entropy(smoothing, z, y, rows, classes),
        Loss::Pairs(loss) => {
            let ((p, q), (yn, yd)) = (pairs::halves(z), pairs::halves(y));
            let wanted = pairs::Pairs { p: &p, q: &q, yn: &yn, yd: &yd, rows };
            let weight = total(rows);
            return (ops::mul(&pairs::total(&loss, &wanted, &tau(loss.tau)), &weight), weight);
        }
        _ => {}
    }
    let share = 1.0 / z.shape().sizes()[1] as f32;
    let each = ops::fused(&[z, y, rows], |v| v[2] * share * expr::of(loss, v[0], v[1]));
    (total(&each), total(rows))
}

/// -Σ_c q_c log p_c with q = (1 - s) onehot(y) + s/C, each term times its class's weight: the meaning of the common
/// libraries, whose mean divides by the sum of the weights of the rows' own classes.
fn cross_entropy(smoothing: f32, z: &Var, y: &Var, rows: &Var, classes: &Var) -> (Var, Var) {
    let count = z.shape().sizes()[1];
    let numbers: Vec<f32> = (0..count).map(|class| class as f32).collect();
    let device = z.value().device();
    let numbers = Tensor::from_f32(device, [1, count], &numbers).expect("a row of class numbers can be uploaded");
    let own = ops::eq(y, &Var::constant(numbers));
    let log_p = ops::log_softmax(z);
    let spread = smoothing / count as f32;
    let each =
        ops::fused(&[&log_p, &own, classes, rows], |v| -(v[0] * v[2] * v[3] * (v[1] * (1.0 - smoothing) + spread)));
    (total(&each), total(&ops::fused(&[&own, classes, rows], |v| v[0] * v[1] * v[2])))
}

fn total(x: &Var) -> Var {
    ops::reshape(&ops::sum(x, 0..x.shape().rank()), [1])
}

mod expr {
    use super::Loss;
    use crate::kernels::program::E;
    use crate::kernels::scalar::expr::{abs, le, log1p, max, select, square};

    pub(super) fn of(loss: Loss, z: E, y: E) -> E {
        match loss {
            Loss::Mse => square(z - y),
            Loss::Mae => abs(z - y),
            Loss::Huber { delta } => {
                let far = abs(z - y);
                select(le(far, delta), 0.5 * far * far, delta * (far - 0.5 * delta))
            }
            Loss::Bce => max(z, 0.0) - z * y + log1p(crate::kernels::scalar::expr::exp(-abs(z))),
            Loss::CrossEntropy { .. } | Loss::Pairs(_) => unreachable!("it is not pointwise"),
        }
    }
}
