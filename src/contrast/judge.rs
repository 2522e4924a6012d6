//! How good a memory is: what it finds for rows whose class is known.

use super::memory::{Found, Memory};
use crate::error::{Error, Result};

/// Figures of a memory over rows that it does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Rows.
    pub rows: usize,
    /// The share of rows with a row of their own class among the nearest k, for k = 1, 5, 10 as far as memory has as many.
    pub recall: Vec<(usize, f64)>,
    /// Mean over the rows of the average precision of the nearest R, R being the rows of their class in memory (at most 1,000): how much of a class
    /// comes before others (MAP@R, Musgrave et al. 2020).
    pub map_at_r: f64,
    /// The share of rows whose class has the largest weight among the nearest 10.
    pub accuracy: f64,
    /// The share of rows within reach of the memory.
    pub known: f64,
}

/// Numbers of neighbours for which recall is given.
const NEAREST: [usize; 3] = [1, 5, 10];
/// Most neighbours for the average precision.
const MOST: usize = 1000;
/// Rows that are looked for at a time: what is found for all would be larger than the memory.
const AT_A_TIME: usize = 128;

impl Memory {
    /// Judges it by rows [rows, inputs] with their classes.
    ///
    /// Errors if sizes do not fit, there are no rows, or a class is unknown.
    pub fn judge(&self, x: &[f32], classes: &[u32]) -> Result<Judged> {
        let fits = x.len() == classes.len() * self.inputs() && !classes.is_empty();
        if !fits || classes.iter().any(|class| *class as usize >= self.header.names.len()) {
            let (numbers, rows) = (x.len(), classes.len());
            return Err(Error::new(format!(
                "memory: got {numbers} numbers and {rows} classes, expected {} numbers and a known class for each row",
                self.inputs()
            )));
        }
        let mut counts = vec![0; self.header.names.len()];
        self.classes.iter().for_each(|&class| counts[class as usize] += 1);
        let most = classes.iter().map(|&class| counts[class as usize]).max().unwrap_or(0);
        let count = most.clamp(NEAREST[2], MOST).min(self.rows());
        let precision = |found: &Found, class: u32| {
            let relevant = counts[class as usize].min(MOST);
            let (mut hits, mut sum) = (0, 0.0);
            for (at, _) in found.neighbours.iter().take(relevant).enumerate().filter(|(_, one)| one.class == class) {
                hits += 1;
                sum += f64::from(hits) / (at + 1) as f64;
            }
            if relevant == 0 { 0.0 } else { sum / relevant as f64 }
        };
        let (mut near, mut precisions, mut right, mut known) = ([0; NEAREST.len()], 0.0, 0, 0);
        for (x, classes) in x.chunks(AT_A_TIME * self.inputs()).zip(classes.chunks(AT_A_TIME)) {
            for (found, &class) in self.find(x, count)?.iter().zip(classes) {
                for (near, k) in near.iter_mut().zip(NEAREST) {
                    *near += usize::from(found.neighbours.iter().take(k).any(|one| one.class == class));
                }
                precisions += precision(found, class);
                let usual = self.shares(&found.neighbours[..found.neighbours.len().min(10)]);
                right += usize::from(usual.first().is_some_and(|(usual, _)| *usual == class));
                known += usize::from(found.is_known);
            }
        }
        let share = |hits: usize| hits as f64 / classes.len() as f64;
        Ok(Judged {
            rows: classes.len(),
            recall: NEAREST
                .into_iter()
                .zip(near)
                .filter(|(k, _)| *k <= self.rows())
                .map(|(k, hits)| (k, share(hits)))
                .collect(),
            map_at_r: precisions / classes.len() as f64,
            accuracy: share(right),
            known: share(known),
        })
    }
}
