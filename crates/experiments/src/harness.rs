//! The structure common to all domains: a table of methods, the data of a seed, and the loop over seeds and methods, in which every
//! method gets the same rows, the same order and the same number of steps.

use std::rc::Rc;

use serde::Serialize;
use serde_json::Value;

use super::elsewhere::{ExternalMethod, Notation};
use super::net::Net;
use super::report::{ExperimentReport, MethodReport, Trial};
use super::training::trial;
use meromorph::device::Device;
use meromorph::error::{Error, Result, hint};
use meromorph::internal::host;
use meromorph::train::{Examples, TrainerConfig};

/// The size of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// The smallest that exercises everything.
    Contract,
    /// Minutes on a processor.
    Smoke,
    /// The published sizes.
    Paper,
}

impl Size {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Contract => "contract",
            Self::Smoke => "smoke",
            Self::Paper => "paper",
        }
    }

    /// The default number of seeds.
    pub fn seeds(self) -> usize {
        match self {
            Self::Contract => 1,
            Self::Smoke => 2,
            Self::Paper => 10,
        }
    }
}

/// The request for an experiment.
#[derive(Clone, Debug)]
pub struct Request {
    /// The size.
    pub mode: Size,
    /// The seeds, in order.
    pub seeds: Vec<u64>,
    /// Methods by name; all if empty.
    pub methods: Vec<String>,
    /// Passes over the training rows; by default those of the size.
    pub epochs: Option<usize>,
    /// Methods of other programs on the same rows; measured like the others.
    pub elsewhere: Vec<ExternalMethod>,
}

/// The description of an experiment, and its metrics.
pub(super) struct Description {
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub claim: &'static str,
    /// The method that the claim is made for.
    pub published: &'static str,
    /// This engine's own method, which is compared with it.
    pub ours: &'static str,
    /// The baseline and the metrics that the claim names.
    pub rival: (&'static str, &'static [&'static str]),
    pub metrics: &'static [Metric],
    pub charts: &'static [Chart],
}

/// A metric: one number per method and seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// Its name in the file.
    pub key: &'static str,
    /// Its label in reports.
    pub label: &'static str,
    /// Whether smaller or larger is better.
    pub better: Direction,
    /// Whether comparisons in words include it.
    pub is_headline: bool,
}

impl Metric {
    pub(super) const fn headline(key: &'static str, label: &'static str, better: Direction) -> Self {
        Self { key, label, better, is_headline: true }
    }

    pub(super) const fn detail(key: &'static str, label: &'static str, better: Direction) -> Self {
        Self { key, label, better, is_headline: false }
    }
}

/// Whether smaller or larger values of a metric are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Smaller is better.
    Less,
    /// Larger is better.
    More,
    /// It only describes; neither is better.
    Neither,
}

/// A chart of curves, one or more per method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// What it shows.
    pub title: &'static str,
    /// How to read it.
    pub note: &'static str,
    /// The label of the horizontal axis.
    pub x: &'static str,
    /// The label of the vertical axis.
    pub y: &'static str,
    /// Its axes.
    pub shape: Axes,
    /// How the curves of several seeds are combined.
    pub gathering: Gathering,
}

/// Which axes are logarithmic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Axes {
    /// The horizontal one.
    pub is_log_x: bool,
    /// The vertical one.
    pub is_log_y: bool,
}

impl Axes {
    pub(super) const PLAIN: Self = Self { is_log_x: false, is_log_y: false };
    pub(super) const LOG_X: Self = Self { is_log_x: true, is_log_y: false };
    pub(super) const LOG_Y: Self = Self { is_log_x: false, is_log_y: true };
}

/// How the curves of several seeds are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gathering {
    /// The mean at each x; all seeds have the same x.
    Mean,
    /// The curve of the first seed.
    First,
}

/// A method's curve in a chart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    pub chart: usize,
    pub points: Vec<[f64; 2]>,
}

/// The result of a method on a seed: values in the order of the metrics.
pub(super) struct MethodResult {
    pub values: Vec<Option<f64>>,
    pub curves: Vec<Curve>,
    pub more: Value,
}

/// A question and answer specific to the domain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Remark {
    /// The question.
    pub what: String,
    /// The answer.
    pub answer: String,
}

/// The role of a method in the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Knows the exact answer.
    Oracle,
    /// Knows part of the answer, so it is left out of the comparisons.
    Informed,
    /// Learns a value, without a denominator that may be zero.
    Baseline,
    /// Learns numerator and denominator.
    Projective,
    /// Comes from another program.
    Elsewhere,
}

/// A method, whose predictions are `P`.
pub(super) struct Method<P> {
    pub name: &'static str,
    pub about: &'static str,
    pub role: Role,
    pub kind: Kind<P>,
}

