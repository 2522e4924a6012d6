//! What a product does with its sums. Every device has it as a program; the CPU has the forms that networks are made of as passes of their
//! own, which are faster.
#![allow(unsafe_code, reason = "runs of one slice, each handed out once")]

use std::sync::Arc;

use bytemuck::cast_slice;

use super::cpu::Ends;
use crate::device::Body;
use crate::host::Disjoint;
use crate::kernels::halves::Packed;
use crate::kernels::pointwise::{Access, IterationSpace, MAX_INPUTS, Pointwise, Registers, TILE, access};
use crate::kernels::sweep::Sweep;
use crate::program::slices::Memory;
use crate::program::{Curve, Instruction, Program, op};

/// A program of the sum and of buffers, and its form.
#[derive(Clone)]
pub(super) struct Epilogue {
    pub pointwise: Pointwise,
    form: Form,
}

/// The forms that the CPU knows.
#[derive(Clone)]
enum Form {
    /// f(sum + bias), without a curve the identity; the bias is the first buffer.
    Layer { has_bias: bool, curve: Option<Arc<Curve>> },
    /// sum · factor, the factor being the first buffer.
    Scaled,
    /// Any other program.
    Program,
}

impl Epilogue {
    /// f(sum + bias) and, if there are two outputs, f'(sum + bias).
    pub(super) fn layer(
        [batch, m, _, n]: [u32; 4],
        has_bias: bool,
        curve: Option<&Arc<Curve>>,
        outputs: usize,
    ) -> Self {
        let program = Program::with_results(1 + usize::from(has_bias), |x| {
            let z = if has_bias { x[0] + x[1] } else { x[0] };
            match curve {
                None => vec![z],
                Some(curve) if outputs == 1 => curve.value.emit_all(&[z]),
                Some(curve) => curve.sloped.emit_all(&[z]),
            }
        });
        assert_eq!(program.results.len(), outputs, "layer: wrong number of outputs");
        let access = if has_bias { vec![access([1, batch, m, n], [0, 0, 0, 1])] } else { Vec::new() };
        let pointwise = Pointwise { program, access, given: 1, bound: 2, word: "f32", packed: Packed::default() };
        Self { pointwise, form: Form::Layer { has_bias, curve: curve.cloned() } }
    }

    /// Any program of the sum and of buffers.
    pub(super) fn of(pointwise: Pointwise) -> Self {
        let is_scaled = pointwise.access == [Access::Full]
            && matches!(pointwise.program.code[..], [Instruction::Input(0), Instruction::Input(1), Instruction::Op(op, [0, 1, ..])]
                if std::ptr::eq(op, &raw const op::MUL));
        Self { pointwise, form: if is_scaled { Form::Scaled } else { Form::Program } }
    }

    /// Number of operations per sum.
    pub(super) fn operations(&self) -> u64 {
        self.pointwise.program.operations()
    }

    /// Whether the result is the sum itself.
    pub(super) fn is_plain(&self) -> bool {
        let Program { code, results, .. } = &self.pointwise.program;
        matches!(results[..], [result] if code[result as usize] == Instruction::Input(0))
    }

    /// WGSL of `put(index, sum)`, which stores the results, and of `put_two`, which stores those at two neighbouring indices if `is_pair`.
    pub(super) fn wgsl(&self) -> String {
        let Pointwise { packed, program, .. } = &self.pointwise;
        let results: &[_] =
            if program.results.len() == 1 { &[("out", "")] } else { &[("out", ".x"), ("slopes", ".y")] };
        let mut text = self.pointwise.wgsl();
        if results.len() > 1 {
            let (slope, word) = (3 + self.pointwise.access.len(), self.pointwise.word(1));
            text += &format!("@group(0) @binding({slope}) var<storage, read_write> slopes: array<{word}>;\n");
        }
        text += &format!("const HAS_EPILOGUE: bool = {};\n", !self.is_plain());
        let stores = |line: &dyn Fn(usize, &str, &str) -> String| -> String {
            results.iter().enumerate().map(|(at, (name, part))| line(at, name, part)).collect()
        };
        let one = stores(&|_, name, part| format!("    {name}[index] = x{part};\n"));
        if !packed.writes(0) && !packed.writes(1) {
            return text
                + &format!("fn put(index: u32, sum: f32) {{\n    let x = value(index, sum);\n{one}}}\n")
                + "fn put_two(index: u32, sums: vec2<f32>, is_pair: bool) {\n    put(index, sums.x);\n    \
                   if is_pair { put(index + 1u, sums.y); }\n}\n";
        }
        let both = stores(&|at, name, part| {
            if packed.writes(at) {
                format!("    {name}[index / 2u] = word_of(x{part}, y{part});\n")
            } else {
                format!("    {name}[index] = x{part};\n    {name}[index + 1u] = y{part};\n")
            }
        });
        text + &format!(
            "fn put_two(index: u32, sums: vec2<f32>, is_pair: bool) {{\n    let x = value(index, sums.x);\n    \
             let y = value(index + 1u, sums.y);\n{both}}}\n"
        )
    }

