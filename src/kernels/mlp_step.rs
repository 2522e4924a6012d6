//! Gradient sums of one batch through a whole perceptron, in one launch: see `shaders/mlp_step.wgsl` for the formulas.

use super::common;
use super::mlp::engine;
use super::mlp::fused::{Choice, Fused};
use super::mlp::params::Params;
use super::mlp::row_goal::RowGoal;
use super::mlp::shape::MlpShape;
use crate::device::{Call, Cost, Dispatch, Kernel, View};

/// The `mlp_step` kernel: inputs x, y, order, parameters, class weights; outputs control, partials, scratch.
pub static MLP_STEP: Kernel = Kernel {
    name: "mlp_step",
    params: Params::FIELDS,
    wgsl: &[common::MLP_PARAMS, common::SMOOTH, crate::wgsl!("mlp_step")],
    cpu: run,
    grid: Choice::grid,
    cost,
    fuse: None,
    in_place: None,
};

/// The launch of the step.
pub fn dispatch(fused: &Fused, goal: RowGoal, inputs: [View; 5], outputs: [View; 3]) -> Dispatch {
    let mut params = fused.params;
    match &goal {
        RowGoal::CrossEntropy { smoothing } => params.smoothing = *smoothing,
        RowGoal::Pairs(rule) => rule.fill(&mut params),
        RowGoal::Pointwise(_) => {}
    }
    Dispatch {
        kernel: &MLP_STEP,
        body: Some(fused.choice(Some(goal))),
        params: params.words(),
        inputs: inputs.into(),
        outputs: outputs.into(),
    }
}

/// Forward pass, weight gradient and input gradient of every layer, except the first layer's input gradient.
fn cost(dispatch: &Dispatch) -> Cost {
    let params: Params = dispatch.params();
    let rows = u64::from(params.batch.min(params.rows));
    let layers = &params.layers[..params.depth as usize];
    let products: u64 = layers.iter().map(|layer| 2 * u64::from(layer[0]) * u64::from(layer[1])).sum();
    let first = 2 * u64::from(layers[0][0]) * u64::from(layers[0][1]);
    let parts = u64::from(params.parts) * u64::from(params.total);
    Cost {
        flops: rows * (3 * products - first),
        bytes: 4 * (u64::from(params.total) + parts + rows * u64::from(params.inputs + params.targets)),
    }
}

fn run(call: Call<'_>) {
    let params: Params = call.params();
    let choice: &Choice = call.body();
    let inputs = [0, 1, 3, 4].map(|at| call.floats(at));
    let order = call.inputs[2];
    let [control, partials, scratch] = call.outputs else { unreachable!("the step has three outputs") };
    let goal = choice.goal.as_ref().expect("a training step has an objective");
    let [x, y, parameters, weights] = inputs;
    let draw = engine::Draw { seed: [params.seed_low, params.seed_high], stream: params.stream };
    engine::step(
        &MlpShape::of(&params, choice.pairs),
        &choice.activation,
        (goal, draw),
        engine::Batch { x, y, order, weights },
        parameters,
        control,
        bytemuck::cast_slice_mut(partials),
        bytemuck::cast_slice_mut(scratch),
        call.pool,
    );
}
