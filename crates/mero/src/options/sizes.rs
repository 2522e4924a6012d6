//! The model and the rows of `mero plan` and `mero profile`: a table, or only sizes.

use std::path::PathBuf;

use super::flags::{Flags, Model, prepare, refused};
use super::reading::{Reading, read};
use crate::terminal::shell::{quoted, quoted_option};
use crate::{Answer, Failure};
use meromorph::internal::host::{memory_bytes, now_ms};
use meromorph::nn::Spec;
use meromorph::report::counted;
use meromorph::run::{Run, TrainOptions};
use meromorph::table::{Choice, Quantity, Target};
use meromorph::train::{Data, Examples, TrainerConfig};

/// The heading of its own options.
const SIZES: &str = "Table or sizes";

#[derive(clap::Args)]
pub(crate) struct Sizes {
    /// Table that determines the sizes; needs --target
    #[arg(requires = "target")]
    file: Option<PathBuf>,
    /// Column to predict
    #[arg(long, value_name = "COLUMN", requires = "file", help_heading = SIZES)]
    target: Option<String>,
    /// Inputs of the model, without a table
    #[arg(long, alias = "columns", default_value_t = 5, value_name = "N", conflicts_with = "file", help_heading = SIZES)]
    inputs: usize,
    /// Outputs of the model, without a table
    #[arg(long, default_value_t = 1, value_name = "N", conflicts_with = "file", help_heading = SIZES)]
    outputs: usize,
    /// Training rows, without a table
    #[arg(long, default_value_t = 10_000, value_name = "N", conflicts_with = "file", help_heading = SIZES)]
    rows: usize,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    flags: Flags<Model>,
}

/// A run, and how long its table took.
pub(crate) type Timed = ((Data, Spec, TrainerConfig), Option<Loading>);

/// How long a table took, in milliseconds.
#[derive(Clone, Copy)]
pub(crate) struct Loading {
    /// From its file to columns.
    pub(crate) read_ms: f64,
    /// From columns to inputs and targets: splitting, statistics, encoding.
    pub(crate) encode_ms: f64,
}

impl Sizes {
    /// The table, if there is one.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        self.file.as_ref()
    }

    /// The command that trains on the table, or on one of these sizes, with the same options of the model and others for the device and the batch.
    pub(crate) fn train_command(&self, device: &str, batch: Option<usize>) -> String {
        let file = self.file.as_ref().map_or_else(|| "TABLE".to_owned(), |file| quoted(&file.to_string_lossy()));
        let target = self.target.as_deref().map_or_else(|| " COLUMN".to_owned(), quoted_option);
        let mut text = format!("mero train {file} --target{target}");
        let is_kept = |words: &String| batch.is_none() || !words.starts_with("--batch ");
        for words in self.flags.words().filter(is_kept) {
            text += &format!(" {words}");
        }
        if let Some(batch) = batch {
            text += &format!(" --batch {batch}");
        }
        format!("{text} --device {device}")
    }

    /// Rows of the right sizes, from the table or else with `value(at)` at each place, and the model and settings for them. Where a model has pairs
    /// as outputs, the second target of each is 1.
    pub(crate) fn run(&self, value: impl Fn(usize) -> f32) -> Answer<(Data, Spec, TrainerConfig)> {
        self.timed(value).map(|(run, _)| run)
    }

    /// The same, and how long the table took if there is one.
    pub(crate) fn timed(&self, value: impl Fn(usize) -> f32) -> Answer<Timed> {
        let choice = Choice { target: self.target.clone().unwrap_or_default(), ..Choice::default() };
        let options = self.flags.checked(TrainOptions { choice, ..TrainOptions::default() })?;
        if let Some(file) = &self.file {
            let start = now_ms();
            let table = read(file, &self.reading.format()?)?;
            let read_ms = now_ms() - start;
            let Run { data, spec, settings, .. } = prepare(&options, &table)?;
            let loading = Loading { read_ms, encode_ms: now_ms() - start - read_ms };
            return Ok(((data, spec, settings), Some(loading)));
        }
        let counts = [("inputs", self.inputs), ("outputs", self.outputs), ("rows", self.rows)];
        if let Some((name, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(Failure::usage(format!("{name}: got 0, expected at least 1")));
        }
        let inputs = self.inputs;
        let is_paired = options.head.is_some();
        let targets = if is_paired { self.outputs.saturating_mul(2) } else { self.outputs };
        self.check_rows(inputs.saturating_add(targets))?;
        let quantity = options.choice.quantity;
        let target = |at| match quantity {
            Quantity::Measure if is_paired && at % 2 == 1 => 1.0,
            Quantity::Measure => value(at),
            Quantity::Count => value(at).abs(),
            Quantity::Share => 1.0 / self.outputs as f32,
        };
        let train = Examples {
            x: (0..self.rows * inputs).map(&value).collect(),
            y: (0..self.rows * targets).map(target).collect(),
        };
        let data = Data { inputs, targets, train, ..Data::default() };
        let (name, mean, min, max) = ("y".into(), 0.0, 0.0, 0.0);
        let target = match quantity {
            Quantity::Count => Target::Counts { name, mean, min, max },
            Quantity::Share => {
                let columns: Vec<String> = (0..self.outputs).map(|at| format!("y{at}")).collect();
                Target::Shares { name, means: vec![0.0; columns.len()], columns }
            }
            Quantity::Measure => Target::Regression { name, mean, scale: 1.0, min, max },
        };
        let settings = options.settings(&target, self.rows).map_err(|error| refused(&error))?;
        Ok(((data, options.spec(inputs, options.outputs(self.outputs)), settings), None))
    }

    /// Errors if the rows, of `width` values each, cannot fit in memory.
    fn check_rows(&self, width: usize) -> Answer {
        let bytes = 4 * self.rows as u128 * width as u128;
        if bytes <= u128::from(memory_bytes()) {
            return Ok(());
        }
        let (needed, most) = (bytes >> 30, memory_bytes() >> 30);
        Err(Failure::usage(format!(
            "{} of {} take about {needed} GiB; there are at most {most} GiB; choose a smaller --rows",
            counted(self.rows, "row"),
            counted(width, "value"),
        )))
    }
}
