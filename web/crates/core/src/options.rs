//! Reads the options of a training run from a JavaScript object to [`TrainOptions`] by the option table of `train`.

use wasm_bindgen::JsValue;

use meromorph::error::{Error, ErrorKind, Result};
use meromorph::files::Format;
use meromorph::run::{OPTIONS, PREDICTING, Predicting, READING, TrainOptions, absent};
use meromorph::table::Choice;
use meromorph_web_values::options::apply;

/// Reads the options of `train`; `target` is the default target column.
pub(super) fn train_options(object: &JsValue, target: Option<&str>) -> Result<TrainOptions> {
    let choice = Choice { target: target.unwrap_or_default().to_owned(), ..Choice::default() };
    let mut options = TrainOptions { choice, ..TrainOptions::default() };
    let mut read = || {
        apply(&OPTIONS, &mut options, object, absent)?;
        if options.choice.target.is_empty() {
            return Err(Error::new("target: got undefined, expected the name of a column as a string"));
        }
        Ok(())
    };
    read().map_err(|error| error.within("train"))?;
    Ok(options)
}

/// Reads the options of reading a table for `call`, over how another table was written.
pub(super) fn format_over(call: &str, object: &JsValue, own: &Format) -> Result<Format> {
    let mut format = own.clone();
    let read = apply(&READING, &mut format, object, absent).and_then(|()| format.check());
    read.map_err(|error| error.within(call).with_kind(ErrorKind::Usage))?;
    Ok(format)
}

/// Reads the options of reading a table for `call`.
pub(super) fn format_of(call: &str, object: &JsValue) -> Result<Format> {
    format_over(call, object, &Format::default())
}

/// Reads the options of a prediction.
pub(super) fn predicting(object: &JsValue) -> Result<Predicting> {
    let mut predicting = Predicting::default();
    apply(&PREDICTING, &mut predicting, object, absent)?;
    Ok(predicting)
}
