//! The formula as it runs over rows: its value and its derivatives by the parameters that vary.

use std::ops::Range;

use super::tile::{Observed, Tile, TileMemory};
use crate::fit::formula::{Integral, RobustLoss, Running};
use crate::fit::rows::pieces::TILE;
use crate::fit::rows::{Part, Problem};
use crate::program::slices::{Registers, Source};
use crate::program::{Expr, Program};

/// The formula's value and derivatives over rows.
pub(crate) struct Model {
    /// Places, among the formula's parameters, of those that are not the same constant everywhere.
    pub variables: Vec<usize>,
    /// Values that depend on the variables only.
    pub outer: Program,
    /// The value, then the derivative by each variable. Inputs: variables, columns, integrals, their derivatives, the outer values.
    pub rows: Program,
    columns: usize,
    pub integrals: Vec<Integral>,
    /// Integrals and places of variables: the derivatives of integrals among the inputs.
    slopes: Vec<(usize, usize)>,
    pub loss: RobustLoss,
    scale: f64,
    pub is_absolute: bool,
}

/// Memory for running a model over tiles.
pub(crate) struct Memory<'m> {
    registers: Registers<'m, f64>,
    /// [variables and outer values, TILE].
    scalars: Vec<f64>,
    /// [integrals and their derivatives, TILE].
    gathered: Vec<f64>,
    /// [columns, TILE], where rows of several groups are in one tile.
    packed: Vec<f64>,
    /// Of the outer program.
    inputs: Vec<f64>,
    tile: TileMemory,
}

impl Model {
    pub(crate) fn new(problem: &Problem<'_>) -> Self {
        let (variables, program) = varying(problem);
        let (count, columns) = (variables.len(), problem.formula.columns().len());
        let integrals = problem.formula.integrals().to_vec();
        let (whole, slopes) = with_derivatives(&program, &variables, columns, &integrals);
        let (outer, rows) = whole.split(|at| at < count);
        let (loss, scale, is_absolute) = (problem.loss, problem.scale, problem.is_absolute);
        Self { variables, outer, rows, columns, integrals, slopes, loss, scale, is_absolute }
    }

    /// The variables, then the values that depend on them only.
    pub(crate) fn scalars(&self, variables: &[f64]) -> Vec<f64> {
        let mut inputs = vec![0.0; self.outer.inputs];
        inputs[..variables.len()].copy_from_slice(variables);
        [variables, &self.outer.at(&inputs)].concat()
    }

    /// The words of memory that [`Model::memory`] takes.
    pub(crate) fn words(&self) -> usize {
        Registers::<f64>::words(&self.rows)
    }

