//! The WGSL of residuals: a row's values, and how they are added to the sums of an invocation.

use super::Residuals;
use crate::device::Body;
use crate::program::{Program, ScalarOp};

/// Sums stay in registers for up to this many parameters: 54 products, squares and cost.
const FEW: usize = 9;
/// Sums of a slice (common/normal_registers.wgsl).
const SLICE: usize = 15;

impl Body for Residuals {
    fn wgsl(&self) -> String {
        let mut ops = self.program.ops();
        for op in self.loss.iter().flat_map(Program::ops) {
            if !ops.iter().any(|known| std::ptr::eq(*known, op)) {
                ops.push(op);
            }
        }
        let (parameters, size) = (self.parameters(), self.size());
        let sums = if parameters <= FEW { self.in_registers() } else { self.in_panel() };
        let functions = ScalarOp::wgsl_functions(&ops);
        let constants = format!("const PARAMETERS: u32 = {parameters}u;\nconst SIZE: u32 = {size}u;\n");
        constants + &functions + &self.loss_at() + &self.row_at() + &sums
    }
}

impl Residuals {
    /// ρ, ρ' and ρ' + 2 z ρ''.
    fn loss_at(&self) -> String {
        let Some(loss) = &self.loss else { return String::new() };
        let results: Vec<String> = loss.results.iter().map(|result| format!("v{result}")).collect();
        let statements = loss.wgsl_statements();
        format!("fn loss_at(x0: f32) -> vec3<f32> {{\n{statements}    return vec3<f32>({});\n}}\n", results.join(", "))
    }

    /// The function that computes a row; a row that is not finite is counted and is 0.
    fn row_at(&self) -> String {
        let (parameters, scalars) = (self.parameters(), self.scalars());
        let fields: String = (0..parameters).map(|at| format!(" d{at}: f32,")).collect();
        let mut text = format!("struct Row {{ squares: f32, cost: f32, r: f32,{fields} }}\n");
        text += "fn row_at(at: u32) -> Row {\n";
        for at in 0..scalars {
            text += &format!("    let x{at} = scalars[{at}];\n");
        }
        let column = |at: usize| format!("data[{at}u * params.stride + at]");
        for at in 0..self.columns {
            text += &format!("    let x{} = {};\n", scalars + at, column(at));
        }
        text += &self.program.wgsl_statements();
        let weight = if self.is_weighted { column(self.columns + 1) } else { "1.0".to_owned() };
        text += &format!("    let weight = {weight};\n");
        let weighted = |value: String| if self.is_weighted { format!("{value} * weight") } else { value };
        let results = &self.program.results;
        text += &format!("    let r = {};\n", weighted(format!("(v{} - {})", results[0], column(self.columns))));
        text += "    var largest = exponent(r);\n";
        for (at, result) in results[1..].iter().enumerate() {
            text += &format!("    let d{at} = {};\n", weighted(format!("v{result}")));
            text += &format!("    largest = max(largest, exponent(d{at}));\n");
        }
        text += "    if largest == NOT_FINITE {\n        count_bad(at);\n        return Row();\n    }\n";
        let list = |factor: &str| (0..parameters).map(|at| format!(", d{at}{factor}")).collect::<String>();
        if self.loss.is_none() {
            return text + &format!("    return Row(r * r, 0.5 * r * r, r{});\n}}\n", list(""));
        }
        text += "    let z = r / params.scale;\n    let loss = loss_at(z * z);\n    let factor = sqrt(max(loss.z, 0x1p-52f));\n";
        let cost = "0.5 * params.scale * params.scale * loss.x";
        text + &format!("    return Row(r * r, {cost}, r * (loss.y / factor){});\n}}\n", list(" * factor"))
    }

    /// A private scalar for each sum.
    fn in_registers(&self) -> String {
        let (parameters, size) = (self.parameters(), self.size());
        let name = |at: usize| if at == parameters { "r".to_owned() } else { format!("d{at}") };
        let pairs = (0..parameters).flat_map(|i| (i..=parameters).map(move |j| (i, j)));
        let products = pairs.map(|(i, j)| format!("row.{} * row.{}", name(i), name(j)));
        let values: Vec<String> = products.chain(["row.squares".to_owned(), "row.cost".to_owned()]).collect();
        let mut text: String = (0..size).map(|at| format!("var<private> s{at}: f32;\n")).collect();
        text += "fn add(row: Row) {\n";
        for (at, value) in values.iter().enumerate() {
            text += &format!("    s{at} += {value};\n");
        }
        text += "}\nfn write_sums(place: u32, lane: u32) {\n";
        for first in (0..size).step_by(SLICE) {
            let count = SLICE.min(size - first);
            for k in 0..count {
                text += &format!("    slice[{}u + lane] = s{};\n", 256 * k, first + k);
            }
            text += &format!("    write_slice({count}u, place + {first}u, lane);\n");
        }
        text + "}\n" + crate::wgsl!("common/normal_registers")
    }

    /// Rows in workgroup memory.
    fn in_panel(&self) -> String {
        let parameters = self.parameters();
        let quads = (parameters + 1).div_ceil(4);
        let value = |at: usize| match at {
            _ if at < parameters => format!("row.d{at}"),
            _ if at == parameters => "row.r".to_owned(),
            _ => "0.0".to_owned(),
        };
        let mut text = format!("const QUADS: u32 = {quads}u;\nfn put(row: Row, at: u32) {{\n");
        for quad in 0..quads {
            let values: Vec<String> = (4 * quad..4 * quad + 4).map(value).collect();
            text += &format!("    panel[at + {quad}u] = vec4<f32>({});\n", values.join(", "));
        }
        text + "}\n" + crate::wgsl!("common/normal_panel")
    }
}
