//! Flags that several commands share, as clap reads them.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use pollster::block_on;

use super::{Answer, Failure};
use crate::device::{self, Request};
use crate::host;
use crate::io::{Header, Missing, Table, Task, read_table};
use crate::nn::Activation;
use crate::train::StepKind;
use crate::{Device, Result};

/// Where the work runs.
#[derive(Args)]
#[command(next_help_heading = "Hardware")]
pub(super) struct Hardware {
    /// auto, cpu, webgpu
    #[arg(long, default_value = "auto", value_name = "NAME")]
    pub device: String,
    /// Threads of the cpu device; 0 = all
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
}

impl Hardware {
    /// Refuses a name that no device has, and the device that runs nothing.
    pub(super) fn check(&self) -> Answer {
        match self.device.as_str() {
            "dry" => Err(Failure::usage("device \"dry\" runs nothing; it is what `mero plan` counts on")),
            name if device::NAMES.contains(&name) => Ok(()),
            name => Err(Failure::usage(format!("device \"{name}\" is unknown; there are auto, cpu, webgpu"))),
        }
    }

    pub(super) fn open(&self) -> Answer<Device> {
        self.check()?;
        Ok(block_on(Device::open(&Request { device: self.device.clone(), threads: self.threads }))?)
    }
}

/// How the first record of a text file is read.
#[derive(Args, Clone, Copy)]
#[command(next_help_heading = "Columns and rows")]
pub(super) struct Heading {
    /// The first record holds names; without either flag it does if none of its cells is a number
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// The first record is data; columns are called c0, c1, …
    #[arg(long)]
    no_header: bool,
}

impl Heading {
    pub(super) fn header(self) -> Header {
        match (self.header, self.no_header) {
            (true, _) => Header::Yes,
            (_, true) => Header::No,
            _ => Header::Auto,
        }
    }
}

/// Reads a table; the bytes of the file are gone when it returns. `-` is standard input.
pub(super) fn read(file: &Path, header: Header) -> Result<Table> {
    let (bytes, source) = if file == Path::new("-") {
        (host::read_stdin()?, "standard input".to_owned())
    } else {
        (host::read(file)?, file.display().to_string())
    };
    read_table(&bytes, &source, header)
}

/// Which columns and rows are learnt from.
#[derive(Args)]
#[command(next_help_heading = "Columns and rows")]
pub(super) struct Columns {
    /// What is learnt; decided by the target if not given
    #[arg(long)]
    pub task: Option<TaskName>,
    /// Columns to learn from; all but the target if not given
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub features: Option<Vec<String>>,
    /// Columns to leave out
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub ignore: Vec<String>,
    /// Columns of numbers to take as categories
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub categorical: Vec<String>,
    /// Columns that must be numbers: a text in one is an error
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub numeric: Vec<String>,
    /// What becomes of rows with empty cells
    #[arg(long, default_value = "drop")]
    pub missing: MissingName,
    /// Part of the rows to stop by
    #[arg(long, default_value_t = 0.15, value_name = "PART")]
    pub validation: f64,
    /// Part of the rows to report on
    #[arg(long, default_value_t = 0.15, value_name = "PART")]
    pub test: f64,
}

/// A [`Task`] by name.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum TaskName {
    Regression,
    Classification,
}

impl From<TaskName> for Task {
    fn from(name: TaskName) -> Self {
        match name {
            TaskName::Regression => Self::Regression,
            TaskName::Classification => Self::Classification,
        }
    }
}

/// A [`Missing`] by name.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum MissingName {
    /// Leave them out
    Drop,
    /// Fill in the mean or the most frequent text of the training rows
    Impute,
}

impl From<MissingName> for Missing {
    fn from(name: MissingName) -> Self {
        match name {
            MissingName::Drop => Self::Drop,
            MissingName::Impute => Self::Impute,
        }
    }
}

