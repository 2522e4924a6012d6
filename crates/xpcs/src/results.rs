//! The result files: three JSON files and one archive of arrays, as homodyne has them.

use std::path::{Path, PathBuf};

use super::experiment::Experiment;
use super::fitting::Outcome;
use super::model::{Scaling, SincArgument};
use super::parameter::canonical;
use super::theory::decay;
use super::values::Values;
use meromorph::error::{Error, Result};
use meromorph::files::npy;
use meromorph::fit::sealed;
use meromorph::internal::host::{self, Member, gib, number};
use meromorph::internal::json::Json;

/// The names of the result files.
pub const RESULT_FILES: [&str; 4] = ["parameters.json", "analysis_results.json", "convergence.json", ARRAYS_FILE];
/// The one of arrays.
pub const ARRAYS_FILE: &str = "fitted_data.npz";

/// What the result files hold.
pub struct Results<'a> {
    /// The fit.
    pub outcome: &'a Outcome,
    /// What was fitted.
    pub experiment: &'a Experiment,
    /// The name of the data.
    pub data: &'a str,
    /// What a reader has to know, such as keys of the configuration that are not used.
    pub notes: &'a [String],
    /// Where the time went, if that was measured.
    pub timings: Option<Json>,
}

impl Results<'_> {
    /// Writes `parameters.json`, `analysis_results.json`, `convergence.json` and, if `has_arrays`, `fitted_data.npz` into a folder, each of them
    /// whole; without arrays an older `fitted_data.npz` is removed. Returns the paths.
    ///
    /// `analysis_results.json` is [`Results::report`]. The arrays are `phi_angles` [m], `c2_exp`, `c2_theoretical_raw` (g1²),
    /// `c2_theoretical_scaled`, `residuals` (measured less scaled), `residuals_normalized` (by sigma, or by the root of their mean square), all
    /// [m, n, n] and as precise as the data, `per_angle_scaling` [m, 2] (contrast, offset), `t1` [n], `t2` [n] and `q`.
    pub fn write(&self, folder: &Path, has_arrays: bool) -> Result<Vec<PathBuf>> {
        host::make_folder(folder)?;
        let mut written = Vec::new();
        for (name, bytes) in self.files(has_arrays)? {
            let path = folder.join(name);
            host::write_whole(&path, &bytes)?;
            written.push(path);
        }
        if !has_arrays {
            // Those of another fit would contradict the other files.
            host::remove(&folder.join(ARRAYS_FILE))?;
        }
        Ok(written)
    }

    /// The names and bytes of the files.
    pub fn files(&self, has_arrays: bool) -> Result<Vec<(&'static str, Vec<u8>)>> {
        let [first, second, third, last] = RESULT_FILES;
        let texts = [
            (first, parameters(self.outcome).to_string()),
            (second, self.report()),
            (third, convergence(self.outcome).to_string()),
        ];
        let mut files: Vec<_> =
            texts.into_iter().map(|(name, json)| (name, format!("{json}\n").into_bytes())).collect();
        if has_arrays {
            files.push((last, arrays(self.outcome, self.experiment)?));
        }
        Ok(files)
    }

    /// The fit with its covariance, and what was fitted, as JSON text that `fit::SavedFit` reads.
    pub fn report(&self) -> String {
        let Self { outcome, experiment, data, notes, timings } = self;
        let Experiment { phi, t, dt, q, gap, sigma, .. } = experiment;
        let convention = outcome.model.convention;
        let argument = SincArgument::ALL.into_iter().find(|(_, known)| *known == convention.argument);
        let scaling = Scaling::ALL.into_iter().find(|(_, known)| *known == outcome.model.scaling);
        let more = [
            ("analysis_mode", text(outcome.model.flow.name())),
            ("method", text("nlsq")),
            ("data", text(data)),
            ("phi_angles", list(phi)),
            ("times", whole(t.len())),
            ("dt", real(*dt)),
            ("wavevector_q", real(*q)),
            ("stator_rotor_gap", gap.map_or(Json::Null, real)),
            ("has_sigma", Json::Bool(sigma.is_some())),
            ("scaling", text(scaling.map_or("", |(name, _)| name))),
            ("preset", text(convention.name())),
            ("sinc_arg", text(argument.map_or("", |(name, _)| name))),
            ("sinc_power", whole(convention.power as usize)),
            ("int_rule", text("trapezoid")),
            ("notes", Json::List(notes.iter().map(|note| text(note)).collect())),
        ];
        let mut fields = match &outcome.report {
            Json::Fields(fields) => fields.clone(),
            _ => Vec::new(),
        };
        fields.extend(more.into_iter().map(|(name, value)| (name.to_owned(), value)));
        fields.extend(timings.iter().map(|timings| ("timings".to_owned(), timings.clone())));
        sealed(Json::Fields(fields)).to_string()
    }
}

fn text(text: &str) -> Json {
    Json::Text(text.to_owned())
}

fn real(value: f64) -> Json {
    if value.is_finite() { Json::Number(number(value).to_string()) } else { Json::Null }
}

fn list(values: &[f64]) -> Json {
    Json::List(values.iter().map(|&value| real(value)).collect())
}

fn whole(value: usize) -> Json {
    Json::Number(value.to_string())
}

