//! A program over an index space: the body of `map`, the prologue of `reduce` and the epilogue of `matmul`.
//! The space has up to four dimensions; each input has strides into it, zero where it is broadcast.

use super::halves::{Packed, Values};
use crate::device::{Body, View};
use crate::program::Program;
use crate::program::slices::Source;
pub use crate::program::slices::{Registers, WIDTH as TILE};

/// Maximal number of buffers that a program reads: with the result, these are WebGPU's eight storage buffers.
pub const MAX_INPUTS: usize = 7;

/// Access pattern of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// One value per index.
    Full,
    /// One value for all.
    Scalar,
    /// Through strides.
    Strided,
    /// One value per index, read from the output before it is overwritten there; no buffer is bound.
    InPlace,
}

/// A program and the access patterns of its inputs: a kernel's body.
#[derive(Clone, Debug, PartialEq)]
pub struct Pointwise {
    /// The program, with one result or two. Its first `given` inputs come from the kernel, not from buffers.
    pub program: Program,
    /// Access pattern of each buffer input.
    pub access: Vec<Access>,
    /// Number of leading program inputs that the kernel supplies (for example a matrix product).
    pub given: usize,
    /// Number of buffers that the kernel itself binds before the program's.
    pub bound: usize,
    /// WGSL type of the result's words, unless they are packed halves.
    pub word: &'static str,
    /// Which of the kernel's bindings are halves.
    pub packed: Packed,
}

/// Row-major dimensions and, for each buffer input, strides into them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationSpace {
    /// Sizes, outermost first.
    pub dims: [u32; 4],
    /// Strides of each input.
    pub strides: [[u32; 4]; MAX_INPUTS],
}

impl IterationSpace {
    /// A space in which every input has `Access::Full`.
    pub fn flat(dims: [u32; 4]) -> Self {
        Self { dims, strides: [natural(dims); MAX_INPUTS] }
    }

    /// Number of indices.
    pub fn len(&self) -> usize {
        self.dims.iter().map(|&d| d as usize).product()
    }

    /// Whether there is no index at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Strides of a row-major array of these dimensions; 0 along dimensions of size 1.
pub fn natural(dims: [u32; 4]) -> [u32; 4] {
    let mut strides = [0; 4];
    let mut step = 1;
    for axis in (0..4).rev() {
        strides[axis] = if dims[axis] == 1 { 0 } else { step };
        step *= dims[axis];
    }
    strides
}

/// The access pattern that these strides describe.
pub fn access(dims: [u32; 4], strides: [u32; 4]) -> Access {
    if strides == [0; 4] {
        Access::Scalar
    } else if strides == natural(dims) {
        Access::Full
    } else {
        Access::Strided
    }
}

impl Pointwise {
    /// A program whose inputs all come from buffers, with the strides of `space`.
    pub fn over(program: Program, space: &IterationSpace) -> Self {
        let access = space.strides[..program.inputs].iter().map(|&strides| access(space.dims, strides)).collect();
        Self { program, access, given: 0, bound: 0, word: "f32", packed: Packed::default() }
    }

    /// WGSL of the words of a result without given inputs: how many there are of `count` values, and one of them.
    fn stored(&self) -> &'static str {
        if self.packed.writes(0) {
            "fn stored(count: u32) -> u32 { return (count + 1u) / 2u; }\n\
             fn word(i: u32) -> u32 {\n    let last = params.count - 1u;\n    \
             return word_of(value(2u * i), select(0.0, value(min(2u * i + 1u, last)), 2u * i < last));\n}\n"
        } else {
            "fn stored(count: u32) -> u32 { return count; }\nfn word(i: u32) -> f32 { return value(i); }\n"
        }
    }

    /// WGSL type of the words of a result.
    pub fn word(&self, output: usize) -> &'static str {
        if self.packed.writes(output) { "u32" } else { self.word }
    }

    /// Whether an input is read from the output.
    pub fn is_in_place(&self) -> bool {
        self.access.contains(&Access::InPlace)
    }
}

