//! The pairs t1 < t2 of an experiment as rows of a fit: only c2 and sigma are stored, everything else follows from the number of the row.

use std::ops::Range;

use super::experiment::Experiment;
use meromorph::error::{Error, Result};
use meromorph::files::RowSource;
use meromorph::internal::host;
use meromorph::internal::math::splitmix::{STEP, mixed};

/// Rows t1, t2, phi, c2 and sigma: angle after angle, t1 after t1, so that each pair is there once and the diagonal is not.
pub struct PairRows<'a> {
    experiment: &'a Experiment,
    columns: Vec<String>,
    /// The first rows of c2 and of sigma, where the others are read from a file.
    kept: [Vec<f64>; 2],
}

impl<'a> PairRows<'a> {
    /// The rows of an experiment.
    pub fn new(experiment: &'a Experiment) -> Self {
        let names = ["t1", "t2", "phi", "c2", "sigma"];
        let count = if experiment.sigma.is_some() { 5 } else { 4 };
        let columns = names[..count].iter().map(|name| (*name).to_owned()).collect();
        Self { experiment, columns, kept: [Vec::new(), Vec::new()] }
    }

    /// The same with so many of the first rows in memory. Errors if they do not fit or cannot be read.
    pub fn keeping(experiment: &'a Experiment, rows: usize) -> Result<Self> {
        let mut all = Self::new(experiment);
        let rows = rows.min(all.rows());
        for (at, column) in (3..all.columns.len()).enumerate() {
            let what = || format!("{rows} rows of {}", all.columns[column]);
            let mut kept = host::filled(0.0, rows, what).map_err(|what| Error::new(format!("xpcs: {what}")))?;
            all.read(0..rows, &[column], &mut [&mut kept])?;
            all.kept[at] = kept;
        }
        Ok(all)
    }

    /// Pairs of one angle.
    fn per_angle(&self) -> usize {
        let times = self.experiment.t.len();
        times * (times - 1) / 2
    }

    /// The number of pairs, within an angle, with an earlier t1 than that at a place.
    fn before(&self, i: usize) -> usize {
        i * (2 * self.experiment.t.len() - i - 1) / 2
    }

    /// The indexes of a row: angle, t1, t2.
    fn indexes(&self, row: usize) -> [usize; 3] {
        let (angle, pair) = (row / self.per_angle(), row % self.per_angle());
        // The last t1 that has no more pairs before it.
        let (mut low, mut high) = (0, self.experiment.t.len() - 1);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if self.before(middle) <= pair { low = middle } else { high = middle }
        }
        [angle, low, low + 1 + pair - self.before(low)]
    }
}

impl RowSource for PairRows<'_> {
    fn rows(&self) -> usize {
        self.experiment.phi.len() * self.per_angle()
    }

    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn read(&self, range: Range<usize>, places: &[usize], into: &mut [&mut [f64]]) -> Result<()> {
        let Experiment { phi, t, c2, sigma, .. } = self.experiment;
        let times = t.len();
        let mut done = 0;
        if range.is_empty() {
            return Ok(());
        }
        let [mut angle, mut i, mut j] = self.indexes(range.start);
        while done < range.len() {
            let count = (times - j).min(range.len() - done);
            let (from, row) = (self.experiment.place([angle, i, j]), range.start + done);
            let kept = |at: usize| self.kept[at].get(row..row + count);
            for (&column, into) in places.iter().zip(&mut *into) {
                let into = &mut into[done..done + count];
                match column {
                    0 => into.fill(t[i]),
                    1 => into.copy_from_slice(&t[j..j + count]),
                    2 => into.fill(phi[angle]),
                    3 => match kept(0) {
                        Some(kept) => into.copy_from_slice(kept),
                        None => c2.copy(from, into)?,
                    },
                    _ => match (kept(1), sigma) {
                        (Some(kept), _) => into.copy_from_slice(kept),
                        (None, sigma) => sigma.iter().try_for_each(|sigma| sigma.copy(from, into))?,
                    },
                }
            }
            done += count;
            i += 1;
            if i + 1 >= times {
                (angle, i) = (angle + 1, 0);
            }
            j = i + 1;
        }
        Ok(())
    }

    fn fingerprint(&self) -> Result<String> {
        let Experiment { phi, t, c2, sigma, .. } = self.experiment;
        let add = |hash: u64, value: f64| mixed(hash.wrapping_add(STEP) ^ value.to_bits());
        let mut hash = phi.iter().chain(t).fold(0, |hash, value| add(hash, *value));
        for values in [Some(c2), sigma.as_ref()].into_iter().flatten() {
            self.experiment.each_row(values, |_, row| {
                hash = row.iter().fold(hash, |hash, value| add(hash, *value));
                Ok(())
            })?;
        }
        Ok(format!("{} {hash:016x}", self.rows()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Values;

    #[test]
    fn every_pair_is_there_once_from_any_row_on() {
        let (angles, times) = (3, 5);
        let experiment = Experiment {
            phi: vec![10.0, 20.0, 30.0],
            t: (0..times).map(|at| at as f64).collect(),
            dt: 1.0,
            q: 0.01,
            gap: None,
            c2: Values::Single((0..angles * times * times).map(|at| at as f32).collect()),
            sigma: None,
        };
        let rows = PairRows::new(&experiment);
        let kept = PairRows::keeping(&experiment, 13).unwrap();
        let expected: Vec<[f64; 4]> = experiment
            .pairs()
            .map(|[angle, i, j]| [i as f64, j as f64, experiment.phi[angle], experiment.place([angle, i, j]) as f64])
            .collect();
        assert_eq!((rows.rows(), expected.len()), (30, 30));
        for start in 0..=30 {
            for end in start..=30 {
                let mut columns = vec![vec![0.0; end - start]; 4];
                let mut into: Vec<&mut [f64]> = columns.iter_mut().map(Vec::as_mut_slice).collect();
                let rows = if (start + end) % 2 == 0 { &rows } else { &kept };
                rows.read(start..end, &[0, 1, 2, 3], &mut into).unwrap();
                for (at, expected) in expected[start..end].iter().enumerate() {
                    assert_eq!([0, 1, 2, 3].map(|column: usize| columns[column][at]), *expected, "{start}..{end}");
                }
            }
        }
    }
}
