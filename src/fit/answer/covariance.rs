//! The covariance of the free parameters from the triangle of J, whose singular values have the digits that those of JᵀJ lose.

use nalgebra::{DMatrix, DVector, SVD};

use crate::fit::pass::Triangle;
use crate::fit::search::Pattern;

pub(crate) struct Covariance {
    pub matrix: DMatrix<f64>,
    /// Directions that the data do not determine, in parameters scaled to columns of length 1.
    pub undetermined: Vec<DVector<f64>>,
}

/// The triangle R of J = QR with a pattern: for each block its own rows, then those of the border.
pub(crate) struct ArrowTriangle<'p> {
    pattern: &'p Pattern,
    /// Of each block its own columns and those of the border.
    blocks: Vec<(DMatrix<f64>, DMatrix<f64>)>,
    corner: DMatrix<f64>,
}

/// A diagonal entry that is so many times larger than the rounding errors of rows says that its direction is determined.
const WELL_DETERMINED: f64 = 1e4;

impl<'p> ArrowTriangle<'p> {
    /// From the triangles of groups of rows; `places` has for each group and column the place of a free parameter.
    pub(crate) fn merged(pattern: &'p Pattern, triangles: &[Triangle], places: &[Vec<Option<usize>>]) -> Self {
        let count = pattern.border.len() + pattern.blocks.iter().map(Vec::len).sum::<usize>();
        // For each place its block, if it has one, and its column there or in the border.
        let mut columns = vec![(None, 0); count];
        pattern.border.iter().enumerate().for_each(|(at, &place)| columns[place] = (None, at));
        for (block, own) in pattern.blocks.iter().enumerate() {
            own.iter().enumerate().for_each(|(at, &place)| columns[place] = (Some(block), at));
        }
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); pattern.blocks.len() + 1];
        for (group, places) in places.iter().enumerate() {
            let block = places.iter().flatten().find_map(|&place| columns[place].0);
            members[block.unwrap_or(pattern.blocks.len())].push(group);
        }
        let border = pattern.border.len();
        let rows_of = |groups: &[usize], own: usize| {
            let height = places.first().map_or(0, Vec::len);
            let mut rows = DMatrix::zeros(height * groups.len(), own + border);
            for (nth, &group) in groups.iter().enumerate() {
                for (at, place) in places[group].iter().enumerate() {
                    let Some(place) = *place else { continue };
                    let column = match columns[place] {
                        (Some(_), at) => at,
                        (None, at) => own + at,
                    };
                    for row in 0..=at {
                        rows[(nth * height + row, column)] += triangles[group].entries[row * height + at];
                    }
                }
            }
            rows
        };
        let mut corner = rows_of(&members[pattern.blocks.len()], 0);
        let mut blocks = Vec::new();
        for (own, groups) in pattern.blocks.iter().zip(&members) {
            let width = own.len();
            let rows = rows_of(groups, width);
            let height = rows.nrows().max(width);
            let r = rows.resize_vertically(height, 0.0).qr().r();
            blocks
                .push((r.view((0, 0), (width, width)).into_owned(), r.view((0, width), (width, border)).into_owned()));
            let rest = r.view((width, width), (r.nrows() - width, border));
            let above = corner.nrows();
            corner = corner.resize_vertically(above + rest.nrows(), 0.0);
            corner.view_mut((above, 0), rest.shape()).copy_from(&rest);
            if corner.nrows() > 4 * border {
                corner = corner.qr().r();
            }
        }
        if corner.nrows() > border {
            corner = corner.qr().r();
        }
        Self { pattern, blocks, corner }
    }

    /// A triangle of parameters that may all share rows.
    pub(crate) fn dense(pattern: &'p Pattern, corner: DMatrix<f64>) -> Self {
        Self { pattern, blocks: Vec::new(), corner }
    }

    /// The whole matrix, its columns in the order of the blocks and the border.
    fn whole(&self) -> DMatrix<f64> {
        let width = self.blocks.iter().map(|(own, _)| own.nrows()).sum::<usize>();
        let mut whole = DMatrix::zeros(width + self.corner.nrows(), width + self.corner.ncols());
        let mut at = 0;
        for (own, side) in &self.blocks {
            whole.view_mut((at, at), own.shape()).copy_from(own);
            whole.view_mut((at, width), side.shape()).copy_from(side);
            at += own.nrows();
        }
        whole.view_mut((width, width), self.corner.shape()).copy_from(&self.corner);
        whole
    }
}

