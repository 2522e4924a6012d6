//! From labelled rows to a memory: the run of the trainer, and the map that it leaves.

use std::borrow::Cow;

use super::map::{Form, Map, MetricParts};
use super::memory::{Memory, MemoryHeader};
use super::options::ContrastOptions;
use super::source::{Bank, Contrast, States, Update};
use crate::autograd::Var;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::host;
use crate::math;
use crate::model::Network;
use crate::optim::{Optimizer, Schedule};
use crate::tensor::Tensor;
use crate::train::{Checkpoint, Data, Event, Examples, Flow, Keep, Outcome, Stop, Trainer, TrainerConfig};

/// Rows with classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labelled {
    /// Coordinates of a row.
    pub inputs: usize,
    /// The rows, [rows, inputs].
    pub x: Vec<f32>,
    /// The class of each row, below the number of names.
    pub classes: Vec<u32>,
    /// The names of the classes.
    pub names: Vec<String>,
}

impl Labelled {
    /// Errors if sizes do not fit, a number is not finite, or nothing can be learned: fewer than two classes, or no class with two rows.
    pub fn check(&self) -> Result<()> {
        self.check_sizes()?;
        self.whole().check()
    }

    /// Errors if sizes do not fit or a number is not finite.
    fn check_sizes(&self) -> Result<()> {
        let (inputs, rows) = (self.inputs, self.classes.len());
        let wrong = |what: String| Err(Error::new(format!("contrast: {what}")));
        if inputs == 0 || self.x.len() != rows * inputs {
            return wrong(format!("got {} numbers for {rows} labels, expected {inputs} for each", self.x.len()));
        }
        if let Some(at) = self.x.iter().position(|x| !x.is_finite()) {
            let (row, column, x) = (at / inputs, at % inputs, host::number(f64::from(self.x[at])));
            return wrong(format!("row {row}, column {column}: got {x}, expected a finite number"));
        }
        match self.classes.iter().find(|class| **class as usize >= self.names.len()) {
            Some(class) => wrong(format!("got class {class}, expected below {}", self.names.len())),
            None => Ok(()),
        }
    }

    pub(super) fn whole(&self) -> Part<'_> {
        Part { rows: self, places: Cow::Owned((0..self.classes.len()).collect()) }
    }

    /// The rows of each class are drawn in turn, so that each class has about its share of them held out; one with a single row keeps it.
    pub fn split(&self, share: f64, seed: u64) -> [Vec<usize>; 2] {
        let mut parts = [Vec::new(), Vec::new()];
        let order = math::permutation(self.classes.len(), seed, 0);
        let mut counts = vec![0_usize; self.names.len()];
        self.classes.iter().for_each(|&class| counts[class as usize] += 1);
        let mut seen = vec![0_usize; self.names.len()];
        for row in order {
            let class = self.classes[row as usize] as usize;
            let held = ((counts[class] as f64 * share).round() as usize).min(counts[class] - 1);
            parts[usize::from(seen[class] < held)].push(row as usize);
            seen[class] += 1;
        }
        parts.map(|mut part| {
            part.sort_unstable();
            part
        })
    }

    /// The rows in a random order, in so many parts that each is held out once: the other rows, and those.
    pub fn folds(&self, count: usize, seed: u64) -> Vec<[Vec<usize>; 2]> {
        let order = math::permutation(self.classes.len(), seed, 0);
        let part = |fold: usize, is_held: bool| {
            let places = order.iter().enumerate().filter(|(at, _)| (at % count == fold) == is_held);
            places.map(|(_, row)| *row as usize).collect()
        };
        (0..count).map(|fold| [part(fold, false), part(fold, true)]).collect()
    }

    /// Only these rows.
    #[must_use]
    pub fn subset(&self, rows: &[usize]) -> Self {
        Self {
            inputs: self.inputs,
            x: rows.iter().flat_map(|&row| &self.x[row * self.inputs..][..self.inputs]).copied().collect(),
            classes: rows.iter().map(|&row| self.classes[row]).collect(),
            names: self.names.clone(),
        }
    }
}

