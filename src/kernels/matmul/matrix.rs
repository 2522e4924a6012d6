//! Operands of a product on the CPU, of floats or of halves.

use std::ops::Range;

use crate::kernels::halves::Values;
use crate::program::slices::Memory;

/// A matrix inside a slice: element (r, c) is at r · `row` + c · `column`, and one of the two is 1.
#[derive(Clone, Copy)]
pub(super) struct Matrix<T> {
    pub words: T,
    pub row: usize,
    pub column: usize,
}

impl<'a> Matrix<Values<'a>> {
    /// An operand from a row of a batch on.
    pub(super) fn of(values: Values<'a>, strides: [u32; 4], [z, first]: [usize; 2]) -> Self {
        let [batch, row, column, _] = strides.map(|stride| stride as usize);
        Self { words: values.from(z * batch + first * row), row, column }
    }

    pub(super) fn holds(&self, rows: usize, columns: usize) -> bool {
        (rows - 1) * self.row + (columns - 1) * self.column < self.words.len()
    }

    /// A part, from its first word on; halves are unpacked into `memory`.
    pub(super) fn part<'m>(
        &self,
        rows: &Range<usize>,
        columns: &Range<usize>,
        memory: &'m mut Memory,
    ) -> Matrix<&'m [f32]>
    where
        'a: 'm,
    {
        let Self { words, row, column } = *self;
        let (half, halves) = match words.from(rows.start * row + columns.start * column) {
            Values::Floats(words) => return Matrix { words, row, column },
            Values::Halves(half, halves) => (half, halves),
        };
        let is_turned = column != 1;
        let (lines, length) = if is_turned { (columns.len(), rows.len()) } else { (rows.len(), columns.len()) };
        memory.grow(lines * length);
        let words = &mut memory.words()[..lines * length];
        for (line, out) in words.chunks_exact_mut(length.max(1)).enumerate() {
            half.unpack(&halves[line * row.max(column)..][..length], out);
        }
        let (row, column) = if is_turned { (1, length) } else { (length, 1) };
        Matrix { words, row, column }
    }
}
