//! The figures of a check-up: what an earlier one is compared with, and what limits are set for.

use std::path::Path;

use pollster::block_on;
use serde_json::{Map, Value};

use crate::{Answer, Failure};
use meromorph::error::{Result, hint};
use meromorph::internal::host;
use meromorph::report::figure;
use meromorph::run::Trained;

/// A figure that is better the smaller it is.
pub(super) struct Figure {
    /// Its name in JSON and in `--alert`.
    pub(super) name: &'static str,
    /// Its value.
    pub(super) value: f64,
}

/// Every figure.
pub(super) const NAMES: [&str; 4] = ["step_ms", "memory_mib", "loss", "gradient_norm"];

/// Windows of steps, of which the median counts.
const WINDOWS: usize = 9;
/// Length of a window in milliseconds.
const WINDOW_MS: f64 = 20.0;

/// Time and memory of a step, loss and largest norm of a gradient after a short run.
pub(super) fn figures(trained: &mut Trained) -> Result<Vec<Figure>> {
    let step_ms = step_ms(trained)?;
    let summary = trained.trainer.step_summary();
    let memory_mib = (summary.persistent_bytes + summary.transient_bytes) as f64 / f64::from(1 << 20);
    let values = [step_ms, memory_mib, trained.loss, trained.largest_norm];
    Ok(NAMES.into_iter().zip(values).map(|(name, value)| Figure { name, value }).collect())
}

fn step_ms(trained: &mut Trained) -> Result<f64> {
    let mut window = |steps: usize| -> Result<f64> {
        let start = host::now_ms();
        trained.trainer.advance(steps)?;
        block_on(trained.trainer.batch_losses())?;
        Ok(host::now_ms() - start)
    };
    window(4)?;
    let steps = (WINDOW_MS / (window(4)? / 4.0).max(1e-3)).clamp(1.0, 1000.0) as usize;
    let mut times = (0..WINDOWS).map(|_| Ok(window(steps)? / steps as f64)).collect::<Result<Vec<f64>>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[WINDOWS / 2])
}

/// As an object.
pub(super) fn to_json(figures: &[Figure]) -> Value {
    figures.iter().map(|one| (one.name.to_owned(), one.value.into())).collect::<Map<String, Value>>().into()
}

/// A figure next to that of an earlier check-up.
pub(super) struct Change {
    pub(super) name: &'static str,
    pub(super) before: f64,
    pub(super) now: f64,
    pub(super) is_worse: bool,
}

/// The figures of an earlier check-up, and the device that it was made on.
pub(super) struct Baseline {
    figures: Map<String, Value>,
    pub(super) device: String,
}

impl Baseline {
    /// From what `mero doctor --json` printed.
    pub(super) fn read(path: &Path) -> Answer<Self> {
        let wrong = |what: String| Failure::usage(format!("{}: {what}", path.display()));
        let text = String::from_utf8(host::read(path)?).unwrap_or_default();
        let expected = || wrong("has no figures: expected what mero doctor --json printed".to_owned());
        let report: Value = serde_json::from_str(text.trim()).map_err(|_| expected())?;
        let figures = report["figures"].as_object().ok_or_else(expected)?.clone();
        if !NAMES.iter().any(|name| figures.get(*name).is_some_and(Value::is_number)) {
            return Err(expected());
        }
        Ok(Self { figures, device: report["device"].as_str().unwrap_or_default().to_owned() })
    }

    /// Each figure that both have; one is worse if it has grown by more than `tolerance` percent.
    pub(super) fn changes(&self, figures: &[Figure], tolerance: f64) -> Vec<Change> {
        let change = |one: &Figure| {
            let (name, now, before) = (one.name, one.value, self.figures.get(one.name)?.as_f64()?);
            let is_worse = now.is_nan() || now - before > tolerance / 100.0 * before.abs().max(1e-12);
            Some(Change { name, before, now, is_worse })
        };
        figures.iter().filter_map(change).collect()
    }
}

impl Change {
    /// In words.
    pub(super) fn text(&self) -> String {
        let Self { before, now, .. } = self;
        let percent = 100.0 * (now / before - 1.0);
        let change = if percent.is_finite() { format!(" ({percent:+.1} %)") } else { String::new() };
        format!("{}, baseline {}{change}", figure(*now), figure(*before))
    }
}

/// A limit for a figure.
#[derive(Clone, Debug)]
pub(super) struct Limit {
    name: String,
    most: f64,
}

/// A figure above its limit.
pub(super) struct Alert {
    pub(super) name: String,
    pub(super) value: f64,
    pub(super) most: f64,
}

impl Limit {
    /// From `name=value`.
    pub(super) fn parse(text: &str) -> std::result::Result<Self, String> {
        let wrong = || format!("got \"{text}\", expected a figure and its limit, such as step_ms=5");
        let (name, most) = text.split_once('=').ok_or_else(wrong)?;
        let most: f64 = most.trim().parse().map_err(|_| wrong())?;
        let name = name.trim();
        if !NAMES.contains(&name) {
            let near = hint(name, NAMES.into_iter());
            return Err(format!("unknown figure \"{name}\": expected one of {}{near}", NAMES.join(", ")));
        }
        if most.is_nan() {
            return Err(wrong());
        }
        Ok(Self { name: name.to_owned(), most })
    }

    /// An alert, if the figure is above the limit or no number.
    pub(super) fn check(&self, figures: &[Figure]) -> Option<Alert> {
        let Self { name, most } = self;
        let value = figures.iter().find(|one| one.name == name)?.value;
        (value.is_nan() || value > *most).then(|| Alert { name: name.clone(), value, most: *most })
    }
}

impl Alert {
    /// In words.
    pub(super) fn text(&self) -> String {
        format!("alert: {} is {}, above its limit of {}", self.name, figure(self.value), figure(self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> Vec<Figure> {
        NAMES.into_iter().zip([2.0, 10.0, 0.5, 3.0]).map(|(name, value)| Figure { name, value }).collect()
    }

    #[test]
    fn a_figure_beyond_the_tolerance_is_worse() {
        let before = serde_json::json!({ "step_ms": 1.6, "memory_mib": 9.5, "loss": 1.0, "other": 1 });
        let baseline = Baseline { figures: before.as_object().unwrap().clone(), device: "cpu".into() };
        let changes = baseline.changes(&figures(), 20.0);
        let worse: Vec<_> = changes.iter().map(|one| (one.name, one.is_worse)).collect();
        assert_eq!(worse, [("step_ms", true), ("memory_mib", false), ("loss", false)]);
        assert_eq!(changes[0].text(), "2.000, baseline 1.600 (+25.0 %)");
    }

    #[test]
    fn limits_have_known_names_and_are_exceeded_from_above() {
        let check = |text: &str| Limit::parse(text).unwrap().check(&figures()).map(|alert| alert.text());
        assert_eq!(check("loss=0.4").as_deref(), Some("alert: loss is 0.5000, above its limit of 0.4000"));
        assert_eq!(check("loss=0.5"), None);
        let error = |text: &str| Limit::parse(text).unwrap_err();
        assert!(error("los=1").contains("did you mean \"loss\""), "{}", error("los=1"));
        assert!(error("loss").starts_with("got \"loss\", expected a figure and its limit"));
    }
}
