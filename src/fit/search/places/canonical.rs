//! One of the points at which a model is the same: widths and frequencies above 0, frequencies of evenly spaced rows below half a turn for each row,
//! phases within a turn, terms of one kind in the order of their places. Only parameters without a start are changed, and only if the model stays the same.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use nalgebra::DVector;

use super::roles::{Role, Shape, quarter};
use super::spacing::{Spacing, spacings};
use super::terms::{Term, Terms};
use crate::error::Result;
use crate::fit::rows::Problem;
use crate::fit::search::start::{picked, sampled};

/// Rows on which two points are compared.
const ROWS: usize = 60;
/// Relative difference of values that are equal but for rounding errors.
const SAME: f64 = 1e-7;

/// What is known of the points at which a model is the same.
pub(crate) struct Symmetry<'p> {
    problem: &'p Problem<'p>,
    terms: &'p Terms,
    /// Of each column.
    spacings: &'p [Spacing],
    /// For each free parameter of the terms, its place in the formula.
    places: &'p [usize],
    /// For each parameter of the problem, whether it may be changed.
    is_open: Vec<bool>,
    /// The columns of some rows.
    rows: Vec<Vec<f64>>,
}

/// The terms of a problem with one value for all levels, whose free parameters are at `places` in the formula. `None` if every parameter has a start, or if
/// the model is no sum of terms.
pub(crate) struct Collapsed {
    pub terms: Terms,
    pub places: Vec<usize>,
    pub spacings: Vec<Spacing>,
}

impl Collapsed {
    pub(crate) fn of(problem: &Problem<'_>) -> Result<Option<Self>> {
        if problem.parameters.iter().all(|parameter| parameter.start.is_some()) {
            return Ok(None);
        }
        let rows = 0..problem.data.rows();
        let sampled = sampled(problem, rows.clone())?;
        let Some(terms) = Terms::of(&sampled, &|_| false) else { return Ok(None) };
        Ok(Some(Self { terms, places: sampled.free(), spacings: spacings(problem, rows)? }))
    }
}

impl<'p> Symmetry<'p> {
    pub(crate) fn of(problem: &'p Problem<'p>, collapsed: &'p Collapsed) -> Result<Self> {
        let Collapsed { terms, places, spacings } = collapsed;
        let mut rows = Vec::new();
        for row in picked(0..problem.data.rows(), ROWS) {
            problem.data.with(row..row + 1, |part| {
                let columns = part.columns.iter().filter_map(|column| column.first().copied());
                rows.push(columns.collect());
            })?;
        }
        let is_open = problem.parameters.iter().map(|one| one.start.is_none() && !one.is_fixed).collect();
        Ok(Self { problem, terms, spacings, places, is_open, rows })
    }

    /// The chosen point of the free parameters where the model is as at `x`.
    pub(crate) fn chosen(&self, free: &[usize], x: &DVector<f64>) -> DVector<f64> {
        let mut values: Vec<f64> = self.problem.parameters.iter().map(|one| one.start.unwrap_or_default()).collect();
        free.iter().zip(x).for_each(|(&at, value)| values[at] = *value);
        self.choose(&mut values);
        DVector::from_iterator(free.len(), free.iter().map(|&at| values[at]))
    }

    /// Moves `values` of all parameters of the problem to the chosen point where the model is the same.
    pub(crate) fn choose(&self, values: &mut [f64]) {
        // Parameters without levels are the same in all groups, which are visited once.
        let has_levels = !self.problem.formula.level_columns().is_empty();
        for group in 0..if has_levels { self.problem.groups() } else { 1 } {
            for term in &self.terms.terms {
                for shape in &term.shapes {
                    self.try_change(values, group, |own| self.fold(term, shape, own));
                    self.try_sign(values, group, term, shape);
                }
                self.try_change(values, group, |own| self.wrap(term, own));
            }
            self.sort(values, group);
        }
    }

