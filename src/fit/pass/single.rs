//! The model in single precision, as the kernel `normal` sums it up, in units in which y and every derivative have the size 1 at the start.

use std::rc::Rc;

use super::sums::Sums;
use crate::error::Result;
use crate::fit::formula::RobustLoss;
use crate::fit::rows::{Part, Problem};
use crate::kernels::normal::{Residuals, loss};
use crate::program::Program;
use crate::program::slices::Float;

/// Residuals for the kernel, and their units.
pub(crate) struct Single {
    pub residuals: Rc<Residuals>,
    pub columns: Columns,
    /// For each variable of the model the size of the derivative.
    slopes: Vec<f64>,
}

/// The kernel's data, computed in double precision from the rows of a problem.
pub(crate) struct Columns {
    /// From the formula's columns those of the kernel: what depends on the data only is computed here, once.
    program: Program,
    /// The size of y.
    y: f64,
    /// The size of y / σ, or of y if there is no sigma.
    unit: f64,
    has_sigma: bool,
}

/// Some rows of a problem in memory, with the group of each.
pub(crate) struct Sample {
    groups: Vec<usize>,
    columns: Vec<Vec<f64>>,
    y: Vec<f64>,
    sigma: Vec<f64>,
}

impl Single {
    /// For a problem's model, with units from sample rows at the free parameters `x`. The model has no integrals.
    pub(crate) fn new(problem: &Problem<'_>, sums: &Sums<'_>, x: &[f64], sample: &Sample) -> Self {
        let (residuals, program) = residuals(problem, sums);
        let (has_sigma, count) = (problem.data.has_sigma, residuals.parameters());
        let columns = Columns { program, y: 1.0, unit: 1.0, has_sigma };
        let plain = Self { residuals: Rc::new(residuals), columns, slopes: vec![1.0; count] };
        let rows = plain.rows::<f64>(sums, x, sample);
        let weighted = sample.y.iter().enumerate().map(|(row, y)| y / sample.sigma.get(row).unwrap_or(&1.0));
        let columns = Columns { y: size(sample.y.iter().copied()), unit: size(weighted), ..plain.columns };
        let slopes = rows[1..].iter().map(|slope| size(slope.iter().copied())).collect();
        Self { columns, slopes, ..plain }
    }

    /// The kernel's scalars in a group: variables, values computed from them, and the factors of value and derivatives.
    pub(crate) fn scalars(&self, sums: &Sums<'_>, group: usize, x: &[f64]) -> Vec<f64> {
        let Columns { y, unit, .. } = self.columns;
        let factors = [1.0 / y].into_iter().chain(self.slopes.iter().map(|slope| unit / y / slope));
        sums.scalars(group, x).into_iter().chain(factors).collect()
    }

    /// Residuals and derivatives of sample rows, in the kernel's units and computed in the precision of T.
    fn rows<T: Float + Into<f64>>(&self, sums: &Sums<'_>, x: &[f64], sample: &Sample) -> Vec<Vec<f64>> {
        let Residuals { program, columns, is_weighted, .. } = &*self.residuals;
        let scalars = self.residuals.scalars();
        let weighted = Program::with_results(scalars + self.residuals.data_columns(), |inputs| {
            let (known, observed) = inputs.split_at(scalars + columns);
            let mut values = program.emit_all(known);
            values[0] = values[0] - observed[0];
            if *is_weighted {
                values = values.into_iter().map(|value| value * observed[1]).collect();
            }
            values
        });
        let of_group: Vec<Vec<f64>> = (0..sums.groups()).map(|group| self.scalars(sums, group, x)).collect();
        let known = (0..scalars).map(|at| sample.groups.iter().map(|&group| T::of(of_group[group][at])).collect());
        let data = self.columns.of(&sample.columns(), &sample.y, Some(&sample.sigma));
        let data = data.iter().map(|column| column.iter().map(|&value| T::of(value)).collect());
        let inputs: Vec<Vec<T>> = known.chain(data).collect();
        let slices: Vec<&[T]> = inputs.iter().map(Vec::as_slice).collect();
        let results = weighted.results(&slices, sample.y.len());
        results.into_iter().map(|result| result.into_iter().map(Into::into).collect()).collect()
    }

    /// By how much residuals and derivatives of sample rows differ from those in double precision, relative to their norms; not finite where either
    /// is not.
    pub(crate) fn differences(&self, sums: &Sums<'_>, x: &[f64], sample: &Sample) -> [f64; 2] {
        if sums.model().loss == RobustLoss::Poisson {
            // The kernel has no such loss.
            return [f64::INFINITY; 2];
        }
        let (exact, single) = (self.rows::<f64>(sums, x, sample), self.rows::<f32>(sums, x, sample));
        let difference = |(exact, single): (&Vec<f64>, &Vec<f64>)| {
            let apart: f64 = exact.iter().zip(single).map(|(exact, single)| (exact - single).powi(2)).sum();
            let whole: f64 = exact.iter().map(|exact| exact * exact).sum();
            if apart == 0.0 { 0.0 } else { (apart / whole).sqrt() }
        };
        let mut each = exact.iter().zip(&single).map(difference);
        // NaN is the largest here.
        let largest = |all: &mut dyn Iterator<Item = f64>| all.max_by(f64::total_cmp).unwrap_or(0.0);
        [largest(&mut each.by_ref().take(1)), largest(&mut each)]
    }

