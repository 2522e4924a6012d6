//! A column of categories: one input per level, 1 for a cell's own level and 0 otherwise; with many levels only the frequent ones have such an
//! input, and the mean targets of a cell's own level are further inputs. All 0 for a level that training did not see.

use super::{LevelMeans, is_list};
use crate::record;

/// Encoding of a column of categories.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CategoryFeature {
    /// The column.
    pub name: String,
    /// The distinct values of the training rows; with mean targets the most frequent first, and only those if there are too many.
    pub levels: Vec<String>,
    /// Number of training rows of each level.
    pub counts: Vec<u32>,
    /// Level of a missing cell. The number of levels means an input of its own behind theirs. If absent, a missing cell is an error.
    pub impute: Option<u32>,
    /// Mean targets of the levels; empty if each level has an input.
    pub means: LevelMeans,
    /// With mean targets, so many levels, the first ones, also have an input each.
    pub frequent: u32,
}

record! { CategoryFeature { name, levels, counts, impute, means = LevelMeans::default(), frequent = 0 } }

impl CategoryFeature {
    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.level_inputs() + usize::from(self.has_gaps())
    }

    /// The first of the mean targets, which is the number of levels with an input each.
    fn own_inputs(&self) -> usize {
        if self.means.is_empty() { self.levels.len() } else { self.frequent as usize }
    }

    fn level_inputs(&self) -> usize {
        self.own_inputs() + self.means.inputs()
    }

    /// Writes the inputs of a level; the number of levels means a missing cell.
    pub(crate) fn write(&self, level: u32, inputs: &mut [f32]) {
        let level = level as usize;
        if level == self.levels.len() {
            inputs[self.level_inputs()] = 1.0;
            return;
        }
        let (own, means) = inputs.split_at_mut(self.own_inputs());
        if let Some(input) = own.get_mut(level) {
            *input = 1.0;
        }
        if !self.means.is_empty() {
            self.means.write(level, self.counts[level], &mut means[..self.means.inputs()]);
        }
    }

    /// Of the inputs of a row, the mean targets.
    pub(crate) fn means_of<'x>(&self, inputs: &'x mut [f32]) -> &'x mut [f32] {
        &mut inputs[self.own_inputs()..self.level_inputs()]
    }

    /// Whether training rows had missing cells, so that they are a level of their own.
    pub fn has_gaps(&self) -> bool {
        self.impute == Some(self.levels.len() as u32)
    }

    pub(crate) fn is_sound(&self) -> bool {
        let levels = self.levels.len();
        is_list(&self.levels, &self.counts)
            && self.impute.is_none_or(|level| level as usize <= levels)
            && (self.means.is_empty() || self.means.is_sound(levels))
            && self.frequent as usize <= levels
    }
}
