//! One update of all parameters at once: g = Σ parts / weight sum, then the optimiser's program for each parameter, and the batch loss into
//! the report. A step's rates are its row of the table at the start of `order`. Where gradients are limited, frozen or summed over a group of steps,
//! `fold` has summed them before, with their norms.

pub mod cases;
pub(super) mod limit;
pub(super) mod piece;
pub(super) mod rule;
pub(super) mod sizes;
mod text;

use std::rc::Rc;

use super::update::optimise;
use crate::device::{Call, Cost, Dispatch, Info, Kernel, View};
use crate::params;
pub use cases::cases;
pub use limit::{Limit, LossScale, SCALE_AT, STATE, UPDATE_WORDS, UpdateState};
pub use piece::{ByHandUpdate, ParameterPiece};
pub use rule::{ByHand, GradientBounds, Rule};
pub use sizes::{FROZEN, LINE_WORDS, RATES, Sizes, TAIL, lines_at};

/// The `optimise` kernel: inputs order, partials (or the sums of `fold`); outputs parameters, moments, control, report.
pub static OPTIMISE: Kernel = Kernel {
    name: "optimise",
    params: Params::FIELDS,
    wgsl: &[crate::wgsl!("optimise")],
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
    in_place: None,
};

params! {
    /// Words of parameters, partial gradients of a step, steps of an epoch and of an update, quads for a workgroup; rows in `order`, tables of rates
    /// in it, figures of norms of all gradients, words that `fold` has summed.
    pub struct Params {
        total: u32,
        parts: u32,
        steps: u32,
        group: u32,
        span: u32,
        rows: u32,
        tables: u32,
        figures: u32,
        folded: u32,
    }
}

/// The launch of the update.
pub fn dispatch(info: &Info, rule: &Rule, sizes: Sizes, inputs: [View; 2], outputs: [View; 4]) -> Dispatch {
    let params = Params {
        total: sizes.total as u32,
        parts: sizes.parts as u32,
        steps: sizes.steps as u32,
        group: sizes.group.max(1) as u32,
        // Quads per workgroup: one for each invocation, since all a step waits for is memory. On a software adapter, starting a workgroup costs more
        // than its work: measured on llvmpipe.
        span: if info.is_software { (sizes.total as u32 / 4).div_ceil(8) } else { 64 },
        rows: sizes.rows as u32,
        tables: sizes.tables as u32,
        figures: sizes.figures as u32,
        folded: sizes.folded as u32,
    };
    let body = Rc::new(rule.clone());
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
    let rule: &Rule = call.body();
    let (order, partials) = (call.inputs[0], call.floats(1));
    let [parameters, moments, control, report] = call.outputs else { unreachable!("the update has four outputs") };
    let Params { total, parts, steps, group, rows, tables, folded, figures, .. } = params;
    let [total, parts, steps, group, rows, tables, folded, figures] =
        [total, parts, steps, group, rows, tables, folded, figures].map(|size| size as usize);
    optimise(
        Sizes { total, parts, steps, group, rows, tables, folded, figures },
        rule,
        order,
        partials,
        [parameters, moments, report].map(|words| bytemuck::cast_slice_mut(words)),
        control,
        call.pool,
    );
}
