//! A learned memory: rows with classes, and the map under which they are compared. It finds the nearest rows, and says whether a row is like any of them.

use super::learn::{Labelled, Scaling};
use super::map::MetricParts;
use crate::error::{Error, Result};
use crate::files::tensors::{self, Array, CHECKSUM, Data, NO_CHECKSUM, Tensors};
use crate::host;
use crate::json::{Json, Record};
use crate::kernels::retrieve::squares;
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
    keys: Vec<f32>,
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
}

record! { MemoryHeader { columns, target, names, is_numeric = false, sharpness, reach } }

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

/// The text of the file's metadata that tells a memory from a model.
const KEY: &str = "meromorph memory";
/// The share of the rows in memory that are within reach of another one.
const WITHIN_REACH: f64 = 0.99;
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
        let mapped = memory.mapped(rows)?;
        if let Some(at) = mapped.iter().position(|x| !x.is_finite()) {
            let row = at / memory.outputs();
            return Err(Error::new(format!(
                "memory: row {row} is too far out: its coordinates under the map are not finite"
            )));
        }
        let outputs = memory.outputs();
        memory.keys = transposed(&mapped, outputs);
        memory.header.reach = memory.measured_reach(&mapped);
        Ok(memory)
    }

    /// A memory without a map: Euclidean distances, with β in units of the median distance to the nearest row.
    pub fn plain(rows: &Labelled, sharpness: f64) -> Result<Self> {
        let n = rows.inputs;
        let sharpness = sharpness * Scaling::of(rows, false).unit;
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
        Ok(mapped.concat())
    }

    /// The coordinates of a row in memory under the map.
    fn key(&self, row: usize) -> impl Iterator<Item = f32> {
        self.keys.chunks_exact(self.rows()).map(move |line| line[row])
    }

    fn nearest(&self, mapped: &[f32], count: usize, skip: impl Fn(usize) -> Option<usize> + Sync) -> Vec<Found> {
        let outputs = self.outputs();
        let parts = parts(mapped.len() / outputs);
        let found = host::in_threads(&parts, |rows| {
            let queries = mapped[rows.start * outputs..rows.end * outputs].chunks_exact(outputs);
            queries.zip(rows.clone()).map(|(query, at)| self.nearest_to(query, count, skip(at))).collect::<Vec<_>>()
        });
        found.concat()
    }

    fn nearest_to(&self, query: &[f32], count: usize, skip: Option<usize>) -> Found {
        const TILE: usize = 1024;
        let mut tile = [0.0; TILE];
        // Squares and numbers of the nearest rows so far, nearest first; of equal ones the row that comes first.
        let mut best: Vec<(f32, usize)> = Vec::with_capacity(count + 1);
        for from in (0..self.rows()).step_by(TILE) {
            let tile = &mut tile[..TILE.min(self.rows() - from)];
            squares(query, &self.keys, self.rows(), from, tile);
            for (at, &square) in tile.iter().enumerate() {
                if best.len() < count || square < best[count - 1].0 {
                    if skip == Some(from + at) {
                        continue;
                    }
                    let place = best.partition_point(|(known, _)| *known <= square);
                    best.insert(place, (square, from + at));
                    best.truncate(count);
                }
            }
        }
        let neighbour =
            |(square, row): (f32, usize)| Neighbour { row, class: self.classes[row], distance: square.sqrt() };
        let neighbours: Vec<Neighbour> = best.into_iter().map(neighbour).collect();
        let is_known = neighbours.first().is_some_and(|nearest| f64::from(nearest.distance) <= self.header.reach);
        Found { neighbours, is_known }
    }

    /// The distance within which 99 % of a sample of rows have another row of memory.
    fn measured_reach(&self, mapped: &[f32]) -> f64 {
        let outputs = self.outputs();
        if self.rows() < 2 {
            return 0.0;
        }
        let step = self.rows().div_ceil(SAMPLE);
        let rows: Vec<usize> = (0..self.rows()).step_by(step).collect();
        let sample: Vec<f32> = rows.iter().flat_map(|&row| &mapped[row * outputs..][..outputs]).copied().collect();
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

    /// The file's bytes (safetensors).
    pub fn save(&self) -> Result<Vec<u8>> {
        let metadata = vec![(CHECKSUM.into(), NO_CHECKSUM.into()), (KEY.into(), self.header.to_json().to_string())];
        let mut content = Tensors { metadata, ..Tensors::default() };
        content.put_f32("map", &[self.outputs(), self.inputs()], self.map.clone());
        content.put_f32("shift", &[self.inputs()], self.shift.clone());
        content.put_f32("keys", &[self.outputs(), self.rows()], self.keys.clone());
        let MetricParts { weights, angles, planes } = &self.metric;
        for (name, values) in [("weights", weights), ("angles", angles)] {
            if !values.is_empty() {
                content.put_f32(name, &[values.len()], values.clone());
            }
        }
        let whole = |shape, values: &[u32]| Array { shape, data: Data::U32(values.to_vec()) };
        if !planes.is_empty() {
            content.tensors.insert("planes".into(), whole(vec![planes.len() / 2, 2], planes));
        }
        content.tensors.insert("classes".into(), whole(vec![self.rows()], &self.classes));
        tensors::write(&content)
    }

    /// Reads the file of a memory; `source` names it in messages. Errors if it is damaged or another kind of file.
    pub fn load(bytes: &[u8], source: &str) -> Result<Self> {
        let mut content = tensors::read(bytes, source)?;
        let wrong = |what: &str| Error::new(format!("{source}: {what}"));
        let text = content
            .text(KEY)
            .ok_or_else(|| wrong("it holds no memory: expected a file that mero contrast has written"))?;
        let header = MemoryHeader::from_json(&Json::parse(text)?).map_err(|error| error.within(source))?;
        let shape = |name: &str| content.shape(name).map(<[usize]>::to_vec).unwrap_or_default();
        let ([outputs, inputs], [_, rows]) = (&shape("map")[..], &shape("keys")[..]) else {
            return Err(wrong("the memory has no map or no keys: expected both with two axes"));
        };
        let (outputs, inputs, rows) = (*outputs, *inputs, *rows);
        if [outputs, inputs, rows].contains(&0) {
            return Err(wrong("the memory is empty: expected rows, coordinates and a map"));
        }
        let map = content.take_f32("map", &[outputs, inputs])?;
        let shift = content.take_f32("shift", &[inputs])?;
        let keys = content.take_f32("keys", &[outputs, rows])?;
        let Some(Array { shape: found, data: Data::U32(classes) }) = content.tensors.remove("classes") else {
            return Err(wrong("the memory has no classes"));
        };
        if found != [rows] || classes.iter().any(|class| *class as usize >= header.names.len()) {
            return Err(wrong("the classes of the memory do not fit its rows and names"));
        }
        let metric = metric_of(&mut content, inputs, source)?;
        let numbers = [&map, &shift, &keys, &metric.weights, &metric.angles].into_iter().flatten();
        if numbers.copied().any(|x| !x.is_finite()) || !header.reach.is_finite() || !header.sharpness.is_finite() {
            return Err(wrong("the memory holds a number that is not finite"));
        }
        if !header.columns.is_empty() && header.columns.len() != inputs {
            return Err(wrong("the names of the columns do not fit the map"));
        }
        Ok(Self { header, map, shift, metric, classes, keys })
    }
}

