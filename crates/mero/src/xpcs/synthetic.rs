//! `mero xpcs --synthetic`: an experiment with known parameters, and a configuration that fits it.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::model::ModelArgs;
use crate::options::contents::{SYNTHETIC, XPCS_CONFIG};
use crate::options::outputs::{check_outs, write_out};
use crate::options::pairs::{pairs, value};
use crate::terminal::console::{say, say_json};
use crate::{Answer, Failure};
use meromorph::internal::host::number;
use meromorph::report::counted;
use meromorph_xpcs::{Flow, Model, Synthetic, experiment_bytes};

/// Synthetic data.
#[derive(clap::Args)]
#[command(next_help_heading = "Synthetic data")]
pub(super) struct SyntheticArgs {
    /// Write synthetic data to this file instead of fitting
    #[arg(long, value_name = "NPZ", conflicts_with_all = ["file", "data", "out"])]
    pub synthetic: Option<PathBuf>,
    /// Write a configuration that fits them too
    #[arg(long, value_name = "YAML", requires = "synthetic")]
    config_out: Option<PathBuf>,
    /// Number of angles, spread over half a turn
    #[arg(long, default_value_t = 11, value_name = "N")]
    angles: usize,
    /// Number of times
    #[arg(long, default_value_t = 60, value_name = "N")]
    times: usize,
    /// Standard deviation of the noise
    #[arg(long, default_value_t = 0.01, value_name = "SIGMA")]
    noise: f64,
    /// True values of parameters that differ from the usual ones
    #[arg(long, value_name = "D0=3000,beta=0.3", allow_hyphen_values = true)]
    truth: Vec<String>,
    /// Seed of the noise
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    seed: u64,
}

/// More angles or times than these are a mistake.
const MOST: usize = 100_000;

/// Writes the data and the configuration.
pub(super) fn run(
    args: &SyntheticArgs,
    model_args: &ModelArgs,
    (is_json, is_forced): (bool, bool),
    out: &Path,
) -> Answer {
    let SyntheticArgs { config_out, angles, times, noise, truth, seed, .. } = args;
    for (name, count, least) in [("angles", *angles, 1), ("times", *times, 3)] {
        if count < least || count > MOST {
            return Err(Failure::usage(format!("{name}: got {count}, expected {least} to {MOST}")));
        }
    }
    if !(*noise >= 0.0 && noise.is_finite()) {
        let noise = number(*noise);
        return Err(Failure::usage(format!("noise: got {noise}, expected a finite number of at least 0")));
    }
    let outs = [("data", Some(out), Some(&SYNTHETIC)), ("configuration", config_out.as_deref(), Some(&XPCS_CONFIG))];
    check_outs(&outs, &[], is_forced)?;
    let mut model = Model::new(model_args.flow().unwrap_or(Flow::Laminar));
    model_args.apply(&mut model)?;
    let phi = (0..*angles).map(|at| 180.0 * at as f64 / *angles as f64).collect();
    let mut made = Synthetic { phi, times: *times, noise: *noise, seed: *seed, ..Synthetic::new(model) };
    for (name, text) in pairs(truth, "truth", "D0=3000")? {
        made = made.with(name, value("truth", name, text)?)?;
    }
    write_out(out, &SYNTHETIC, &experiment_bytes(&made.experiment()?)?, is_forced)?;
    if let Some(config) = config_out {
        write_out(config, &XPCS_CONFIG, config_text(&made, out).as_bytes(), is_forced)?;
    }
    if is_json {
        let truth: Map<String, Value> =
            made.truth.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        say_json(&json!({ "event": "synthetic", "data": out.display().to_string(), "truth": truth }));
        return Ok(());
    }
    let truth: Vec<String> = made.truth.iter().map(|(name, value)| format!("{name} = {}", number(*value))).collect();
    let (angles, times) = (counted(*angles, "angle"), counted(*times, "time"));
    say(&format!("{}: {angles} and {times}, {}", out.display(), truth.join(", ")));
    if let Some(config) = config_out {
        say(&format!("fit them: mero xpcs {}", config.display()));
    }
    Ok(())
}

fn config_text(made: &Synthetic, data: &Path) -> String {
    let model = &made.model;
    let name = |found: Option<&'static str>| found.unwrap_or_default();
    let scaling = meromorph_xpcs::Scaling::ALL.into_iter().find(|(_, known)| *known == model.scaling);
    let argument = meromorph_xpcs::SincArgument::ALL.into_iter().find(|(_, known)| *known == model.convention.argument);
    // Text in double quotes is the same in YAML as in JSON.
    let data = Value::from(data.display().to_string());
    format!(
        "analysis_mode: {}
analyzer_parameters:
  dt: {}
  scattering:
    wavevector_q: {}
  geometry:
    stator_rotor_gap: {}
experimental_data:
  file_path: {data}
model:
  sinc_arg: {}
  sinc_power: {}
  scaling: {}
",
        model.flow.name(),
        number(made.dt),
        number(made.q),
        number(made.gap),
        name(argument.map(|(name, _)| name)),
        model.convention.power,
        name(scaling.map(|(name, _)| name)),
    )
}
