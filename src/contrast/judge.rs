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
        let found = self.find(x, count)?;
        let share = |is: &dyn Fn(&Found, u32) -> bool| {
            let hits = found.iter().zip(classes).filter(|(found, class)| is(found, **class)).count();
            hits as f64 / classes.len() as f64
        };
        let near = |found: &Found, class: u32, k: usize| found.neighbours.iter().take(k).any(|one| one.class == class);
        let precision = |found: &Found, class: u32| {
            let relevant = counts[class as usize].min(MOST);
            let (mut hits, mut sum) = (0, 0.0);
            for (at, _) in found.neighbours.iter().take(relevant).enumerate().filter(|(_, one)| one.class == class) {
                hits += 1;
                sum += f64::from(hits) / (at + 1) as f64;
            }
            if relevant == 0 { 0.0 } else { sum / relevant as f64 }
        };
        let precisions: f64 = found.iter().zip(classes).map(|(found, class)| precision(found, *class)).sum();
        let usual = |found: &Found| self.shares(&found.neighbours[..found.neighbours.len().min(10)]);
        Ok(Judged {
            rows: classes.len(),
            recall: NEAREST
                .into_iter()
                .filter(|k| *k <= self.rows())
                .map(|k| (k, share(&|found, class| near(found, class, k))))
                .collect(),
            map_at_r: precisions / classes.len() as f64,
            accuracy: share(&|found, class| usual(found).first().is_some_and(|(usual, _)| *usual == class)),
            known: share(&|found, _| found.is_known),
        })
    }
}
