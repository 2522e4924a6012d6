//! Operands of a product: how they are stored, and how a device reads them.

use crate::device::View;

/// An operand and its layout.
pub struct Operand {
    /// [batch, rows, columns] as stored; a batch of 1 is shared by all.
    pub view: View,
    /// Whether it is stored transposed: the product uses its transpose.
    pub is_transposed: bool,
    /// Whether it has a batch dimension of its own.
    pub is_batched: bool,
}

impl Operand {
    /// Reads whole vectors if the rows that are contiguous in memory have a multiple of four words.
    pub(super) fn lines(&self, rows: u32, columns: u32) -> Lines {
        let contiguous = if self.is_transposed { rows } else { columns };
        let is_whole = contiguous.is_multiple_of(4) && self.view.words.is_multiple_of(4) && self.view.words > 0;
        Lines { is_whole, is_turned: self.is_transposed }
    }

    pub(super) fn strides(&self, rows: u32, columns: u32) -> [u32; 4] {
        let batch = if self.is_batched { rows * columns } else { 0 };
        let (row, column) = if self.is_transposed { (1, rows) } else { (columns, 1) };
        [batch, row, column, (self.view.words as u32).saturating_sub(1)]
    }
}

/// How the device reads four neighbouring words of an operand: as one vector or one by one, along its rows or along its columns.
#[derive(Clone, Copy)]
pub(super) struct Lines {
    pub is_whole: bool,
    pub is_turned: bool,
}

/// The type of an operand's memory in WGSL.
#[derive(Clone, Copy)]
pub(super) enum Words {
    Floats,
    /// Two halves in each u32.
    Packed,
    /// Whole lines of f16.
    Halves,
}

impl Words {
    pub(super) fn of(is_of_matrices: bool, is_packed: bool) -> Self {
        match (is_of_matrices, is_packed) {
            (true, _) => Self::Halves,
            (false, true) => Self::Packed,
            (false, false) => Self::Floats,
        }
    }
}

impl Lines {
    /// The declarations of operand `small` (`a` or `b`), whose word type is `capital`. `at` counts numbers, which may be halves.
    pub(super) fn wgsl(self, small: char, capital: char, words: Words) -> String {
        let of_each = |one: &dyn Fn(String) -> String| {
            let each = ["", " + step", " + 2u * step", " + 3u * step"].map(|by| one(format!("min(at{by}, last)")));
            format!("vec4<f32>({})", each.join(", "))
        };
        let (word, read) = match (words, self.is_whole) {
            (Words::Halves, _) => ("vec4<f16>", format!("vec4<f32>({small}[min(at, last) / 4u])")),
            (Words::Floats, true) => ("vec4<f32>", format!("{small}[min(at, last) / 4u]")),
            (Words::Packed, true) => ("vec2<u32>", format!("four_of({small}[min(at, last) / 4u])")),
            (Words::Floats, false) => ("f32", of_each(&|at| format!("{small}[{at}]"))),
            (Words::Packed, false) => ("u32", of_each(&|at| format!("half_at({small}[{at} / 2u], {at})"))),
        };
        format!(
            "alias {capital}Word = {word};\nconst {capital}_IS_TURNED: bool = {};\n\
             fn {small}_line(at: u32, step: u32, last: u32) -> vec4<f32> {{ return {read}; }}\n",
            self.is_turned
        )
    }
}
