//! One update of all parameters at once: g = Σ parts / weight sum, then the optimiser's program for each parameter, and the batch loss into
//! the report. A step's rates are its row of the table at the start of `order`. If a group of steps makes one update, Σ is over all
//! parts of all its steps: the steps before the last add to sums that are stored after the moments.

pub mod cases;

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

use super::common;
use super::mlp::Params;
use super::update::optimise;
pub use super::update::{ByHandUpdate, ParameterPiece};
use crate::device::{Body, Call, Cost, Dispatch, Info, Kernel, View};
use crate::program::{Instruction, Program};
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

/// Words of `moments` for `total` parameters: both moments; with groups also sums of gradients and, in two alternating places, of weights.
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

/// Numbers per step that a rule reads from the table at the start of `order`.
pub const RATES: usize = 4;

/// Update rule of an optimiser: a program of the mean gradient g, the parameter p, its moments m and v, and the step's four rates. Its
/// results are the new p, m and v; a moment that is returned unchanged is neither read nor written.
#[derive(Clone)]
pub struct Rule {
    /// Inputs [g, p, m, v, rate 0, …, rate 3]; results [p, m, v].
    pub program: Program,
    /// A hand-written CPU version, where measurements justify it.
    pub by_hand: Option<ByHand>,
}

/// A hand-written update from the step's rates; cases check that it equals the program.
pub type ByHand = Arc<dyn Fn([f32; RATES], ParameterPiece<'_>) + Send + Sync>;

impl Rule {
    /// Number of inputs of its program.
    pub const INPUTS: usize = 4 + RATES;
}

impl Body for Rule {
    fn wgsl(&self) -> String {
        let is_kept = |at: usize| self.program.results[at] != self.place(at);
        let arguments: Vec<String> = (0..Self::INPUTS).map(|at| format!("x{at}: f32")).collect();
        let results: Vec<String> = self.program.results.iter().map(|result| format!("v{result}")).collect();
        let one = format!(
            "fn update_one({}) -> vec3<f32> {{\n{}    return vec3<f32>({});\n}}\n",
            arguments.join(", "),
            self.program.wgsl_statements(),
            results.join(", ")
        );
        let lane = |c: char| {
            let rates: String = (0..RATES).map(|at| format!(", rates[{at}]")).collect();
            format!("    let new_{c} = update_one(g.{c}, p.{c}, m.{c}, v.{c}{rates});\n")
        };
        let store = |at: usize, place: &str| {
            let component = ["x", "y", "z"][at];
            let lanes: Vec<String> = "xyzw".chars().map(|c| format!("new_{c}.{component}")).collect();
            if is_kept(at) { format!("    {place} = vec4<f32>({});\n", lanes.join(", ")) } else { String::new() }
        };
        let read = |at: usize, place: &str| {
            let is_used = self.program.code.contains(&Instruction::Input(at as u16)) && (is_kept(at - 1) || at < 2);
            if is_used { place.to_owned() } else { "vec4<f32>()".to_owned() }
        };
        let lanes: String = "xyzw".chars().map(lane).collect();
        format!(
            "const WORKGROUP: u32 = 64u;\n{}{}{one}fn update(i: u32, n: u32, g: vec4<f32>, rates: vec4<f32>) {{\n    let p = theta[i];\n    let m = {};\n    let v = {};\n{lanes}{}{}{}}}\n",
            common::SCALAR,
            self.program.wgsl_functions(),
            read(2, "moments[i]"),
            read(3, "moments[n + i]"),
            store(0, "theta[i]"),
            store(1, "moments[i]"),
            store(2, "moments[n + i]"),
        )
    }
}

impl Rule {
    /// The instruction that reads the input that result `at` replaces.
    fn place(&self, at: usize) -> u16 {
        let input = Instruction::Input(at as u16 + 1);
        self.program.code.iter().position(|known| *known == input).map_or(u16::MAX, |place| place as u16)
    }
}

/// The launch of the update.
pub fn dispatch(info: &Info, rule: &Rule, sizes: Sizes, inputs: [View; 2], outputs: [View; 4]) -> Dispatch {
    let mut params: Params = bytemuck::Zeroable::zeroed();
    // Quads per workgroup. On a software adapter, starting a workgroup of 256 costs more than its work: measured on llvmpipe.
    params.span = if info.is_software { (sizes.total as u32 / 4).div_ceil(8) } else { 256 };
    params.total = sizes.total as u32;
    params.parts = sizes.parts as u32;
    params.steps = sizes.steps as u32;
    params.group = sizes.group.max(1) as u32;
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
    let body: &dyn Any = call.body.expect("an update has a rule");
    let rule: &Rule = body.downcast_ref().expect("its body is a rule");
    let (order, partials) = (call.inputs[0], call.floats(1));
    let [parameters, moments, control, report] = call.outputs else { unreachable!("the update has four outputs") };
    let [total, parts, steps, group] =
        [params.total, params.parts, params.steps, params.group].map(|size| size as usize);
    optimise(
        Sizes { total, parts, steps, group },
        rule,
        order,
        partials,
        [parameters, moments, report].map(|words| bytemuck::cast_slice_mut(words)),
        control,
        call.pool,
    );
}
