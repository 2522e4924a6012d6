//! Good practice and bad habits of training, each looked at on the model, or said to be always so.

use pollster::block_on;

use super::measured::Measured;
use meromorph::device::Recompute;
use meromorph::error::Result;
use meromorph::internal::host;
use meromorph::nn::Layer;
use meromorph::report::{binary, count, figure};
use meromorph::run::Provenance;
use meromorph::train::{Clip, Flow, GradientConfig, IssueType, Trainer, TrainerConfig};

/// Layers from which results should be computed again.
const DEEP: usize = 50;
/// A larger share of updates that are limited changes where training goes.
const MOST_LIMITED: f64 = 0.5;

/// How a practice is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It was checked on this model, and is so.
    Checked,
    /// It is always so in this engine, or does not apply.
    Always,
    /// It could be better.
    Advise,
}

impl State {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Checked => "checked",
            Self::Always => "always",
            Self::Advise => "advise",
        }
    }

    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::Checked => "✓",
            Self::Always => "·",
            Self::Advise => "!",
        }
    }

    fn of(is_well: bool) -> Self {
        if is_well { Self::Checked } else { Self::Advise }
    }
}

/// One line.
pub(super) struct Practice {
    /// What it is about: `memory`, `speed`, `method`, `habit` or `before use`.
    pub(super) group: &'static str,
    /// The practice.
    pub(super) name: &'static str,
    /// How it is followed.
    pub(super) state: State,
    /// What was seen.
    pub(super) seen: String,
}

fn line(group: &'static str, name: &'static str, state: State, seen: impl Into<String>) -> Practice {
    Practice { group, name, state, seen: seen.into() }
}

/// Every line.
pub(super) fn practices(measured: &Measured<'_>) -> Result<Vec<Practice>> {
    let provenance = measured.model.provenance()?;
    let mut lines = memory(measured, provenance.as_ref());
    lines.extend(speed(measured, provenance.as_ref()));
    lines.extend(method(measured, provenance.as_ref()));
    lines.extend(habits(measured, provenance.as_ref())?);
    lines.extend(before_use(measured, provenance.as_ref()));
    Ok(lines)
}

fn memory(measured: &Measured<'_>, provenance: Option<&Provenance>) -> Vec<Practice> {
    let settings = provenance.map(|one| &one.settings);
    let summary = measured.trained.trainer.step_summary();
    let (bytes, all) = (summary.transient_bytes, host::memory_bytes());
    let is_short = bytes > all / 2;
    // Activations are no layers of their own here.
    let layers = measured.model.spec.layers.iter().filter(|layer| matches!(layer, Layer::Linear(_))).count();
    let recomputes = settings.is_some_and(|one| one.recompute != Recompute::Nothing);
    let recomputed = match (recomputes, layers > DEEP) {
        (true, _) => "trained with --recompute or --memory-budget".to_owned(),
        (false, true) => format!("{layers} layers that all keep their results: --recompute 3"),
        (false, false) => format!("not needed: {layers} layers"),
    };
    let precision = settings.and_then(|one| one.precision.as_ref());
    let halves = match precision {
        Some(precision) => format!("results are stored in {}", precision.name()),
        None if is_short => format!("off, and a batch takes {}: --precision bf16", binary(bytes)),
        None => format!("not needed: a batch takes {} of {}", binary(bytes), binary(all)),
    };
    let accumulate = settings.map_or(1, |one| one.accumulate);
    let accumulated = match accumulate {
        1 if is_short => "off: a smaller --batch with --accumulate".to_owned(),
        1 => "not needed: a batch fits".to_owned(),
        many => format!("{many} steps make an update"),
    };
    vec![
        line("memory", "recomputation in deep models", State::of(recomputes || layers <= DEEP), recomputed),
        line("memory", "mixed precision", State::of(precision.is_some() || !is_short), halves),
        line("memory", "accumulated gradients", State::of(accumulate > 1 || !is_short), accumulated),
        line("memory", "cleared tape", State::Always, "a step is a plan: there is no tape between steps"),
        line(
            "memory",
            "work in place",
            State::Always,
            format!("results share {}, {} if each had its own", binary(bytes), binary(summary.unshared_bytes)),
        ),
    ]
}

fn speed(measured: &Measured<'_>, provenance: Option<&Provenance>) -> Vec<Practice> {
    let clip = provenance.and_then(|one| one.settings.gradients.clip);
    let explodes = measured.trained.issues.iter().any(|issue| issue.issue_type == IssueType::Exploding);
    let norm = figure(measured.trained.largest_norm);
    let limited = match (clip, explodes) {
        (Some(_), _) => format!("trained with a limit; largest norm {norm}"),
        (None, true) => format!("off, and gradients explode, largest norm {norm}: --clip-norm 1"),
        (None, false) => format!("not needed: largest norm {norm}"),
    };
    let batch = provenance.map_or(String::new(), |one| format!("trained with {}; ", one.settings.batch));
    let parameters = count(measured.model.parameters.len() as u64);
    vec![
        line("speed", "limited gradients", State::of(clip.is_some() || !explodes), limited),
        line("speed", "batched work", State::Always, batch + &measured.seen("batch size")),
        line("speed", "compressed gradients", State::Always, "one machine: nothing is sent"),
        line("speed", "profile of the step", State::of(measured.profile.is_ok()), measured.directions()),
        line(
            "speed",
            "second order",
            State::Always,
            format!("{parameters} parameters: train::minimise has L-BFGS and Newton for the loss of all rows at once"),
        ),
    ]
}

