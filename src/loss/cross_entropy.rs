//! Cross-entropy of logits against the index y of a class: -w_y Σ_c q_c ln p_c with p the softmax of the outputs and q = (1 - s) onehot(y) + s/C. The
//! mean divides by the sum of w_y. Class weights come with the data; each multiplies the rows of its class, whatever the smoothing, as in Keras and
//! scikit-learn. torch multiplies each term by its own class's weight; with smoothing, a class that weighs more than about C/s times another is then the
//! most probable target of the other's rows too (pytorch issue 104776).

use super::sums::total;
use super::{Compared, Link, LossRecord, Rule, Target};
use crate::autograd::Var;
use crate::kernels::mlp::RowGoal;
use crate::ops;
use crate::program::constants::{Constant, Values};
use crate::tensor::Tensor;

pub(super) static LOSS: LossRecord = LossRecord {
    name: "cross-entropy",
    doc: "Classes, one against all others",
    target: Target::CLASSES,
    link: &Link::SOFTMAX,
    constants: &[Constant::share("smoothing", 0.0, "Share of a class label spread over all classes")],
    rule: Rule::Row {
        sums: |rows, constants| of_classes(&ops::log_softmax(rows.z), rows, smoothing(constants)),
        mean,
        fused: Some(|constants| RowGoal::CrossEntropy { smoothing: smoothing(constants) }),
    },
};

fn smoothing(constants: &Values) -> f32 {
    constants.get("smoothing") as f32
}

/// The sums of a loss of classes, from the logarithms of their probabilities [rows, classes].
pub(super) fn of_classes(log_p: &Var, rows: &Compared<'_>, smoothing: f32) -> (Var, Var) {
    let count = log_p.shape().sizes()[1];
    let numbers: Vec<f32> = (0..count).map(|class| class as f32).collect();
    let device = log_p.value().device();
    let numbers = Tensor::constant(device, [1, count], &numbers);
    let own = ops::eq(rows.y, &Var::constant(numbers));
    let weight = ops::sum(&ops::fused(&[&own, rows.classes, rows.rows], |v| v[0] * v[1] * v[2]), 1..2);
    let spread = smoothing / count as f32;
    let each = ops::fused(&[log_p, &own, &weight], |v| -(v[0] * v[2] * (v[1] * (1.0 - smoothing) + spread)));
    (total(&each), total(&weight))
}

/// The mean of -ln p of the rows' own classes.
fn mean(z: &[f32], y: &[f32], classes: usize) -> f64 {
    let row = |(logits, &class): (&[f32], &f32)| {
        let top = logits.iter().copied().fold(f32::MIN, f32::max);
        let mass: f64 = logits.iter().map(|&z| f64::from(z - top).exp()).sum();
        mass.ln() - f64::from(logits[class as usize] - top)
    };
    z.chunks_exact(classes).zip(y).map(row).sum::<f64>() / y.len().max(1) as f64
}
