//! A learned memory: rows with classes, and the map under which they are compared. It finds the nearest rows, and says whether a row is like any of them.

use super::learn::{Labelled, Scaling};
use super::map::MetricParts;
use super::nearest::Best;
use crate::error::{Error, Result};
use crate::host;
use crate::kernels::retrieve::{SEVERAL, squares_of_several};
use crate::record;

/// Rows with classes, and the map under which they are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// What the file says of it.
    pub header: MemoryHeader,
    /// A [outputs, inputs]: a row x is compared as A (x - shift).
    pub map: Vec<f32>,
    /// Subtracted from each row, [inputs].
    pub shift: Vec<f32>,
    /// What the map of a metric is made of; nothing for other maps and for files without it.
    pub metric: MetricParts,
    /// The class of each row.
    pub classes: Vec<u32>,
    /// The mapped rows, coordinate by coordinate: [outputs, rows].
    pub(super) keys: Vec<f32>,
}

/// What the file of a memory says of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryHeader {
    /// Names of the columns; none if they have no names.
    pub columns: Vec<String>,
    /// The column of the classes, or the file with the labels.
    pub target: String,
    /// Names of the classes.
    pub names: Vec<String>,
    /// Whether the classes were given as numbers, as they can be in JavaScript.
    pub is_numeric: bool,
    /// β: a row at distance d from a query has weight exp(-β d).
    pub sharpness: f64,
    /// The distance beyond which nothing in memory is like a row: within it, 99 % of the rows in memory have another one.
    pub reach: f64,
    /// The model that makes the coordinates from the columns of a table, if one does.
    pub through: Option<Through>,
}

record! { MemoryHeader { columns, target, names, is_numeric = false, sharpness, reach, through = None } }

/// The hidden layer of a model whose outputs are the coordinates of a memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Through {
    /// The number of the layer, from 0.
    pub layer: usize,
    /// SHA-256 of the model's file as [`Model::save`](crate::model::Model::save) writes it, in hexadecimal.
    pub digest: String,
}

record! { Through { layer, digest } }

/// A row of the memory that is near a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Its number.
    pub row: usize,
    /// Its class.
    pub class: u32,
    /// Its distance.
    pub distance: f32,
}

/// What is found for a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The nearest rows, nearest first.
    pub neighbours: Vec<Neighbour>,
    /// Whether the nearest row is within reach: otherwise nothing in memory is like the query.
    pub is_known: bool,
}

/// The share of the rows in memory that are within reach of another one.
const WITHIN_REACH: f64 = 0.99;
/// Rows that are mapped at a time.
const BLOCK: usize = 8192;
/// Keys of a tile; with 64 coordinates it has 128 KiB, which a core keeps.
const TILE: usize = 512;
/// Queries that are compared with a tile before the next one.
const QUERIES: usize = 64;
/// Rows from which the reach is measured, at most.
const SAMPLE: usize = 2000;

impl Memory {
    /// A memory of rows [rows, inputs] under a map [outputs, inputs]; its reach is measured.
    ///
    /// Errors if sizes do not fit or a number is not finite.
    pub fn new(header: MemoryHeader, map: Vec<f32>, shift: Vec<f32>, rows: &[f32], classes: Vec<u32>) -> Result<Self> {
        let inputs = shift.len();
        let fits =
            inputs > 0 && !map.is_empty() && map.len().is_multiple_of(inputs) && rows.len() == classes.len() * inputs;
        if !fits {
            let (map, rows, count) = (map.len(), rows.len(), classes.len());
            return Err(Error::new(format!(
                "memory: sizes do not fit: got a map of {map} numbers and {count} rows of {rows} numbers, expected multiples of {inputs} coordinates"
            )));
        }
        if let Some(class) = classes.iter().find(|class| **class as usize >= header.names.len()) {
            let count = header.names.len();
            return Err(Error::new(format!(
                "memory: got class {class}, expected below {count}, the number of classes"
            )));
        }
        if map.iter().chain(&shift).any(|x| !x.is_finite()) || !header.sharpness.is_finite() {
            return Err(Error::new("memory: the map holds a number that is not finite"));
        }
        let mut memory = Self { header, map, shift, metric: MetricParts::default(), classes, keys: Vec::new() };
        memory.keys = memory.mapped_keys(rows)?;
        memory.header.reach = memory.measured_reach();
        Ok(memory)
    }

    /// The mapped rows, coordinate by coordinate: some rows at a time, so that nothing else is as large.
    fn mapped_keys(&self, rows: &[f32]) -> Result<Vec<f32>> {
        self.check_numbers(rows)?;
        let (outputs, count) = (self.outputs(), self.rows());
        let mut keys = vec![0.0; outputs * count];
        for (part, rows) in rows.chunks(BLOCK * self.inputs()).enumerate() {
            let mapped = self.under_map(rows);
            for (at, row) in mapped.chunks_exact(outputs).enumerate() {
                let place = part * BLOCK + at;
                if row.iter().any(|x| !x.is_finite()) {
                    return Err(Error::new(format!(
                        "memory: row {place} is too far out: its coordinates under the map are not finite"
                    )));
                }
                for (line, x) in keys.chunks_exact_mut(count).zip(row) {
                    line[place] = *x;
                }
            }
        }
        Ok(keys)
    }