    /// Changes the values of a group if the model stays the same.
    fn try_change(&self, values: &mut [f64], group: usize, change: impl FnOnce(&mut [f64]) -> Option<()>) -> bool {
        let places = &self.problem.places[group];
        let mut own: Vec<f64> = places.iter().map(|&place| values[place]).collect();
        if change(&mut own).is_none() {
            return false;
        }
        let mut next = values.to_vec();
        places.iter().zip(&own).for_each(|(&place, value)| next[place] = *value);
        let changed: Vec<usize> = (0..next.len()).filter(|&at| next[at] != values[at]).collect();
        let is_free = |&at: &usize| self.is_open[at] && self.problem.parameters[at].admits(next[at]);
        let is_changed = !changed.is_empty() && changed.iter().all(is_free) && self.is_same(values, &next, &changed);
        if is_changed {
            values.copy_from_slice(&next);
        }
        is_changed
    }

    /// Whether the model is the same at two points, in every group with a parameter that changed.
    fn is_same(&self, before: &[f64], after: &[f64], changed: &[usize]) -> bool {
        let program = self.problem.formula.program();
        let touched = self.problem.places.iter().filter(|places| places.iter().any(|place| changed.contains(place)));
        touched.into_iter().all(|places| {
            let value = |values: &[f64], columns: &[f64]| {
                let own = places.iter().map(|&place| values[place]).chain(columns.iter().copied());
                program.at(&own.collect::<Vec<f64>>())[0]
            };
            let pairs = self.rows.iter().map(|columns| [value(before, columns), value(after, columns)]);
            let pairs: Vec<[f64; 2]> = pairs.collect();
            let size = pairs.iter().map(|pair| pair[0].abs()).fold(0.0, f64::max);
            pairs.iter().all(|[one, other]| (one - other).abs() <= SAME * size)
        })
    }

    fn place(&self, shape: &Shape) -> usize {
        self.places[shape.at]
    }

    /// The angle of a term, and its turn for one of the column.
    fn angle(&self, term: &Term) -> Option<usize> {
        term.shapes.iter().find(|shape| shape.role == Role::Angle).map(|shape| self.place(shape))
    }

    /// A quarter of a turn of the angle, in its units.
    fn quarter(&self, term: &Term, own: &[f64]) -> Option<f64> {
        let angle = term.shapes.iter().find(|shape| shape.role == Role::Angle)?;
        let free = self.places.iter().map(|&place| own[place]);
        let point: Vec<f64> = free.chain(self.rows.get(ROWS / 3).or(self.rows.first())?.iter().copied()).collect();
        quarter(&self.terms.factors[*term.coefficients.first()?], angle.at, &point)
    }

    /// The frequency that is below half a turn for each of evenly spaced rows, and the angle that goes with it.
    fn fold(&self, term: &Term, shape: &Shape, own: &mut [f64]) -> Option<()> {
        let (column, factor, is_period) = match shape.role {
            Role::Frequency { column, factor } => (column, factor, false),
            Role::Period { column, factor } => (column, factor, true),
            _ => return None,
        };
        let Spacing { mean, is_even, first } = self.spacings[column];
        let at = self.place(shape);
        let radians = if is_period { factor / own[at] } else { own[at] * factor };
        let turns = (radians * mean / TAU).round();
        if !is_even || turns == 0.0 || (radians * mean).abs() <= PI {
            return None;
        }
        let folded = radians - turns * TAU / mean;
        let quarter = self.quarter(term, own);
        own[at] = if is_period { factor / folded } else { folded / factor };
        if let (Some(angle), Some(quarter)) = (self.angle(term), quarter) {
            own[angle] += turns * TAU * first / mean * quarter / FRAC_PI_2;
        }
        Some(())
    }

    /// A value above 0: alone, with its angle, or with its angle and the coefficient.
    fn try_sign(&self, values: &mut [f64], group: usize, term: &Term, shape: &Shape) {
        let at = self.place(shape);
        let angle = self.angle(term).filter(|&angle| angle != at);
        let coefficients = || term.coefficients.iter().map(|&at| self.places[self.terms.coefficients[at]]);
        let sets: [Vec<usize>; 4] = [
            vec![at],
            [at].into_iter().chain(angle).collect(),
            [at].into_iter().chain(angle).chain(coefficients()).collect(),
            // Of a cosine and a sine with one frequency, the sine changes its sign.
            [at].into_iter().chain(coefficients().nth(1)).collect(),
        ];
        for set in sets.iter().filter(|_| !matches!(shape.role, Role::Angle | Role::Place { .. })) {
            let flip =
                |own: &mut [f64]| (own[at] < 0.0).then(|| set.iter().for_each(|&place| own[place] = -own[place]));
            if self.try_change(values, group, flip) {
                return;
            }
        }
    }

