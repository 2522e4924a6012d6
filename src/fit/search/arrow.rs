//! Linear systems of fits with parameters per level. Two levels' parameters share no rows, so JᵀJ is zero between them: it is an arrow of a block for
//! each level and a border of the shared parameters. The blocks are eliminated one by one, and what is left for the border is their Schur complement
//! (Björck 1996, section 6.3), so that the cost grows with the number of levels and not with its cube.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use crate::fit::rows::Problem;

/// With fewer parameters the whole matrix is no work.
const MOST_DENSE: usize = 32;

/// Which parameters have no rows in common.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pattern {
    /// Places of parameters; those of two blocks share no rows.
    pub blocks: Vec<Vec<usize>>,
    /// The other places.
    pub border: Vec<usize>,
}

impl Pattern {
    /// Of parameters that may all share rows.
    pub(crate) fn dense(count: usize) -> Self {
        Self { blocks: Vec::new(), border: (0..count).collect() }
    }

    /// Of the parameters of a problem at the places `free`, by their order there; dense if elimination would save little.
    pub(crate) fn of(problem: &Problem<'_>, free: &[usize]) -> Self {
        let count = free.len();
        if count <= MOST_DENSE || problem.groups() == 1 {
            return Self::dense(count);
        }
        let mut of_parameter = vec![None; problem.parameters.len()];
        free.iter().enumerate().for_each(|(place, &at)| of_parameter[at] = Some(place));
        // Parameters with the same columns of levels are of one kind: a kind is in the border as a whole.
        let names = problem.formula.parameters().len();
        let mut kinds: Vec<(&[String], Vec<usize>)> = Vec::new();
        for at in 0..names {
            let levels = problem.formula.levels(at);
            match kinds.iter_mut().find(|(known, _)| *known == levels) {
                Some((_, members)) => members.push(at),
                None => kinds.push((levels, vec![at])),
            }
        }
        let groups: Vec<Vec<Vec<usize>>> = kinds
            .iter()
            .map(|(_, members)| {
                let group = |places: &Vec<usize>| members.iter().filter_map(|&at| of_parameter[places[at]]).collect();
                problem.places.iter().map(group).collect()
            })
            .collect();
        let shared: Vec<bool> = kinds.iter().map(|(levels, _)| levels.is_empty()).collect();
        // One kind alone, or all that have levels: in nested levels the latter is better, in crossed ones the former.
        let choices =
            (0..kinds.len()).filter(|&kind| !shared[kind]).map(|kind| (0..kinds.len()).map(|at| at != kind).collect());
        let patterns =
            choices.chain([shared.clone()]).map(|in_border: Vec<bool>| Self::without(&in_border, &groups, count));
        let best = patterns.min_by(|a, b| a.work().total_cmp(&b.work()));
        best.filter(|best| best.work() < 0.1 * Self::dense(count).work()).unwrap_or_else(|| Self::dense(count))
    }

    /// The pattern with these kinds in the border; `groups` has for each kind and group the places.
    fn without(in_border: &[bool], groups: &[Vec<Vec<usize>>], count: usize) -> Self {
        let own = |group: usize| {
            let kinds = groups.iter().zip(in_border).filter(|(_, in_border)| !**in_border);
            kinds.flat_map(move |(groups, _)| groups[group].iter().copied())
        };
        // Places in one group are joined: each points to another of its block, the first to itself.
        let mut joined: Vec<usize> = (0..count).collect();
        let mut has_block = vec![false; count];
        for group in 0..groups[0].len() {
            let mut places = own(group);
            let Some(first) = places.next() else { continue };
            has_block[first] = true;
            for place in places {
                has_block[place] = true;
                let [one, other] = [first, place].map(|place| root(&mut joined, place));
                joined[one.max(other)] = one.min(other);
            }
        }
        let mut blocks: Vec<Vec<usize>> = vec![Vec::new(); count];
        for place in (0..count).filter(|&place| has_block[place]) {
            blocks[root(&mut joined, place)].push(place);
        }
        blocks.retain(|block| !block.is_empty());
        Self { blocks, border: (0..count).filter(|&place| !has_block[place]).collect() }
    }

    /// Multiplications of an elimination, about.
    fn work(&self) -> f64 {
        let border = self.border.len() as f64;
        let block = |block: &Vec<usize>| (block.len() as f64) * (block.len() as f64 + border).powi(2);
        border.powi(3) + self.blocks.iter().map(block).sum::<f64>()
    }

    /// The places by blocks, those of the border last.
    pub(crate) fn order(&self) -> impl Iterator<Item = usize> + '_ {
        self.blocks.iter().flatten().chain(&self.border).copied()
    }

    pub(crate) fn is_dense(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The pattern of some of the parameters, by their order in `kept`, which is ascending.
    pub(crate) fn only(&self, kept: &[usize]) -> Self {
        let some = |places: &Vec<usize>| places.iter().filter_map(|place| kept.binary_search(place).ok()).collect();
        let blocks = self.blocks.iter().map(some).filter(|block: &Vec<usize>| !block.is_empty());
        Self { blocks: blocks.collect(), border: some(&self.border) }
    }
}

/// The first of all places that are joined with one.
fn root(joined: &mut [usize], mut place: usize) -> usize {
    while joined[place] != place {
        joined[place] = joined[joined[place]];
        place = joined[place];
    }
    place
}

/// The factors of a positive definite matrix with a pattern, whose diagonal is scaled to 1.
pub(crate) struct Factors<'p> {
    pattern: &'p Pattern,
    scale: DVector<f64>,
    /// For each block its own factor, and its inverse times its columns of the border.
    blocks: Vec<(Cholesky<f64, Dyn>, DMatrix<f64>)>,
    /// For each block its columns of the border.
    sides: Vec<DMatrix<f64>>,
    corner: Cholesky<f64, Dyn>,
}