    /// A memory of some of its rows, under the same map; its reach is measured anew.
    ///
    /// Panics if there is no such row.
    #[must_use]
    pub fn part(&self, rows: &[usize]) -> Self {
        let keys = self.keys.chunks_exact(self.rows()).flat_map(|line| rows.iter().map(|&row| line[row])).collect();
        let classes = rows.iter().map(|&row| self.classes[row]).collect();
        let (header, map, shift) = (self.header.clone(), self.map.clone(), self.shift.clone());
        let metric = self.metric.clone();
        let mut part = Self { header, map, shift, metric, classes, keys };
        part.header.reach = part.measured_reach();
        part
    }

    /// A memory without a map: Euclidean distances, with β in units of the median distance to the nearest row.
    pub fn plain(rows: &Labelled, sharpness: f64) -> Result<Self> {
        let n = rows.inputs;
        let sharpness = sharpness * Scaling::of(&rows.whole(), false).unit;
        let unit = (0..n * n).map(|at| f32::from(u8::from(at / n == at % n))).collect();
        let header = MemoryHeader { names: rows.names.clone(), sharpness, ..MemoryHeader::default() };
        Self::new(header, unit, vec![0.0; n], &rows.x, rows.classes.clone())
    }

    /// Coordinates of a row.
    pub fn inputs(&self) -> usize {
        self.shift.len()
    }

    /// Coordinates under the map.
    pub fn outputs(&self) -> usize {
        self.map.len() / self.inputs()
    }

    /// Rows in memory.
    pub fn rows(&self) -> usize {
        self.classes.len()
    }

    /// The name of a class.
    pub fn name(&self, class: u32) -> &str {
        &self.header.names[class as usize]
    }

    /// The nearest `count` rows for each of x [rows, inputs].
    ///
    /// Errors if the number of coordinates differs, a number is not finite, or there are fewer rows in memory.
    pub fn find(&self, x: &[f32], count: usize) -> Result<Vec<Found>> {
        self.check_count(count)?;
        let mapped = self.mapped(x)?;
        Ok(self.nearest(&mapped, count, |_| None))
    }

    /// The same for rows in memory, each without itself.
    pub fn find_others(&self, rows: &[usize], count: usize) -> Result<Vec<Found>> {
        self.check_count(count)?;
        if count == self.rows() {
            return Err(Error::usage(format!(
                "memory: got {count} neighbours, expected fewer than the rows in memory"
            )));
        }
        let mapped: Vec<f32> = rows.iter().flat_map(|&row| self.key(row)).collect();
        Ok(self.nearest(&mapped, count, |at| Some(rows[at])))
    }

    fn check_count(&self, count: usize) -> Result<()> {
        if count == 0 || count > self.rows() {
            let rows = self.rows();
            return Err(Error::usage(format!(
                "memory: got {count} neighbours, expected 1 to {rows}, the rows in memory"
            )));
        }
        Ok(())
    }

    /// The weight of each neighbour among all of them, exp(-β distance) over its sum.
    pub fn weights(&self, neighbours: &[Neighbour]) -> Vec<f64> {
        let nearest = neighbours.first().map_or(0.0, |nearest| nearest.distance);
        // Of infinite distances none is nearer than another.
        let apart = |one: &Neighbour| if one.distance == nearest { 0.0 } else { f64::from(one.distance - nearest) };
        let weight = |one: &Neighbour| (-self.header.sharpness * apart(one)).exp();
        let total: f64 = neighbours.iter().map(weight).sum();
        neighbours.iter().map(|one| weight(one) / total).collect()
    }

    /// The weight of each class among neighbours, the largest first.
    pub fn shares(&self, neighbours: &[Neighbour]) -> Vec<(u32, f64)> {
        let mut shares: Vec<(u32, f64)> = Vec::new();
        for (one, weight) in neighbours.iter().zip(self.weights(neighbours)) {
            match shares.iter_mut().find(|(class, _)| *class == one.class) {
                Some((_, share)) => *share += weight,
                None => shares.push((one.class, weight)),
            }
        }
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        shares
    }

    /// A (x - shift) for each row of x [rows, inputs].
    pub fn mapped(&self, x: &[f32]) -> Result<Vec<f32>> {
        self.check_numbers(x)?;
        Ok(self.under_map(x))
    }

    fn check_numbers(&self, x: &[f32]) -> Result<()> {
        let inputs = self.inputs();
        if !x.len().is_multiple_of(inputs) {
            return Err(Error::new(format!("memory: got {} numbers, expected rows of {inputs}", x.len())));
        }
        if let Some(at) = x.iter().position(|x| !x.is_finite()) {
            let (row, column) = (at / inputs, at % inputs);
            return Err(Error::new(format!(
                "memory: row {row}, column {column}: got {}, expected a finite number",
                host::number(f64::from(x[at]))
            )));
        }
        Ok(())
    }

