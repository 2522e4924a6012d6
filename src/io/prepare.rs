//! Encodes rows of a table as model inputs and decodes model outputs. Fitted on training rows, stored in the model file. A
//! number x becomes (x - mean) / scale; a category becomes one input per level, 1 for its own level and 0 otherwise.

use super::levels::{MISSING, codes};
use super::table::{Column, Table};
use super::target::Task;
use crate::error::{Error, Result};
use crate::host::number;
use crate::record;

/// The features in the order of the model's inputs, and the target.
#[derive(Clone, Debug, PartialEq)]
pub struct Preparation {
    /// One per column that the model reads.
    pub features: Vec<Feature>,
    /// The column that the model predicts.
    pub target: Target,
}

record! { Preparation { features, target } }

/// Encoding of one feature column.
#[derive(Clone, Debug, PartialEq)]
pub enum Feature {
    /// One input: (x - mean) / scale.
    Numeric {
        /// The column.
        name: String,
        /// Mean of the training rows, in the column's unit.
        mean: f64,
        /// The training rows' population standard deviation, or 1 for a constant column.
        scale: f64,
        /// The smallest training value.
        min: f64,
        /// The largest training value.
        max: f64,
        /// Fill-in value of a missing cell; if absent, a missing cell is an error.
        impute: Option<f64>,
    },
    /// One input per level.
    Categorical {
        /// The column.
        name: String,
        /// The distinct values of all usable rows.
        levels: Vec<String>,
        /// Number of training rows of each level.
        counts: Vec<u32>,
        /// Fill-in level of a missing cell; if absent, a missing cell is an error.
        impute: Option<u32>,
    },
}

record! { enum Feature { Numeric { name, mean, scale, min, max, impute }, Categorical { name, levels, counts, impute } } }

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

record! { enum Target { Regression { name, mean, scale, min, max }, Classification { name, levels, counts } } }