/// What most readers want: values with their errors.
fn parameters(outcome: &Outcome) -> Json {
    let fit = &outcome.fit;
    let one = |(fitted, bounds): (&meromorph::fit::Fitted, &[f64; 2])| {
        let base = fitted.name.split('[').next().unwrap_or_default();
        let unit = canonical(base).map_or("", |known| known.unit);
        let fields = Json::fields([
            ("value", real(fitted.value)),
            ("uncertainty", fitted.stderr.map_or(Json::Null, real)),
            ("interval", fitted.interval.map_or(Json::Null, |interval| list(&interval))),
            ("unit", text(unit)),
            ("bounds", list(bounds)),
            ("is_fixed", Json::Bool(fitted.is_fixed)),
            ("is_at_bound", Json::Bool(fitted.is_at_bound)),
        ]);
        (fitted.name.clone(), fields)
    };
    Json::fields([
        ("analysis_mode", text(outcome.model.flow.name())),
        ("level", real(fit.level)),
        ("chi_squared", real(2.0 * fit.cost)),
        ("reduced_chi_squared", real(fit.statistics.reduced_chi_square)),
        ("is_converged", Json::Bool(fit.stop.is_converged())),
        ("parameters", Json::Fields(fit.parameters.iter().zip(&outcome.bounds).map(one).collect())),
    ])
}

/// How the minimum was found.
fn convergence(outcome: &Outcome) -> Json {
    let fit = &outcome.fit;
    Json::fields([
        ("is_converged", Json::Bool(fit.stop.is_converged())),
        ("stop", text(fit.stop.name())),
        ("evaluations", whole(fit.evaluations)),
        ("cost", real(fit.cost)),
        ("history", list(&fit.history)),
        ("expected_shift_in_sigma", fit.expected_shift.map_or(Json::Null, real)),
        ("undetermined", Json::List(fit.undetermined.iter().map(|name| text(name)).collect())),
        ("rows", whole(fit.rows)),
        ("seconds", real(outcome.seconds)),
    ])
}

/// Errors if the archive of arrays of an experiment does not fit into so many bytes of memory, in which it is made.
pub fn check_arrays(experiment: &Experiment, most: u64) -> Result<()> {
    let Experiment { c2, sigma, .. } = experiment;
    // The numbers, the raw theory, and the archive, which is copied once while it grows.
    let of_archive = if c2.is_single() { 40 } else { 80 };
    let bytes = c2.len() as u64 * (16 + if sigma.is_some() { 8 } else { 0 } + of_archive);
    if bytes <= most {
        return Ok(());
    }
    let [bytes, most] = [bytes, most].map(gib);
    Err(Error::new(format!(
        "fitted_data.npz: it needs {bytes} of memory, this process may use {most}; --no-arrays leaves it out"
    )))
}

/// The archive of arrays.
fn arrays(outcome: &Outcome, experiment: &Experiment) -> Result<Vec<u8>> {
    let Experiment { phi, t, q, c2, sigma, .. } = experiment;
    let (angles, times) = (phi.len(), t.len());
    check_arrays(experiment, host::memory_bytes())?;
    let is_single = c2.is_single();
    let (c2, sigma) = (c2.numbers()?, sigma.as_ref().map(Values::numbers).transpose()?);
    let raw = decay(&outcome.model, experiment, |name| outcome.value(name, 0.0))?;
    let scaling: Vec<[f64; 2]> =
        phi.iter().map(|&angle| ["contrast", "offset"].map(|name| outcome.value(name, angle))).collect();
    let square = times * times;
    let scaled = |at: usize| {
        let [contrast, offset] = scaling[at / square];
        offset + contrast * raw[at]
    };
    let residual = |at: usize| c2[at] - scaled(at);
    let pairs = experiment.pairs().map(|at| residual(experiment.place(at)).powi(2));
    let mean = (pairs.sum::<f64>() / outcome.fit.rows as f64).sqrt();
    let deviation = |at: usize| sigma.as_ref().map_or(mean, |sigma| sigma[at]);
    let line = |values: &[f64]| npy::write(&[values.len()], false, values.iter().copied());
    let cube = |value: &dyn Fn(usize) -> f64| npy::write(&[angles, times, times], is_single, (0..c2.len()).map(value));
    let members: [Member<'_>; 10] = [
        ("phi_angles.npy", Box::new(|| line(phi))),
        ("c2_exp.npy", Box::new(|| cube(&|at| c2[at]))),
        ("c2_theoretical_raw.npy", Box::new(|| cube(&|at| raw[at]))),
        ("c2_theoretical_scaled.npy", Box::new(|| cube(&scaled))),
        ("per_angle_scaling.npy", Box::new(|| npy::write(&[angles, 2], false, scaling.iter().flatten().copied()))),
        ("residuals.npy", Box::new(|| cube(&residual))),
        ("residuals_normalized.npy", Box::new(|| cube(&|at| residual(at) / deviation(at)))),
        ("t1.npy", Box::new(|| line(t))),
        ("t2.npy", Box::new(|| line(t))),
        ("q.npy", Box::new(|| npy::write(&[], false, std::iter::once(*q)))),
    ];
    host::pack(&members)
}
