//! Weighted derivatives and residuals of a few hundred rows, and what is summed over them.

use smallvec::SmallVec;

use crate::fit::formula::RobustLoss;
use crate::fit::rows::pieces::TILE;
use crate::simd::widened;

/// Memory for the rows of a tile.
pub(crate) struct TileMemory {
    residuals: Vec<f64>,
    /// [free, TILE]: derivatives, where they are weighted.
    derivatives: Vec<f64>,
}

impl TileMemory {
    pub(crate) fn new(free: usize) -> Self {
        Self { residuals: vec![0.0; TILE], derivatives: vec![0.0; free * TILE] }
    }

    /// The tile of some rows, from the model's values and derivatives by result. If it `is_mended`, derivatives that are not finite where the
    /// model is are 0: usually they are 0 times an infinite slope, as that of x^b at x = 0.
    pub(crate) fn tile<'v>(
        &'v mut self,
        observed: &Observed<'_>,
        is_mended: bool,
        value: impl Fn(usize) -> &'v [f64],
    ) -> Tile<'v> {
        let (count, free) = (observed.y.len(), self.derivatives.len() / TILE);
        let residuals = &mut self.residuals[..count];
        let values = value(0);
        widened(|| residuals.iter_mut().zip(values).zip(observed.y).for_each(|((r, f), y)| *r = f - y));
        let is_robust = observed.loss != RobustLoss::Linear;
        if observed.sigma.is_none() && !is_robust && !is_mended {
            let squares = dots(residuals, [&*residuals])[0];
            let rows = (0..free).map(|at| value(1 + at)).chain([&*residuals]).collect();
            return Tile { rows, cost: 0.5 * squares, squares, mended: 0 };
        }
        let mut mended = 0;
        for (at, row) in self.derivatives.chunks_exact_mut(TILE).enumerate() {
            row[..count].copy_from_slice(value(1 + at));
            if is_mended {
                let wrong =
                    row[..count].iter_mut().zip(&*residuals).filter(|(slope, r)| !slope.is_finite() && r.is_finite());
                mended += wrong.map(|(slope, _)| *slope = 0.0).count();
            }
        }
        if let Some(sigma) = observed.sigma {
            let divide = |row: &mut [f64]| row.iter_mut().zip(sigma).for_each(|(x, sigma)| *x /= sigma);
            widened(|| {
                divide(residuals);
                self.derivatives.chunks_exact_mut(TILE).for_each(|row| divide(&mut row[..count]));
            });
        }
        let squares = dots(residuals, [&*residuals])[0];
        let cost = if is_robust { rescaled(observed, residuals, &mut self.derivatives) } else { 0.5 * squares };
        let rows = self.derivatives.chunks_exact(TILE).map(|row| &row[..count]).chain([&*residuals]).collect();
        Tile { rows, cost, squares, mended }
    }
}

/// What is known of some rows: the observed values, how they are weighted, and the loss.
pub(crate) struct Observed<'p> {
    pub y: &'p [f64],
    pub sigma: Option<&'p [f64]>,
    pub loss: RobustLoss,
    pub scale: f64,
}

/// Rescales residuals and derivatives so that their products are those of the robust cost (Triggs' correction, as in SciPy and Ceres). Returns the cost.
fn rescaled(observed: &Observed<'_>, residuals: &mut [f64], derivatives: &mut [f64]) -> f64 {
    let square = observed.scale * observed.scale;
    let mut cost = 0.0;
    for (at, r) in residuals.iter_mut().enumerate() {
        let residual = *r;
        let [rho, slope, curvature] = observed.loss.at(residual * residual / square);
        cost += 0.5 * square * rho;
        let factor = (slope + 2.0 * curvature * residual * residual / square).max(f64::EPSILON).sqrt();
        *r = residual * slope / factor;
        derivatives.chunks_exact_mut(TILE).for_each(|row| row[at] *= factor);
    }
    cost
}

/// Rows of J and residuals.
pub(crate) struct Tile<'a> {
    /// A row for each derivative, then the residuals.
    rows: SmallVec<[&'a [f64]; 8]>,
    /// ½ Σ ρ.
    pub cost: f64,
    /// Σ r² of the weighted residuals.
    pub squares: f64,
    /// Derivatives that were replaced by 0.
    pub mended: usize,
}

