//! The nearest of many rows, as their distances are found tile by tile.

/// The nearest rows so far.
pub(super) struct Best {
    count: usize,
    /// Squares of distances and rows, in no order; the nearest `count` are among them.
    candidates: Vec<(f32, usize)>,
    /// Rows that are not nearer than this are none of the nearest.
    bound: f32,
}

impl Best {
    /// Of which `count` are wanted.
    pub(super) fn new(count: usize) -> Self {
        Self { count, candidates: Vec::with_capacity(2 * count), bound: f32::INFINITY }
    }

    /// Adds the rows from `from` on with these squares, in the order of rows, without the row `skip`.
    pub(super) fn add(&mut self, squares: &[f32], from: usize, skip: Option<usize>) {
        for (at, &square) in squares.iter().enumerate() {
            // Of rows at the same distance the first ones are nearest. An infinite distance is one, too.
            let is_near = square < self.bound || self.candidates.len() < self.count;
            if is_near && skip != Some(from + at) {
                self.candidates.push((square, from + at));
                // Sorting them out once for many is cheaper than keeping them in order.
                if self.candidates.len() >= 2 * self.count {
                    self.narrow();
                }
            }
        }
    }

    /// Keeps the nearest only.
    fn narrow(&mut self) {
        if self.candidates.len() > self.count {
            self.candidates.select_nth_unstable_by(self.count - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            self.candidates.truncate(self.count);
            self.bound = self.candidates[self.count - 1].0;
        }
    }

    /// The nearest, nearest first.
    pub(super) fn into_nearest(mut self) -> Vec<(f32, usize)> {
        self.narrow();
        self.candidates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.candidates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In tiles of every size, the same as sorting all; of equal ones the first.
    #[test]
    fn the_nearest_are_those_of_a_sort() {
        let squares: Vec<f32> = (0..200_u32).map(|row| (row.wrapping_mul(2_654_435_761) >> 26) as f32).collect();
        let mut sorted: Vec<(f32, usize)> = squares.iter().copied().zip(0..).filter(|(_, row)| *row != 7).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for count in [1, 2, 5, 60, 199] {
            for tile in [1, 3, 64, 200] {
                let mut best = Best::new(count);
                squares.chunks(tile).enumerate().for_each(|(at, part)| best.add(part, at * tile, Some(7)));
                assert_eq!(best.into_nearest(), sorted[..count], "{count} of tiles of {tile}");
            }
        }
        let mut far = Best::new(3);
        far.add(&[f32::INFINITY; 4], 0, None);
        assert_eq!(far.into_nearest(), [0, 1, 2].map(|row| (f32::INFINITY, row)));
    }
}
