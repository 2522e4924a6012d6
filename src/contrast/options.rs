//! The options of learning a memory, the same in every face.

use super::map::{Form, Map, Metric};
use super::rotors::Rotors;
use crate::error::{Error, Result};
use crate::host::number;
use crate::kernels::retrieve::Retrieval;
use crate::options::{Entry, Group, Kind, Range, Table, Value};
use crate::record;

/// How a memory is learned.
#[derive(Clone, Debug, PartialEq)]
pub struct ContrastOptions {
    /// Sizes of layers that settle; empty for a memory.
    pub hidden: Vec<usize>,
    /// The kind of map.
    pub map: MapKind,
    /// Coordinates after a linear map; as many as there are, at most 64, if not given.
    pub outputs: Option<usize>,
    /// Size of the blocks of a metric.
    pub block: usize,
    /// Rank of what a metric adds to its diagonal.
    pub rank: usize,
    /// Angles of rotations of neighbours; all of a butterfly if not given.
    pub angles: Option<usize>,
    /// Whether each column is divided by its standard deviation first.
    pub standardizes: bool,
    /// Rows that each row is compared with.
    pub memory: usize,
    /// β.
    pub sharpness: f64,
    /// b.
    pub nudge: f64,
    /// Whether the second phase is the free one.
    pub is_one_sided: bool,
    /// Steps of a relaxation.
    pub steps: usize,
    /// Passes over the rows.
    pub epochs: usize,
    /// Rows of a window.
    pub batch: usize,
    /// Learning rate; 0.001 for a matrix and 0.01 for a metric if not given.
    pub lr: Option<f64>,
    /// Share of the rows that are held out to judge the memory.
    pub test: f64,
    /// Seed of the split, the order of the rows and the start.
    pub seed: u64,
}

record! { ContrastOptions {
    hidden, map, outputs, block, rank, angles, standardizes, memory, sharpness, nudge, is_one_sided, steps, epochs, batch, lr, test, seed
} }

/// A kind of map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKind {
    /// A matrix.
    Linear,
    /// A weight per coordinate.
    Diagonal,
    /// A weight per coordinate, after rotations.
    Rotors,
    /// Blocks of a metric.
    Block,
    /// A diagonal and a low rank.
    LowRank,
}

record! { enum MapKind { Linear, Diagonal, Rotors, Block, LowRank } }

impl MapKind {
    /// Names.
    pub const ALL: [(&'static str, Self); 5] = [
        ("linear", Self::Linear),
        ("diagonal", Self::Diagonal),
        ("rotors", Self::Rotors),
        ("block", Self::Block),
        ("low_rank", Self::LowRank),
    ];
}

/// Most coordinates after a linear map that are chosen by default.
const OUTPUTS: usize = 64;

impl Default for ContrastOptions {
    fn default() -> Self {
        Self {
            hidden: Vec::new(),
            map: MapKind::Linear,
            outputs: None,
            block: 2,
            rank: 4,
            angles: None,
            standardizes: false,
            memory: 4096,
            sharpness: 5.0,
            nudge: 0.1,
            is_one_sided: false,
            steps: 64,
            epochs: 30,
            batch: 128,
            lr: None,
            test: 0.2,
            seed: 0,
        }
    }
}

impl ContrastOptions {
    /// The map of so many coordinates. Errors if the options do not fit them.
    pub fn map_of(&self, inputs: usize) -> Result<Map> {
        let form = match self.map {
            MapKind::Linear => Form::Linear(self.outputs.unwrap_or(inputs.min(OUTPUTS))),
            MapKind::Diagonal => Form::Metric(Metric::Diagonal, None),
            MapKind::Rotors => {
                let rotors = match self.angles {
                    Some(angles) if angles > inputs * inputs => {
                        let most = inputs * inputs;
                        return Err(Error::usage(format!(
                            "angles: got {angles}, expected at most {most} for {inputs} columns"
                        )));
                    }
                    Some(angles) => Rotors::ring(inputs, angles)?,
                    None if inputs > 1 && inputs.is_power_of_two() => Rotors::butterfly(inputs)?,
                    None => Rotors::ring(inputs, inputs / 2 * (inputs.max(2).ilog2() as usize + 1))?,
                };
                Form::Metric(Metric::Diagonal, Some(rotors))
            }
            MapKind::Block => Form::Metric(Metric::Block(self.block), None),
            MapKind::LowRank => Form::Metric(Metric::LowRank(self.rank), None),
        };
        Map::new(inputs, form)
    }

    /// The learning rate.
    pub fn rate(&self) -> f64 {
        // A matrix moves each coordinate by all of its entries.
        let is_matrix = self.map == MapKind::Linear || !self.hidden.is_empty();
        self.lr.unwrap_or(if is_matrix { 1e-3 } else { 1e-2 })
    }

    /// How windows retrieve.
    pub fn retrieval(&self) -> Retrieval {
        Retrieval {
            sharpness: self.sharpness as f32,
            nudge: self.nudge as f32,
            is_symmetric: !self.is_one_sided,
            steps: self.steps as u32,
            rate: 0.25,
            epsilon: 1e-8,
        }
    }

