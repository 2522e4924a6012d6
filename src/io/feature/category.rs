//! A column of categories: one input per level, 1 for a cell's own level and 0 otherwise; or, of many levels, the mean targets of a cell's own
//! level. All 0 for a level that training did not see.

use super::{LevelMeans, is_list};
use crate::record;

/// Encoding of a column of categories.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CategoryFeature {
    /// The column.
    pub name: String,
    /// The distinct values of the training rows; the most frequent ones if there are too many.
    pub levels: Vec<String>,
    /// Number of training rows of each level.
    pub counts: Vec<u32>,
    /// Level of a missing cell. The number of levels means an input of its own behind theirs. If absent, a missing cell is an error.
    pub impute: Option<u32>,
    /// Mean targets of the levels; empty if there is an input per level.
    pub means: LevelMeans,
}

record! { CategoryFeature { name, levels, counts, impute, means = LevelMeans::default() } }

impl CategoryFeature {
    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.level_inputs() + usize::from(self.has_gaps())
    }

    /// Number of inputs of a level.
    fn level_inputs(&self) -> usize {
        if self.means.is_empty() { self.levels.len() } else { self.means.inputs() }
    }

    /// Writes the inputs of a level; the number of levels means a missing cell.
    pub(in crate::io) fn write(&self, level: u32, inputs: &mut [f32]) {
        let (level, own) = (level as usize, self.level_inputs());
        if level == self.levels.len() {
            inputs[own] = 1.0;
        } else if self.means.is_empty() {
            inputs[level] = 1.0;
        } else {
            self.means.write(level, self.counts[level], &mut inputs[..own]);
        }
    }

    /// Whether training rows had missing cells, so that they are a level of their own.
    pub fn has_gaps(&self) -> bool {
        self.impute == Some(self.levels.len() as u32)
    }

    pub(super) fn is_sound(&self) -> bool {
        let levels = self.levels.len();
        is_list(&self.levels, &self.counts)
            && self.impute.is_none_or(|level| level as usize <= levels)
            && self.means.is_sound(levels)
    }
}