impl Tile<'_> {
    /// Places, from the tile's first row, where the model or a derivative is not finite.
    pub(crate) fn bad(&self) -> Vec<usize> {
        let count = self.rows[0].len();
        (0..count).filter(|&at| self.rows.iter().any(|row| !row[at].is_finite())).collect()
    }

    /// Adds the products of all pairs of rows but the residuals' own: (0, 0), (0, 1), …, (0, free), (1, 1), …
    pub(crate) fn add_products(&self, sums: &mut [f64]) {
        let mut at = 0;
        for (i, row) in self.rows[..self.rows.len() - 1].iter().enumerate() {
            let mut others = self.rows[i..].iter().copied();
            while let Some(first) = others.next() {
                let more = [others.next(), others.next(), others.next()];
                if let [Some(second), Some(third), Some(fourth)] = more {
                    for sum in dots(row, [first, second, third, fourth]) {
                        sums[at] += sum;
                        at += 1;
                    }
                    continue;
                }
                for other in [Some(first)].into_iter().chain(more).flatten() {
                    sums[at] += dots(row, [other])[0];
                    at += 1;
                }
            }
        }
    }

    /// Merges the rows of J into a triangle, by columns, with one reflection per column (Householder). With one column more than J has, that of the
    /// residuals is the last.
    pub(crate) fn merge_into(&self, triangle: &mut Triangle) {
        triangle.columns.iter_mut().zip(&self.rows).for_each(|(column, row)| {
            column.clear();
            column.extend_from_slice(row);
        });
        triangle.reflect();
    }
}

/// The triangle R of a QR decomposition whose rows arrive in parts.
pub(crate) struct Triangle {
    /// [free, free], row by row; 0 below the diagonal.
    pub entries: Vec<f64>,
    /// The columns of the part that is merged.
    columns: Vec<Vec<f64>>,
}

impl Triangle {
    pub(crate) fn new(free: usize) -> Self {
        Self { entries: vec![0.0; free * free], columns: vec![Vec::new(); free] }
    }

    /// Merges another triangle.
    pub(crate) fn merge(&mut self, other: &Self) {
        let free = self.columns.len();
        for (at, column) in self.columns.iter_mut().enumerate() {
            column.clear();
            column.extend((0..free).map(|row| other.entries[row * free + at]));
        }
        self.reflect();
    }

    /// Reflects each column of the part onto the diagonal. The rows of the triangle below it are 0 and stay so.
    fn reflect(&mut self) {
        let free = self.columns.len();
        for k in 0..free {
            let (done, later) = self.columns.split_at_mut(k + 1);
            let column = &done[k];
            let diagonal = self.entries[k * free + k];
            let square = dots(column, [&column[..]])[0];
            // Entries below 1e-145 count as 0, as in JᵀJ: their squares have lost their digits.
            if square < 1e-290 {
                continue;
            }
            // The sign that does not cancel.
            let length = -(diagonal * diagonal + square).sqrt().copysign(diagonal);
            let head = diagonal - length;
            let factor = 2.0 / (head * head + square);
            self.entries[k * free + k] = length;
            for (apart, other) in later.iter_mut().enumerate() {
                let top = &mut self.entries[k * free + k + 1 + apart];
                let share = factor * (head * *top + dots(column, [&other[..]])[0]);
                *top -= share * head;
                widened(|| other.iter_mut().zip(column).for_each(|(other, own)| *other -= share * own));
            }
        }
    }
}

