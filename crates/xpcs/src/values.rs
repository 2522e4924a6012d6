//! The numbers of an experiment: in memory, or in a file from which they are read whenever they are used.

use std::ops::Range;
use std::sync::Arc;

use super::experiment::Experiment;
use meromorph::error::{Error, Result};
use meromorph::files::npy::Dtype;
use meromorph::internal::host::{self, RangeFile, gib};

/// Numbers [angles, times, times] in single or in double precision.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// 32 bits.
    Single(Vec<f32>),
    /// 64 bits.
    Double(Vec<f64>),
    /// In a file.
    Stored(Stored),
}

/// Some of the angles and consecutive times of matrices in a file.
#[derive(Clone, Debug)]
pub struct Stored {
    file: Arc<RangeFile>,
    /// The byte where the first number is.
    start: u64,
    dtype: Dtype,
    /// Rows and columns of a matrix in the file.
    size: usize,
    /// The matrices that are used.
    angles: Vec<usize>,
    times: Range<usize>,
}

impl PartialEq for Stored {
    fn eq(&self, other: &Self) -> bool {
        let place = |one: &Self| (one.start, one.size, one.angles.clone(), one.times.clone());
        Arc::ptr_eq(&self.file, &other.file) && place(self) == place(other)
    }
}

impl Stored {
    /// All of `angles` matrices of `size` rows, the first number at the byte `start`, in C order.
    pub(super) fn new(file: Arc<RangeFile>, start: u64, dtype: Dtype, [angles, size]: [usize; 2]) -> Self {
        Self { file, start, dtype, size, angles: (0..angles).collect(), times: 0..size }
    }

    pub(super) fn part(&self, angles: &[usize], times: Range<usize>) -> Self {
        let first = self.times.start;
        let angles = angles.iter().map(|&angle| self.angles[angle]).collect();
        Self { angles, times: first + times.start..first + times.end, ..self.clone() }
    }

    fn copy(&self, from: usize, mut into: &mut [f64]) -> Result<()> {
        let times = self.times.len();
        let (mut row, mut column) = (from / times, from % times);
        let mut bytes = Vec::new();
        while !into.is_empty() {
            let (now, rest) = into.split_at_mut((times - column).min(into.len()));
            let (angle, i) = (self.angles[row / times], self.times.start + row % times);
            let place = (angle * self.size + i) * self.size + self.times.start + column;
            let step = self.dtype.bytes();
            bytes.resize(now.len() * step, 0);
            self.file.read(&mut bytes, self.start + (place * step) as u64)?;
            self.dtype.numbers(&bytes, step, now);
            (into, row, column) = (rest, row + 1, 0);
        }
        Ok(())
    }
}

impl Values {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Single(values) => values.len(),
            Self::Double(values) => values.len(),
            Self::Stored(Stored { angles, times, .. }) => angles.len() * times.len() * times.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether they have 32 bits.
    pub fn is_single(&self) -> bool {
        match self {
            Self::Single(_) => true,
            Self::Double(_) => false,
            Self::Stored(stored) => stored.dtype.bytes() == 4 && !stored.dtype.is_whole(),
        }
    }

    /// Whether they are in a file.
    pub fn is_stored(&self) -> bool {
        matches!(self, Self::Stored(_))
    }

    /// Bytes that they take in memory.
    pub fn bytes(&self) -> u64 {
        self.len() as u64 * if self.is_single() { 4 } else { 8 }
    }

    /// The number at a place. Errors if it cannot be read.
    pub fn at(&self, place: usize) -> Result<f64> {
        let mut one = [0.0];
        self.copy(place, &mut one)?;
        Ok(one[0])
    }

    /// Consecutive numbers from a place on. Errors if they cannot be read.
    pub fn copy(&self, from: usize, into: &mut [f64]) -> Result<()> {
        match self {
            Self::Single(values) => {
                into.iter_mut().zip(&values[from..]).for_each(|(into, value)| *into = f64::from(*value));
            }
            Self::Double(values) => into.copy_from_slice(&values[from..][..into.len()]),
            Self::Stored(stored) => return stored.copy(from, into),
        }
        Ok(())
    }

    /// All of them in double precision.
    pub(super) fn numbers(&self) -> Result<Vec<f64>> {
        let mut all = vec![0.0; self.len()];
        self.copy(0, &mut all)?;
        Ok(all)
    }

    /// The same in memory. Errors if they do not fit; `name` is their name.
    pub(super) fn held(self, name: &str) -> Result<Self> {
        let Self::Stored(stored) = &self else { return Ok(self) };
        let (bytes, most) = (self.bytes(), host::memory_bytes());
        if bytes > most {
            let (source, [bytes, most]) = (stored.file.name(), [bytes, most].map(gib));
            return Err(Error::new(format!("{source}: {name}: it needs {bytes}, this process may use {most}")));
        }
        if !self.is_single() {
            return self.numbers().map(Self::Double);
        }
        let mut values = vec![0.0_f32; self.len()];
        let mut row = vec![0.0; stored.times.len()];
        for (at, into) in values.chunks_mut(row.len()).enumerate() {
            stored.copy(at * row.len(), &mut row)?;
            into.iter_mut().zip(&row).for_each(|(into, value)| *into = *value as f32);
        }
        Ok(Self::Single(values))
    }

    /// Those at some of an experiment's angles and times, in memory.
    pub(super) fn picked(&self, experiment: &Experiment, angles: &[usize], times: &[usize]) -> Result<Self> {
        let mut picked = Vec::with_capacity(angles.len() * times.len() * times.len());
        let mut row = vec![0.0; experiment.t.len()];
        for &angle in angles {
            for &i in times {
                self.copy(experiment.place([angle, i, 0]), &mut row)?;
                picked.extend(times.iter().map(|&j| row[j]));
            }
        }
        if self.is_single() {
            return Ok(Self::Single(picked.into_iter().map(|value| value as f32).collect()));
        }
        Ok(Self::Double(picked))
    }
}
