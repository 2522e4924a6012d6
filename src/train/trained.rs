//! The model that a run has made.

use super::trainer::Trainer;
use crate::error::Result;
use crate::model::Model;
use crate::table::Preparation;

impl Trainer {
    /// The model with the current weights; after the end of the run those of the best epoch. Errors for a function model.
    pub async fn model(&self, preparation: Option<Preparation>) -> Result<Model> {
        let spec = self.spec()?.clone();
        Ok(Model::new(spec, self.settings().loss.clone(), self.parameters().await?, preparation))
    }
}