    /// Errors if options contradict each other.
    pub fn check(&self) -> Result<()> {
        if self.test > 0.9 {
            let test = number(self.test);
            return Err(Error::usage(format!("test: got {test}, expected at most 0.9 of the rows")));
        }
        Ok(())
    }
}

/// The options of learning a memory.
pub static OPTIONS: Table<ContrastOptions> = Table {
    groups: &[
        Group { title: "Layers", entries: || LAYERS },
        Group { title: "Distances", entries: || DISTANCES },
        Group { title: "Windows", entries: || WINDOWS },
        Group { title: "Run", entries: || RUN },
    ],
};

/// More than any machine has memory or time for.
const MOST: u64 = 1 << 24;

const LAYERS: &[Entry<ContrastOptions>] = &[Entry::new(
    "hidden",
    Kind::Wholes { length: None },
    "Learn a classifier instead of a memory: sizes of layers that settle, trained by equilibrium propagation",
)
.set(|options, value| options.hidden = value.items().iter().map(Value::whole).collect())];

/// What an option of a memory needs.
const NO_LAYERS: &str = "a memory: no {hidden}";

const DISTANCES: &[Entry<ContrastOptions>] = &[
    Entry::new(
        "map",
        Kind::Name(|| {
            vec![
                ("linear", "A matrix"),
                ("diagonal", "A weight per column"),
                ("rotors", "A weight per coordinate, after plane rotations: few numbers for many columns"),
                ("block", "Blocks of neighbouring columns"),
                ("low_rank", "A weight per column, and a few directions"),
            ]
        }),
        "Map of the columns under which distances are measured",
    )
    .default("linear")
    .needs(|options: &ContrastOptions| options.hidden.is_empty(), NO_LAYERS)
    .set(|options, value| options.map = value.one_of(&MapKind::ALL)),
    Entry::new("outputs", Kind::Whole { least: 1, most: 4096 }, "Coordinates after a linear map")
        .default("as many as there are columns, at most 64")
        .needs(|options: &ContrastOptions| options.hidden.is_empty() && options.map == MapKind::Linear, "{map} linear")
        .set(|options, value| options.outputs = Some(value.whole())),
    Entry::new("block", Kind::Whole { least: 2, most: 8 }, "Columns of a block")
        .default("2")
        .needs(|options: &ContrastOptions| options.hidden.is_empty() && options.map == MapKind::Block, "{map} block")
        .set(|options, value| options.block = value.whole()),
    Entry::new("rank", Kind::Whole { least: 1, most: 4096 }, "Directions besides the weights of columns")
        .default("4")
        .needs(
            |options: &ContrastOptions| options.hidden.is_empty() && options.map == MapKind::LowRank,
            "{map} low_rank",
        )
        .set(|options, value| options.rank = value.whole()),
    Entry::new("angles", Kind::Whole { least: 1, most: MOST }, "Angles of rotations of neighbouring columns")
        .default("n/2 log2 n for n columns")
        .needs(|options: &ContrastOptions| options.hidden.is_empty() && options.map == MapKind::Rotors, "{map} rotors")
        .set(|options, value| options.angles = Some(value.whole())),
    Entry::new("standardize", Kind::Flag, "Divide each column by its standard deviation first")
        .needs(|options: &ContrastOptions| options.hidden.is_empty(), NO_LAYERS)
        .set(|options, value| options.standardizes = value.flag()),
];

const WINDOWS: &[Entry<ContrastOptions>] = &[
    Entry::new("memory", Kind::Whole { least: 2, most: MOST }, "Rows that each row is compared with, the latest ones")
        .default("4096, or all rows if there are fewer")
        .needs(|options: &ContrastOptions| options.hidden.is_empty(), NO_LAYERS)
        .set(|options, value| options.memory = value.whole()),
    Entry::new("sharpness", Kind::Number(Range::Positive), "β: how much more a near row counts than a far one")
        .default("5")
        .needs(|options: &ContrastOptions| options.hidden.is_empty(), NO_LAYERS)
        .set(|options, value| options.sharpness = value.number()),
    Entry::new("nudge", Kind::Number(Range::Positive), "b: how strongly the loss pulls at what is retrieved")
        .default("0.1")
        .set(|options, value| options.nudge = value.number()),
    Entry::new("one_sided", Kind::Flag, "Compare a nudged phase with the free one instead of two opposite nudges")
        .needs(|options: &ContrastOptions| options.hidden.is_empty(), NO_LAYERS)
        .set(|options, value| options.is_one_sided = value.flag()),
    Entry::new("steps", Kind::Whole { least: 1, most: 4096 }, "Steps of a phase")
        .default("64")
        .needs(|options: &ContrastOptions| options.hidden.is_empty(), NO_LAYERS)
        .set(|options, value| options.steps = value.whole()),
];

const RUN: &[Entry<ContrastOptions>] = &[
    Entry::new("epochs", Kind::Whole { least: 1, most: MOST }, "Passes over the rows")
        .default("30")
        .set(|options, value| options.epochs = value.whole()),
    Entry::new("batch", Kind::Whole { least: 1, most: MOST }, "Rows of a window")
        .default("128")
        .set(|options, value| options.batch = value.whole()),
    Entry::new("lr", Kind::Double(Range::Positive), "Learning rate, which falls to 0 along a cosine")
        .default("0.001 for {map} linear and {hidden}, 0.01 for the others")
        .set(|options, value| options.lr = Some(value.number())),
    Entry::new(
        "test",
        Kind::Double(Range::Share),
        "Share of the rows of each class that are held out to judge the memory",
    )
    .default("0.2")
    .set(|options, value| options.test = value.number()),
    Entry::new("seed", Kind::Whole { least: 0, most: u32::MAX as u64 }, "Seed of the split, the order and the start")
        .default("0")
        .set(|options, value| options.seed = value.whole() as u64),
];
