//! Rows as a hidden layer of a trained model sees them.

use std::path::Path;

use pollster::block_on;

use crate::saved::load;
use crate::{Answer, Failure};
use meromorph::contrast::Through;
use meromorph::export::digest;
use meromorph::files::Table;
use meromorph::model::Model;
use meromorph::table::Preparation;
use meromorph::{Device, Result};

/// The layers of a model up to a hidden one.
pub(crate) struct Encoder {
    layers: Model,
    preparation: Preparation,
    /// What a memory holds of it.
    pub(crate) through: Through,
}

impl Encoder {
    /// Errors if the model has no such layer, or was trained on arrays: how the columns of a table become its inputs is not known then.
    pub(crate) fn open(path: &Path, layer: Option<usize>) -> Answer<Self> {
        let name = path.display().to_string();
        let model = load(path)?;
        let preparation = model.preparation().map_err(|error| error.within(&name))?.clone();
        let (layers, layer) = model.up_to(layer).map_err(|error| error.within(&name))?;
        let through = Through { layer, digest: digest(&model.save()?) };
        Ok(Self { layers, preparation, through })
    }

    /// Whether the model reads a column.
    pub(crate) fn reads(&self, column: &str) -> bool {
        self.preparation.names().any(|name| name == column)
    }

    /// The same for a memory that was learned through a model. Errors if this is another one.
    pub(crate) fn of_memory(path: &Path, own: &Through) -> Answer<Self> {
        let encoder = Self::open(path, Some(own.layer))?;
        let (got, expected) = (&encoder.through.digest, &own.digest);
        if got != expected {
            return Err(Failure::usage(format!(
                "--through: {} is not the model that the memory was learned through: got digest {got}, expected {expected}",
                path.display()
            )));
        }
        Ok(encoder)
    }

    /// The outputs of the layer for each row [rows, outputs], and how many there are. Errors if a row cannot be encoded.
    pub(crate) fn encode(&self, device: &Device, table: &Table) -> Result<(usize, Vec<f32>)> {
        let x = self.preparation.encode(table, &table.every_row())?;
        Ok((self.layers.spec.outputs()?, block_on(self.layers.outputs(device, &x))?))
    }
}