/// Some of the rows, without a copy of them.
pub(super) struct Part<'p> {
    rows: &'p Labelled,
    places: Cow<'p, [usize]>,
}

impl Part<'_> {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn row(&self, at: usize) -> &[f32] {
        &self.rows.x[self.places[at] * self.rows.inputs..][..self.rows.inputs]
    }

    fn class(&self, at: usize) -> u32 {
        self.rows.classes[self.places[at]]
    }

    fn each(&self) -> impl Iterator<Item = &[f32]> {
        (0..self.len()).map(|at| self.row(at))
    }

    /// Errors if nothing can be learned from them.
    fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::new(format!("contrast: {what}")));
        let mut counts = vec![0_usize; self.rows.names.len()];
        (0..self.len()).for_each(|at| counts[self.class(at) as usize] += 1);
        let present = counts.iter().filter(|count| **count > 0).count();
        if present < 2 {
            return wrong(format!("got rows of {present} class, expected at least 2 classes"));
        }
        if counts.iter().all(|count| *count < 2) {
            return wrong(
                "every row to learn from has a class of its own: expected classes with at least 2 of them".into(),
            );
        }
        Ok(())
    }
}

/// Rows from which distances between neighbours are measured, and those among which the neighbours are.
const SAMPLE: usize = 256;
const OTHERS: usize = 8192;

/// How rows are made comparable before the map: less `shift`, times `scale`.
pub(super) struct Scaling {
    shift: Vec<f32>,
    scale: Vec<f32>,
    /// What makes the median distance to the nearest row 1.
    pub(super) unit: f64,
}

impl Scaling {
    /// Columns less their means, perhaps over their standard deviations, so that the median distance to the nearest row is 1; of samples.
    pub(super) fn of(rows: &Part<'_>, standardizes: bool) -> Self {
        let count = rows.len() as f64;
        let mut sums = vec![[0.0_f64; 2]; rows.rows.inputs];
        for row in rows.each() {
            for (sum, &x) in sums.iter_mut().zip(row) {
                sum[0] += f64::from(x);
            }
        }
        let shift: Vec<f32> = sums.iter().map(|sum| (sum[0] / count) as f32).collect();
        for row in rows.each() {
            for ((sum, &x), &shift) in sums.iter_mut().zip(row).zip(&shift) {
                sum[1] += f64::from(x - shift).powi(2);
            }
        }
        let deviation =
            |sum: &[f64; 2]| Some((sum[1] / count).sqrt()).filter(|deviation| *deviation > 0.0).unwrap_or(1.0);
        let columns: Vec<f64> = sums.iter().map(|sum| if standardizes { 1.0 / deviation(sum) } else { 1.0 }).collect();
        let some = |most: usize| rows.each().step_by(rows.len().div_ceil(most));
        let square = |a: &[f32], b: &[f32]| {
            a.iter().zip(b).zip(&columns).map(|((a, b), scale)| (f64::from(a - b) * scale).powi(2)).sum::<f64>()
        };
        let nearest = |row: &[f32]| {
            some(OTHERS).map(|other| square(row, other)).filter(|square| *square > 0.0).fold(f64::MAX, f64::min)
        };
        let mut squares: Vec<f64> = some(SAMPLE).map(nearest).filter(|square| *square < f64::MAX).collect();
        squares.sort_by(f64::total_cmp);
        // The median: one far row must not decide.
        let unit = squares.get(squares.len() / 2).map_or(1.0, |square| 1.0 / square.sqrt());
        Self { shift, scale: columns.iter().map(|scale| (scale * unit) as f32).collect(), unit }
    }

    fn apply(&self, rows: &Part<'_>) -> Vec<f32> {
        let mut scaled = Vec::with_capacity(rows.len() * self.shift.len());
        for row in rows.each() {
            let pairs = self.shift.iter().zip(&self.scale);
            scaled.extend(row.iter().zip(pairs).map(|(x, (shift, scale))| (x - shift) * scale));
        }
        scaled
    }
}

