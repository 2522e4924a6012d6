//! What the domains have in common: a table of methods, the data of a seed, and the loop over seeds and methods in which every
//! method gets the same rows, the same order and the same number of steps.

use std::rc::Rc;

use serde::Serialize;
use serde_json::Value;

use super::elsewhere::{ExternalMethod, Notation};
use super::net::Net;
use super::report::{ExperimentReport, MethodReport, Trial};
use super::training::trial;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::host;
use crate::train::{Examples, TrainerConfig};

/// How much is drawn and trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// As little as shows that everything runs.
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

    /// Seeds, unless asked otherwise.
    pub fn seeds(self) -> usize {
        match self {
            Self::Contract => 1,
            Self::Smoke => 2,
            Self::Paper => 10,
        }
    }
}

/// What is asked of an experiment.
#[derive(Clone, Debug)]
pub struct Request {
    /// How much.
    pub mode: Size,
    /// The seeds, in order.
    pub seeds: Vec<u64>,
    /// Methods by name; all if none is named.
    pub methods: Vec<String>,
    /// Passes over the training rows in place of the mode's.
    pub epochs: Option<usize>,
    /// Methods that were run elsewhere on the same rows; judged beside the others.
    pub elsewhere: Vec<ExternalMethod>,
}

/// What an experiment is about, in words, and what it measures.
pub(super) struct Description {
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub claim: &'static str,
    /// The method that the claim is made for.
    pub published: &'static str,
    /// The method of this engine's own that stands against it.
    pub ours: &'static str,
    /// The baseline that the claim names, and the metrics it is about.
    pub rival: (&'static str, &'static [&'static str]),
    pub metrics: &'static [Metric],
    pub charts: &'static [Chart],
}

/// One figure per method and seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// Its name in the file.
    pub key: &'static str,
    /// Its name for people.
    pub label: &'static str,
    /// Which way is good.
    pub better: Direction,
    /// Whether the comparison in words tells of it.
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

/// Which way a metric is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Smaller is better.
    Less,
    /// Larger is better.
    More,
    /// It only describes.
    Neither,
}

/// A chart of curves, one or more per method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// What it shows.
    pub title: &'static str,
    /// How to read it.
    pub note: &'static str,
    /// Under the horizontal axis.
    pub x: &'static str,
    /// Beside the vertical axis.
    pub y: &'static str,
    /// Its axes.
    pub shape: Axes,
    /// What becomes of the seeds.
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

/// What becomes of the curves of several seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gathering {
    /// The mean at each place; all seeds have the same places.
    Mean,
    /// The first seed's.
    First,
}

/// A method's curve in a chart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    pub chart: usize,
    pub points: Vec<[f64; 2]>,
}

/// What came of a method on a seed: values in the metrics' order.
pub(super) struct MethodResult {
    pub values: Vec<Option<f64>>,
    pub curves: Vec<Curve>,
    pub more: Value,
}

/// A sentence of the domain's own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Remark {
    /// What was asked.
    pub what: String,
    /// The answer.
    pub answer: String,
}

/// What kind of competitor a method is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Knows the answer.
    Oracle,
    /// Is told part of the answer, so that it competes with nobody.
    Informed,
    /// Learns it without a denominator that may be zero.
    Baseline,
    /// Learns numerator and denominator.
    Projective,
    /// Was run elsewhere: how it learnt is not known here.
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

/// Predictions from outputs, by net, then by output, each row-major.
pub(super) type Decode<P> = fn(&[Vec<Vec<f32>>]) -> P;

/// How a method comes to its predictions.
pub(super) enum Kind<P> {
    /// From the inputs alone.
    Known(fn(&[f32]) -> P),
    /// By nets fitted one after the other.
    Learnt { nets: fn() -> Vec<Net>, decode: Decode<P> },
}

/// A domain with data `D` and predictions `P`.
pub(super) struct Subject<D, P> {
    pub facts: &'static Description,
    pub methods: Vec<Method<P>>,
    /// What is drawn, in figures for the report.
    pub sizes: fn(Size) -> Vec<(&'static str, usize)>,
    pub draw: fn(Size, u64) -> D,
    /// The training rows.
    pub train: fn(&D) -> &Examples,
    pub notation: Notation<D, P>,
    pub config: fn(Size) -> TrainerConfig,
    /// The score that chooses the best epoch; without one the last epoch is kept.
    pub epoch_score: Option<EpochScore<D, P>>,
    /// Inputs that predictions are asked for.
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

/// Tells of a method done with a seed: seed, method, and seconds spent.
pub type Follow<'a> = &'a mut dyn FnMut(u64, &str, f64);

/// Runs every asked method on every seed.
pub(super) async fn run<D: 'static, P: 'static>(
    subject: Subject<D, P>,
    request: &Request,
    device: &Device,
    follow: Follow<'_>,
) -> Result<ExperimentReport> {
    subject.check(request)?;
    // First, since wrong predictions are refused: before anything is trained.
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
    /// Refuses a method that is not in the table, one elsewhere that cannot be told from others, and a request for nothing.
    pub(super) fn check(&self, request: &Request) -> Result<()> {
        if request.seeds.is_empty() || request.epochs == Some(0) {
            return Err(Error::new("experiment: seeds and epochs must be at least 1"));
        }
        let known: Vec<&str> = self.methods.iter().map(|method| method.name).collect();
        let Some(name) = request.methods.iter().find(|name| !known.contains(&name.as_str())) else {
            return self.check_elsewhere(request);
        };
        Err(Error::new(format!(
            "experiment: {} has no method \"{name}\"; it has {}",
            self.facts.name,
            known.join(", ")
        )))
    }

    /// The methods asked for, in the table's order.
    fn chosen(&self, names: &[String]) -> Vec<&Method<P>> {
        let is_asked = |method: &&Method<P>| names.is_empty() || names.iter().any(|name| name == method.name);
        self.methods.iter().filter(is_asked).collect()
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
