//! What an experiment is, as plain data: its size, its metrics and charts, the roles of its methods.

use serde::Serialize;

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

/// A question and answer specific to the domain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Remark {
    /// The question.
    pub what: String,
    /// The answer.
    pub answer: String,
}