    /// A coefficient above 0 and an angle within half a turn of 0.
    fn wrap(&self, term: &Term, own: &mut [f64]) -> Option<()> {
        let (angle, quarter) = (self.angle(term)?, self.quarter(term, own)?);
        let [coefficient] = term.coefficients[..] else { return None };
        let coefficient = self.places[self.terms.coefficients[coefficient]];
        if own[coefficient] < 0.0 {
            own[coefficient] = -own[coefficient];
            own[angle] += 2.0 * quarter;
        }
        own[angle] -= 4.0 * quarter * (own[angle] / (4.0 * quarter)).round();
        Some(())
    }

    /// Terms of one kind in the order of their places, or of their first parameter without a place.
    fn sort(&self, values: &mut [f64], group: usize) {
        let key = |term: &Term| {
            let has_place = |shape: &&Shape| matches!(shape.role, Role::Place { .. });
            term.shapes.iter().find(has_place).or(term.shapes.first()).map(|shape| self.place(shape))
        };
        let places = |term: &Term| -> Vec<usize> {
            let coefficients = term.coefficients.iter().map(|&at| self.places[self.terms.coefficients[at]]);
            coefficients.chain(term.shapes.iter().map(|shape| self.place(shape))).collect()
        };
        let terms = &self.terms.terms;
        // Neighbours change places until all are in order: terms are few.
        for _ in 0..terms.len() {
            for (at, one) in terms.iter().enumerate() {
                for other in &terms[at + 1..] {
                    let ([Some(first), Some(second)], true) = ([key(one), key(other)], one.is_like(other)) else {
                        continue;
                    };
                    self.try_change(values, group, |own| {
                        (own[first] > own[second]).then(|| {
                            places(one).iter().zip(places(other)).for_each(|(&a, b)| own.swap(a, b));
                        })
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::Formula;

    /// Where the model is reported for values of its parameters, over x = 3, 4, …, 42.
    fn reported(model: &str, values: &[f64], start: Option<&str>) -> Vec<f64> {
        let x: Vec<f64> = (0..40).map(|row| 3.0 + f64::from(row)).collect();
        let mut problem = Problem::new(Formula::parse(model, &["x"]).unwrap(), &[("x", &x)], &x).unwrap();
        if let Some(name) = start {
            problem = problem.start(name, 1.0).unwrap();
        }
        let collapsed = Collapsed::of(&problem).unwrap().unwrap();
        let mut values = values.to_vec();
        Symmetry::of(&problem, &collapsed).unwrap().choose(&mut values);
        values
    }

    #[test]
    fn one_of_the_points_with_the_same_model_is_reported() {
        let cases: [(&str, &[f64], &[f64]); 6] = [
            // 2π - b for b, and half a turn for the sign of a: x is a whole number.
            ("a*cos(b*x+c)+d", &[-2.0, TAU - 0.5, PI - 0.3, 1.0], &[2.0, 0.5, 0.3, 1.0]),
            ("a*sin(2*pi*f*x+p)", &[-2.0, -0.125, 0.5], &[2.0, 0.125, -0.5]),
            ("a*sin(2*pi*x/q+p)", &[1.0, -8.0, 0.25 + TAU], &[1.0, 8.0, PI - 0.25]),
            ("a*cos(w*x)+b*sin(w*x)", &[1.0, -0.25, 3.0], &[1.0, 0.25, -3.0]),
            ("h*exp(-0.5*((x-c)/s)^2)", &[-1.0, -5.0, -2.0], &[-1.0, -5.0, 2.0]),
            ("gaussian(x)+gaussian(x)", &[1.0, 30.0, -2.0, 4.0, 10.0, 3.0], &[4.0, 10.0, 3.0, 1.0, 30.0, 2.0]),
        ];
        for (model, values, expected) in cases {
            let found = reported(model, values, None);
            let is_near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-8);
            assert!(is_near, "{model}: {found:?}, expected {expected:?}");
        }
    }

    #[test]
    fn a_parameter_with_a_start_keeps_to_it() {
        let values = [-1.0, 5.0, -2.0];
        assert_eq!(reported("h*exp(-0.5*((x-c)/s)^2)", &values, Some("s")), values);
    }
}
