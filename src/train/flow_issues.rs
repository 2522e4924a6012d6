//! What is wrong with the flow of gradients through a model, by name: gradients that vanish or explode, dead units, numbers that are not finite,
//! activations at their limits, layers whose gradients are of different sizes, and the place where they shrink most.

use std::fmt;

use super::flow::{GradientIssue, TensorGradient};
use crate::program::Program;

/// A ratio of the largest to the smallest layer above this is an imbalance.
const IMBALANCE: f64 = 1e4;
/// A gradient that shrinks by more than this from one layer to the one before it goes through a bottleneck.
const BOTTLENECK: f64 = 100.0;
/// Values within this share of an activation's range from one of its limits are saturated.
const NEAR: f64 = 0.01;
/// A larger share of saturated values, or of units without any change, is an issue.
const MOST: f64 = 0.9;

/// Kinds of issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueType {
    /// Gradients are too small to change a parameter.
    Vanishing,
    /// Gradients are so large that a step overshoots.
    Exploding,
    /// Nearly all entries of a gradient are 0, or nearly all units of a layer give the same value for every row.
    DeadNeurons,
    /// Nearly all values of a bounded activation are at one of its limits, where its slope is nearly 0.
    SaturatedActivations,
    /// The layers' gradients differ by more than a factor of 10,000.
    GradientImbalance,
    /// Gradients shrink to less than a hundredth from one layer to the one before.
    Bottleneck,
    /// Some numbers are not finite.
    NumericalInstability,
}

/// How much an issue matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It may be so on purpose.
    Low,
    /// Training is slower than it could be.
    Medium,
    /// Some layers hardly learn.
    High,
    /// Training fails.
    Critical,
}

impl Severity {
    /// From 0.1 to 1.
    pub fn weight(self) -> f64 {
        match self {
            Self::Low => 0.1,
            Self::Medium => 0.3,
            Self::High => 0.6,
            Self::Critical => 1.0,
        }
    }
}

impl fmt::Display for IssueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vanishing => "vanishing",
            Self::Exploding => "exploding",
            Self::DeadNeurons => "dead",
            Self::SaturatedActivations => "saturated",
            Self::GradientImbalance => "imbalance",
            Self::Bottleneck => "bottleneck",
            Self::NumericalInstability => "not finite",
        })
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowIssue {
    /// What kind it is.
    pub issue_type: IssueType,
    /// How much it matters.
    pub severity: Severity,
    /// The tensors or layers that it is about.
    pub affected: Vec<String>,
    /// What was seen, with numbers.
    pub description: String,
}

impl fmt::Display for FlowIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.issue_type, self.description)
    }
}

/// The values after an activation.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivationFlow {
    /// Its name, such as `layers.1`.
    pub name: String,
    /// Share of values near a limit; `None` if the activation is not bounded on both sides.
    pub saturated: Option<f64>,
    /// Share of units that give the same value for every row.
    pub dead: f64,
}

impl ActivationFlow {
    /// Of values [rows, units] of a function of one input.
    pub fn of(name: impl Into<String>, function: &Program, values: &[f32], units: usize) -> Self {
        let saturated = limits(function).map(|[low, high]| {
            let near = NEAR * (high - low).abs();
            let is_near = |value: &&f32| [low, high].iter().any(|limit| (f64::from(**value) - limit).abs() < near);
            values.iter().filter(is_near).count() as f64 / values.len().max(1) as f64
        });
        let units = units.max(1);
        let is_dead = |unit: &usize| {
            let mut column = values.iter().skip(*unit).step_by(units);
            let first = column.next();
            column.all(|value| Some(value) == first)
        };
        // One row says nothing about units.
        let dead = if values.len() > units { (0..units).filter(is_dead).count() } else { 0 };
        Self { name: name.into(), saturated, dead: dead as f64 / units as f64 }
    }
}

/// The limits of a function of one input on both sides, if it has two and they differ.
fn limits(function: &Program) -> Option<[f64; 2]> {
    let at = |x: f64| function.at(&[x])[0];
    let limit = |side: f64| {
        let (near, far) = (at(20.0 * side), at(40.0 * side));
        (near.is_finite() && (far - near).abs() < 1e-6).then_some(far)
    };
    let [low, high] = [limit(-1.0)?, limit(1.0)?];
    (low != high).then_some([low, high])
}

/// What is wrong with gradients, in the order of their tensors from the first layer to the last, and with activations. Tensors whose names differ behind
/// the last dot only belong to one layer.
pub fn flow_issues(gradients: &[TensorGradient], activations: &[ActivationFlow]) -> Vec<FlowIssue> {
    let mut issues: Vec<FlowIssue> = gradients.iter().filter_map(of_tensor).collect();
    issues.extend(activations.iter().flat_map(of_activation));
    let layers = layers(gradients);
    issues.extend(bottleneck(&layers));
    issues.extend(imbalance(&layers));
    issues.sort_by_key(|issue| std::cmp::Reverse(issue.severity));
    issues
}

fn of_tensor(one: &TensorGradient) -> Option<FlowIssue> {
    let TensorGradient { name, rms, zeros, not_finite, issue, .. } = one;
    let (issue_type, severity, seen) = match issue.as_ref()? {
        GradientIssue::NotFinite => {
            (IssueType::NumericalInstability, Severity::Critical, format!("{not_finite} entries are not finite"))
        }
        GradientIssue::Exploding => (IssueType::Exploding, Severity::High, format!("root mean square {rms:.1e}")),
        GradientIssue::Vanishing => (IssueType::Vanishing, Severity::High, format!("root mean square {rms:.1e}")),
        GradientIssue::Dead => {
            (IssueType::DeadNeurons, Severity::Medium, format!("{:.0} % of its entries are 0", 100.0 * zeros))
        }
    };
    Some(FlowIssue { issue_type, severity, affected: vec![name.clone()], description: format!("{name}: {seen}") })
}

