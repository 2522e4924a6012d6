//! The three settings that the guide of Trainer2 recommends.

use super::Trainer2;
use crate::error::{Error, Result, hint};
use crate::json::Json;

/// Names of the presets, and their fields.
const PRESETS: [(&str, &str); 3] = [
    ("development", r#"{"step_progress_every":8,"use_cudagraphs":false,"cudnn_benchmark":true}"#),
    (
        "production",
        r#"{"step_progress_every":0,"use_cudagraphs":true,"static_shapes":true,"capture_batch_size":32,"warmup_steps":10,"cudnn_benchmark":true,"cudnn_deterministic":false}"#,
    ),
    ("profiling", r#"{"timing_debug":true,"step_progress_every":0,"use_cudagraphs":false}"#),
];

impl Trainer2 {
    /// The names of the presets.
    pub const PRESETS: [&'static str; 3] = [PRESETS[0].0, PRESETS[1].0, PRESETS[2].0];

    /// The fields of a preset over the defaults. Errors for an unknown name.
    pub fn preset(name: &str) -> Result<Self> {
        let Some((_, text)) = PRESETS.iter().find(|(known, _)| *known == name) else {
            let near = hint(name, Self::PRESETS.into_iter());
            return Err(Error::usage(format!(
                "preset: got \"{name}\", expected one of {}{near}",
                Self::PRESETS.join(", ")
            )));
        };
        let mut config = Self::default();
        config.apply(&Json::parse(text)?)?;
        Ok(config)
    }
}