    /// With other bindings in halves; `None` if the CPU's form needs floats there.
    pub(super) fn with_packed(&self, packed: Packed) -> Option<Self> {
        let needs_floats = matches!(self.form, Form::Layer { .. }) && packed.reads(2);
        let pointwise = Pointwise { packed, ..self.pointwise.clone() };
        (!needs_floats).then(|| Self { pointwise, form: self.form.clone() })
    }

    /// Calls `multiply` with what the CPU does to a product's sums. `extras` are the buffers, `first` is the index of the first sum.
    pub(super) fn on_cpu(
        &self,
        space: &IterationSpace,
        extras: &[&[f32]; MAX_INPUTS],
        slopes: Option<&mut [f32]>,
        first: usize,
        multiply: impl FnOnce(&Ends<'_>),
    ) {
        match &self.form {
            Form::Layer { has_bias, curve } => {
                let bias = has_bias.then_some(extras[0]);
                let Some(curve) = curve else { return multiply(&Ends { bias, factor: None, finish: None }) };
                let slopes = slopes.map(Disjoint::new);
                let finish = |start: usize, z: &mut [f32]| {
                    // SAFETY: each call has sums of its own.
                    let slopes = slopes.as_ref().map(|slopes| unsafe { slopes.range(start..start + z.len()) });
                    activate(curve, z, slopes);
                };
                multiply(&Ends { bias, factor: None, finish: Some(&finish) });
            }
            Form::Scaled if !self.pointwise.packed.reads(2) => {
                multiply(&Ends { bias: None, factor: Some(&extras[0][first..]), finish: None });
            }
            Form::Scaled => {
                let factors = self.pointwise.packed.values(2, cast_slice(extras[0])).from(first);
                let finish = |start: usize, sums: &mut [f32]| {
                    let mut factor = [0.0; TILE];
                    for (at, tile) in sums.chunks_mut(TILE).enumerate() {
                        factors.copy(start + at * TILE, &mut factor[..tile.len()]);
                        tile.iter_mut().zip(&factor).for_each(|(sum, factor)| *sum *= factor);
                    }
                };
                multiply(&Ends { bias: None, factor: None, finish: Some(&finish) });
            }
            Form::Program => {
                let program = &self.pointwise.program;
                let finish = |start: usize, sums: &mut [f32]| {
                    let mut memory = Memory::take(TILE + Registers::<f32>::words(program));
                    let (given, registers) = memory.words().split_at_mut(TILE);
                    let mut registers = Registers::new(program, registers);
                    for (at, tile) in sums.chunks_mut(TILE).enumerate() {
                        let given = &mut given[..tile.len()];
                        given.copy_from_slice(tile);
                        let start = first + start + at * TILE;
                        self.pointwise.evaluate(space, extras, &[given], start, &mut registers, tile);
                    }
                };
                multiply(&Ends { bias: None, factor: None, finish: Some(&finish) });
            }
        }
    }
}

/// Replaces z by f(z) and writes f'(z) to `slopes`, if given.
fn activate(curve: &Curve, z: &mut [f32], slopes: Option<&mut [f32]>) {
    const LINE: usize = 16;
    let mut memory = Memory::take(Sweep::words(curve));
    let mut sweep = Sweep::new(curve, slopes.is_some(), memory.words());
    let (z, z_rest) = z.split_at_mut(z.len() / LINE * LINE);
    let (mut tail, mut tail_slopes) = ([0.0; LINE], [0.0; LINE]);
    tail[..z_rest.len()].copy_from_slice(z_rest);
    if let Some(slopes) = slopes {
        let (slopes, slopes_rest) = slopes.split_at_mut(z.len());
        sweep.run(z, Some(slopes));
        sweep.run(&mut tail, Some(&mut tail_slopes));
        slopes_rest.copy_from_slice(&tail_slopes[..slopes_rest.len()]);
    } else {
        sweep.run(z, None);
        sweep.run(&mut tail, None);
    }
    z_rest.copy_from_slice(&tail[..z_rest.len()]);
}
