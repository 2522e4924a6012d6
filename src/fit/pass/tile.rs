//! Weighted derivatives and residuals of a few hundred rows, and what is summed over them.

use smallvec::SmallVec;

use super::moments::Moments;
use crate::fit::formula::RobustLoss;
use crate::fit::rows::pieces::TILE;
use crate::simd::widened;

/// Memory for the rows of a tile.
pub(crate) struct TileMemory {
    residuals: Vec<f64>,
    /// [free, TILE]: derivatives, where they are weighted.
    derivatives: Vec<f64>,
    /// With a robust loss the factors by which derivatives are rescaled.
    factors: Vec<f64>,
}

impl TileMemory {
    pub(crate) fn new(free: usize) -> Self {
        Self { residuals: vec![0.0; TILE], derivatives: vec![0.0; free * TILE], factors: vec![1.0; TILE] }
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
            return Tile { rows, cost: 0.5 * squares, squares, mended: 0, robust: None };
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
        let mut squares = dots(residuals, [&*residuals])[0];
        let (mut cost, mut moments) = (0.5 * squares, Moments::default());
        if observed.loss == RobustLoss::Poisson {
            (cost, squares) = counted(observed.y, residuals, &mut self.derivatives);
        } else if is_robust {
            cost = rescaled(observed, residuals, &mut self.derivatives, &mut self.factors, &mut moments);
            moments.cost = cost;
        }
        let rows = self.derivatives.chunks_exact(TILE).map(|row| &row[..count]).chain([&*residuals]).collect();
        let robust = (is_robust && observed.loss != RobustLoss::Poisson).then_some((&self.factors[..count], moments));
        Tile { rows, cost, squares, mended, robust }
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
fn rescaled(
    observed: &Observed<'_>,
    residuals: &mut [f64],
    derivatives: &mut [f64],
    factors: &mut [f64],
    moments: &mut Moments,
) -> f64 {
    let square = observed.scale * observed.scale;
    let mut cost = 0.0;
    for (at, r) in residuals.iter_mut().enumerate() {
        let residual = *r;
        let [rho, slope, curvature] = observed.loss.at(residual * residual / square);
        cost += 0.5 * square * rho;
        let bend = slope + 2.0 * curvature * residual * residual / square;
        let factor = bend.max(f64::EPSILON).sqrt();
        moments.add(residual * slope, bend);
        factors[at] = factor;
        *r = residual * slope / factor;
        derivatives.chunks_exact_mut(TILE).for_each(|row| row[at] *= factor);
    }
    cost
}

/// Below this many expected counts the likelihood goes on as a parabola, so that a search may pass where a model is negative.
const FEWEST_COUNTS: f64 = 1e-5;

/// Rescales residuals f - y and derivatives so that their products are the gradient of the cost of counts and its curvature (that of Fisher where the
/// model is positive). Returns the cost, half the deviance, and Σ (f - y)² / f.
fn counted(y: &[f64], residuals: &mut [f64], derivatives: &mut [f64]) -> (f64, f64) {
    let (mut cost, mut squares) = (0.0, 0.0);
    let least = FEWEST_COUNTS;
    for (at, (r, &y)) in residuals.iter_mut().zip(y).enumerate() {
        let model = y + *r;
        let size = model.max(least);
        squares += *r * *r / size;
        let below = (model - least) / least;
        let entropy = if y > 0.0 { y * (y / size).ln() } else { 0.0 };
        cost += model - y + entropy;
        let mut slope = 1.0 - y / size;
        let mut curvature = 1.0 / size;
        if y > 0.0 && below < 0.0 {
            cost += y * (0.5 * below - 1.0) * below;
            (slope, curvature) = (1.0 + y * (below - 1.0) / least, y / (least * least));
        }
        if y == 0.0 && model < 0.0 {
            cost += 0.5 * (model / least).powi(2);
            (slope, curvature) = (1.0 + model / (least * least), 1.0 / (least * least));
        }
        let factor = curvature.sqrt();
        *r = slope / factor;
        derivatives.chunks_exact_mut(TILE).for_each(|row| row[at] *= factor);
    }
    (cost, squares)
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
    /// With a robust loss the factors by which rows were rescaled, and the moments of the loss.
    robust: Option<(&'a [f64], Moments)>,
}

impl Tile<'_> {
    /// Places, from the tile's first row, where the model or a derivative is not finite.
    pub(crate) fn bad(&self) -> Vec<usize> {
        let count = self.rows[0].len();
        (0..count).filter(|&at| self.rows.iter().any(|row| !row[at].is_finite())).collect()
    }

    /// The weighted residuals, rescaled with a robust loss.
    pub(crate) fn residuals(&self) -> &[f64] {
        self.rows[self.rows.len() - 1]
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

    /// Merges the rows of J, which are those of the plain residuals also with a robust loss, into a triangle [free, free], by columns, with one reflection
    /// per column (Householder). With one column more than J has, that of the residuals is the last.
    pub(crate) fn merge_into(&self, triangle: &mut Triangle) {
        triangle.columns.iter_mut().zip(&self.rows).for_each(|(column, row)| {
            column.clear();
            match &self.robust {
                Some((factors, _)) => column.extend(row.iter().zip(*factors).map(|(value, factor)| value / factor)),
                None => column.extend_from_slice(row),
            }
        });
        if let Some((_, moments)) = &self.robust {
            triangle.moments.merge(moments);
        }
        triangle.reflect();
    }
}

/// The triangle R of a QR decomposition whose rows arrive in parts.
pub(crate) struct Triangle {
    /// [free, free], row by row; 0 below the diagonal.
    pub entries: Vec<f64>,
    /// The columns of the part that is merged.
    columns: Vec<Vec<f64>>,
    /// Of a robust loss over the rows.
    pub moments: Moments,
}

impl Triangle {
    pub(crate) fn new(free: usize) -> Self {
        Self { entries: vec![0.0; free * free], columns: vec![Vec::new(); free], moments: Moments::default() }
    }

    /// Merges another triangle.
    pub(crate) fn merge(&mut self, other: &Self) {
        let free = self.columns.len();
        self.moments.merge(&other.moments);
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

    /// Of counts, with a derivative of 3: y = 2 where the model is 8 costs 6 + 2 ln ¼, has the gradient 3 (1 - ¼) and the curvature 9 / 8; y = 0 costs the
    /// model. Below the fewest counts cost and gradient go on without a jump.
    #[test]
    fn counts_have_the_gradient_of_their_likelihood() {
        let row = |y: f64, model: f64| {
            let mut memory = TileMemory::new(1);
            let observed = Observed { y: &[y], sigma: None, loss: RobustLoss::Poisson, scale: 1.0 };
            let results = [[model], [3.0]];
            let tile = memory.tile(&observed, false, |result| &results[result]);
            let mut products = [0.0; 2];
            tile.add_products(&mut products);
            [tile.cost, products[1], products[0], tile.squares]
        };
        let close = |got: [f64; 4], expected: [f64; 4]| {
            let near = got.iter().zip(expected).all(|(got, expected)| (got - expected).abs() <= 1e-12 * expected.abs());
            assert!(near, "{got:?}, expected {expected:?}");
        };
        close(row(2.0, 8.0), [6.0 + 2.0 * 0.25_f64.ln(), 3.0 * 0.75, 9.0 / 8.0, 36.0 / 8.0]);
        close(row(0.0, 0.5), [0.5, 3.0, 18.0, 0.5]);
        for y in [0.0, 2.0] {
            let edge = if y == 0.0 { 0.0 } else { FEWEST_COUNTS };
            let [below, above] = [-1e-17, 1e-17].map(|step| row(y, edge + step));
            assert!(
                (below[0] - above[0]).abs() < 1e-5 && (below[1] - above[1]).abs() < 1e-6 * (1.0 + above[1].abs()),
                "{y}"
            );
            let [near, far] = [row(y, -1.0), row(y, -1.0 - 1e-6)];
            assert!((far[0] - near[0] + 1e-6 * near[1] / 3.0).abs() < 1e-4 * (far[0] - near[0]).abs(), "{y}");
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
            Tile { rows: slices.collect(), cost: 0.0, squares: 0.0, mended: 0, robust: None }.merge_into(&mut part);
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
