//! One update of all parameters at once: g = Σ parts / weight sum, then the optimiser's program for each parameter, and the batch loss into
//! the report. A step's rates are its row of the table at the start of `order`. Where gradients are limited, frozen or summed over a group of steps,
//! `fold` has summed them before, with their norms.

pub mod cases;
mod limit;
mod text;

use std::rc::Rc;
use std::sync::Arc;

use super::common;
use super::update::optimise;
pub use super::update::{ByHandUpdate, ParameterPiece};
use crate::device::{Call, Cost, Dispatch, Info, Kernel, View};
use crate::params;
use crate::program::{Expr, Instruction, Program};
pub use cases::cases;
pub(crate) use limit::Norm;
pub use limit::{Limit, LossScale, SCALE_AT, STATE, UPDATE_WORDS, UpdateState};

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

/// Words after a part's gradients: loss sum, weight sum, and padding to the binding alignment.
pub const TAIL: usize = 64;

/// Sizes of an update.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Words of parameters.
    pub total: usize,
    /// Partial gradients of a step; 1 if `fold` has summed them.
    pub parts: usize,
    /// Steps of an epoch.
    pub steps: usize,
    /// Steps that make one update; the last group of an epoch may have fewer.
    pub group: usize,
    /// Rows whose order follows the first table of rates.
    pub rows: usize,
    /// Tables of rates, one for each group of parameters.
    pub tables: usize,
    /// Words that `fold` has summed: those of the gradients, and perhaps those of the parameters after them.
    pub folded: usize,
    /// Figures of norms whose union is that of all gradients.
    pub figures: usize,
}

/// Numbers per step that a rule reads from the table at the start of `order`.
pub const RATES: usize = 4;
/// The table of a line of parameters that are not changed.
pub const FROZEN: u32 = u32::MAX;
/// Words for each line of parameters at the end of `order`, if there are groups of them: its table, then the first and the end line of its tensor.
pub const LINE_WORDS: usize = 3;

/// Update rule of an optimiser: a program of the mean gradient g, the parameter p, its moments m and v, the distance a of a mean of weights from p,
/// and the step's four rates. Its results are the new p, m, v and a, each computed, the gradient, or as it was; the last is neither read nor written.
#[derive(Clone)]
pub struct Rule {
    /// Inputs [g, p, m, v, a, rate 0, …, rate 3]; results [p, m, v, a].
    pub program: Program,
    /// A hand-written CPU version, where measurements justify it.
    pub by_hand: Option<ByHand>,
    /// How gradients are limited, and what happens to those that are not finite.
    pub bounds: GradientBounds,
    /// Whether parameters are in groups with rates of their own.
    pub is_grouped: bool,
}

/// What is done to the gradients of an update before the optimiser sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GradientBounds {
    /// The limit of their norm.
    pub limit: Limit,
    /// The largest size of each, after that.
    pub largest: Option<f32>,
    /// Whether an update with a gradient that is not finite is left out; otherwise it spoils the parameters, which ends a run.
    pub skips: bool,
    /// Whether `fold` sums gradients for another reason, as where several steps make one update.
    pub is_summed: bool,
    /// What the loss was multiplied by.
    pub scale: Option<LossScale>,
}

impl GradientBounds {
    /// Whether the update needs the sums of `fold`.
    pub fn needs_fold(&self) -> bool {
        self.limit != Limit::None || self.skips || self.is_summed
    }
}

/// A hand-written update from the step's rates; cases check that it equals the program.
pub type ByHand = Arc<dyn Fn([f32; RATES], ParameterPiece<'_>) + Send + Sync>;

impl Rule {
    /// Number of inputs of its program.
    pub const INPUTS: usize = 5 + RATES;

    /// A rule without limits.
    pub fn new(program: Program, by_hand: Option<ByHand>) -> Self {
        Self { program, by_hand, bounds: GradientBounds::default(), is_grouped: false }
    }

    /// For the same parameters, a step of this length up the gradient.
    pub fn uphill(&self, length: f32) -> Self {
        self.of_weights(Limit::Length(length), |p, g, _| p + g)
    }

    /// For the same parameters, the step along directions that come in place of gradients: as far as the first rate times the norm of the tensor.
    pub fn along_directions(&self) -> Self {
        self.of_weights(Limit::Trust, |p, direction, rate| p - rate * direction)
    }

    /// For a second launch of the same update, which is made if the first is: only the weights change, by the weight, what comes in place of its
    /// gradient, and the rates.
    pub fn following(&self, change: impl Fn(Expr, Expr, [Expr; RATES]) -> Expr) -> Self {
        let bounds = GradientBounds {
            skips: self.bounds.skips,
            is_summed: self.bounds.needs_fold(),
            ..GradientBounds::default()
        };
        Self { bounds, is_grouped: self.is_grouped, ..Self::new(of_weights(change), None) }
    }

    /// A rule that only changes the weights: by the weight, its gradient and the first rate.
    fn of_weights(&self, limit: Limit, change: impl Fn(Expr, Expr, Expr) -> Expr) -> Self {
        let program = of_weights(|p, g, rates| change(p, g, rates[0]));
        let bounds = GradientBounds { limit, is_summed: self.bounds.is_summed, ..GradientBounds::default() };
        Self { bounds, is_grouped: self.is_grouped, ..Self::new(program, None) }
    }

    /// Whether it keeps a mean of weights.
    pub fn has_mean(&self) -> bool {
        self.changes(3)
    }

    /// Arrays as long as the parameters in `moments`: both moments, and the distance of a mean of weights if there is one; none if nothing is kept.
    pub fn arrays(&self) -> usize {
        match [1, 2, 3].map(|at| self.changes(at)) {
            [_, _, true] => 3,
            [false, false, false] => 0,
            _ => 2,
        }
    }

    /// Words of `moments` for `total` parameters: the arrays, then what updates remember.
    pub fn moment_words(&self, total: usize) -> usize {
        self.arrays() * total + UPDATE_WORDS
    }

    /// Whether result `at` is the gradient.
    pub(super) fn is_gradient(&self, at: usize) -> bool {
        self.program.code[usize::from(self.program.results[at])] == Instruction::Input(0)
    }

    /// Whether result `at` is not the input that it replaces.
    fn changes(&self, at: usize) -> bool {
        let input = Instruction::Input(at as u16 + 1);
        let place = self.program.code.iter().position(|known| *known == input);
        place.is_none_or(|place| place as u16 != self.program.results[at])
    }
}

/// A program that only changes the weights.
fn of_weights(change: impl Fn(Expr, Expr, [Expr; RATES]) -> Expr) -> Program {
    Program::with_results(Rule::INPUTS, |v| vec![change(v[1], v[0], [v[5], v[6], v[7], v[8]]), v[2], v[3], v[4]])
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

/// Where the words of lines begin in `order`.
pub fn lines_at(sizes: &Sizes) -> usize {
    sizes.rows + RATES * sizes.steps * sizes.tables
}
