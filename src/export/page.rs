//! One HTML file that runs a model in any browser: the built page with the model's file in base64. No names of the model are written
//! into the page; the page reads them from the model file and shows them as text.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::error::{Error, Result};
use crate::model::{Model, Storage};

/// The built page, in the folder of web files.
pub const PAGE_FILE: &str = "portable/page.html";

/// The placeholder for the model.
const PLACE: &str = "%MODEL%";

/// The page of a model; `template` is the built page, read from `source`.
pub fn write_page(model: &Model, template: &str, source: &str) -> Result<Vec<u8>> {
    let parts: Vec<&str> = template.split(PLACE).collect();
    let [before, after] = parts[..] else {
        let count = parts.len() - 1;
        return Err(Error::new(format!(
            "{source}: has {count} places for a model, expected one; build the web files again"
        )));
    };
    Ok([before, &BASE64_STANDARD.encode(portable(model)?), after].concat().into_bytes())
}

/// The model file for pages and packages. 16-bit weights are kept, which is exact; 8-bit weights are widened, as rounding them
/// again could change them.
pub(super) fn portable(model: &Model) -> Result<Vec<u8>> {
    model.preparation()?;
    let model = model.without_provenance();
    match model.storage {
        Storage::F16 => model.save_as(Storage::F16),
        Storage::F32 | Storage::Int8 => model.save(),
    }
}
