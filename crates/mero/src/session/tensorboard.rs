//! Losses of a run as a file that TensorBoard reads while the run goes on.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use meromorph::error::{Error, Result};
use meromorph::internal::host;
use meromorph::report::{events_of, events_start};
use meromorph::train::EpochReport;

/// A file of events in a folder.
pub(crate) struct TensorBoard {
    file: File,
    name: String,
}

impl TensorBoard {
    /// Makes the folder, if it is not there, and a new file in it.
    pub(crate) fn in_folder(folder: &Path) -> Result<Self> {
        let seconds = host::unix_seconds();
        let path = folder.join(format!("events.out.tfevents.{}.mero.{}", seconds, std::process::id()));
        let name = path.display().to_string();
        let failed = |error: std::io::Error| Error::new(format!("{name}: cannot be written: {error}"));
        fs::create_dir_all(folder).map_err(failed)?;
        let mut file = File::create(&path).map_err(failed)?;
        file.write_all(&events_start(seconds as f64)).map_err(failed)?;
        Ok(Self { file, name })
    }

    /// Adds the figures of an epoch.
    pub(crate) fn add(&mut self, report: &EpochReport) -> Result<()> {
        let mut scalars = vec![("loss/train", report.train_loss), ("learning_rate", report.lr)];
        scalars.extend(report.val_loss.map(|loss| ("loss/validation", loss)));
        scalars.extend(report.pairs.map(|pairs| ("coverage/validation", pairs.coverage)));
        if let Some(gradients) = report.gradients {
            scalars.push(("gradient/largest_norm", gradients.largest_norm));
            scalars.push(("gradient/limited", gradients.limited as f64 / gradients.updates.max(1) as f64));
        }
        let record = events_of(host::unix_seconds() as f64, report.epoch as u64 + 1, &scalars);
        let name = &self.name;
        self.file.write_all(&record).map_err(|error| Error::new(format!("{name}: cannot be written: {error}")))
    }
}
