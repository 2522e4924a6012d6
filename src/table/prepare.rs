//! How rows of a table become model inputs, and outputs predictions. Fitted on training rows, stored in the model file. What a column
//! becomes is its [`Feature`].

use super::feature::{Feature, is_list, is_scale};
use super::target::Task;
use crate::error::{Error, Result, hint};
use crate::files::{Column, Format, Notation, Table};
use crate::record;

/// The features in the order of the model's inputs, and the target.
#[derive(Clone, Debug, PartialEq)]
pub struct Preparation {
    /// One per column that the model reads.
    pub features: Vec<Feature>,
    /// The column that the model predicts.
    pub target: Target,
    /// How the table was written that it is fitted to, so that new tables are read in the same way; absent if that is not known.
    pub format: Option<Format>,
    /// How the numbers of the target are written in the training table.
    pub target_notation: Notation,
}

record! { Preparation { features, target, format = None, target_notation = Notation::default() } }

/// Encoding of the target column.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A number: mean + scale · output.
    Regression {
        /// The column.
        name: String,
        /// Mean of the training rows, in the column's unit; their median if the target has poles.
        mean: f64,
        /// The training rows' population standard deviation, or 1 if they are constant; estimated from the median distance if the target has poles.
        scale: f64,
        /// The smallest finite training value.
        min: f64,
        /// The largest finite training value.
        max: f64,
    },
    /// A count: the output's rate, without a scale.
    Counts {
        /// The column.
        name: String,
        /// Mean of the training rows.
        mean: f64,
        /// The smallest training value.
        min: f64,
        /// The largest training value.
        max: f64,
    },
    /// The share of a class in each of several columns.
    Shares {
        /// The columns, in one text.
        name: String,
        /// The columns, which are the classes.
        columns: Vec<String>,
        /// Means of the training rows.
        means: Vec<f64>,
    },
    /// One score per level.
    Classification {
        /// The column.
        name: String,
        /// The classes of all usable rows.
        levels: Vec<String>,
        /// Number of training rows of each class.
        counts: Vec<u32>,
    },
}

record! {
    enum Target {
        Regression { name, mean, scale, min, max }, Counts { name, mean, min, max }, Shares { name, columns, means }, Classification { name, levels, counts },
    }
}

impl Preparation {
    /// A preparation whose target is written in the usual way.
    pub fn new(features: Vec<Feature>, target: Target) -> Self {
        Self { features, target, format: None, target_notation: Notation::default() }
    }

    /// Errors if the record is inconsistent: a scale of 0, or other numbers of counts and levels.
    pub fn check(&self) -> Result<()> {
        let wrong = self.features.iter().find(|feature| !feature.as_kind().is_sound()).map(Feature::name);
        let wrong = wrong.or_else(|| match &self.target {
            Target::Regression { scale, name, .. } if !is_scale(*scale) => Some(name),
            Target::Shares { columns, means, name } if columns.len() < 2 || columns.len() != means.len() => Some(name),
            Target::Classification { levels, counts, name } if !is_list(levels, counts) => Some(name),
            _ => None,
        });
        match wrong {
            Some(name) => Err(Error::new(format!("preparation of column \"{name}\" is inconsistent"))),
            None => Ok(()),
        }
    }

    /// Number of inputs of the model.
    pub fn inputs(&self) -> usize {
        self.features.iter().map(Feature::inputs).sum()
    }

    /// Which inputs are not bins.
    pub(crate) fn plain_inputs(&self) -> Vec<usize> {
        let places = self.features.iter().flat_map(|feature| {
            let bins = feature.bins();
            (0..feature.inputs()).map(move |at| bins.contains(&at))
        });
        places.enumerate().filter(|(_, is_bin)| !is_bin).map(|(at, _)| at).collect()
    }

    /// The names of the columns that the model reads.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.features.iter().map(Feature::name)
    }

    /// The names of the columns that the model reads, and of those that it predicts.
    pub fn every_name(&self) -> impl Iterator<Item = &str> {
        self.names().chain(self.target.columns().iter().map(String::as_str))
    }

    /// A prediction of the loss's target in the target's unit. A count, a share and the index of a class are unchanged; the name of a class is in
    /// [`Target::levels`].
    pub fn decode_target(&self, prediction: impl Into<f64>) -> f64 {
        let prediction = prediction.into();
        match self.target {
            Target::Regression { mean, scale, .. } => mean + scale * prediction,
            Target::Counts { .. } | Target::Shares { .. } | Target::Classification { .. } => prediction,
        }
    }
}

impl Target {
    /// The column; of several their names in one text.
    pub fn name(&self) -> &str {
        self.columns_and_name().1
    }

    /// The columns; most targets have one.
    pub fn columns(&self) -> &[String] {
        self.columns_and_name().0
    }

    fn columns_and_name(&self) -> (&[String], &String) {
        match self {
            Self::Regression { name, .. } | Self::Counts { name, .. } | Self::Classification { name, .. } => {
                (std::slice::from_ref(name), name)
            }
            Self::Shares { name, columns, .. } => (columns, name),
        }
    }

    /// The classes; empty for a number.
    pub fn levels(&self) -> &[String] {
        match self {
            Self::Regression { .. } | Self::Counts { .. } => &[],
            Self::Shares { columns, .. } => columns,
            Self::Classification { levels, .. } => levels,
        }
    }

    /// The task.
    pub fn task(&self) -> Task {
        match self {
            Self::Regression { .. } | Self::Counts { .. } => Task::Regression,
            Self::Shares { .. } | Self::Classification { .. } => Task::Classification,
        }
    }

    /// Factor from a difference of predictions to the target's unit; 1 for counts, shares and classes.
    pub fn scale(&self) -> f64 {
        match self {
            Self::Regression { scale, .. } => *scale,
            Self::Counts { .. } | Self::Shares { .. } | Self::Classification { .. } => 1.0,
        }
    }

    /// Number of outputs of the model: one for a number, one per class.
    pub fn outputs(&self) -> usize {
        self.levels().len().max(1)
    }
}

/// The column called `name`, or an error.
pub(crate) fn find<'a>(table: &'a Table, name: &str) -> Result<&'a Column> {
    let Some(j) = table.find(name) else {
        let (source, names, near) = (table.source(), table.list(), hint(name, table.names()));
        return Err(Error::new(format!("column \"{name}\" is missing from {source}; it has {names}{near}")));
    };
    table.readable(name)?;
    Ok(&table.columns()[j])
}

#[cfg(test)]
#[path = "prepare_tests.rs"]
pub(crate) mod tests;
