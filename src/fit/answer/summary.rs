//! What many fits have in common: quantiles of their parameters, and a report of them as JSON.

use super::many::{Fits, SmallFit};
use super::report::{real, text, whole};
use crate::json::Json;

/// The shares of [`Spread::quantiles`].
const SHARES: [f64; 5] = [0.0, 0.05, 0.5, 0.95, 1.0];

/// How the values of a parameter are spread over many fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The least value, 5 %, the median, 95 % and the largest; NaN if there is none.
    pub quantiles: [f64; 5],
    /// The median of the standard errors that are known; `None` if there is none.
    pub stderr: Option<f64>,
}

impl Fits {
    /// How many converged.
    pub fn converged(&self) -> usize {
        self.solved().filter(|fit| fit.stop.is_converged()).count()
    }

    /// How many have no answer.
    pub fn failed(&self) -> usize {
        self.fits.len() - self.solved().count()
    }

    /// How the values of the parameter at a place are spread.
    pub fn spread(&self, parameter: usize) -> Spread {
        let values = sorted(self.solved().map(|fit| fit.values[parameter]));
        let place = self.free.iter().position(|&free| free == parameter);
        let errors = sorted(self.solved().filter_map(|fit| place.map(|place| fit.stderr(place))));
        let stderr = Some(quantile(&errors, 0.5)).filter(|stderr| stderr.is_finite());
        Spread { quantiles: SHARES.map(|share| quantile(&values, share)), stderr }
    }

    fn solved(&self) -> impl Iterator<Item = &SmallFit> {
        self.fits.iter().filter_map(|fit| fit.as_ref().ok())
    }
}

/// The value below which a share of sorted values lies.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted.get((share * (sorted.len().saturating_sub(1)) as f64).round() as usize).copied().unwrap_or(f64::NAN)
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The report of many fits: how their parameters are spread, and how many converged in how many seconds.
pub fn report_many(fits: &Fits, model: &str, target: &str, seconds: f64) -> Json {
    let parameters = fits.parameters.iter().enumerate().map(|(at, name)| {
        let Spread { quantiles: [least, low, median, high, largest], stderr } = fits.spread(at);
        let fields = Json::fields([
            ("least", real(least)),
            ("low", real(low)),
            ("median", real(median)),
            ("high", real(high)),
            ("largest", real(largest)),
            ("median_stderr", stderr.map_or(Json::Null, real)),
        ]);
        (name.clone(), fields)
    });
    Json::fields([
        ("event", text("report")),
        ("kind", text("meromorph fits")),
        ("model", text(model)),
        ("target", text(target)),
        ("levels", Json::List(fits.columns.iter().map(|name| text(name)).collect())),
        ("parameters", Json::Fields(parameters.collect())),
        ("fits", whole(fits.fits.len() as u64)),
        ("converged", whole(fits.converged() as u64)),
        ("failed", whole(fits.failed() as u64)),
        ("seconds", real(seconds)),
        ("device", text("cpu")),
        ("precision", text("f64")),
        ("strategy", text("standard")),
    ])
}
