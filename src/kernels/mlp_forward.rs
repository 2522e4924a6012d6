//! The forward pass of a whole perceptron in one launch: out[r] = W_last · act(… W_0 x[r] + b_0 …) + b_last, or the pairs
//! made from these outputs, numerators first.

use super::common;
use super::mlp::engine;
use super::mlp::fused::{Choice, Fused};
use super::mlp::params::Params;
use super::mlp::shape::MlpShape;
use crate::device::{Call, Cost, Dispatch, Kernel, View};

/// The `mlp_forward` kernel: inputs x, parameters (on the CPU perhaps packed, see `Mlp::packed`); outputs out, scratch.
pub static MLP_FORWARD: Kernel = Kernel {
    name: "mlp_forward",
    params: Params::FIELDS,
    wgsl: &[common::MLP_PARAMS, common::SMOOTH, crate::wgsl!("mlp_forward")],
    cpu: run,
    grid: Choice::grid,
    cost: |dispatch| {
        let params: Params = dispatch.params();
        let layers = &params.layers[..params.depth as usize];
        let products: u64 = layers.iter().map(|layer| 2 * u64::from(layer[0]) * u64::from(layer[1])).sum();
        let rows = u64::from(params.rows);
        let bytes =
            4 * (rows * u64::from(params.inputs + params.outputs.max(params.targets)) + u64::from(params.total));
        Cost { flops: rows * products, bytes }
    },
    fuse: None,
    in_place: None,
};

/// The launch of the forward pass.
pub fn dispatch(fused: &Fused, inputs: [View; 2], outputs: [View; 2]) -> Dispatch {
    Dispatch {
        kernel: &MLP_FORWARD,
        body: Some(fused.choice(None)),
        params: fused.params.words(),
        inputs: inputs.into(),
        outputs: outputs.into(),
    }
}

fn run(mut call: Call<'_>) {
    let params: Params = call.params();
    let choice: &Choice = call.body();
    let (x, parameters, pool) = (call.floats(0), call.floats(1), call.pool);
    let (shape, weights) = (MlpShape::of(&params, choice.pairs), (parameters, choice.is_packed));
    engine::forward(&shape, &choice.activation, x, weights, call.floats_mut(0), pool);
}
