//! What a training run consists of besides its trainer, before the first step.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::checkpoints::Checkpoints;
use super::folds::FoldPlan;
use super::tensorboard::TensorBoard;
use crate::terminal::shell::quoted_option;
use meromorph::Device;
use meromorph::files::Table;
use meromorph::report::counted;
use meromorph::run::{HeldRows, Origin, Run};

/// The parts of a run other than its trainer.
pub(crate) struct Session {
    pub device: Device,
    /// The prepared run; its data is in the trainer.
    pub run: Run,
    pub origin: Origin,
    /// The name of the table.
    pub source: String,
    pub is_json: bool,
    /// Whether outputs may replace whatever is in their place.
    pub is_forced: bool,
    /// Path of the model file, if one is written.
    pub out: Option<PathBuf>,
    /// Where checkpoints are written, if any are.
    pub checkpoints: Option<Checkpoints>,
    pub judging: Judging,
    /// Where the figures of epochs are written for TensorBoard.
    pub tensorboard: Option<RefCell<TensorBoard>>,
}

/// The command that resumes a run: its words before and after the paths of the files.
pub(crate) struct ResumeCommand {
    pub words: String,
    /// The checkpoint that the run writes if it is not named.
    pub default_checkpoint: PathBuf,
    pub out: String,
    pub options: String,
}

impl ResumeCommand {
    /// The command that goes on from a checkpoint, and goes on to write it.
    pub(super) fn from(&self, checkpoint: &Path) -> String {
        let path = quoted_option(&checkpoint.display().to_string());
        let mut command = format!("{} --resume{path}{}", self.words, self.out);
        if checkpoint != self.default_checkpoint {
            command += &format!(" --checkpoint{path}");
        }
        command + &self.options
    }
}

impl Session {
    /// The name of the task.
    pub(crate) fn task(&self) -> &'static str {
        self.run.preparation.target.task().name()
    }
}

/// What judges the model besides the parts of its table.
#[derive(Default)]
pub(crate) struct Judging {
    /// The folds to train before the model.
    pub folds: Option<FoldPlan>,
    /// Runs with other seeds to train before the model; nothing else depends on them.
    pub repeats: Option<FoldPlan>,
    /// Files of validation and test rows.
    pub held: Vec<Held>,
    /// The page to write.
    pub report: Option<JudgedRows>,
}

/// The page of a run, and the rows that it judges the model by.
pub(crate) struct JudgedRows {
    pub path: PathBuf,
    pub table: Table,
    /// Whether they are the test rows, not the validation rows.
    pub is_test: bool,
    /// The options of the run as a file for `--config`; absent for a resumed run.
    pub config: Option<String>,
}

/// A file of validation or test rows.
pub(crate) struct Held {
    /// `validation` or `test`.
    pub part: &'static str,
    pub table: Table,
    pub rows: HeldRows,
}

impl Held {
    pub(super) fn json(&self) -> serde_json::Value {
        let HeldRows { rows, gaps, unseen } = &self.rows;
        json!({ "part": self.part, "source": self.table.source(), "rows": rows.len(), "dropped": gaps.dropped, "unseen": unseen })
    }

    /// `v.csv: 2 of 40 rows dropped; x: 2 missing; 3 cells hold a category that training did not see`
    pub(crate) fn text(&self) -> String {
        let HeldRows { gaps, unseen, .. } = &self.rows;
        let mut parts = vec![self.table.source().to_owned()];
        if !gaps.columns.is_empty() {
            parts.push(gaps.to_string());
        }
        if *unseen > 0 {
            parts.push(format!("{} with a category that training did not see", counted(*unseen, "cell")));
        }
        parts.join("; ")
    }
}

/// Time and steps of this session, without those before a resume.
pub(crate) struct RunTime {
    pub seconds: f64,
    pub steps: u64,
}