fn of_activation(one: &ActivationFlow) -> Vec<FlowIssue> {
    let ActivationFlow { name, saturated, dead } = one;
    let issue = |issue_type, seen: String| FlowIssue {
        issue_type,
        severity: Severity::Medium,
        affected: vec![name.clone()],
        description: format!("{name}: {seen}"),
    };
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let saturated = saturated.filter(|share| *share > MOST).map(|share| {
        issue(IssueType::SaturatedActivations, format!("{} of its values are at a limit", percent(share)))
    });
    let dead = (*dead > MOST && saturated.is_none())
        .then(|| issue(IssueType::DeadNeurons, format!("{} of its units are the same for every row", percent(*dead))));
    saturated.into_iter().chain(dead).collect()
}

/// The largest root mean square of each layer; layers without one that can be compared are left out.
fn layers(gradients: &[TensorGradient]) -> Vec<(&str, f64)> {
    let layer = |one: &TensorGradient| one.name.rfind('.').unwrap_or(one.name.len());
    let runs = gradients.chunk_by(|a, b| a.name[..layer(a)] == b.name[..layer(b)]);
    let largest = runs.map(|run| {
        let size = run.iter().filter(|one| one.not_finite == 0).map(|one| one.rms).fold(0.0, f64::max);
        (&run[0].name[..layer(&run[0])], size)
    });
    largest.filter(|(_, size)| *size > 0.0).collect()
}

/// The place where the gradient shrinks most on its way from the last layer to the first.
fn bottleneck(layers: &[(&str, f64)]) -> Option<FlowIssue> {
    let drops = layers.windows(2).map(|two| (two[1].1 / two[0].1, two[0].0, two[1].0));
    let (drop, before, after) = drops.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (drop > BOTTLENECK).then(|| FlowIssue {
        issue_type: IssueType::Bottleneck,
        severity: Severity::Medium,
        affected: vec![before.to_owned(), after.to_owned()],
        description: format!("from {after} back to {before} the gradient shrinks by a factor of {drop:.0}"),
    })
}

fn imbalance(layers: &[(&str, f64)]) -> Option<FlowIssue> {
    let largest = layers.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let smallest = layers.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let ratio = largest.1 / smallest.1;
    (ratio > IMBALANCE).then(|| FlowIssue {
        issue_type: IssueType::GradientImbalance,
        severity: Severity::Medium,
        affected: vec![largest.0.to_owned(), smallest.0.to_owned()],
        description: format!(
            "{} has a gradient {ratio:.1e} times that of {}; last to first layer {:.1e}",
            largest.0,
            smallest.0,
            layers[layers.len() - 1].1 / layers[0].1
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Activation;

    fn of(name: &str, rms: f64) -> TensorGradient {
        TensorGradient { name: name.into(), rms, largest: rms, zeros: 0.0, not_finite: 0, issue: None }
    }

    fn kinds(issues: &[FlowIssue]) -> Vec<(IssueType, Vec<&str>)> {
        issues.iter().map(|one| (one.issue_type, one.affected.iter().map(String::as_str).collect())).collect()
    }

    #[test]
    fn a_drop_between_layers_is_a_bottleneck_and_a_wide_range_an_imbalance() {
        let gradients = [
            of("layers.0.weight", 1e-6),
            of("layers.0.bias", 2e-6),
            of("layers.2.weight", 1e-3),
            of("layers.4.weight", 0.05),
        ];
        let issues = flow_issues(&gradients, &[]);
        let expected = [
            (IssueType::Bottleneck, vec!["layers.0", "layers.2"]),
            (IssueType::GradientImbalance, vec!["layers.4", "layers.0"]),
        ];
        assert_eq!(kinds(&issues), expected);
        assert_eq!(issues[0].description, "from layers.2 back to layers.0 the gradient shrinks by a factor of 500");
        assert!(issues[1].description.contains("2.5e4 times"), "0.05 over 2e-6");
        assert!(flow_issues(&[of("a", 1e-3), of("b", 0.09)], &[]).is_empty());
    }

    #[test]
    fn bounded_activations_saturate_and_units_die() {
        let of = |activation: Activation, values: &[f32]| {
            ActivationFlow::of("layers.1", &activation.curve().value, values, 2)
        };
        // The range of tanh is 2 wide, so that 0.02 from a limit is near.
        let tanh = of(Activation::tanh(), &[0.985, -0.99, 1.0, 0.97]);
        assert_eq!((tanh.saturated, tanh.dead), (Some(0.75), 0.0));
        let relu = of(Activation::relu(), &[0.0, 0.0, 0.0, 3.0]);
        assert_eq!((relu.saturated, relu.dead), (None, 0.5));
        let all = [ActivationFlow { saturated: Some(0.95), ..tanh }, ActivationFlow { dead: 1.0, ..relu }];
        let issues = flow_issues(&[], &all);
        assert_eq!(
            kinds(&issues),
            [(IssueType::SaturatedActivations, vec!["layers.1"]), (IssueType::DeadNeurons, vec!["layers.1"])]
        );
        assert_eq!(issues[0].to_string(), "saturated: layers.1: 95 % of its values are at a limit");
    }
}
