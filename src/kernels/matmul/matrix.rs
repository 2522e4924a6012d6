//! Operands of a product on the CPU, of floats or of halves.

use std::ops::Range;

use crate::host::ThreadPool;
use crate::kernels::common::{each, rows_per_piece};
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

    /// From a column on.
    pub(super) fn columns_from(self, first: usize) -> Self {
        Self { words: self.words.from(first * self.column), ..self }
    }

    /// A part, from its first word on; halves are unpacked into `memory`, spread over the threads if there are any.
    pub(super) fn part<'m>(
        &self,
        rows: &Range<usize>,
        columns: &Range<usize>,
        memory: &'m mut Memory,
        pool: Option<&ThreadPool>,
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
        let apart = row.max(column);
        let unpack = |first: usize, out: &mut [f32]| {
            // Lines without a gap are one run.
            let run = if apart == length { out.len() } else { length };
            for (line, out) in out.chunks_mut(run.max(1)).enumerate() {
                half.unpack(&halves[(first + line) * apart..][..out.len()], out);
            }
        };
        if let Some(pool) = pool {
            let lines = rows_per_piece(lines, length, pool);
            let pieces = words.chunks_mut((lines * length).max(1)).enumerate();
            each(pieces, pool, |(piece, out)| unpack(piece * lines, out));
        } else {
            unpack(0, words);
        }
        let (row, column) = if is_turned { (1, length) } else { (length, 1) };
        Matrix { words, row, column }
    }
}
