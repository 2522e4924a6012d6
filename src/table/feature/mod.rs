//! Encodings of columns, fitted to training rows: each column becomes one or more inputs of the model.

mod bins;
mod category;
mod date;
mod level_means;
mod number;

pub use bins::Bins;
pub use category::CategoryFeature;
pub use date::{Cycle, DateFeature};
pub use level_means::LevelMeans;
pub use number::NumberFeature;

pub(crate) use date::Moments;
pub(crate) use level_means::Targets;

use crate::files::DateOrder;
use crate::record;

/// What a column is used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Numbers.
    Number,
    /// Categories.
    Category,
    /// Dates or times, written in this order.
    Date(DateOrder),
}

/// Encoding of one feature column.
#[derive(Clone, Debug, PartialEq)]
pub enum Feature {
    /// A number.
    Numeric(NumberFeature),
    /// A category.
    Categorical(CategoryFeature),
    /// A date or a time.
    Date(DateFeature),
}

record! { enum Feature { Numeric(_), Categorical(_), Date(_) } }

impl Feature {
    /// The column.
    pub fn name(&self) -> &str {
        match self {
            Self::Numeric(number) => &number.name,
            Self::Categorical(category) => &category.name,
            Self::Date(date) => &date.elapsed.name,
        }
    }

    /// Number of inputs that it is encoded as.
    pub fn inputs(&self) -> usize {
        match self {
            Self::Numeric(number) => number.inputs(),
            Self::Categorical(category) => category.inputs(),
            Self::Date(date) => date.inputs(),
        }
    }

    /// Which of its inputs are bins.
    pub(crate) fn bins(&self) -> std::ops::Range<usize> {
        match self {
            Self::Numeric(number) => 1..1 + number.bins.len(),
            Self::Categorical(_) => 0..0,
            Self::Date(date) => 1..1 + date.elapsed.bins.len(),
        }
    }

    /// What the column is used as.
    pub(crate) fn role(&self) -> Role {
        match self {
            Self::Numeric(_) => Role::Number,
            Self::Categorical(_) => Role::Category,
            Self::Date(date) => Role::Date(date.order),
        }
    }

    /// Whether a missing cell has a fill-in value or an input of its own.
    pub fn takes_missing(&self) -> bool {
        match self {
            Self::Numeric(number) => number.impute.is_some(),
            Self::Categorical(category) => category.impute.is_some(),
            Self::Date(date) => date.elapsed.impute.is_some(),
        }
    }

    /// Whether its statistics are consistent: scales above 0, as many counts as levels.
    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Self::Numeric(number) => number.is_sound(),
            Self::Categorical(category) => category.is_sound(),
            Self::Date(date) => date.is_sound(),
        }
    }
}

/// Whether values can be divided by it.
pub(crate) fn is_scale(scale: f64) -> bool {
    scale > 0.0 && scale.is_finite()
}

/// Whether there is a count for each of some levels.
pub(crate) fn is_list(levels: &[String], counts: &[u32]) -> bool {
    !levels.is_empty() && levels.len() == counts.len()
}