/// A matrix that keeps the first coordinates as they are: of a row with more columns than outputs, sums of columns in turn.
fn first_matrix(inputs: usize, outputs: usize) -> Vec<f32> {
    (0..inputs * outputs).map(|at| f32::from(u8::from(at % inputs % outputs == at / inputs))).collect()
}

/// A learned map: a row x is compared as A (x - shift).
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// A [outputs, inputs].
    pub matrix: Vec<f32>,
    /// Subtracted from each row, [inputs].
    pub shift: Vec<f32>,
    /// The weights and angles that A is made of.
    pub metric: MetricParts,
    /// β of the softmax over distances.
    pub sharpness: f64,
}

/// A run that learns the map for rows.
pub struct Learning {
    trainer: Trainer,
    map: Map,
    scaling: Scaling,
    sharpness: f64,
}

impl Learning {
    /// Sets up a run.
    ///
    /// Errors for rows from which nothing can be learned, and options that do not fit them.
    pub fn new(device: &Device, rows: &Labelled, options: &ContrastOptions) -> Result<Self> {
        Self::of_part(device, rows, &rows.whole().places, options)
    }

    /// The same from some of the rows, by their numbers; the others are left out.
    ///
    /// Panics if there is no such row.
    pub fn of_part(device: &Device, rows: &Labelled, part: &[usize], options: &ContrastOptions) -> Result<Self> {
        let Prepared { map, scaling, network, config, data } = Prepared::of(rows, part, options)?;
        let trainer = Trainer::new(device, network, config, data)?;
        Ok(Self { trainer, map, scaling, sharpness: options.sharpness })
    }

    /// Resumes a run from a checkpoint, so that it ends with the same bits as without the interruption: `rows`, `part` and `options` have to be those
    /// of the run.
    ///
    /// Errors as [`Learning::new`], and if the rows, the options or the map are not those of the checkpoint.
    pub async fn resume(
        device: &Device,
        rows: &Labelled,
        part: &[usize],
        options: &ContrastOptions,
        checkpoint: Checkpoint,
    ) -> Result<Self> {
        let Prepared { map, scaling, network, config, data } = Prepared::of(rows, part, options)?;
        let config = TrainerConfig { precision: checkpoint.settings.precision.clone(), ..config };
        if config != checkpoint.settings {
            return Err(Error::usage("resume: got other options, expected those of the checkpoint"));
        }
        let trainer = Trainer::resume_with(device, network, data, checkpoint).await?;
        Ok(Self { trainer, map, scaling, sharpness: options.sharpness })
    }

    /// The trainer of the run.
    pub fn trainer(&self) -> &Trainer {
        &self.trainer
    }

    /// The same, to run it; [`Learning::check`] says whether it ended well.
    pub fn trainer_mut(&mut self) -> &mut Trainer {
        &mut self.trainer
    }

    /// Errors if a run ended because its loss became infinite or NaN.
    pub fn check(outcome: &Outcome) -> Result<()> {
        if outcome.stop == Stop::Diverged {
            return Err(Error::new("contrast: the loss is not finite any more: use a smaller lr, sharpness or nudge"));
        }
        Ok(())
    }