    /// Converts the kernel's sums into the units of the problem.
    pub(crate) fn convert(&self, sums: &mut [f64]) {
        let unit = self.columns.unit;
        let mut each = sums.iter_mut();
        for (at, slope) in self.slopes.iter().enumerate() {
            let others = self.slopes[at..].iter().chain([&unit]);
            others.zip(&mut each).for_each(|(other, sum)| *sum *= slope * other);
        }
        each.for_each(|sum| *sum *= unit * unit);
    }

    /// The scale of a robust loss in the kernel's units.
    pub(crate) fn scale(&self, problem: &Problem<'_>) -> f32 {
        (problem.scale / self.columns.unit) as f32
    }
}

impl Columns {
    /// The kernel's columns for some rows: the program's, y, and the weights if there is a sigma.
    pub(crate) fn of(&self, columns: &[&[f64]], y: &[f64], sigma: Option<&[f64]>) -> Vec<Vec<f64>> {
        let mut all = self.program.results(columns, y.len());
        all.push(y.iter().map(|y| y / self.y).collect());
        let weights = sigma.filter(|_| self.has_sigma);
        all.extend(weights.map(|sigma| sigma.iter().map(|sigma| self.y / (sigma * self.unit)).collect()));
        all
    }

    /// The same for a part of the rows.
    pub(crate) fn of_part(&self, part: &Part<'_>) -> Vec<Vec<f64>> {
        self.of(part.columns, part.y, part.sigma)
    }
}

impl Sample {
    /// These rows of a problem.
    pub(crate) fn of(problem: &Problem<'_>, rows: &[usize]) -> Result<Self> {
        let columns = vec![Vec::new(); problem.formula.columns().len()];
        let mut sample = Self { groups: Vec::new(), columns, y: Vec::new(), sigma: Vec::new() };
        for &row in rows {
            problem.data.with(row..row + 1, |part| {
                sample.columns.iter_mut().zip(part.columns).for_each(|(all, column)| all.extend_from_slice(column));
                sample.y.extend_from_slice(part.y);
                sample.sigma.extend_from_slice(part.sigma.unwrap_or_default());
                sample.groups.extend(part.runs.iter().flat_map(|(group, rows)| rows.clone().map(|_| *group)));
            })?;
        }
        Ok(sample)
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.y.len()
    }

    fn columns(&self) -> Vec<&[f64]> {
        self.columns.iter().map(Vec::as_slice).collect()
    }
}

/// The kernel's residuals, and the program of its columns.
fn residuals(problem: &Problem<'_>, sums: &Sums<'_>) -> (Residuals, Program) {
    let (rows, outer, count) = (&sums.model().rows, sums.model().outer.results.len(), sums.model().variables.len());
    let raw = problem.formula.columns().len();
    let is_column = |at: usize| (count..count + raw).contains(&at);
    let used = |program: &Program| (0..raw).filter(|at| program.uses(count + at)).collect::<Vec<usize>>();
    // Values of the data alone are columns, if that takes no more columns.
    let (own, rest) = rows.split(is_column);
    let is_split = used(&rest).len() + own.results.len() <= used(rows).len();
    let (own, rest) = if is_split { (Some(own), &rest) } else { (None, rows) };
    let kept = used(rest);
    let columns = Program::with_results(raw, |inputs| {
        let computed = own.as_ref().filter(|own| !own.results.is_empty()).map(|own| {
            // It uses no other inputs.
            let taken: Vec<_> = (0..own.inputs).map(|at| inputs[if is_column(at) { at - count } else { 0 }]).collect();
            own.emit_all(&taken)
        });
        kept.iter().map(|&at| inputs[at]).chain(computed.into_iter().flatten()).collect()
    });
    let scalars = count + outer + 1 + count;
    let program = Program::with_results(scalars + columns.results.len(), |inputs| {
        let (scalars, data) = inputs.split_at(scalars);
        let (known, factors) = scalars.split_at(count + outer);
        let mut taken = known[..count].to_vec();
        taken.extend(
            (0..raw).map(|at| kept.iter().position(|&place| place == at).map_or(known[0], |place| data[place])),
        );
        taken.extend(known[count..].iter().chain(&data[kept.len()..]));
        rest.emit_all(&taken).into_iter().zip(factors).map(|(value, factor)| value * *factor).collect()
    });
    let is_weighted = problem.data.has_sigma;
    (Residuals { program, columns: columns.results.len(), is_weighted, loss: of_loss(problem.loss) }, columns)
}

fn of_loss(robust: RobustLoss) -> Option<Program> {
    match robust {
        // With counts no search on a device begins: see `differences`.
        RobustLoss::Linear | RobustLoss::Poisson => None,
        RobustLoss::SoftL1 => Some(loss::soft_l1()),
        RobustLoss::Huber => Some(loss::huber()),
        RobustLoss::Cauchy => Some(loss::cauchy()),
        RobustLoss::Arctan => Some(loss::arctan()),
    }
}

/// The root mean square; 1 if it is 0 or not finite.
fn size(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    let size = (values.map(|value| value * value).sum::<f64>() / count).sqrt();
    if size.is_normal() { size } else { 1.0 }
}
