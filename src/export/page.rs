//! One HTML file that runs a model anywhere a browser is: the built page with the model's file in it, in base64. Nothing of the
//! model's own words is written into the page; they come out of the model file when it is read, and are shown as text.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::error::{Error, Result};
use crate::train::{Model, Storage};

/// The built page, in the folder of web files.
pub const PAGE_FILE: &str = "portable/page.html";

/// Where the model goes.
const PLACE: &str = "%MODEL%";

/// The page of a model; `template` is the built page, from `source`.
pub fn write_page(model: &Model, template: &str, source: &str) -> Result<Vec<u8>> {
    let parts: Vec<&str> = template.split(PLACE).collect();
    let [before, after] = parts[..] else {
        let count = parts.len() - 1;
        return Err(Error::new(format!(
            "{source}: has {count} places for a model, wanted one; build the web files again"
        )));
    };
    Ok([before, &BASE64_STANDARD.encode(portable(model)?), after].concat().into_bytes())
}

/// The model's file as others carry it: weights as they were read, which is exact for those of 16 bits; those of 8 bits are
/// widened, as rounding them again may move them.
pub(super) fn portable(model: &Model) -> Result<Vec<u8>> {
    model.preparation()?;
    match model.storage {
        Storage::F16 => model.save_as(Storage::F16),
        Storage::F32 | Storage::Int8 => model.save(),
    }
}