/// Σ a b for each b, in sixteen lanes and in the same order on every machine.
fn dots<const N: usize>(a: &[f64], b: [&[f64]; N]) -> [f64; N] {
    widened(|| {
        let mut lanes = [[0.0; 16]; N];
        let (blocks, rest) = a.as_chunks::<16>();
        for (at, a) in blocks.iter().enumerate() {
            for (lanes, b) in lanes.iter_mut().zip(&b) {
                let b = &b[16 * at..][..16];
                for lane in 0..16 {
                    lanes[lane] += a[lane] * b[lane];
                }
            }
        }
        for (lanes, b) in lanes.iter_mut().zip(&b) {
            for (lane, (a, b)) in rest.iter().zip(&b[16 * blocks.len()..]).enumerate() {
                lanes[lane] += a * b;
            }
        }
        lanes.map(|mut lanes| {
            for apart in [8, 4, 2, 1] {
                for lane in 0..apart {
                    lanes[lane] += lanes[lane + apart];
                }
            }
            lanes[0]
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::splitmix::{STEP, mixed};

    /// A row with residual r and derivative 3, at loss scale 2: with z = (r / 2)², the products are JᵀJ = 9 (ρ' + 2 z ρ'') and Jᵀr = 3 r ρ', and
    /// the cost is 2 ρ. A negative curvature counts as the least positive one.
    #[test]
    fn rows_of_a_robust_loss_have_the_curvature_of_the_cost() {
        let epsilon = f64::EPSILON;
        let cases = [
            // z = 1/4: ρ' = 4/5, ρ'' = -16/25, so ρ' + 2 z ρ'' = 12/25.
            (RobustLoss::Cauchy, 1.0, 9.0 * 0.48, 3.0 * 0.8, 2.0 * 1.25_f64.ln()),
            // z = 4: ρ' = 1/5, ρ'' = -1/25, so ρ' + 2 z ρ'' = -3/25.
            (RobustLoss::Cauchy, 4.0, 9.0 * epsilon, 3.0 * 4.0 * 0.2, 2.0 * 5.0_f64.ln()),
            // z = 9/16: √(1 + z) = 5/4, ρ' = 4/5, ρ'' = -32/125, so ρ' + 2 z ρ'' = 64/125.
            (RobustLoss::SoftL1, -1.5, 9.0 * 0.512, -3.0 * 1.5 * 0.8, 2.0 * 0.5),
            // z = 1/4: within the scale it is the square.
            (RobustLoss::Huber, 1.0, 9.0, 3.0, 2.0 * 0.25),
            // z = 1/4: ρ' = 16/17, ρ'' = -128/289, so ρ' + 2 z ρ'' = 208/289.
            (RobustLoss::Arctan, 1.0, 9.0 * 208.0 / 289.0, 3.0 * 16.0 / 17.0, 2.0 * 0.25_f64.atan()),
        ];
        for (loss, residual, hessian, gradient, cost) in cases {
            let mut memory = TileMemory::new(1);
            let observed = Observed { y: &[7.0], sigma: None, loss, scale: 2.0 };
            let results = [[7.0 + residual], [3.0]];
            let tile = memory.tile(&observed, false, |result| &results[result]);
            let mut products = [0.0; 2];
            tile.add_products(&mut products);
            for (got, expected) in [(products[0], hessian), (products[1], gradient), (tile.cost, cost)] {
                assert!(
                    (got - expected).abs() <= 8.0 * epsilon * expected.abs(),
                    "{loss:?}: {got}, expected {expected}"
                );
            }
            assert_eq!(tile.squares, residual * residual);
        }
    }

    #[test]
    fn merged_parts_have_the_triangle_of_the_whole() {
        let (rows, free) = (37, 3);
        let number = |at: u64| (mixed(STEP.wrapping_mul(at)) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
        let columns: Vec<Vec<f64>> =
            (0..free).map(|column| (0..rows).map(|row| number(column * rows + row)).collect()).collect();
        let mut merged = Triangle::new(free as usize);
        for range in [0..5, 5..21, 21..22, 22..37] {
            let mut part = Triangle::new(free as usize);
            let none = [0.0; 37];
            let slices = columns.iter().map(|column| &column[range.clone()]).chain([&none[range.clone()]]);
            Tile { rows: slices.collect(), cost: 0.0, squares: 0.0, mended: 0 }.merge_into(&mut part);
            merged.merge(&part);
        }
        for i in 0..3 {
            for j in 0..3 {
                let whole: f64 = columns[i].iter().zip(&columns[j]).map(|(a, b)| a * b).sum();
                let entry = |row: usize, column: usize| merged.entries[3 * row + column];
                let product: f64 = (0..3).map(|row| entry(row, i) * entry(row, j)).sum();
                assert!((whole - product).abs() < 1e-14, "{i} {j}: {whole}, {product}");
            }
        }
    }
}
