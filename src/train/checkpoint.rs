//! A run interrupted at any step, as named tensors: a model file plus everything that is needed to continue bit for bit.

use super::config::TrainerConfig;
use super::events::EpochReport;
use crate::model::Model;
use crate::model::Storage;

use crate::error::{Error, Result};
use crate::files::Format;
use crate::files::tensors::{self, Array, Data};
use crate::json::{Json, Record};
use crate::kernels::fold;
use crate::nn::{Layout, Spec};
use crate::optim::Motion;
use crate::record;
use crate::table::{Choice, Fractions, Preparation};

/// The progress of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Finished epochs.
    pub history: Vec<EpochReport>,
    /// Steps done in the current epoch.
    pub cursor: usize,
    /// Their losses; stored as a tensor, because they need not be finite.
    pub losses: Vec<f32>,
    /// The best validation loss, or score.
    pub best_loss: Option<f64>,
    /// The epoch it comes from, from 0.
    pub best_epoch: Option<usize>,
    /// Epochs since then.
    pub since_best: usize,
    /// Reductions of the learning rate by a plateau schedule so far.
    pub drops: u32,
    /// Epochs without improvement since the last reduction.
    pub since_drop: usize,
    /// The weight of the coverage term, if it follows the coverage.
    pub held: Option<f64>,
    /// The running means of the adaptive sampler, one per training row; stored as a tensor in full precision.
    pub means: Vec<f64>,
    /// Consecutive epochs whose coverage was too low.
    pub uncovered: usize,
    /// Updates that were left out in the finished epochs.
    pub skipped: u64,
}

record! {
    Progress { history, cursor, best_loss, best_epoch, since_best, drops, since_drop, held, uncovered = 0, skipped = 0 } else { losses, means }
}

/// How the rows were read from a table. With the seed this reproduces the same split.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Origin {
    /// How the file was read.
    pub format: Format,
    /// Target, features, and the treatment of missing values.
    pub choice: Choice,
    /// The fractions of validation and test rows.
    pub fractions: Fractions,
    /// The file of the validation rows, if they are in one of their own.
    pub validation_file: Option<String>,
    /// The file of the test rows.
    pub test_file: Option<String>,
}

record! { Origin { format, choice, fractions, validation_file = None, test_file = None } }

/// The complete state of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The model.
    pub spec: Spec,
    /// The configuration.
    pub settings: TrainerConfig,
    /// Flat parameters.
    pub parameters: Vec<f32>,
    /// Flat moments, and the state of limits.
    pub moments: Vec<f32>,
    /// The gradients accumulated for the next update; empty if a step makes one.
    pub sums: Vec<f32>,
    /// Step counters.
    pub control: Vec<u32>,
    /// Flat best parameters.
    pub best: Vec<f32>,
    /// The progress.
    pub progress: Progress,
    /// Identifies the training rows.
    pub fingerprint: u64,
    /// Where they came from; set by the caller if it read a table.
    pub origin: Option<Origin>,
}

/// The metadata key of everything that is not a tensor.
const KEY: &str = "meromorph.checkpoint";

struct Words {
    settings: TrainerConfig,
    progress: Progress,
    fingerprint: u64,
    origin: Option<Origin>,
}

record! { Words { settings, progress, fingerprint, origin } }

impl Checkpoint {
    /// The bytes of the file: a model file with the best weights so far, and the state of the run.
    pub fn save(&self, preparation: Option<Preparation>) -> Result<Vec<u8>> {
        let best = Model::new(self.spec.clone(), self.settings.loss.clone(), self.best.clone(), preparation);
        let mut content = best.to_tensors(Storage::F32)?;
        let words = Words {
            settings: self.settings.clone(),
            progress: self.progress.clone(),
            fingerprint: self.fingerprint,
            origin: self.origin.clone(),
        };
        content.metadata.push((KEY.into(), words.to_json().to_string()));
        let total = self.parameters.len();
        content.put_f32("run.parameters", &[total], self.parameters.clone());
        content.put_f32("run.moments", &[self.moments.len()], self.moments.clone());
        if !self.sums.is_empty() {
            content.put_f32("run.sums", &[self.sums.len()], self.sums.clone());
        }
        content.put_f32("run.best", &[total], self.best.clone());
        content.put_f32("run.losses", &[self.progress.losses.len()], self.progress.losses.clone());
        let means: Vec<u32> = bytemuck::cast_slice(&self.progress.means).to_vec();
        if !means.is_empty() {
            content.tensors.insert("run.means".into(), Array { shape: vec![means.len()], data: Data::U32(means) });
        }
        let control = Array { shape: vec![4], data: Data::U32(self.control.clone()) };
        content.tensors.insert("run.control".into(), control);
        tensors::write(&content)
    }

    /// How its rows were read from a table. Errors if the checkpoint does not hold it.
    pub fn origin(&self, source: &str) -> Result<&Origin> {
        let unknown =
            || Error::new(format!("{source}: the checkpoint does not hold how its rows were read from a table"));
        self.origin.as_ref().ok_or_else(unknown)
    }

    /// Reads a checkpoint and the preparation of its table; `source` names it in messages. Errors if the file is damaged.
    pub fn load(bytes: &[u8], source: &str) -> Result<(Self, Option<Preparation>)> {
        let mut content = tensors::read(bytes, source)?;
        let model = Model::from_tensors(&mut content, source)?;
        let err = |what: &str| Error::new(format!("{source}: {what}"));
        let text =
            content.text(KEY).ok_or_else(|| err("it is a model, not a checkpoint: there is nothing to resume"))?;
        let words = Json::parse(text).and_then(|json| Words::from_json(&json));
        let words = words.map_err(|error| err(&format!("its checkpoint header is damaged: {error}")))?;
        words.settings.check().map_err(|error| error.within(source))?;
        let total = model.parameters.len();
        let length =
            content.tensors.all().iter().find(|(name, _)| name == "run.moments").map(|(_, array)| array.data.len());
        let is_of_first_version = words.settings.accumulate == 1
            && words.settings.optimizer.motion() == Motion::ByValue
            && length == Some(2 * total);
        let mut take =
            |name: &str, count: usize| content.take_f32(name, &[count]).map_err(|error| error.within(source));
        let parameters = take("run.parameters", total)?;
        let moment_words = words.settings.moment_words(&Layout::of(&model.spec));
        // Files of the first version have no state of limits.
        let count = if is_of_first_version { 2 * total } else { moment_words };
        let mut moments = take("run.moments", count)?;
        moments.resize(moment_words, 0.0);
        let sums = if words.settings.accumulate > 1 { take("run.sums", fold::words_of(total))? } else { Vec::new() };
        let best = take("run.best", total)?;
        let Words { settings, mut progress, fingerprint, origin } = words;
        progress.losses = take("run.losses", progress.cursor)?;
        let Some(Array { data: Data::U32(control), .. }) = content.tensors.remove("run.control") else {
            return Err(err("its step counters are missing"));
        };
        if let Some(Array { data: Data::U32(means), .. }) = content.tensors.remove("run.means") {
            if !means.len().is_multiple_of(2) {
                return Err(err("its means of rows are damaged"));
            }
            progress.means = bytemuck::pod_collect_to_vec(&means);
        }
        if control.len() != 4 {
            return Err(err("its step counters are damaged"));
        }
        let spec = model.spec;
        let checkpoint =
            Self { spec, settings, parameters, moments, sums, control, best, progress, fingerprint, origin };
        Ok((checkpoint, model.preparation))
    }
}
