//! The plan that evaluates a model after an epoch: the loss on the validation rows, and what its pairs look like.

use super::setup::Setup;
use super::state::{Rows, State, copy, figure_offset};
use crate::autograd::Var;
use crate::device::{Buffer, Device, Plan, View};
use crate::error::Result;
use crate::kernels::cast::{self, Conversion};
use crate::kernels::strict;
use crate::loss;
use crate::model::predictor::{Predictor, decoded};
use crate::model::{Batch, Network};
use crate::nn::Head;
use crate::ops;
use crate::tensor::{DType, Tensor};

/// Evaluates the validation rows with the parameters of each model, and writes the figures behind the batch losses of its report.
pub(crate) fn validation(setup: &Setup<'_>, models: &[(&State, View)]) -> Result<Plan> {
    let (device, data) = (setup.device, setup.data);
    // Without validation rows, the training rows: the training loss of an epoch comes from before each update, so it says nothing about
    // the weights at the epoch's end.
    let evaluated = if data.validation.y.is_empty() { &data.train } else { &data.validation };
    let rows = Rows::upload(setup, evaluated)?;
    let record = |(state, parameters): &(&State, View)| {
        let predictor = Predictor::over(device, setup.network.clone(), vec![parameters.clone()], &setup.settings.loss);
        let tensor = |buffer: &Buffer, columns| Tensor::over(device, buffer.view(), [rows.count, columns]);
        let x = Var::leaf(tensor(&rows.x, data.inputs));
        let values = predictor.outputs(&rows.x, rows.count)?.into_iter().enumerate();
        let outputs: Vec<Var> = values
            .map(|(at, value)| {
                if setup.network.has_own_loss() {
                    differentiable(setup.network, parameters, &x, at, value)
                } else {
                    Var::constant(value)
                }
            })
            .collect();
        let weight = ops::broadcast_to(&Var::constant(Tensor::scalar(device, 1.0)), &[rows.count, 1].into());
        let leaves = setup.network.layout().leaves(device, parameters);
        let named = setup.network.named(&leaves, false);
        let (y, inputs) = (Var::constant(tensor(&rows.y, data.targets)), setup.network.each_input().clone());
        let batch = Batch { x, y, weight, parameters: named, inputs };
        let middle = |[low, high]: [f32; 2]| Var::constant(Tensor::scalar(device, f32::midpoint(low, high)));
        let (loss, weight) = setup.loss_sums(&setup.settings.loss, &outputs, &batch, &middle)?;
        let mut figures = vec![loss, weight];
        if let Some(head) = setup.network.head() {
            figures.extend(pair_figures(device, head, &outputs[0])?);
        }
        for (at, figure) in figures.iter().enumerate() {
            copy(figure, &state.report, figure_offset(setup.steps, at));
        }
        Ok(())
    };
    Ok(device.capture(|| models.iter().try_for_each(record))?.0)
}

/// A value of the model, with its gradient by the inputs: only a loss that asks for derivatives by them runs the model's own ops.
fn differentiable(network: &Network, parameters: &View, x: &Var, output: usize, value: Tensor) -> Var {
    let (network, parameters) = (network.clone(), parameters.clone());
    let rule = move |inputs: &[Var], _: &Var, gradient: &Var| {
        let leaves = network.layout().leaves(gradient.value().device(), &parameters);
        let constants: Vec<Var> = leaves.iter().map(Var::detach).collect();
        let again = network.predict(&constants, &inputs[0])?;
        ops::grad_with_seed(&again[output], gradient, &[&inputs[0]])
    };
    ops::custom("model", &[x], |_| Var::constant(value), rule)
}

/// The share of pairs that are decoded to a number, and the least and the mean |Q|.
fn pair_figures(device: &Device, head: &Head, z: &Var) -> Result<[Var; 3]> {
    let (_, q) = loss::pairs::halves(z);
    // Decoded by the kernel that predictions use, so that this share is that of the predictions.
    let planes = decoded(device, head, z.value(), &[], &[])?.planes;
    let bottoms = Tensor::empty(device, q.shape().clone(), DType::F32);
    let count = bottoms.len();
    let plane = View { words: strict::plane_words(count), ..planes };
    bottoms.launch(cast::dispatch(Conversion::BitToFloat, count as u32, plane, bottoms.view().clone()));
    let is_number = ops::fused(&[&Var::constant(bottoms)], |v| 1.0 - v[0]);
    let size = ops::abs(&q);
    let least = ops::neg(&ops::max(&ops::neg(&size), 0..2));
    Ok([ops::mean(&is_number, 0..2), least, ops::mean(&size, 0..2)])
}