    fn under_map(&self, x: &[f32]) -> Vec<f32> {
        let inputs = self.inputs();
        let parts = parts(x.len() / inputs);
        let mapped = host::in_threads(&parts, |rows| {
            let mut out = Vec::with_capacity(rows.len() * self.outputs());
            let mut apart = vec![0.0; inputs];
            for x in x[rows.start * inputs..rows.end * inputs].chunks_exact(inputs) {
                apart.iter_mut().zip(x).zip(&self.shift).for_each(|((apart, x), shift)| *apart = x - shift);
                out.extend(self.map.chunks_exact(inputs).map(|row| dot(row, &apart) as f32));
            }
            out
        });
        mapped.concat()
    }

    /// The coordinates of a row in memory under the map.
    fn key(&self, row: usize) -> impl Iterator<Item = f32> {
        self.keys.chunks_exact(self.rows()).map(move |line| line[row])
    }

    /// Each thread compares a block of queries with one tile of keys after another, so that a tile is read from memory once per block, not per query.
    fn nearest(&self, mapped: &[f32], count: usize, skip: impl Fn(usize) -> Option<usize> + Sync) -> Vec<Found> {
        let outputs = self.outputs();
        let parts = parts(mapped.len() / outputs);
        let found = host::in_threads(&parts, |rows| {
            let places: Vec<usize> = rows.clone().collect();
            let mut found = Vec::with_capacity(places.len());
            for places in places.chunks(QUERIES) {
                let mut best: Vec<Best> = places.iter().map(|_| Best::new(count)).collect();
                // The last few queries have zeros after them, whose squares nobody looks at.
                let mut queries = vec![0.0; places.len().next_multiple_of(SEVERAL) * outputs];
                queries[..places.len() * outputs]
                    .copy_from_slice(&mapped[places[0] * outputs..][..places.len() * outputs]);
                let mut tile = [0.0; SEVERAL * TILE];
                for from in (0..self.rows()).step_by(TILE) {
                    let width = TILE.min(self.rows() - from);
                    let tile = &mut tile[..SEVERAL * width];
                    let groups = places.chunks(SEVERAL).zip(best.chunks_mut(SEVERAL));
                    for (queries, (places, best)) in queries.chunks_exact(SEVERAL * outputs).zip(groups) {
                        squares_of_several(queries, &self.keys, self.rows(), from, tile);
                        for ((&at, best), tile) in places.iter().zip(best).zip(tile.chunks_exact(width)) {
                            best.add(tile, from, skip(at));
                        }
                    }
                }
                found.extend(best.into_iter().map(|best| self.found(best.into_nearest())));
            }
            found
        });
        found.concat()
    }

    /// What is found, from squares of distances and rows, nearest first.
    fn found(&self, nearest: Vec<(f32, usize)>) -> Found {
        let neighbour =
            |(square, row): (f32, usize)| Neighbour { row, class: self.classes[row], distance: square.sqrt() };
        let neighbours: Vec<Neighbour> = nearest.into_iter().map(neighbour).collect();
        let is_known = neighbours.first().is_some_and(|nearest| f64::from(nearest.distance) <= self.header.reach);
        Found { neighbours, is_known }
    }

    /// The distance within which 99 % of a sample of rows have another row of memory.
    fn measured_reach(&self) -> f64 {
        if self.rows() < 2 {
            return 0.0;
        }
        let step = self.rows().div_ceil(SAMPLE);
        let rows: Vec<usize> = (0..self.rows()).step_by(step).collect();
        let sample: Vec<f32> = rows.iter().flat_map(|&row| self.key(row)).collect();
        let found = self.nearest(&sample, 1, |at| Some(rows[at]));
        // A row that is there twice says nothing of the distances between others.
        let distances = found.iter().map(|one| one.neighbours[0].distance).filter(|distance| *distance > 0.0);
        let mut distances: Vec<f32> = distances.collect();
        distances.sort_by(f32::total_cmp);
        if distances.is_empty() {
            return 0.0;
        }
        let place = (WITHIN_REACH * (distances.len() - 1) as f64).ceil() as usize;
        f64::from(distances[place])
    }
}

/// A sum of products in eight lanes.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut lanes = [0.0_f64; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest = a_chunks.remainder().iter().zip(b_chunks.remainder());
    let rest: f64 = rest.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += f64::from(*a) * f64::from(*b);
        }
    }
    rest + lanes.iter().sum::<f64>()
}

/// Ranges of rows for the threads of this machine.
fn parts(rows: usize) -> Vec<std::ops::Range<usize>> {
    // Fewer rows are not worth a thread.
    let threads = host::threads().min(rows.div_ceil(16)).max(1);
    let each = rows.div_ceil(threads).max(1);
    (0..rows).step_by(each).map(|from| from..(from + each).min(rows)).collect()
}