impl<P> Method<P> {
    pub(super) const fn learnt(
        name: &'static str,
        about: &'static str,
        role: Role,
        nets: fn() -> Vec<Net>,
        decode: Decode<P>,
    ) -> Self {
        Self { name, about, role, kind: Kind::Learnt { nets, decode } }
    }
}

/// Computes predictions from outputs: by model, then by output, each row-major.
pub(super) type Decode<P> = fn(&[Vec<Vec<f32>>]) -> P;

/// How a method makes its predictions.
pub(super) enum Kind<P> {
    /// From the inputs alone.
    Known(fn(&[f32]) -> P),
    /// By models trained one after the other.
    Learnt { nets: fn() -> Vec<Net>, decode: Decode<P> },
}

/// A domain with data `D` and predictions `P`.
pub(super) struct Subject<D, P> {
    pub facts: &'static Description,
    pub methods: Vec<Method<P>>,
    /// The sizes of the data, for the report.
    pub sizes: fn(Size) -> Vec<(&'static str, usize)>,
    pub draw: fn(Size, u64) -> D,
    /// The training rows.
    pub train: fn(&D) -> &Examples,
    pub notation: Notation<D, P>,
    pub config: fn(Size) -> TrainerConfig,
    /// The score that chooses the best epoch; without one the last epoch is kept.
    pub epoch_score: Option<EpochScore<D, P>>,
    /// The inputs to predict, in groups.
    pub probes: fn(&D) -> Vec<Vec<f32>>,
    pub measure: fn(&D, &[P]) -> MethodResult,
    pub remarks: fn(&[MethodReport]) -> Vec<Remark>,
}

/// A score of a model after an epoch; the smallest is the best.
pub(super) struct EpochScore<D, P> {
    /// The inputs that are predicted.
    pub x: fn(&D) -> &[f32],
    /// The score of the predictions.
    pub score: fn(&D, &P) -> f64,
}

/// A callback after each method and seed: seed, method, seconds.
pub type Follow<'a> = &'a mut dyn FnMut(u64, &str, f64);

/// Runs every requested method on every seed.
pub(super) async fn run<D: 'static, P: 'static>(
    subject: Subject<D, P>,
    request: &Request,
    device: &Device,
    follow: Follow<'_>,
) -> Result<ExperimentReport> {
    subject.check(request)?;
    // First, so that wrong predictions are an error before anything is trained.
    let elsewhere = subject.judged(request)?;
    let facts = subject.facts;
    let mut config = (subject.config)(request.mode);
    config.epochs = request.epochs.unwrap_or(config.epochs);
    let chosen = subject.chosen(&request.methods);
    let mut methods: Vec<MethodReport> = chosen.iter().map(|method| described(method)).collect();
    for &seed in &request.seeds {
        let data = Rc::new((subject.draw)(request.mode, seed));
        config.seed = seed;
        for (method, report) in chosen.iter().zip(&mut methods) {
            let start = host::now_ms();
            let (trial, traces) = trial(&subject, method, &data, &config, device).await?;
            let seconds = (host::now_ms() - start) / 1e3;
            report.trials.push(Trial { seconds: Some(seconds), ..trial });
            report.traces.extend(traces);
            follow(seed, method.name, seconds);
        }
    }
    methods.extend(elsewhere);
    let remarks = (subject.remarks)(&methods);
    Ok(ExperimentReport::new(facts, request, &config, (subject.sizes)(request.mode), device.info(), methods, remarks))
}

impl<D, P> Subject<D, P> {
    /// Errors if a method is unknown, an external method has an invalid or used name, or there are no seeds or epochs.
    pub(super) fn check(&self, request: &Request) -> Result<()> {
        if request.seeds.is_empty() || request.epochs == Some(0) {
            return Err(Error::new("experiment: seeds and epochs must be at least 1"));
        }
        let known: Vec<&str> = self.methods.iter().map(|method| method.name).collect();
        let Some(name) = request.methods.iter().find(|name| !known.contains(&name.as_str())) else {
            return self.check_elsewhere(request);
        };
        Err(Error::new(format!(
            "experiment: {} has no method \"{name}\"; it has {}{}",
            self.facts.name,
            known.join(", "),
            hint(name, known.iter().copied())
        )))
    }

    /// The requested methods, in the order of the table.
    pub(super) fn chosen(&self, names: &[String]) -> Vec<&Method<P>> {
        let is_requested = |method: &&Method<P>| names.is_empty() || names.iter().any(|name| name == method.name);
        self.methods.iter().filter(is_requested).collect()
    }
}

fn described<P>(method: &Method<P>) -> MethodReport {
    let parameters = match &method.kind {
        Kind::Known(_) => 0,
        Kind::Learnt { nets, .. } => nets().iter().map(Net::parameters).sum(),
    };
    let (name, about, role) = (method.name.into(), method.about.into(), method.role);
    MethodReport { name, about, role, parameters: Some(parameters), trials: Vec::new(), traces: Vec::new() }
}