/// What the map of a metric of so many coordinates is made of, if the file says so.
fn metric_of(content: &mut Tensors, inputs: usize, source: &str) -> Result<MetricParts> {
    let angles = content.shape("angles").map(|shape| shape.iter().product());
    let has_weights = content.shape("weights").is_some();
    let mut take = |name: &str, length: Option<usize>| {
        length.map_or_else(|| Ok(Vec::new()), |length| content.take_f32(name, &[length]))
    };
    let (weights, angles) = (take("weights", has_weights.then_some(inputs))?, take("angles", angles)?);
    let planes = match content.tensors.remove("planes") {
        Some(Array { shape, data: Data::U32(planes) }) if shape == [angles.len(), 2] => planes,
        None if angles.is_empty() => Vec::new(),
        _ => return Err(Error::new(format!("{source}: the planes of the memory do not fit its angles"))),
    };
    if planes.iter().any(|at| *at as usize >= inputs) {
        return Err(Error::new(format!("{source}: the planes of the memory do not fit its map")));
    }
    Ok(MetricParts { weights, angles, planes })
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

/// [rows, columns] as [columns, rows].
fn transposed(values: &[f32], columns: usize) -> Vec<f32> {
    let mut out = Vec::with_capacity(values.len());
    for column in 0..columns {
        out.extend(values.iter().skip(column).step_by(columns));
    }
    out
}