impl<'p> Factors<'p> {
    /// Of a matrix to whose diagonal something is added; `None` if it is singular to working precision.
    pub(crate) fn of(pattern: &'p Pattern, matrix: &DMatrix<f64>, added: impl Fn(usize) -> f64) -> Option<Self> {
        let count = matrix.nrows();
        let scale = DVector::from_fn(count, |at, _| (matrix[(at, at)] + added(at)).sqrt().recip());
        if !scale.iter().all(|scale| scale.is_finite()) {
            return None;
        }
        let part = |rows: &[usize], columns: &[usize]| {
            DMatrix::from_fn(rows.len(), columns.len(), |i, j| {
                let (i, j) = (rows[i], columns[j]);
                if i == j { 1.0 } else { scale[i] * matrix[(i, j)] * scale[j] }
            })
        };
        let least = count as f64 * f64::EPSILON;
        let factor = |matrix: DMatrix<f64>| {
            let factor = Cholesky::new(matrix)?;
            let is_regular = factor.l_dirty().diagonal().iter().all(|entry| entry * entry > least);
            is_regular.then_some(factor)
        };
        let mut corner = part(&pattern.border, &pattern.border);
        let (mut blocks, mut sides) = (Vec::new(), Vec::new());
        for block in &pattern.blocks {
            let own = factor(part(block, block))?;
            let side = part(block, &pattern.border);
            let solved = own.solve(&side);
            corner.gemm_tr(-1.0, &side, &solved, 1.0);
            blocks.push((own, solved));
            sides.push(side);
        }
        Some(Self { pattern, scale, blocks, sides, corner: factor(corner)? })
    }

    /// Solves A x = b.
    pub(crate) fn solve(&self, b: &DVector<f64>) -> DVector<f64> {
        let some = |places: &[usize]| DVector::from_fn(places.len(), |i, _| self.scale[places[i]] * b[places[i]]);
        let mut corner = some(&self.pattern.border);
        let blocks = self.pattern.blocks.iter().zip(&self.blocks).zip(&self.sides);
        let solved: Vec<DVector<f64>> = blocks
            .map(|((places, (own, _)), side)| {
                let solved = own.solve(&some(places));
                corner.gemv_tr(-1.0, side, &solved, 1.0);
                solved
            })
            .collect();
        self.corner.solve_mut(&mut corner);
        let mut x = DVector::zeros(b.len());
        let mut put = |places: &[usize], values: &DVector<f64>| {
            places.iter().zip(values).for_each(|(&at, value)| x[at] = self.scale[at] * value);
        };
        for ((places, (_, across)), solved) in self.pattern.blocks.iter().zip(&self.blocks).zip(solved) {
            put(places, &(solved - across * &corner));
        }
        put(&self.pattern.border, &corner);
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A positive definite matrix with a pattern.
    fn matrix(pattern: &Pattern, count: usize) -> DMatrix<f64> {
        let mut matrix = DMatrix::identity(count, count) * 3.0;
        let mut put = |i: usize, j: usize| {
            let value = ((7 * i.min(j) + 3 * i.max(j)) % 5) as f64 / 5.0 - 0.4;
            (matrix[(i, j)], matrix[(j, i)]) = (value, value);
        };
        for places in pattern.blocks.iter().chain([&pattern.border]) {
            for (at, &i) in places.iter().enumerate() {
                places[..at].iter().for_each(|&j| put(i, j));
                pattern.border.iter().filter(|&&j| j != i).for_each(|&j| put(i, j));
            }
        }
        matrix
    }

    #[test]
    fn solutions_are_those_of_the_whole_matrix() {
        let pattern = Pattern { blocks: vec![vec![0, 4], vec![1], vec![2, 5, 6]], border: vec![3, 7] };
        let matrix = matrix(&pattern, 8);
        let b = DVector::from_fn(8, |at, _| at as f64 - 2.5);
        for added in [0.0, 0.7] {
            let x = Factors::of(&pattern, &matrix, |_| added).unwrap().solve(&b);
            let whole = &matrix + DMatrix::identity(8, 8) * added;
            assert!((whole * &x - &b).amax() < 1e-14, "{added}");
            let dense = Pattern::dense(8);
            let other = Factors::of(&dense, &matrix, |_| added).unwrap().solve(&b);
            assert!((x - other).amax() < 1e-14, "{added}");
        }
    }

    #[test]
    fn a_singular_matrix_has_no_factors() {
        let pattern = Pattern { blocks: vec![vec![0], vec![1]], border: vec![2] };
        let mut matrix = DMatrix::identity(3, 3);
        (matrix[(0, 2)], matrix[(2, 0)]) = (1.0, 1.0);
        assert!(Factors::of(&pattern, &matrix, |_| 0.0).is_none());
        assert!(Factors::of(&pattern, &matrix, |_| 1e-3).is_some());
        matrix[(1, 1)] = 0.0;
        assert!(Factors::of(&pattern, &matrix, |_| 0.0).is_none());
    }

    #[test]
    fn some_of_the_parameters_keep_the_pattern() {
        let pattern = Pattern { blocks: vec![vec![0, 4], vec![1], vec![2, 5]], border: vec![3] };
        let kept = pattern.only(&[0, 2, 3, 5]);
        assert_eq!(kept, Pattern { blocks: vec![vec![0], vec![1, 3]], border: vec![2] });
    }
}