fn method(measured: &Measured<'_>, provenance: Option<&Provenance>) -> Vec<Practice> {
    let correct = measured.passes("gradient") && measured.passes("repeatable");
    let step = measured.figures.first().map_or(f64::NAN, |one| one.value);
    vec![
        line("method", "measured first", State::Always, format!("{} ms a step", figure(step))),
        line("method", "bottleneck found", State::of(measured.profile.is_ok()), measured.slowest()),
        line("method", "slowest part first", State::of(measured.profile.is_ok()), measured.speedup()),
        line("method", "correct afterwards", State::of(correct), format!("gradient {}", measured.seen("gradient"))),
        line("method", "choices documented", State::of(provenance.is_some()), documented(provenance)),
    ]
}

fn habits(measured: &Measured<'_>, provenance: Option<&Provenance>) -> Result<Vec<Practice>> {
    let summary = measured.trained.trainer.step_summary();
    let early = provenance.is_some_and(|one| one.settings.recompute != Recompute::Nothing)
        && summary.transient_bytes < host::memory_bytes() / 8;
    let optimised = if early { "recomputation takes a third more time, and memory is not short" } else { "none seen" };
    let limited = clipped(measured, provenance)?;
    let is_aggressive = limited.is_some_and(|share| share > MOST_LIMITED);
    let clipping = match limited {
        None => "not limited by a norm".to_owned(),
        Some(share) => format!("{:.0} % of the updates are limited", 100.0 * share),
    };
    Ok(vec![
        line("habit", "no early optimisation", State::of(!early), optimised),
        line("habit", "no optimisation without a profile", State::of(measured.profile.is_ok()), measured.slowest()),
        line("habit", "numbers stay finite", State::of(measured.passes("stability")), measured.seen("stability")),
        line("habit", "no limit that is too low", State::of(!is_aggressive), clipping),
        line("habit", "no value overwritten too early", State::Always, "a plan overwrites what nothing reads later"),
    ])
}

/// The share of updates that the model's own limit shortens, over an epoch.
fn clipped(measured: &Measured<'_>, provenance: Option<&Provenance>) -> Result<Option<f64>> {
    let Some(clip @ Clip::Norm { .. }) = provenance.and_then(|one| one.settings.gradients.clip) else {
        return Ok(None);
    };
    let trainer = &measured.trained.trainer;
    let gradients = GradientConfig { clip: Some(clip), watches: true, ..GradientConfig::default() };
    let settings = TrainerConfig { gradients, epochs: 1, ..trainer.settings().clone() };
    let (spec, parameters) = (trainer.spec()?.clone(), block_on(trainer.parameters())?);
    let mut run = Trainer::with_parameters(trainer.device(), spec, settings, trainer.data().clone(), &parameters)?;
    block_on(run.run(&mut |_| Flow::Continue))?;
    let report = run.history().last().and_then(|epoch| epoch.gradients);
    Ok(report.map(|one| one.limited as f64 / one.updates.max(1) as f64))
}

fn documented(provenance: Option<&Provenance>) -> String {
    let Some(Provenance { settings, source, epochs, .. }) = provenance else {
        return "the file does not say how it was trained: save it with mero train".to_owned();
    };
    let (optimizer, batch) = (settings.optimizer.name(), settings.batch);
    format!("the file says: {optimizer}, batch {batch}, rate {}, {epochs} epochs on {source}", settings.lr)
}

fn before_use(measured: &Measured<'_>, provenance: Option<&Provenance>) -> Vec<Practice> {
    let leaks = measured.leaks;
    let leaked = if leaks == 0 { "none in 8 steps".to_owned() } else { format!("{leaks} in 8 steps") };
    let peak = binary(measured.peak_bytes);
    let check =
        |name: &'static str, of: &str| line("before use", name, State::of(measured.passes(of)), measured.seen(of));
    let is_compared = measured.baseline.is_some();
    let compared = match measured.baseline {
        None => "no: keep the output of --json, and compare with --baseline FILE".to_owned(),
        Some(0) => "nothing is worse".to_owned(),
        Some(worse) => format!("{worse} figures are worse"),
    };
    let alerts = match measured.limits {
        0 => "no limits: --alert step_ms=5 warns above one".to_owned(),
        limits => format!("{limits} limits, {} exceeded", measured.alerts),
    };
    vec![
        line("before use", "profiled both passes", State::of(measured.profile.is_ok()), measured.directions()),
        line("before use", "peak of the memory", State::Checked, format!("{peak} in use at once on the device")),
        check("sizes of a batch", "batch size"),
        check("gradients are right", "gradient"),
        line("before use", "no leaks", State::of(leaks == 0), leaked),
        line(
            "before use",
            "compared with a baseline",
            State::of(is_compared && measured.baseline == Some(0)),
            compared,
        ),
        check("stable numbers", "stability"),
        check("converges", "learns"),
        line("before use", "choices documented", State::of(provenance.is_some()), documented(provenance)),
        line("before use", "monitored", State::of(measured.limits > 0 && measured.alerts == 0), alerts),
    ]
}
