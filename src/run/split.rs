//! A table with its columns chosen and its rows split, and what a trainer needs of it: the encoded rows, the model and its configuration.

use crate::error::{Error, Result};
use crate::files::{Column, Table, Warning};
use crate::host::has_room;
use crate::loss::Loss;
use crate::math::split_order;
use crate::model::Examples;
use crate::nn::Spec;
use crate::table::{
    Choice, ColumnRoles, Fractions, MissingReport, Preparation, Role, Split, Task, choose, inspect, split_table,
};
use crate::train::{Checkpoint, Data, TrainerConfig};

/// Everything a trainer needs, and what its model must store.
#[derive(Clone, Debug)]
pub struct Run {
    /// Encoded rows.
    pub data: Data,
    /// The model.
    pub spec: Spec,
    /// How it is trained.
    pub settings: TrainerConfig,
    /// How rows became inputs.
    pub preparation: Preparation,
    /// The reason for the task, in words.
    pub reason: String,
    /// Rows with missing values, and how they were handled.
    pub gaps: MissingReport,
    /// What a person should know about the columns.
    pub warnings: Vec<Warning>,
    /// The rows of the table in each part.
    pub split: Split,
}

/// A table with its column roles chosen and its rows split, not yet encoded.
#[derive(Clone, Debug)]
pub struct SplitTable {
    pub(super) split: Split,
    pub(super) preparation: Preparation,
    reason: String,
    gaps: MissingReport,
    warnings: Vec<Warning>,
}

impl SplitTable {
    /// Chooses the columns and rows of a table and splits the rows with a seed.
    pub fn new(table: &Table, choice: &Choice, fractions: Fractions, seed: u64) -> Result<Self> {
        let split = Self::any(table, choice, fractions, seed)?;
        check_rows(table, &split.split, fractions)?;
        Ok(split)
    }

    /// The same however few rows there are.
    fn any(table: &Table, choice: &Choice, fractions: Fractions, seed: u64) -> Result<Self> {
        let chosen = choose(table, choice)?;
        let order = split_order(chosen.rows.len(), choice.split_seed.unwrap_or(seed));
        let split = split_table(table, &chosen, fractions, &order)?;
        Self::of(table, &chosen, split)
    }

    /// With its rows split already.
    pub(super) fn of(table: &Table, chosen: &ColumnRoles, split: Split) -> Result<Self> {
        let preparation = Preparation::fit(table, chosen, &split.train)?;
        let is_class = preparation.target.task() == Task::Classification;
        let target_role = if is_class { Role::Category } else { Role::Number };
        // What is said of a column of numbers does not matter where it is used as a category.
        let columns = chosen.features.iter().copied().chain([(chosen.target, target_role)]);
        let used = columns.map(|(at, role)| (&table.columns()[at], role));
        let is_said = |(column, role): &(&Column, _)| !(*role == Role::Category && column.is_numeric());
        let read = used.filter(is_said).flat_map(|(column, _)| column.warnings().to_vec());
        let notes = table.notes().iter().cloned();
        let warnings = notes.chain(read).chain(chosen.left_out.clone()).chain(inspect(table, chosen)).collect();
        Ok(Self { split, preparation, reason: chosen.reason.clone(), gaps: chosen.report.clone(), warnings })
    }

    /// Encodes the rows for a model and its settings.
    pub fn run(self, table: &Table, spec: Spec, settings: TrainerConfig) -> Result<Run> {
        let Self { split, preparation, reason, gaps, warnings } = self;
        check_memory(table, &split, preparation.inputs())?;
        let examples = |rows: &[u32]| Examples::encode(&preparation, table, rows, &settings.loss);
        let data = Data {
            inputs: preparation.inputs(),
            targets: match &settings.loss {
                Loss::Outputs(loss) => loss.target().width(preparation.target.outputs()),
                Loss::Pairs(_) => 2,
            },
            train: Examples::encode_training(&preparation, table, &split.train, &settings.loss)?,
            validation: examples(&split.validation)?,
            test: examples(&split.test)?,
        };
        Ok(Run { data, spec, settings, preparation, reason, gaps, warnings, split })
    }
}

/// Errors if the encoded rows of all parts do not fit in memory, before the first is encoded.
fn check_memory(table: &Table, split: &Split, inputs: usize) -> Result<()> {
    let rows = [&split.train, &split.validation, &split.test].map(|part| part.len() as u64).iter().sum::<u64>();
    let bytes = rows.saturating_mul(size_of::<f32>() as u64 * (inputs as u64 + 1));
    let said = has_room(bytes, || format!("{rows} rows of {inputs} inputs"));
    said.map_err(|what| Error::new(format!("{}: {what}; use fewer rows or columns", table.source())))
}

/// Fewer training rows show nothing: two of them lie on a line, whatever they are.
const FEWEST_ROWS: usize = 5;

/// Errors if too few rows are left to train on, and says how many are needed.
fn check_rows(table: &Table, split: &Split, fractions: Fractions) -> Result<()> {
    let [train, validation, test] = [&split.train, &split.validation, &split.test].map(Vec::len);
    if train >= FEWEST_ROWS {
        return Ok(());
    }
    let all = train + validation + test;
    let held = |part: f64, rows: usize| if part > 0.0 { ((part * rows as f64) as usize).max(1) } else { 0 };
    let left = |rows: &usize| rows.saturating_sub(held(fractions.validation, *rows) + held(fractions.test, *rows));
    let needed = (all + 1..100 * FEWEST_ROWS).find(|rows| left(rows) >= FEWEST_ROWS);
    let needed = needed.map_or_else(String::new, |rows| format!(", {rows} in all"));
    let (source, s) = (table.source(), if all == 1 { "" } else { "s" });
    Err(Error::new(format!(
        "{source}: {all} usable row{s}, of which {validation} for validation and {test} for test, leave {train} to train on: expected at least {FEWEST_ROWS}{needed}"
    )))
}

impl Run {
    /// The checkpoint's run again: the same rows, split the same way. `source` names the checkpoint in messages.
    pub fn again(table: &Table, checkpoint: &Checkpoint, source: &str) -> Result<Self> {
        let origin = checkpoint.origin(source)?;
        let (spec, settings) = (checkpoint.spec.clone(), checkpoint.settings.clone());
        SplitTable::any(table, &origin.choice, origin.fractions, settings.seed)?.run(table, spec, settings)
    }
}