impl Body for Pointwise {
    fn wgsl(&self) -> String {
        let mut text = self.packed.wgsl().to_owned();
        let mut binding = self.bound;
        for (at, _) in self.access.iter().enumerate().filter(|(_, access)| **access != Access::InPlace) {
            let word = if self.packed.reads(binding) { "u32" } else { "f32" };
            text += &format!("@group(0) @binding({binding}) var<storage, read> extra{at}: array<{word}>;\n");
            binding += 1;
        }
        text += &format!("@group(0) @binding({binding}) var<storage, read_write> out: array<{}>;\n", self.word(0));
        text += &self.program.wgsl_functions();
        let given: String = (0..self.given).map(|at| format!(", x{at}: f32")).collect();
        let results: Vec<String> = self.program.results.iter().map(|result| format!("v{result}")).collect();
        let (kind, result) = match &results[..] {
            [result] => ("f32", result.clone()),
            _ => ("vec2<f32>", format!("vec2<f32>({})", results.join(", "))),
        };
        text += &format!("fn value(index: u32{given}) -> {kind} {{\n");
        if self.access.contains(&Access::Strided) {
            text += "    let c = coordinates(index, params.dims);\n";
        }
        for (at, access) in self.access.iter().enumerate() {
            let place = match access {
                Access::Full => Some("index".to_owned()),
                Access::Scalar => Some("0u".to_owned()),
                Access::Strided => Some(format!("offset(c, params.strides[{at}])")),
                Access::InPlace => None,
            };
            let value = match place {
                None => "out[index]".to_owned(),
                Some(place) if self.packed.reads(self.bound + at) => {
                    format!("half_at(extra{at}[{place} / 2u], {place})")
                }
                Some(place) => format!("extra{at}[{place}]"),
            };
            text += &format!("    let x{} = {value};\n", self.given + at);
        }
        text += &(self.program.wgsl_statements() + &format!("    return {result};\n}}\n"));
        if self.given == 0 {
            text += self.stored();
        }
        text
    }
}

impl Pointwise {
    /// Evaluates indices `start..start + out.len()`, at most [`TILE`] of them. Inputs in halves are words. `given` are the values that the kernel supplies
    /// and, if an input is read from the output, those that are there before; its slice among `inputs` is empty.
    pub fn evaluate(
        &self,
        space: &IterationSpace,
        inputs: &[&[f32]],
        given: &[&[f32]],
        start: usize,
        registers: &mut Registers<'_, f32>,
        out: &mut [f32],
    ) {
        let count = out.len();
        let values = |at: usize| self.packed.values(self.bound + at, bytemuck::cast_slice(inputs[at]));
        let fill = |at: usize| {
            let at = at - self.given;
            move |target: &mut [f32]| match self.access[at] {
                Access::Full => values(at).copy(start, target),
                _ => gather(space, space.strides[at], values(at), start, target),
            }
        };
        let fills: [_; MAX_INPUTS] = std::array::from_fn(|at| fill(at + self.given));
        let source = |at: usize| match at.checked_sub(self.given) {
            None => Source::Slice(&given[at][..count]),
            Some(at) => match self.access[at] {
                Access::Full if !self.packed.reads(self.bound + at) => Source::Slice(&inputs[at][start..start + count]),
                Access::InPlace => Source::Slice(&given[self.given][..count]),
                Access::Full | Access::Scalar | Access::Strided => Source::Fill(&fills[at]),
            },
        };
        self.program.evaluate_into(registers, &source, out);
    }
}

/// Reads a broadcast or strided input: one run along the innermost dimension after another.
pub(super) fn gather(space: &IterationSpace, strides: [u32; 4], input: Values<'_>, start: usize, out: &mut [f32]) {
    let [_, d1, d2, d3] = space.dims.map(|d| d as usize);
    let [s0, s1, s2, s3] = strides.map(|s| s as usize);
    let mut filled = 0;
    while filled < out.len() {
        let index = start + filled;
        let (c0, c1, c2, c3) = (index / (d1 * d2 * d3), index / (d2 * d3) % d1, index / d3 % d2, index % d3);
        let run = (d3 - c3).min(out.len() - filled);
        let base = c0 * s0 + c1 * s1 + c2 * s2 + c3 * s3;
        let target = &mut out[filled..filled + run];
        match s3 {
            0 => target.fill(input.at(base)),
            1 => input.copy(base, target),
            _ => target.iter_mut().enumerate().for_each(|(k, value)| *value = input.at(base + k * s3)),
        }
        filled += run;
    }
}

/// Joins two programs' buffer inputs: for each of the second's, its index among the first's (new ones are appended).
/// `None` if there would be more than `limit`.
pub fn join_inputs(
    views: &mut Vec<View>,
    strides: &mut Vec<[u32; 4]>,
    more: &[(View, [u32; 4])],
    limit: usize,
) -> Option<Vec<usize>> {
    let mut places = Vec::with_capacity(more.len());
    for (view, stride) in more {
        let is_same = |(known, s): (&View, &[u32; 4])| {
            known.buffer.is(&view.buffer) && known.offset == view.offset && s == stride
        };
        let place = views.iter().zip(strides.iter()).position(is_same).unwrap_or_else(|| {
            views.push(view.clone());
            strides.push(*stride);
            views.len() - 1
        });
        places.push(place);
    }
    (views.len() <= limit).then_some(places)
}
