//! A masked program as WGSL: each value carries its cause, and each scalar op is checked by the predicates of its form.

use super::{Planes, Total};
use crate::device::Body;
use crate::kernels::pointwise::Access;
use crate::program::{Instruction, ScalarOp};

impl Body for Total {
    fn wgsl(&self) -> String {
        let program = &self.pointwise.program;
        let ops = program.ops();
        let rows = ScalarOp::special_wgsl(&ops) + &ops.into_iter().map(function).collect::<String>();
        let mut text = self.bindings() + &rows + "fn total(index: u32) -> Total {\n";
        if self.pointwise.access.contains(&Access::Strided) {
            text += "    let c = coordinates(index, params.dims);\n";
        }
        for at in 0..self.planes.len() {
            text += &self.operand(at);
        }
        for (at, instruction) in program.code.iter().enumerate() {
            let value = match instruction {
                Instruction::Input(input) => format!("x{input}"),
                Instruction::Constant(value) => {
                    format!("Total({}, 0u)", crate::program::wgsl_constant(*value))
                }
                Instruction::Op(row, arguments) => {
                    let names: Vec<_> = arguments[..row.arguments.len()].iter().map(|a| format!("v{a}")).collect();
                    format!("total_{}({})", row.name, names.join(", "))
                }
            };
            text += &format!("    let v{at} = {value};\n");
        }
        text + &format!("    return v{};\n}}\n", program.result())
    }
}

impl Total {
    /// Bindings: inputs, then planes, then the result and its planes; and the function that writes a word of planes.
    fn bindings(&self) -> String {
        let mut text = String::new();
        let mut next = 0;
        let mut bind = |name: String, access: &str| {
            text += &format!("@group(0) @binding({next}) var<storage, {access}> {name}: array<u32>;\n");
            next += 1;
        };
        (0..self.planes.len()).for_each(|at| bind(format!("extra{at}"), "read"));
        let marked = self.planes.iter().enumerate().filter(|(_, planes)| **planes != Planes::Bare);
        marked.for_each(|(at, _)| bind(format!("planes{at}"), "read"));
        bind("out".into(), "read_write");
        bind("out_planes".into(), "read_write");
        let fault = if self.has_fault { "    out_planes[plane_words() + at] = words.y;\n" } else { "" };
        text + "fn plane_words() -> u32 { return (params.count + 2047u) / 2048u * 64u; }\n"
            + &format!("fn write_bits(at: u32, words: vec2<u32>) {{\n    out_planes[at] = words.x;\n{fault}}}\n")
    }

    /// The statement that reads input `at`.
    fn operand(&self, at: usize) -> String {
        let place = match self.pointwise.access[at] {
            Access::Full => "index".to_owned(),
            Access::Scalar => "0u".to_owned(),
            Access::Strided => format!("offset(c, params.strides[{at}])"),
            Access::InPlace => unreachable!("the inputs of a masked launch are bound"),
        };
        let bit = |from: &str| format!("bit_of(planes{at}[{from}at{at} / 32u], at{at})");
        let fault = format!("params.fault_at[{}][{}] + ", at / 4, at % 4);
        let (bottom, fault) = match self.planes[at] {
            Planes::Bare => ("0u".to_owned(), "0u".to_owned()),
            Planes::Bottom => (bit(""), "0u".to_owned()),
            Planes::Fault => (bit(""), bit(&fault)),
        };
        format!("    let at{at} = {place};\n    let x{at} = operand(extra{at}[at{at}], {bottom}, {fault});\n")
    }
}

/// The scalar op's function and the masked function around it.
fn function(row: &'static ScalarOp) -> String {
    let names = row.arguments;
    let list = |each: &dyn Fn(&str) -> String| names.iter().map(|name| each(name)).collect::<Vec<_>>().join(", ");
    let reads: String = names.iter().map(|name| format!("    let {name} = total_{name}.value;\n")).collect();
    let cause = names.iter().rev().fold("0u".to_owned(), |rest, name| match rest.as_str() {
        "0u" => format!("total_{name}.cause"),
        _ => format!("inherited(total_{name}.cause, {rest})"),
    });
    let form = &row.masked;
    let inside = form.inside.map_or("true", |predicate| predicate.wgsl);
    let fits = form.fits.map_or("true", |predicate| predicate.wgsl);
    let call =
        |name: &str| format!("{name}_{}({})", row.name, list(&|name| format!("select({name}, 1.0, cause != 0u)")));
    let (own, value) = match form.value {
        Some(value) => {
            let arguments = list(&|name| format!("{name}: f32"));
            (format!("fn exact_{}({arguments}) -> f32 {{ return {value}; }}\n", row.name), call("exact"))
        }
        None => (row.wgsl_function(), call("op")),
    };
    // Without a predicate on the arguments, the result itself is checked.
    let last = if form.fits.is_some() {
        "    return Total(held(y), cause);\n".to_owned()
    } else {
        let fault = "select(BOTTOM | FAULT, cause, cause != 0u || is_finite_word(bitcast<u32>(y)))";
        format!("    return Total(held(y), {fault});\n")
    };
    format!(
        "{own}fn total_{}({}) -> Total {{\n{reads}    let cause = inherited({cause}, own({inside}, {fits}));\n    let y = {value};\n{last}}}\n",
        row.name,
        list(&|name| format!("total_{name}: Total")),
    )
}
