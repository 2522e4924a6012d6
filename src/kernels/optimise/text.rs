//! The WGSL of an update rule.

use super::limit::{Limit, LossScale};
use super::rule::{GradientBounds, Rule};
use super::sizes::LINE_WORDS;
use crate::device::Body;
use crate::kernels::common;
use crate::program::{Instruction, wgsl_constant};

impl Body for Rule {
    fn sizes(&self, _params: &[u32]) -> &'static [&'static str] {
        &["total", "parts", "group", "span", "figures", "folded"]
    }

    fn wgsl(&self) -> String {
        let arguments: Vec<String> = (0..Self::INPUTS).map(|at| format!("x{at}: f32")).collect();
        let results: Vec<String> = self.program.results.iter().map(|result| format!("v{result}")).collect();
        let one = format!(
            "fn update_one({}) -> vec4<f32> {{\n{}    return vec4<f32>({});\n}}\n",
            arguments.join(", "),
            self.program.wgsl_statements(),
            results.join(", ")
        );
        let lane = |c: char| {
            let rates: String = "xyzw".chars().map(|rate| format!(", rates.{rate}")).collect();
            format!("    let new_{c} = update_one(g.{c}, p.{c}, m.{c}, v.{c}, a.{c}{rates});\n")
        };
        let store = |at: usize, place: &str| {
            let component = ["x", "y", "z", "w"][at];
            let lanes: Vec<String> = "xyzw".chars().map(|c| format!("new_{c}.{component}")).collect();
            if self.changes(at) { format!("    {place} = vec4<f32>({});\n", lanes.join(", ")) } else { String::new() }
        };
        let read = |at: usize, place: &str| {
            let is_used = self.program.code.contains(&Instruction::Input(at as u16 + 1)) && self.changes(at);
            if is_used { place.to_owned() } else { "vec4<f32>()".to_owned() }
        };
        let lanes: String = "xyzw".chars().map(lane).collect();
        format!(
            "const WORKGROUP: u32 = 64u;\n{}{}{}{one}fn updated(i: u32, n: u32, mean: vec4<f32>, share: f32, row: u32, shared_rates: vec4<f32>) {{\n{}    let p = theta[i];\n    let m = {};\n    let v = {};\n    let a = {};\n{lanes}{}{}{}{}}}\n",
            common::SCALAR,
            self.program.wgsl_functions(),
            self.limits(),
            self.gradient(),
            read(1, "moments[i]"),
            read(2, "moments[n + i]"),
            read(3, "moments[2u * n + i]"),
            store(0, "theta[i]"),
            store(1, "moments[i]"),
            store(2, "moments[n + i]"),
            store(3, "moments[2u * n + i]"),
        )
    }
}

impl Rule {
    /// What decides whether and by which factor of all gradients the update is made.
    fn limits(&self) -> String {
        let GradientBounds { limit, skips, .. } = self.bounds;
        if !self.bounds.needs_fold() {
            return crate::wgsl!("optimise/free").to_owned();
        }
        let arrays = self.arrays();
        let factor = match limit {
            Limit::Tensor(most) => {
                let most = wgsl_constant(f64::from(most));
                format!(
                    "    let figure = figure_at(first);\n    let largest = figure.x * share;\n    let root = sqrt(figure.y);\n    if (norm_of(largest, root) > {most}) {{ return factor_to(largest, root, {most}); }}\n    return 1.0;\n"
                )
            }
            Limit::Trust => "    let direction = figure_at(first);\n    let weights = figure_at(params.total / 64u + first);\n    let size = norm_of(weights.x, sqrt(weights.y));\n    if (direction.x > 0.0 && size > 0.0) { return factor_to(direction.x, sqrt(direction.y), size); }\n    return 1.0;\n".to_owned(),
            _ => String::new(),
        };
        let of_tensor = if limit.is_by_tensor() {
            format!(
                "fn factor_of_tensor(line: u32, share: f32) -> f32 {{\n    let first = order[params.rows + 4u * params.steps * params.tables + {LINE_WORDS}u * line + 1u];\n{factor}}}\n"
            )
        } else {
            String::new()
        };
        format!(
            "const ARRAYS: u32 = {arrays}u;\nconst SKIPS: bool = {skips};\nconst IS_SECOND: bool = {};\n{}{}{}{of_tensor}{}",
            limit == Limit::Trust,
            LossScale::wgsl(self.bounds.scale),
            common::NORM,
            limit.wgsl(),
            crate::wgsl!("optimise/limited")
        )
    }

    /// The gradient and the rates of a quad of parameters.
    fn gradient(&self) -> String {
        let mut text = if self.is_grouped {
            format!(
                "    let table = order[params.rows + 4u * params.steps * params.tables + {LINE_WORDS}u * (i / 16u)];\n    if (table == 0xffffffffu) {{ return; }}\n    var rates = shared_rates;\n    if (table > 0u) {{ rates = rates_at(params.rows + 4u * params.steps * table + 4u * row); }}\n"
            )
        } else {
            "    let rates = shared_rates;\n".to_owned()
        };
        let factor = if self.bounds.limit.is_by_tensor() { " * factor_of_tensor(i / 16u, share)" } else { "" };
        text += &match self.bounds.largest {
            Some(largest) => {
                let largest = wgsl_constant(f64::from(largest));
                // A clamp might hide what is not a number.
                format!(
                    "    let free = mean{factor};\n    let g = select(free, sign(free) * {largest}, abs(free) > vec4<f32>({largest}));\n"
                )
            }
            None => format!("    let g = mean{factor};\n"),
        };
        text
    }
}
