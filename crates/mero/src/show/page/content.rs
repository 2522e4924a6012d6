//! What a page of a model shows.

use crate::show::folds::FoldSummary;
use meromorph::files::Table;
use meromorph::judge::Metrics;
use meromorph::model::Model;
use meromorph::train::EpochReport;

/// What the page is about.
pub(crate) struct PageContent<'a> {
    /// `Training` or `Evaluation`.
    pub kind: &'a str,
    /// The name of the table.
    pub source: &'a str,
    pub model: &'a Model,
    /// The table with the rows that judge the model, and these rows.
    pub judged: (&'a Table, &'a [u32]),
    /// What these rows are: `test rows`.
    pub part: &'a str,
    /// Outputs and encoded targets of these rows.
    pub outputs: (&'a [f32], &'a [f32]),
    /// Metrics of each part; those of the judged rows are called [`PageContent::part`], those without inputs `without inputs`.
    pub metrics: Vec<(&'a str, Option<Metrics>)>,
    pub folds: Option<FoldSummary>,
    /// Losses of the epochs, and the epoch that was kept.
    pub history: &'a [EpochReport],
    pub best_epoch: Option<usize>,
    /// Names with a text each.
    pub facts: Vec<(&'a str, String)>,
    /// What a person should know about the data.
    pub warnings: Vec<String>,
    /// The options of the run as a file for `--config`.
    pub config: Option<&'a str>,
}
