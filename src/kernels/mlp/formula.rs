//! Formulas inside the fused kernels, from the same programs on the CPU and as WGSL: a pointwise loss of a tile's outputs, and the functions that
//! fragments call. The CPU applies activations in `kernels/sweep.rs`.

use super::loss::{OutputGradients, Sums};
use crate::kernels::common;
use crate::program::slices::{Registers, Source, WIDTH};
use crate::program::{Curve, ScalarOp};

/// Replaces z by the slope of a loss that is a mean over the outputs. The outputs are first stored contiguously, so that a model with
/// one output fills the lanes too.
pub(super) fn grade(curve: &Curve, registers: &mut Registers<'_, f32>, grade: OutputGradients<'_>) -> Sums {
    let OutputGradients { z, stride, outputs, y, rows, work, .. } = grade;
    let (used, third) = (rows.len() * outputs, work.len() / 3);
    let (own_z, rest) = work.split_at_mut(third);
    let (own_y, slopes) = rest.split_at_mut(third);
    let (own_z, own_y, slopes) = (&mut own_z[..used], &mut own_y[..used], &mut slopes[..used]);
    // By columns: a copy call per short row costs more than copying its words one by one.
    for output in 0..outputs {
        for (row, &sample) in rows.iter().enumerate() {
            own_z[row * outputs + output] = z[row * stride + output];
            own_y[row * outputs + output] = y[sample as usize * outputs + output];
        }
    }
    let share = 1.0 / outputs as f32;
    let mut sum = 0.0;
    for start in (0..used).step_by(WIDTH) {
        let count = WIDTH.min(used - start);
        let source = |at: usize| Source::Slice(if at == 0 { &own_z[start..] } else { &own_y[start..] });
        curve.sloped.evaluate(count, registers, &source);
        sum += common::sum(curve.sloped.value(0, count, registers, &source));
        let slope = curve.sloped.value(1, count, registers, &source);
        slopes[start..start + count].iter_mut().zip(slope).for_each(|(own, slope)| *own = share * slope);
    }
    for output in 0..outputs {
        for row in 0..rows.len() {
            z[row * stride + output] = slopes[row * outputs + output];
        }
    }
    Sums { loss: sum as f32 / outputs as f32, weight: rows.len() as f32 }
}

/// WGSL of `act4` and `act_grad4` and, for a pointwise loss, `loss4`; the function of each operation is defined once.
pub(super) fn wgsl(activation: &Curve, loss: Option<&Curve>) -> Vec<String> {
    let mut ops: Vec<&'static ScalarOp> = Vec::new();
    let mut fragments = Vec::new();
    let mut add = |curve: &Curve| {
        let new: Vec<_> =
            curve.sloped.ops().into_iter().filter(|op| !ops.iter().any(|o| std::ptr::eq(*o, *op))).collect();
        ops.extend(new);
    };
    if let Some(by_hand) = activation.by_hand.wgsl {
        fragments.push(by_hand.to_owned());
    } else {
        add(activation);
        fragments.push(activation.wgsl("act") + crate::wgsl!("common/act_formula"));
    }
    if let Some(loss) = loss {
        add(loss);
        fragments.push(crate::wgsl!("common/loss_mean").to_owned());
        fragments.push(loss.wgsl("loss") + crate::wgsl!("common/loss_formula"));
    }
    if !ops.is_empty() {
        fragments.push(common::SCALAR.to_owned());
        fragments.push(ScalarOp::wgsl_functions(&ops));
    }
    fragments
}
