//! Prediction intervals of a model whose file records the errors of held-out rows.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::files::Table;
use crate::judge::{Calibration, Residuals};
use crate::model::Model;
use crate::table::{NoteKind, Unknown};

impl Model {
    /// For each row of a table the interval [lower, upper] that holds the target with probability `level`, for rows drawn like the training
    /// table; `None` in rows without a prediction. Errors for classes and poles, without calibration rows, and with too few for the level.
    pub async fn intervals(
        &self,
        device: &Device,
        table: &Table,
        (level, unknown): (f64, Unknown),
    ) -> Result<Vec<Option<[f64; 2]>>> {
        let residuals = self.residuals()?;
        let rank = residuals.rank(level)?;
        let folds = self.folds()?;
        let models: Vec<&Self> =
            if residuals.calibration == Calibration::Folds { folds.iter().collect() } else { vec![self] };
        if models.len() != residuals.groups.len() {
            let (expected, got) = (residuals.groups.len(), models.len());
            return Err(Error::new(format!(
                "interval: the model file holds {got} models of folds, expected {expected}"
            )));
        }
        let mut centers = vec![Vec::with_capacity(models.len()); table.rows()];
        for model in models {
            let own = model.preparation()?;
            let encoded = own.encode_noting(table, &table.every_row(), unknown)?;
            let mut z = model.outputs(device, &encoded.x).await?;
            let width = model.spec.outputs()?;
            for note in encoded.notes.iter().filter(|note| matches!(note.kind, NoteKind::Unusable(_))) {
                z[note.row * width] = f32::NAN;
            }
            let link = model.loss.link();
            let first = z.iter().step_by(width).map(|z| own.decode_target(link.number(*z)));
            centers.iter_mut().zip(first).for_each(|(all, center)| all.push(center));
        }
        let least = self.loss.target().least();
        let interval = |centers: &Vec<f64>| {
            let is_given = centers.iter().all(|center| center.is_finite());
            is_given.then(|| residuals.interval(rank, centers)).map(|[lower, upper]| [lower.max(least), upper])
        };
        Ok(centers.iter().map(interval).collect())
    }

    /// The rank among the calibration rows that a level needs. Errors as [`Model::intervals`].
    pub fn interval_rank(&self, level: f64) -> Result<usize> {
        self.residuals()?.rank(level)
    }

    fn residuals(&self) -> Result<Residuals> {
        if !self.preparation()?.target.levels().is_empty() || self.spec.head().is_some() {
            return Err(Error::usage("interval: only predictions of numbers, by models without poles, have intervals"));
        }
        let missing =
            "interval: the model file holds no errors of held-out rows; train it again, with test rows or folds";
        self.provenance()?.and_then(|provenance| provenance.residuals).ok_or_else(|| Error::new(missing))
    }
}