/// The model and how it is trained. What is not given follows from the task and the number of training rows.
#[derive(Args)]
#[command(next_help_heading = "Model and training")]
pub(super) struct Recipe {
    /// Widths of the hidden layers, or `none` for a linear model [default: 64,64,64]
    #[arg(long, value_name = "N,N,N")]
    pub hidden: Option<Widths>,
    /// Function between layers [default: silu]
    #[arg(long, value_name = "NAME", value_parser = activation())]
    pub activation: Option<Activation>,
    /// Share of the hidden values zeroed while training [default: 0]
    #[arg(long, value_name = "SHARE")]
    pub dropout: Option<f32>,
    /// What is made small [default: mse or cross-entropy]
    #[arg(long)]
    pub loss: Option<LossName>,
    /// Where huber turns from square to linear, in standard deviations of the target [default: 1]
    #[arg(long, value_name = "X")]
    pub delta: Option<f32>,
    /// Share of a class label spread over all classes [default: 0; 0.1 below 2,000 training rows]
    #[arg(long, value_name = "SHARE")]
    pub smoothing: Option<f32>,
    /// Weight classes against their frequency
    #[arg(long, value_name = "HOW")]
    pub class_weights: Option<Weights>,
    /// Most passes over the training rows [default: 200]
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,
    /// Rows per step [default: 256; 32 below 2,000 training rows]
    #[arg(long, value_name = "B")]
    pub batch: Option<usize>,
    /// Learning rate [default: 1e-3]
    #[arg(long, value_name = "X")]
    pub lr: Option<f64>,
    /// Pull of the weights to zero [default: 1e-6; 1 below 2,000 training rows]
    #[arg(long, value_name = "X")]
    pub weight_decay: Option<f32>,
    /// Epochs without improvement before stopping, 0 = never [default: 15]
    #[arg(long, value_name = "N")]
    pub patience: Option<usize>,
    /// Seed of split, weights, order and dropout [default: 0]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// How parameters follow gradients [default: adamw]
    #[arg(long)]
    pub optimizer: Option<OptimizerName>,
    /// Share of the last direction kept by sgd [default: 0.9]
    #[arg(long, value_name = "SHARE")]
    pub momentum: Option<f32>,
    /// How the learning rate changes [default: cosine]
    #[arg(long)]
    pub schedule: Option<ScheduleName>,
    /// Steps over which the learning rate rises [default: 0]
    #[arg(long, value_name = "STEPS")]
    pub warmup: Option<u64>,
    /// Two launches per step, or the model's ops replayed [default: fused where the model allows]
    #[arg(long)]
    pub step: Option<StepName>,
}

/// Widths of hidden layers.
#[derive(Clone, Debug)]
pub(super) struct Widths(pub Vec<usize>);

impl FromStr for Widths {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text == "none" {
            return Ok(Self(Vec::new()));
        }
        let width = |part: &str| match part.trim().parse() {
            Ok(0) | Err(_) => Err(format!("\"{part}\" is no width; wanted whole numbers above 0, like 64,64, or none")),
            Ok(width) => Ok(width),
        };
        text.split(',').map(width).collect::<std::result::Result<_, _>>().map(Self)
    }
}

/// A loss by name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LossName {
    Mse,
    Mae,
    Huber,
    /// Classes, one against all others
    CrossEntropy,
    /// Classes, each against the rest
    Bce,
}

/// Class weights by name.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Weights {
    /// Rows / (classes · rows of the class)
    Balanced,
}

/// An optimiser by name.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum OptimizerName {
    Adamw,
    Adam,
    Sgd,
}

/// A schedule by name.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum ScheduleName {
    Constant,
    /// Half a cosine down to zero
    Cosine,
    /// A tenth after each third of the epochs
    Step,
    /// Half after 5 epochs without improvement
    Plateau,
}

/// A step by name.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum StepName {
    Fused,
    Recorded,
}

impl From<StepName> for StepKind {
    fn from(name: StepName) -> Self {
        match name {
            StepName::Fused => Self::Fused,
            StepName::Recorded => Self::Recorded,
        }
    }
}

fn activation() -> impl TypedValueParser<Value = Activation> {
    let named = |name: String| Activation::ALL.iter().find(|(known, _)| *known == name).map(|(_, function)| *function);
    let names = PossibleValuesParser::new(Activation::ALL.map(|(name, _)| name));
    names.map(move |name| named(name).expect("clap lets only the listed names through"))
}

/// What `train` and `demo` leave behind.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Output {
    /// The model file
    #[arg(long, value_name = "MODEL")]
    pub out: Option<PathBuf>,
    /// One JSON object per line on standard output, and nothing else
    #[arg(long)]
    pub json: bool,
}