impl Preparation {
    /// Errors if the record is inconsistent: a scale of 0, or other numbers of counts and levels.
    pub fn check(&self) -> Result<()> {
        let is_scale = |scale: f64| scale > 0.0 && scale.is_finite();
        let is_list = |levels: &[String], counts: &[u32]| !levels.is_empty() && levels.len() == counts.len();
        let is_sound = |feature: &Feature| match feature {
            Feature::Numeric { scale, .. } => is_scale(*scale),
            Feature::Categorical { levels, counts, impute, .. } => {
                is_list(levels, counts) && impute.is_none_or(|level| (level as usize) < levels.len())
            }
        };
        let wrong = self.features.iter().find(|feature| !is_sound(feature)).map(Feature::name);
        let wrong = wrong.or_else(|| match &self.target {
            Target::Regression { scale, name, .. } if !is_scale(*scale) => Some(name),
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

    /// The names of the columns that the model reads.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.features.iter().map(Feature::name)
    }

    /// The inputs of some rows, row-major `[rows.len(), inputs]`. Columns are found by name; others are ignored.
    ///
    /// Errors on an absent column, on text in a numeric column, on a missing cell without a fill-in value, on an unknown level,
    /// and on a number that is infinite or overflows.
    pub fn encode(&self, table: &Table, rows: &[u32]) -> Result<Vec<f32>> {
        let inputs = self.inputs();
        let mut out = vec![0.0; rows.len() * inputs];
        let mut at = 0;
        for feature in &self.features {
            let column = find(table, feature.name())?;
            match feature {
                Feature::Numeric { mean, scale, impute, .. } => {
                    let values = scaled(table, column, rows, [*mean, *scale], *impute)?;
                    values.iter().enumerate().for_each(|(i, value)| out[i * inputs + at] = *value);
                }
                Feature::Categorical { levels, impute, .. } => {
                    let codes = codes(table, column, rows, levels, *impute)?;
                    codes.iter().enumerate().for_each(|(i, code)| out[i * inputs + at + *code as usize] = 1.0);
                }
            }
            at += feature.inputs();
        }
        Ok(out)
    }

    /// Target pairs of some rows, [rows, 2]: (y, 1) for a scaled number, (1, 0) and (-1, 0) for the poles +∞ and -∞. Errors as
    /// in [`Self::encode`], and on a target of classes.
    pub fn encode_pairs(&self, table: &Table, rows: &[u32]) -> Result<Vec<f32>> {
        let Target::Regression { name, mean, scale, .. } = &self.target else {
            return Err(Error::new(format!("column \"{}\" is a class; only numbers have poles", self.target.name())));
        };
        let column = find(table, name)?;
        let values = table.numbers(name)?;
        let is_pole = |row: u32| values[row as usize].is_infinite();
        let numbers: Vec<u32> = rows.iter().copied().filter(|&row| !is_pole(row)).collect();
        let mut numbers = scaled(table, column, &numbers, [*mean, *scale], None)?.into_iter();
        let mut pairs = Vec::with_capacity(2 * rows.len());
        for &row in rows {
            pairs.extend(if is_pole(row) {
                [values[row as usize].signum() as f32, 0.0]
            } else {
                [numbers.next().expect("a number for each row that is not a pole"), 1.0]
            });
        }
        Ok(pairs)
    }

    /// Targets of some rows: scaled numbers, or indices of classes. Errors as in [`Self::encode`].
    pub fn encode_target(&self, table: &Table, rows: &[u32]) -> Result<Vec<f32>> {
        match &self.target {
            Target::Regression { name, mean, scale, .. } => {
                scaled(table, find(table, name)?, rows, [*mean, *scale], None)
            }
            Target::Classification { name, levels, .. } => {
                let codes = codes(table, find(table, name)?, rows, levels, None)?;
                Ok(codes.iter().map(|&code| code as f32).collect())
            }
        }
    }

    /// A model output in the target's unit. The index of a class is unchanged; its name is in [`Target::levels`].
    pub fn decode_target(&self, output: f32) -> f64 {
        match self.target {
            Target::Regression { mean, scale, .. } => mean + scale * f64::from(output),
            Target::Classification { .. } => f64::from(output),
        }
    }
}

impl Feature {
    /// The column.
    pub fn name(&self) -> &str {
        match self {
            Self::Numeric { name, .. } | Self::Categorical { name, .. } => name,
        }
    }

    /// Number of inputs that it is encoded as.
    pub fn inputs(&self) -> usize {
        match self {
            Self::Numeric { .. } => 1,
            Self::Categorical { levels, .. } => levels.len(),
        }
    }
}

impl Target {
    /// The column.
    pub fn name(&self) -> &str {
        match self {
            Self::Regression { name, .. } | Self::Classification { name, .. } => name,
        }
    }

    /// The classes; empty for a number.
    pub fn levels(&self) -> &[String] {
        match self {
            Self::Regression { .. } => &[],
            Self::Classification { levels, .. } => levels,
        }
    }

    /// The task.
    pub fn task(&self) -> Task {
        match self {
            Self::Regression { .. } => Task::Regression,
            Self::Classification { .. } => Task::Classification,
        }
    }

    /// Factor from a difference of outputs to the target's unit; 1 for classes.
    pub fn scale(&self) -> f64 {
        match self {
            Self::Regression { scale, .. } => *scale,
            Self::Classification { .. } => 1.0,
        }
    }

    /// Number of outputs of the model: one for a number, one per class.
    pub fn outputs(&self) -> usize {
        self.levels().len().max(1)
    }
}

fn find<'a>(table: &'a Table, name: &str) -> Result<&'a Column> {
    let Some(j) = table.find(name) else {
        let (source, names) = (table.source(), table.list());
        return Err(Error::new(format!("column \"{name}\" is missing from {source}; it has {names}")));
    };
    Ok(&table.columns()[j])
}

/// (x - mean) / scale for some rows of a column, each finite in `f32`.
fn scaled(
    table: &Table,
    column: &Column,
    rows: &[u32],
    [mean, scale]: [f64; 2],
    impute: Option<f64>,
) -> Result<Vec<f32>> {
    let values = table.numbers(&column.name)?;
    let input = |value: f64| ((value - mean) / scale) as f32;
    let inputs: Vec<f32> = rows.iter().map(|&row| input(values[row as usize])).collect();
    if inputs.iter().all(|input| input.is_finite()) {
        return Ok(inputs);
    }
    let one = |&row: &u32| {
        let value = values[row as usize];
        let refuse = |what: &str| table.at(row as usize, &column.name, what);
        let value = if value.is_nan() { impute.ok_or_else(|| refuse(MISSING))? } else { value };
        match input(value) {
            input if input.is_finite() => Ok(input),
            _ if value.is_infinite() => Err(refuse("is infinite")),
            _ => {
                let [value, mean] = [value, mean].map(number);
                Err(refuse(&format!("{value:?} is too far from the training mean {mean:?} for a 32-bit input")))
            }
        }
    };
    rows.iter().map(one).collect()
}

#[cfg(test)]
#[path = "prepare_tests.rs"]
pub(super) mod tests;
