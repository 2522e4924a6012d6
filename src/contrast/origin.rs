//! What a checkpoint of a run holds besides the state of its trainer: its options, and where its rows came from.

use super::learn::Labelled;
use super::options::ContrastOptions;
use crate::error::{Error, Result};
use crate::files::Format;
use crate::json::Record;
use crate::record;
use crate::train::Checkpoint;

/// The options of a run and where its rows came from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContrastOrigin {
    /// The options.
    pub options: ContrastOptions,
    /// The rows.
    pub rows: RowOrigin,
    /// Identifies all rows and classes, also those that judge the memory.
    pub fingerprint: u64,
}

record! { ContrastOrigin { options, rows, fingerprint } }

/// How labelled rows are read from a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowOrigin {
    /// How the file is read.
    pub format: Format,
    /// The column of the classes.
    pub target: Option<String>,
    /// The file of the classes, if they are not in a column.
    pub labels: Option<String>,
    /// The columns of the coordinates; all others if empty.
    pub columns: Vec<String>,
    /// The model whose hidden layer makes the coordinates, if one does.
    pub through: Option<String>,
    /// The number of that layer, from 0; the last one if not given.
    pub layer: Option<usize>,
}

record! { RowOrigin { format, target, labels, columns, through = None, layer = None } }

impl ContrastOrigin {
    /// What a checkpoint holds; `source` names it in messages. Errors if it is the checkpoint of another kind of run.
    pub fn of(checkpoint: &Checkpoint, source: &str) -> Result<Self> {
        let (Some(origin), Some(_)) = (&checkpoint.origin, &checkpoint.source) else {
            let what = "it is not the checkpoint of a run that learns from contrasts: expected one of mero contrast";
            return Err(Error::usage(format!("{source}: {what}")));
        };
        Self::from_json(origin).map_err(|error| error.within(source))
    }

    /// The checkpoint with it.
    #[must_use]
    pub fn put(&self, checkpoint: Checkpoint) -> Checkpoint {
        Checkpoint { origin: Some(self.to_json()), ..checkpoint }
    }
}

impl Labelled {
    /// A hash of the rows, their classes and the names of these (FNV-1a over their bits).
    pub fn fingerprint(&self) -> u64 {
        let numbers = self.x.iter().map(|x| u64::from(x.to_bits())).chain(self.classes.iter().map(|&c| u64::from(c)));
        let names = self.names.iter().flat_map(|name| name.bytes().map(u64::from).chain([u64::MAX]));
        let words = [self.inputs as u64].into_iter().chain(numbers).chain(names);
        words.fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3))
    }
}
