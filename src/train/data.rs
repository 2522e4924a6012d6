//! The rows of a run: encoded, row-major, on the host.

use crate::error::{Error, Result};
use crate::model::Examples;

/// A table split in three.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    /// Values per row of the inputs.
    pub inputs: usize,
    /// Values per row of the targets: one per output, or 1 for a class index; anything for a closure loss.
    pub targets: usize,
    /// Rows that the model is trained on.
    pub train: Examples,
    /// Rows that choose the best epoch and decide when to stop.
    pub validation: Examples,
    /// Rows that do not influence training.
    pub test: Examples,
}

impl Data {
    /// Errors if the sizes of a part are inconsistent, a value is not finite, or there are no training rows.
    pub fn check(&self) -> Result<()> {
        for (name, part) in [("training", &self.train), ("validation", &self.validation), ("test", &self.test)] {
            let rows = part.rows(self.targets);
            if part.x.len() != rows * self.inputs || part.y.len() != rows * self.targets {
                let (x, y, inputs, targets) = (part.x.len(), part.y.len(), self.inputs, self.targets);
                return Err(Error::new(format!(
                    "train: {name} rows do not fit: {x} inputs and {y} targets for {inputs} and {targets} per row"
                )));
            }
            if let Some(at) = part.x.iter().chain(&part.y).position(|value| !value.is_finite()) {
                return Err(Error::new(format!("train: {name} data hold a value that is not finite (place {at})")));
            }
        }
        if self.train.rows(self.targets) == 0 {
            return Err(Error::new("train: there are no training rows"));
        }
        Ok(())
    }

    /// A hash of the training rows, which identifies them in a checkpoint (FNV-1a over their bits).
    pub fn fingerprint(&self) -> u64 {
        hash(&self.train)
    }

    /// The same of the validation and of the test rows, by which the best epoch is chosen and the model is judged.
    pub fn held_fingerprints(&self) -> [(&'static str, u64); 2] {
        [("validation", hash(&self.validation)), ("test", hash(&self.test))]
    }
}

fn hash(rows: &Examples) -> u64 {
    let words = rows.x.iter().chain(&rows.y).map(|value| u64::from(value.to_bits()));
    words.fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3))
}
