//! One update of all parameters at once: g = Σ parts / weight sum, then SGD, Adam or AdamW, and the batch loss into the report.
//! AdamW: p *= decay; m = β1 m + (1 - β1) g; v = β2 v + (1 - β2) g²; p -= scale · m / (√v · root + ε).
//! Adam: g += wd · p first, no decay. SGD: g += wd · p; m = momentum · m + g; p -= lr · m (Nesterov: lr · (g + momentum · m)).
//! lr, scale, root and decay are the step's row of the table at the head of `order`. Where a group of steps makes one update, Σ is over all
//! of the group's parts, however many steps it has: those before the last add to sums that are kept behind the moments.

mod cases;

use std::any::Any;
use std::rc::Rc;

use super::common;
use super::mlp::Params;
use super::update::optimise;
use crate::device::{Body, Call, Cost, Dispatch, Info, Kernel, View};
pub use cases::cases;

/// The `optimise` kernel: inputs order, partials; outputs parameters, moments, control, report.
pub static OPTIMISE: Kernel = Kernel {
    name: "optimise",
    params: Params::FIELDS,
    wgsl: &[common::MLP_PARAMS, crate::wgsl!("optimise")],
    cpu: run,
    grid: |dispatch| {
        let params: Params = dispatch.params();
        [(params.total / 4).div_ceil(params.span.max(1)).clamp(1, 4096), 1, 1]
    },
    cost: |dispatch| {
        let params: Params = dispatch.params();
        let total = u64::from(params.total);
        let parts = u64::from(params.parts);
        Cost { flops: total * (parts + 12), bytes: 4 * total * (parts + 6) }
    },
    fuse: None,
};

/// Words after a part's gradients: loss sum, weight sum, and padding to the binding alignment.
pub const TAIL: usize = 64;

/// Words of `moments` over `total` parameters: both moments; with groups also sums of gradients and, in turns, of weights.
pub fn moment_words(total: usize, group: usize) -> usize {
    if group > 1 { 3 * total + TAIL } else { 2 * total }
}

/// Sizes of an update.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Words of parameters.
    pub total: usize,
    /// Partial gradients of a step.
    pub parts: usize,
    /// Steps of an epoch.
    pub steps: usize,
    /// Steps that make one update; the last group of an epoch may have fewer.
    pub group: usize,
}

/// The rule and its numbers that do not change from step to step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Decay comes from the table.
    AdamW {
        /// Decay of the first moment.
        beta1: f32,
        /// Decay of the second moment.
        beta2: f32,
        /// Added to the root of the second moment.
        eps: f32,
    },
    /// Decay is added to the gradient.
    Adam {
        /// Decay of the first moment.
        beta1: f32,
        /// Decay of the second moment.
        beta2: f32,
        /// Added to the root of the second moment.
        eps: f32,
        /// Times p, added to the gradient.
        weight_decay: f32,
    },
    /// Stochastic gradient descent.
    Sgd {
        /// Share of the last direction kept.
        momentum: f32,
        /// Times p, added to the gradient.
        weight_decay: f32,
        /// Looks ahead along the momentum.
        nesterov: bool,
    },
}

impl Body for Rule {
    fn wgsl(&self) -> String {
        let update = match self {
            Self::AdamW { .. } | Self::Adam { .. } => crate::wgsl!("common/adam"),
            Self::Sgd { .. } => crate::wgsl!("common/sgd"),
        };
        format!("const WORKGROUP: u32 = 64u;\n{update}")
    }
}

/// The update's launch.
pub fn dispatch(info: &Info, rule: &Rule, sizes: Sizes, inputs: [View; 2], outputs: [View; 4]) -> Dispatch {
    let mut params: Params = bytemuck::Zeroable::zeroed();
    // A workgroup's share in quads. Starting one costs a software adapter more than its share of the work: measured on llvmpipe.
    params.span = if info.is_software { (sizes.total as u32 / 4).div_ceil(8) } else { 256 };
    params.total = sizes.total as u32;
    params.parts = sizes.parts as u32;
    params.steps = sizes.steps as u32;
    params.group = sizes.group.max(1) as u32;
    match *rule {
        Rule::AdamW { beta1, beta2, eps } => (params.beta1, params.beta2, params.eps) = (beta1, beta2, eps),
        Rule::Adam { beta1, beta2, eps, weight_decay } => {
            (params.beta1, params.beta2, params.eps, params.weight_decay) = (beta1, beta2, eps, weight_decay);
        }
        Rule::Sgd { momentum, weight_decay, nesterov } => {
            (params.momentum, params.weight_decay, params.nesterov) = (momentum, weight_decay, u32::from(nesterov));
        }
    }
    let body = Rc::new(*rule);
    Dispatch {
        kernel: &OPTIMISE,
        body: Some(body),
        params: params.words(),
        inputs: inputs.into(),
        outputs: outputs.into(),
    }
}

fn run(call: Call<'_>) {
    let params: Params = call.params();
    let body: &dyn Any = call.body.expect("an update has a rule");
    let rule = body.downcast_ref().expect("its body is a rule");
    let (order, partials) = (call.inputs[0], call.floats(1));
    let [parameters, moments, control, report] = call.outputs else { unreachable!("the update has four outputs") };
    let [total, parts, steps, group] =
        [params.total, params.parts, params.steps, params.group].map(|size| size as usize);
    optimise(
        Sizes { total, parts, steps, group },
        *rule,
        order,
        partials,
        [parameters, moments, report].map(|words| bytemuck::cast_slice_mut(words)),
        control,
        call.team,
    );
}