    pub(crate) fn memory<'m>(&self, words: &'m mut [f64]) -> Memory<'m> {
        Memory {
            registers: Registers::new(&self.rows, words),
            scalars: vec![0.0; TILE * (self.variables.len() + self.outer.results.len())],
            gathered: vec![0.0; TILE * (self.integrals.len() + self.slopes.len())],
            packed: vec![0.0; TILE * self.columns],
            inputs: vec![0.0; self.outer.inputs],
            tile: TileMemory::new(self.variables.len()),
        }
    }

    /// The integrals over their grids at values of all parameters of the formula.
    pub(crate) fn running(&self, grids: &[Vec<f64>], parameters: &[f64]) -> Vec<Running> {
        let integrals = self.integrals.iter().zip(grids);
        integrals.map(|(integral, grid)| integral.over(grid, parameters, &self.variables)).collect()
    }

    /// Hands over the tiles of some rows of a part, all in one group, each with its first row in the part.
    pub(crate) fn run(
        &self,
        variables: &[f64],
        running: &[Running],
        (part, rows): (&Part<'_>, &Range<usize>),
        is_mended: bool,
        memory: &mut Memory<'_>,
        mut take: impl FnMut(&Tile<'_>, usize),
    ) {
        let Memory { registers, scalars, gathered, inputs, tile, .. } = memory;
        let count = variables.len();
        inputs[..count].copy_from_slice(variables);
        let outer = self.outer.at(inputs);
        let width = rows.len().min(TILE);
        for (row, value) in scalars.chunks_exact_mut(TILE).zip(variables.iter().chain(&outer)) {
            row[..width].fill(*value);
        }
        let first_integral = count + self.columns;
        let first_outer = first_integral + self.integrals.len() + self.slopes.len();
        for start in rows.clone().step_by(TILE) {
            let range = start..rows.end.min(start + TILE);
            self.gather(running, part, &range, gathered);
            let source = |at: usize| {
                let (memory, row) = match at {
                    _ if at < count => (&*scalars, at),
                    _ if at < first_integral => return Source::Slice(&part.columns[at - count][range.clone()]),
                    _ if at < first_outer => (&*gathered, at - first_integral),
                    _ => (&*scalars, count + at - first_outer),
                };
                Source::Slice(&memory[row * TILE..][..range.len()])
            };
            self.rows.evaluate(range.len(), registers, &source);
            let value = |result: usize| self.rows.value(result, range.len(), registers, &source);
            let sigma = part.sigma.map(|sigma| &sigma[range.clone()]);
            let observed = Observed { y: &part.y[range.clone()], sigma, loss: self.loss, scale: self.scale };
            take(&tile.tile(&observed, is_mended, value), start);
        }
    }

    /// Hands over a tile for each run of rows, all in one evaluation: a run has values of the variables of its own. The runs have at most [`TILE`]
    /// rows together, and the model has no integrals.
    pub(crate) fn run_packed(
        &self,
        runs: &[(&[f64], Range<usize>)],
        part: &Part<'_>,
        memory: &mut Memory<'_>,
        mut take: impl FnMut(&Tile<'_>),
    ) {
        let Memory { registers, scalars, packed, inputs, tile, .. } = memory;
        let count = self.variables.len();
        let mut total = 0;
        for (variables, rows) in runs {
            let own = total..total + rows.len();
            inputs[..count].copy_from_slice(variables);
            let outer = if self.outer.results.is_empty() { Vec::new() } else { self.outer.at(inputs) };
            for (row, value) in scalars.chunks_exact_mut(TILE).zip(variables.iter().chain(&outer)) {
                row[own.clone()].fill(*value);
            }
            for (row, column) in packed.chunks_exact_mut(TILE).zip(part.columns) {
                row[own.clone()].copy_from_slice(&column[rows.clone()]);
            }
            total = own.end;
        }
        let first_outer = count + self.columns;
        let source = |at: usize| {
            let (memory, row) = match at {
                _ if at < count => (&*scalars, at),
                _ if at < first_outer => (&*packed, at - count),
                _ => (&*scalars, count + at - first_outer),
            };
            Source::Slice(&memory[row * TILE..][..total])
        };
        self.rows.evaluate(total, registers, &source);
        let mut start = 0;
        for (_, rows) in runs {
            let own = start..start + rows.len();
            let value = |result: usize| &self.rows.value(result, total, registers, &source)[own.clone()];
            let sigma = part.sigma.map(|sigma| &sigma[rows.clone()]);
            let observed = Observed { y: &part.y[rows.clone()], sigma, loss: self.loss, scale: self.scale };
            take(&tile.tile(&observed, false, value));
            start = own.end;
        }
    }

    /// The integrals and their derivatives for each row.
    fn gather(&self, running: &[Running], part: &Part<'_>, range: &Range<usize>, gathered: &mut [f64]) {
        let mut first_end = Vec::with_capacity(self.integrals.len());
        let mut ends = 0;
        for integral in &self.integrals {
            first_end.push(ends);
            ends += integral.ends.len();
        }
        let values = (0..self.integrals.len()).map(|at| (at, &running[at].values));
        let slopes = self.slopes.iter().map(|&(at, variable)| (at, &running[at].slopes[variable]));
        for ((at, table), row) in values.chain(slopes).zip(gathered.chunks_exact_mut(TILE)) {
            let places = |end: usize| &part.places[first_end[at] + end][range.clone()];
            let upper = places(self.integrals[at].ends.len() - 1);
            row.iter_mut().zip(upper).for_each(|(value, &place)| *value = table[place as usize]);
            if self.integrals[at].ends.len() == 2 {
                row.iter_mut().zip(places(0)).for_each(|(value, &place)| *value -= table[place as usize]);
            }
        }
    }
}

/// A program over some variables, columns and integrals, with its derivatives by the variables as further results. The derivatives of integrals,
/// whose places are also returned, are further inputs. `variables` are places among the parameters of the integrands.
pub(crate) fn with_derivatives(
    program: &Program,
    variables: &[usize],
    columns: usize,
    integrals: &[Integral],
) -> (Program, Vec<(usize, usize)>) {
    let count = variables.len();
    let slopes: Vec<(usize, usize)> = (0..integrals.len())
        .flat_map(|integral| (0..count).map(move |at| (integral, at)))
        .filter(|&(integral, at)| integrals[integral].program.uses(variables[at]))
        .collect();
    let first_integral = count + columns;
    let first_slope = first_integral + integrals.len();
    let places: Vec<usize> = (0..count).chain(first_integral..first_slope).collect();
    let partial = program.with_gradient(&places);
    // The chain rule over the integrals.
    let whole = Program::with_results(first_slope + slopes.len(), |inputs| {
        let values = partial.emit_all(&inputs[..first_slope]);
        let total = |at: usize| {
            let through = slopes.iter().enumerate().filter(|(_, (_, variable))| *variable == at);
            through.fold(values[1 + at], |sum, (place, (integral, _))| {
                sum + values[1 + count + integral] * inputs[first_slope + place]
            })
        };
        [values[0]].into_iter().chain((0..count).map(total)).collect()
    });
    (whole, slopes)
}

/// The parameters of the formula that are not the same constant everywhere, and its program over these, its columns and its integrals.
pub(crate) fn varying(problem: &Problem<'_>) -> (Vec<usize>, Program) {
    let formula = &problem.formula;
    let constant = |at: usize| {
        let first = &problem.parameters[problem.places[0][at]];
        let is_same = |places: &Vec<usize>| {
            let parameter = &problem.parameters[places[at]];
            parameter.is_fixed && parameter.start == first.start
        };
        problem.places.iter().all(is_same).then(|| first.start.unwrap_or_default())
    };
    let constants: Vec<Option<f64>> = (0..formula.parameters().len()).map(constant).collect();
    let variables: Vec<usize> = (0..constants.len()).filter(|&at| constants[at].is_none()).collect();
    let program = formula.program();
    let rest = program.inputs - constants.len();
    let program = Program::build(variables.len() + rest, |inputs| {
        let parameter = |(at, constant): (usize, &Option<f64>)| match constant {
            Some(value) => Expr::from(*value),
            None => inputs[variables.iter().position(|&variable| variable == at).unwrap_or(0)],
        };
        let taken = constants.iter().enumerate().map(parameter).chain(inputs[variables.len()..].iter().copied());
        program.emit(&taken.collect::<Vec<Expr>>())
    });
    (variables, program)
}
