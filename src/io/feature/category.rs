//! A column of categories: one input per level, 1 for a cell's own level and 0 otherwise; all 0 for a level that training did not see.

use super::is_list;
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
}

record! { CategoryFeature { name, levels, counts, impute } }

impl CategoryFeature {
    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.levels.len() + usize::from(self.has_gaps())
    }

    /// Whether training rows had missing cells, so that they are a level of their own.
    pub fn has_gaps(&self) -> bool {
        self.impute == Some(self.levels.len() as u32)
    }

    pub(super) fn is_sound(&self) -> bool {
        is_list(&self.levels, &self.counts) && self.impute.is_none_or(|level| level as usize <= self.levels.len())
    }
}
