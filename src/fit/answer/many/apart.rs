//! Fits of groups whose terms are elsewhere in each: starts from a group's own rows, and a second look at fits that are unlike the others.

use std::cell::RefCell;
use std::ops::Range;

use nalgebra::DVector;

use super::{SmallFit, Solver};
use crate::error::{Error, Result};
use crate::fit::rows::pieces;
use crate::fit::search::places::Role;
use crate::fit::search::places::{Collapsed, Symmetry};
use crate::host::ThreadPool;

/// Scouts whose widths are tried at the places of a group's own.
const WIDTHS: usize = 3;
/// Residuals that are so many times those of the scouts' groups are unusual.
const UNUSUAL: f64 = 1.6;
/// Costs that differ by less than this share are equal.
const SAME: f64 = 1e-9;

impl Solver<'_> {
    /// Starts of a group with the one term that has a place where y is highest, or lowest, and a width that other groups have.
    pub(super) fn own_starts(&self, rows: Range<usize>) -> Result<Vec<Vec<f64>>> {
        let Some((_, Collapsed { terms, places, .. })) = &self.places else { return Ok(Vec::new()) };
        let [term] = &terms.terms[..] else { return Ok(Vec::new()) };
        let placed = term.shapes.iter().find_map(|shape| match shape.role {
            Role::Place { column } => Some((places[shape.at], column)),
            _ => None,
        });
        let variable = placed.and_then(|(at, _)| self.model.variables.iter().position(|&variable| variable == at));
        let (Some((_, column)), Some(variable)) = (placed, variable) else { return Ok(Vec::new()) };
        let ends: Vec<f64> = self.problem.data.with(rows, |part| {
            let smooth = |row: usize| part.y[row.saturating_sub(1)..(row + 2).min(part.y.len())].iter().sum::<f64>();
            let all = 0..part.y.len();
            let highest = |value: &dyn Fn(usize) -> f64| all.clone().max_by(|&a, &b| value(a).total_cmp(&value(b)));
            let rows = [highest(&|row| part.y[row]), highest(&smooth), highest(&|row| -part.y[row])];
            rows.into_iter().flatten().map(|row| part.columns[column][row]).collect()
        })?;
        let mut starts: Vec<Vec<f64>> = Vec::new();
        for scout in self.scouts.iter().take(WIDTHS) {
            for &end in &ends {
                let mut start = scout.as_slice().to_vec();
                start[variable] = end;
                starts.push(start);
            }
        }
        Ok(starts)
    }

    /// The share of the variance of y in a group that its fit leaves.
    fn left(&self, group: usize, fit: &SmallFit) -> Result<f64> {
        self.problem.data.with(self.problem.data.group(group), |part| {
            let weight = |row: usize| part.sigma.map_or(1.0, |sigma| 1.0 / (sigma[row] * sigma[row]));
            let rows = 0..part.y.len();
            let total: f64 = rows.clone().map(weight).sum();
            let mean = rows.clone().map(|row| weight(row) * part.y[row]).sum::<f64>() / total;
            let spread: f64 = rows.map(|row| weight(row) * (part.y[row] - mean).powi(2)).sum();
            fit.rmse * fit.rmse * fit.rows as f64 / spread
        })
    }

    /// Whether a standard error is larger than its value, as where two terms are in one place.
    fn is_doubtful(&self, fit: &SmallFit) -> bool {
        self.free.iter().enumerate().any(|(place, &at)| {
            let (value, stderr) = (fit.values[self.model.variables[at]], fit.stderr(place));
            stderr > value.abs() || stderr.is_infinite()
        })
    }

    /// Fits again, from a start that is found in its own rows, each group whose residuals are far larger than those of groups that had such a start.
    pub(super) fn look_again(&self, fits: &mut [Result<SmallFit>], pool: &ThreadPool) -> Result<()> {
        let Some((whole, collapsed)) = &self.places else { return Ok(()) };
        let symmetry = Symmetry::of(whole, collapsed)?;
        let mut known: Vec<f64> =
            self.scouted.iter().filter_map(|&group| Some(fits[group].as_ref().ok()?.rmse)).collect();
        known.sort_unstable_by(f64::total_cmp);
        let usual = known.get(known.len() / 2).copied().unwrap_or(0.0);
        let mut left: Vec<f64> = Vec::new();
        for &group in &self.scouted {
            if let Ok(fit) = &fits[group] {
                left.push(self.left(group, fit)?);
            }
        }
        left.sort_unstable_by(f64::total_cmp);
        let usual_left = left.get(left.len() / 2).copied().unwrap_or(0.0);
        let is_several = collapsed.terms.terms.len() > 1;
        let mut again: Vec<(usize, Option<Vec<f64>>)> = Vec::new();
        for (group, fit) in fits.iter().enumerate() {
            match fit {
                // Noise may grow with y: residuals must be large for the group too.
                Ok(fit)
                    if !(is_several && self.is_doubtful(fit))
                        && (fit.rmse <= UNUSUAL * usual
                            || self.left(group, fit)? <= UNUSUAL * UNUSUAL * usual_left) =>
                {
                    let mut values = fit.values.clone();
                    symmetry.choose(&mut values);
                    if values != fit.values {
                        again.push((group, Some(values)));
                    }
                }
                _ => again.push((group, None)),
            }
        }
        let make = |at: usize| {
            let (group, values) = &again[at];
            let mut words = vec![0.0; self.model.words()];
            let memory = RefCell::new(self.model.memory(&mut words));
            let start = match values {
                Some(values) => DVector::from_iterator(
                    self.model.variables.len(),
                    self.model.variables.iter().map(|&at| values[at]),
                ),
                None => self.scout(*group, &ThreadPool::new(1).ok()?).ok()?,
            };
            let rows = self.problem.data.group(*group);
            let fit = self.problem.data.with(rows, |part| self.fit_part(*group, part, &memory, Some(&start)));
            fit.ok()?.ok()
        };
        let mut next = again.iter();
        pieces::each(
            pool,
            0..again.len(),
            |at| Ok::<_, Error>(make(at)),
            |found| {
                let (Some((group, values)), Some(found)) = (next.next(), found) else { return };
                let is_better = match &fits[*group] {
                    Ok(fit) if values.is_some() => found.cost <= fit.cost * (1.0 + SAME),
                    Ok(fit) => found.cost < fit.cost * (1.0 - SAME),
                    Err(_) => true,
                };
                if is_better {
                    fits[*group] = Ok(found);
                }
            },
        )
    }
}
