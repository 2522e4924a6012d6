//! The sums over the rows of one of many fits, whose integrals begin at the group's own first value.

use std::cell::RefCell;
use std::ops::Range;

use nalgebra::{DMatrix, DVector};

use super::model::{Memory, Model};
use super::normal::{Bad, Normal, Objective, add, size};
use super::tile::{Tile, Triangle};
use crate::fit::formula::Running;
use crate::fit::formula::integral::{grid, places};
use crate::fit::rows::{Numbers, Part};

/// The sums over the rows of one group.
pub(crate) struct GroupSums<'g, 'm> {
    model: &'g Model,
    part: &'g Part<'g>,
    /// Free ones among the model's variables.
    pub free: Vec<usize>,
    /// All parameters of the formula.
    pub values: RefCell<Vec<f64>>,
    /// For each integral its grid, and places in it for each end.
    grids: Vec<Vec<f64>>,
    places: Vec<Vec<u32>>,
    memory: &'g RefCell<Memory<'m>>,
}

impl<'g, 'm> GroupSums<'g, 'm> {
    pub(crate) fn new(
        model: &'g Model,
        part: &'g Part<'g>,
        free: Vec<usize>,
        values: Vec<f64>,
        memory: &'g RefCell<Memory<'m>>,
    ) -> Self {
        let (mut grids, mut all_places) = (Vec::new(), Vec::new());
        for integral in &model.integrals {
            let ends: Vec<&[f64]> = integral.ends.iter().map(|&end| part.columns[end]).collect();
            let grid = grid(&ends);
            all_places.extend(ends.iter().map(|end| places(&grid, end)));
            grids.push(grid);
        }
        Self { model, part, free, values: RefCell::new(values), grids, places: all_places, memory }
    }

    fn run(&self, x: &[f64], is_mended: bool, mut take: impl FnMut(&Tile<'_>)) {
        let mut values = self.values.borrow_mut();
        self.free.iter().zip(x).for_each(|(&at, value)| values[self.model.variables[at]] = *value);
        let variables: Vec<f64> = self.model.variables.iter().map(|&at| values[at]).collect();
        let running: Vec<Running> = self.model.running(&self.grids, &values);
        let rows: Range<usize> = 0..self.part.y.len();
        let mut memory = self.memory.borrow_mut();
        if self.places.is_empty() {
            return self
                .model
                .run(&variables, &running, (self.part, &rows), is_mended, &mut memory, |tile, _| take(tile));
        }
        let places: Vec<&[u32]> = self.places.iter().map(Vec::as_slice).collect();
        let Part { columns, y, sigma, runs, .. } = *self.part;
        let part = Part { columns, y, sigma, places: &places, runs, numbers: Numbers::From(0) };
        self.model.run(&variables, &running, (&part, &rows), is_mended, &mut memory, |tile, _| take(tile));
    }

    fn bad(&self, x: &[f64]) -> Bad {
        let (mut count, mut first) = (0, None);
        self.run(x, true, |tile| {
            let places = tile.bad();
            count += places.len();
            first = first.or(places.first().copied());
        });
        Bad::Rows { count: count.max(1), first: self.part.numbers.of(first.unwrap_or(0)) }
    }

    pub(crate) fn triangle(&self, x: &DVector<f64>) -> Result<DMatrix<f64>, Bad> {
        let count = self.model.variables.len();
        let once = |is_mended| {
            let mut triangle = Triangle::new(count);
            self.run(x.as_slice(), is_mended, |tile| tile.merge_into(&mut triangle));
            triangle.entries.iter().all(|entry| entry.is_finite()).then_some(triangle)
        };
        let triangle = once(false).or_else(|| once(true)).ok_or_else(|| self.bad(x.as_slice()))?;
        let factor = triangle.moments.factor(self.free.len(), self.model.is_absolute).unwrap_or(1.0);
        let whole = factor * DMatrix::from_row_slice(count, count, &triangle.entries);
        Ok(if self.free.len() == count { whole } else { whole.select_columns(&self.free) })
    }
}

impl Objective for GroupSums<'_, '_> {
    fn normal(&self, x: &[f64]) -> Result<Normal, Bad> {
        let count = size(self.model.variables.len());
        let once = |is_mended| {
            let (mut sums, mut mended) = (vec![0.0; count], 0);
            self.run(x, is_mended, |tile| {
                add(&mut sums, tile);
                mended += tile.mended;
            });
            sums.iter().all(|sum| sum.is_finite()).then_some((sums, mended))
        };
        let (sums, mended) = once(false).or_else(|| once(true)).ok_or_else(|| self.bad(x))?;
        let mut places = vec![None; self.model.variables.len()];
        self.free.iter().enumerate().for_each(|(place, &at)| places[at] = Some(place));
        let mut normal = Normal::zeros(self.free.len());
        normal.add(&sums, &places);
        normal.mended = mended;
        Ok(normal)
    }
}