/// (RᵀR)⁻¹ · variance at the parameters `x`; infinite for parameters with a share in a direction whose singular value is below the rounding errors of
/// `rows` rows, and for those that change the model by less than the rounding errors of what others contribute to it.
pub(crate) fn covariance(triangle: &ArrowTriangle<'_>, x: &DVector<f64>, rows: usize, variance: f64) -> Covariance {
    let whole = triangle.whole();
    let norms =
        || triangle.pattern.order().zip(whole.column_iter()).map(|(place, column)| (x[place].abs(), column.norm()));
    let least = 8.0 * f64::EPSILON * norms().map(|(size, norm)| size * norm).fold(0.0, f64::max);
    // A parameter that is near 0 may change by 1.
    let is_seen: Vec<bool> = norms().map(|(size, norm)| size.max(1.0) * norm > least).collect();
    let norms: Vec<f64> =
        whole.column_iter().zip(&is_seen).map(|(column, seen)| if *seen { column.norm() } else { 1.0 }).collect();
    let scaled =
        DMatrix::from_fn(whole.nrows(), whole.ncols(), |i, j| if is_seen[j] { whole[(i, j)] / norms[j] } else { 0.0 });
    let Covariance { matrix, undetermined } = match inverse_square(triangle, &scaled, rows) {
        Some(matrix) => Covariance { matrix, undetermined: Vec::new() },
        None => by_singular_values(&scaled, rows),
    };
    // In the order of the parameters.
    let mut places = vec![0; norms.len()];
    triangle.pattern.order().enumerate().for_each(|(at, place)| places[place] = at);
    let entry = |i: usize, j: usize| variance * matrix[(places[i], places[j])] / (norms[places[i]] * norms[places[j]]);
    let turned = |direction: &DVector<f64>| DVector::from_fn(places.len(), |at, _| direction[places[at]]);
    Covariance {
        matrix: DMatrix::from_fn(places.len(), places.len(), entry),
        undetermined: undetermined.iter().map(turned).collect(),
    }
}

/// (RᵀR)⁻¹ by the inverses of the blocks; `None` if there are none, or if a direction may not be determined. Columns of R have length 1.
fn inverse_square(triangle: &ArrowTriangle<'_>, r: &DMatrix<f64>, rows: usize) -> Option<DMatrix<f64>> {
    let count = r.ncols();
    let limit = WELL_DETERMINED * f64::EPSILON * rows.max(count) as f64;
    let is_determined = r.nrows() == count && r.diagonal().iter().all(|entry| entry.abs() > limit);
    if triangle.blocks.is_empty() || !is_determined {
        return None;
    }
    let border = triangle.corner.ncols();
    let width = count - border;
    let inverse =
        |at: usize, size: usize| r.view((at, at), (size, size)).solve_upper_triangular(&DMatrix::identity(size, size));
    let corner = inverse(width, border)?;
    // R⁻¹ without the inverses of the blocks, which are added to the square.
    let mut across = DMatrix::zeros(count, border);
    let mut squares = Vec::new();
    let mut at = 0;
    for (own, _) in &triangle.blocks {
        let size = own.nrows();
        let own = inverse(at, size)?;
        across.view_mut((at, 0), (size, border)).copy_from(&(-&own * r.view((at, width), (size, border)) * &corner));
        squares.push(&own * own.transpose());
        at += size;
    }
    across.view_mut((width, 0), (border, border)).copy_from(&corner);
    let mut matrix = &across * across.transpose();
    let mut at = 0;
    for square in squares {
        let mut part = matrix.view_mut((at, at), square.shape());
        part += &square;
        at += square.nrows();
    }
    Some(matrix)
}

/// (RᵀR)⁻¹ of columns of length 1 by their singular values.
fn by_singular_values(scaled: &DMatrix<f64>, rows: usize) -> Covariance {
    let free = scaled.ncols();
    // A triangle of fewer rows has undetermined directions, which the decomposition would leave out.
    let square = scaled.clone().resize_vertically(free.max(scaled.nrows()), 0.0);
    let svd = SVD::new(square, false, true);
    let vectors = svd.v_t.unwrap_or_else(|| DMatrix::identity(free, free));
    let limit = f64::EPSILON * rows.max(free) as f64 * svd.singular_values.max();
    let mut matrix = DMatrix::zeros(free, free);
    let mut undetermined: Vec<DVector<f64>> = Vec::new();
    for (value, vector) in svd.singular_values.iter().zip(vectors.row_iter()) {
        let direction = vector.transpose();
        if *value > limit {
            matrix += &direction * vector * (1.0 / (value * value));
        } else {
            undetermined.push(direction);
        }
    }
    for direction in &undetermined {
        let has_share = |at: usize| direction[at].abs() > 1e-6 * direction.amax();
        for at in (0..free).filter(|&at| has_share(at)) {
            matrix.row_mut(at).fill(f64::INFINITY);
            matrix.column_mut(at).fill(f64::INFINITY);
        }
    }
    Covariance { matrix, undetermined }
}

/// The variance of a value with these slopes by the parameters, to first order (the delta method). A slope of 0 leaves out a parameter that the
/// data do not determine: 0 times infinity is no number.
pub(crate) fn variance_along(matrix: &DMatrix<f64>, slopes: &DVector<f64>) -> f64 {
    let used: Vec<usize> = (0..slopes.len()).filter(|&at| slopes[at] != 0.0).collect();
    let pairs = used.iter().flat_map(|&i| used.iter().map(move |&j| (i, j)));
    pairs.map(|(i, j)| slopes[i] * matrix[(i, j)] * slopes[j]).sum()
}
