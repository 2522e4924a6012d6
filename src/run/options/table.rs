//! The options of a training run. To add one: a field of [`TrainOptions`] and an entry in the file of its group; flags, help, the JavaScript
//! reader, TypeScript types and the tables in the documents follow (`bash tests/run` says how to write the generated files anew).

use super::TrainOptions;
use super::columns::COLUMNS;
use super::gradients::GRADIENTS;
use super::layers::MODEL;
use super::memory::MEMORY;
use super::poles::POLES;
use super::precision::PRECISION;
use super::training::training;
use crate::error::{Error, Result};
use crate::options::{Group, Table};

/// The options of a training run.
pub static TABLE: Table<TrainOptions> = Table {
    groups: &[
        Group { title: "Columns and rows", entries: || COLUMNS },
        Group { title: "Model", entries: || MODEL },
        Group { title: "Training", entries: training },
        Group { title: "Gradients", entries: || GRADIENTS },
        Group { title: "Memory", entries: || MEMORY },
        Group { title: "Precision", entries: || PRECISION },
        Group { title: "Poles", entries: || POLES },
    ],
};

impl TrainOptions {
    /// Errors that can be found without a table. The ranges are those of [`TABLE`].
    pub fn check(&self) -> Result<()> {
        let refused = |what: &str| Err(Error::usage(format!("train: {what}")));
        let whole = |value: Option<usize>| value.map(|value| value as f64);
        let numbers = [
            ("dropout", Some(f64::from(self.dropout))),
            ("smoothing", self.smoothing.map(f64::from)),
            ("weight_decay", self.weight_decay.map(f64::from)),
            ("lr", self.lr),
            ("epochs", whole(self.epochs)),
            ("batch", whole(self.batch)),
            ("accumulate", whole(self.accumulate)),
        ];
        for (name, value) in numbers {
            value.map_or(Ok(()), |value| TABLE.check_number(name, value)).map_err(|error| error.within("train"))?;
        }
        if let Some(optimizer) = &self.optimizer {
            optimizer.check_stored().map_err(|error| error.within("train"))?;
        }
        if self.rational.is_some_and(|layer| !layer.is_safe) && self.head.is_none() {
            return refused(
                "rational layers with poles can return ⊥; set head to one that can report it, such as rational",
            );
        }
        if self.norm.is_some() && self.hidden.as_ref().is_some_and(Vec::is_empty) {
            return refused("norm applies to hidden layers, but hidden is empty");
        }
        if let Some(at) = self.hidden.iter().flatten().position(|width| *width == 0) {
            return refused(&format!("hidden[{at}]: got 0, expected a whole number above 0"));
        }
        Ok(())
    }
}