    /// Runs to the end, or until `watch` stops it.
    ///
    /// Errors if the loss becomes infinite or NaN.
    pub async fn run(&mut self, watch: &mut dyn FnMut(&Event<'_>) -> Flow) -> Result<()> {
        Self::check(&self.trainer.run(watch).await?)
    }

    /// One epoch of `run`; returns whether the run goes on.
    ///
    /// Errors if the loss becomes infinite or NaN.
    pub async fn epoch(&mut self, watch: &mut dyn FnMut(&Event<'_>) -> Flow) -> Result<bool> {
        match self.trainer.epoch(watch).await? {
            Some(outcome) => Self::check(&outcome).map(|()| false),
            None => Ok(true),
        }
    }

    /// The memory of these rows, under the map as it is now.
    pub async fn memory(&self, rows: &Labelled, header: MemoryHeader) -> Result<Memory> {
        self.learned().await?.memory(rows, header)
    }

    /// The map as it is now, without the rows and the device of the run.
    pub async fn learned(&self) -> Result<Learned> {
        let flat = self.trainer.parameters().await?;
        let device = self.trainer.device();
        let parts = &self.trainer.network().layout().parameters;
        let values: Vec<&[f32]> = parts.iter().map(|one| &flat[one.offset..][..one.shape.len()]).collect();
        let parameters: Vec<Var> = parts
            .iter()
            .zip(&values)
            .map(|(one, values)| Var::constant(Tensor::constant(device, one.shape.clone(), values)))
            .collect();
        let matrix = self.map.matrix(&parameters).value().to_f32().await?;
        let scaled = matrix.iter().zip(self.scaling.scale.iter().cycle()).map(|(a, scale)| a * scale).collect();
        Ok(Learned {
            matrix: scaled,
            shift: self.scaling.shift.clone(),
            metric: self.map.metric_parts(&values),
            sharpness: self.sharpness,
        })
    }
}

impl Learned {
    /// The memory of these rows. Errors as [`Memory::new`].
    pub fn memory(&self, rows: &Labelled, header: MemoryHeader) -> Result<Memory> {
        let header = MemoryHeader { names: rows.names.clone(), sharpness: self.sharpness, ..header };
        let memory = Memory::new(header, self.matrix.clone(), self.shift.clone(), &rows.x, rows.classes.clone())?;
        Ok(Memory { metric: self.metric.clone(), ..memory })
    }
}

/// A run that has not begun.
struct Prepared {
    map: Map,
    scaling: Scaling,
    network: Network,
    config: TrainerConfig,
    data: Data,
}

impl Prepared {
    fn of(rows: &Labelled, part: &[usize], options: &ContrastOptions) -> Result<Self> {
        rows.check_sizes()?;
        let inputs = rows.inputs;
        let rows = Part { rows, places: Cow::Borrowed(part) };
        rows.check()?;
        options.check()?;
        let map = options.map_of(inputs)?;
        if map.outputs() > inputs && matches!(map.form, Form::Linear(_)) {
            let (got, most) = (map.outputs(), inputs);
            return Err(Error::usage(format!("outputs: got {got}, expected at most {most}, the number of columns")));
        }
        let scaling = Scaling::of(&rows, options.standardizes);
        // A row is known by its number, which an f32 holds exactly up to here.
        let count = rows.len();
        if count > 1 << 24 {
            return Err(Error::new(format!("contrast: got {count} rows, expected at most 16,777,216")));
        }
        let x = scaling.apply(&rows);
        let numbered = |row: usize| [rows.class(row) as f32, row as f32];
        let slots = options.memory.min(count);
        let order: Vec<usize> = math::permutation(count, options.seed, 0).into_iter().map(|row| row as usize).collect();
        // The rows that the first epoch visits last.
        let first = &order[count - slots..];
        let bank = Bank {
            slots,
            keys: first.iter().flat_map(|&row| &x[row * inputs..][..inputs]).copied().collect(),
            states: first.iter().flat_map(|&row| numbered(row)).collect(),
            grows: slots < count,
        };
        let y = (0..count).flat_map(numbered).collect();
        let weight = match map.form {
            Form::Linear(outputs) => Some(first_matrix(inputs, outputs)),
            Form::Metric(..) => None,
        };
        let retrieval = options.retrieval();
        let states = States::Classes;
        let source = Contrast { map, retrieval, curvature: 1.0, states, bank, update: Update::Optimizer };
        let config = TrainerConfig {
            epochs: options.epochs,
            // Of more rows than slots, padding at the end of an epoch would be all that the memory keeps.
            batch: options.batch.min(slots),
            lr: options.rate(),
            optimizer: Optimizer::adam(0.0),
            schedule: Schedule::COSINE,
            patience: 0,
            keep: Keep::Last,
            seed: options.seed,
            ..TrainerConfig::default()
        };
        let data = Data { inputs, targets: 2, train: Examples { x, y }, ..Data::default() };
        Ok(Self { map, scaling, network: source.network(weight.as_deref()), config, data })
    }
}
