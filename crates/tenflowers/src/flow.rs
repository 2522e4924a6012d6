//! Gradient flow by the guide's names: what is wrong with the gradients of a loss and with the values on the way to it, in words and as a picture.

use std::fmt;

use pollster::block_on;

use super::tape::GradientTape;
use super::value::AsVar;
use meromorph::autograd::{Applied, Var, applied};
use meromorph::error::{Error, Result};
use meromorph::internal::json::Record;
use meromorph::program::Program;
use meromorph::report::{Chart, bars};
use meromorph::train::{ActivationFlow, FlowIssue, GradientIssue, TensorGradient, flow_issues};

/// Looks for gradients that vanish, explode, are zero or no numbers, for values at the limits of their function, and for layers whose gradients are out of
/// balance.
///
/// ```
/// use meromorph_tenflowers::{GradientFlowVisualizer, GradientTape};
/// use meromorph::prelude::*;
///
/// let tape = GradientTape::new();
/// let [a, b, c] = [1.0, 2.0, 3.0].map(|x| tape.watch(vec![x, x]));
/// let tiny = ops::fused(&[&c], |v| v[0] * 1e-9);
/// let loss = ops::sum(&ops::add(&ops::mul(&a, &b), &tiny), 0..1);
/// let mut visualizer = GradientFlowVisualizer::new();
/// visualizer.analyze_flow(&tape, &loss, &[("a", a), ("b", b), ("c", c)])?;
/// let health = visualizer.get_health_summary()?;
/// assert!(health.to_string().starts_with("2 of 3 gradients are sound; vanishing: c: root mean square 1.0e-9"));
/// assert!(visualizer.to_svg()?.starts_with("<svg"));
/// # Ok::<(), Error>(())
/// ```
#[derive(Default)]
pub struct GradientFlowVisualizer {
    analysis: Option<FlowAnalysis>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowAnalysis {
    /// The gradient of each parameter, in their order; a parameter without a gradient has one of zeros.
    pub gradients: Vec<TensorGradient>,
    /// The results of functions of one value on the way to the loss, such as tanh, by their place among them: `map 1`, `map 2`, …
    pub activations: Vec<ActivationFlow>,
    /// What is wrong, the worst first.
    pub issues: Vec<FlowIssue>,
    /// Numbers of the whole.
    pub statistics: FlowStatistics,
}

/// Numbers of a history and of the gradients through it.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowStatistics {
    /// Values that the loss was computed from, with the parameters.
    pub total_nodes: usize,
    /// Inputs of all ops among them.
    pub total_edges: usize,
    /// Ops on the longest path from a parameter to the loss.
    pub depth: usize,
    /// Mean of the root mean squares of all gradients.
    pub average_gradient_magnitude: f64,
    /// The largest of them.
    pub max_gradient_magnitude: f64,
    /// The smallest of them.
    pub min_gradient_magnitude: f64,
    /// Percent of the gradients that vanish.
    pub vanishing_percentage: f64,
    /// Percent of the gradients that explode.
    pub exploding_percentage: f64,
}

/// What is wrong, in short.
#[derive(Clone, Debug, PartialEq)]
pub struct HealthSummary {
    /// From 0 to 1; 1 if nothing is wrong. Each issue takes its severity times the share of the tensors and activations that it affects, at least the
    /// worst one's tenth.
    pub score: f64,
    /// Number of gradients.
    pub total: usize,
    /// Number of gradients without an issue of their own.
    pub sound: usize,
    /// The issues, the worst first.
    pub issues: Vec<FlowIssue>,
}

/// A parameter, with a name or without one.
pub trait FlowSource {
    /// Its value.
    fn source(&self) -> &Var;
    /// Its name.
    fn name(&self, at: usize) -> String;
}

impl<T: AsVar> FlowSource for T {
    fn source(&self) -> &Var {
        self.var()
    }

    fn name(&self, at: usize) -> String {
        format!("parameter {at}")
    }
}

impl<N: AsRef<str>, T: AsVar> FlowSource for (N, T) {
    fn source(&self) -> &Var {
        self.1.var()
    }

    fn name(&self, _: usize) -> String {
        self.0.as_ref().to_owned()
    }
}

impl GradientFlowVisualizer {
    /// With the thresholds of [`GradientIssue`] and [`IssueType`](meromorph::train::IssueType).
    pub fn new() -> Self {
        Self::default()
    }

    /// Computes and reads the gradients of a loss with respect to parameters, from the first layer to the last, with names or without, and the values on
    /// the way.
    pub fn analyze_flow(
        &mut self,
        tape: &GradientTape,
        loss: &impl AsVar,
        parameters: &[impl FlowSource],
    ) -> Result<()> {
        let sources: Vec<&Var> = parameters.iter().map(FlowSource::source).collect();
        let mut named = Vec::new();
        for (at, (parameter, gradient)) in parameters.iter().zip(tape.gradient(&[loss], &sources)?).enumerate() {
            let values = match gradient {
                Some(gradient) => gradient.to_vec()?,
                None => vec![0.0; parameter.source().shape().len()],
            };
            named.push((parameter.name(at), values));
        }
        let gradients = TensorGradient::of_all(&named);
        let ops = applied(&[loss.var()]);
        let activations = activations(&ops)?;
        let issues = flow_issues(&gradients, &activations);
        let statistics = FlowStatistics::of(&gradients, &ops, &sources);
        self.analysis = Some(FlowAnalysis { gradients, activations, issues, statistics });
        Ok(())
    }

    /// What the last analysis found; `None` before the first.
    pub fn flow_analysis(&self) -> Option<&FlowAnalysis> {
        self.analysis.as_ref()
    }

    fn known(&self, place: &str) -> Result<&FlowAnalysis> {
        let expected = || Error::usage(format!("{place}: nothing is analysed: expected analyze_flow before"));
        self.flow_analysis().ok_or_else(expected)
    }

    /// What is wrong, in short. Errors before the first analysis, as the calls below do.
    pub fn get_health_summary(&self) -> Result<HealthSummary> {
        self.known("get_health_summary").map(FlowAnalysis::health)
    }

    /// The gradients as a picture for a page.
    pub fn to_svg(&self) -> Result<String> {
        self.known("to_svg").map(|analysis| analysis.chart().svg())
    }

    /// The same for a terminal, with what is wrong below.
    pub fn to_text(&self) -> Result<String> {
        let analysis = self.known("to_text")?;
        let issues: Vec<String> = analysis.issues.iter().map(ToString::to_string).collect();
        Ok(format!("{}\n{}", analysis.chart().text(), issues.join("\n")))
    }
}

impl FlowAnalysis {
    /// The root mean square of each gradient as a bar.
    pub fn chart(&self) -> Chart {
        let sizes: Vec<(String, f64)> = self.gradients.iter().map(|one| (one.name.clone(), one.rms)).collect();
        bars("Gradients", "root mean square", &sizes)
    }

    /// What is wrong, in short.
    pub fn health(&self) -> HealthSummary {
        let total = self.gradients.len();
        let all = (total + self.activations.len()).max(1) as f64;
        let lost = |issue: &FlowIssue| issue.severity.weight() * (issue.affected.len() as f64 / all).clamp(0.1, 1.0);
        HealthSummary {
            score: (1.0 - self.issues.iter().map(lost).sum::<f64>()).max(0.0),
            total,
            sound: self.gradients.iter().filter(|one| one.issue.is_none()).count(),
            issues: self.issues.clone(),
        }
    }
}

impl fmt::Display for HealthSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} gradients are sound", self.sound, self.total)?;
        self.issues.iter().try_for_each(|issue| write!(f, "; {issue}"))
    }
}

/// How the results of functions of one tracked value lie.
fn activations(ops: &[Applied]) -> Result<Vec<ActivationFlow>> {
    let mut flows = Vec::new();
    for applied in ops {
        let Some(function) = function(applied) else { continue };
        let values = block_on(applied.output.value().to_f32())?;
        let units = applied.output.shape().sizes().last().copied().unwrap_or(1);
        flows.push(ActivationFlow::of(format!("map {}", flows.len() + 1), &function, &values, units));
    }
    Ok(flows)
}

/// The function of an op on one value that is not linear.
fn function(applied: &Applied) -> Option<Program> {
    let attributes =
        (applied.op.name() == "map" && applied.inputs.len() == 1).then(|| applied.op.attributes().ok())??;
    let mut program = Program::blank();
    program.read(attributes.get("program")?).ok()?;
    let [a, b, c] = [-1.0, 0.5, 2.0].map(|x| program.at(&[x])[0]);
    let is_linear = ((b - a) / 1.5 - (c - b) / 1.5).abs() < 1e-9 * (1.0 + (c - a).abs());
    (!is_linear).then_some(program)
}

impl FlowStatistics {
    fn of(gradients: &[TensorGradient], ops: &[Applied], sources: &[&Var]) -> Self {
        let mut depths: Vec<(Option<u64>, usize)> = sources.iter().map(|source| (source.id(), 0)).collect();
        for applied in ops {
            let known = |input: &Var| depths.iter().rfind(|(id, _)| id.is_some() && *id == input.id());
            let deepest = applied.inputs.iter().filter_map(known).map(|(_, depth)| depth + 1).max();
            depths.extend(deepest.map(|depth| (applied.output.id(), depth)));
        }
        let sizes = || gradients.iter().map(|one| one.rms);
        let count = gradients.len().max(1) as f64;
        let percent = |issue| 100.0 * gradients.iter().filter(|one| one.issue == Some(issue)).count() as f64 / count;
        Self {
            total_nodes: ops.len() + sources.len(),
            total_edges: ops.iter().map(|applied| applied.inputs.len()).sum(),
            depth: depths.iter().map(|(_, depth)| *depth).max().unwrap_or(0),
            average_gradient_magnitude: sizes().sum::<f64>() / count,
            max_gradient_magnitude: sizes().fold(0.0, f64::max),
            min_gradient_magnitude: sizes().reduce(f64::min).unwrap_or(0.0),
            vanishing_percentage: percent(GradientIssue::Vanishing),
            exploding_percentage: percent(GradientIssue::Exploding),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meromorph::ops;
    use meromorph::train::IssueType;

    /// Three layers of one unit: the loss is w2 · tanh(w1 · tanh(w0 · x)), and w0 · x = 20 saturates the first.
    #[test]
    fn a_saturated_layer_is_named_and_so_is_where_gradients_shrink() -> Result<()> {
        let tape = GradientTape::new();
        let [first, second, third] = [20.0, 0.5, 1.0].map(|w| tape.watch([w]));
        let tanh = |x: &Var| ops::fused(&[x], |v| meromorph::program::expr::tanh(v[0]));
        let a = tanh(&ops::mul(&first, &tape.constant([1], &[1.0])?));
        let b = tanh(&ops::mul(&second, &a));
        let loss = ops::mul(&third, &b);
        let mut visualizer = GradientFlowVisualizer::new();
        assert!(visualizer.flow_analysis().is_none() && visualizer.get_health_summary().is_err());
        visualizer.analyze_flow(&tape, &loss, &[("first", first), ("second", second), ("third", third)])?;
        let analysis = visualizer.flow_analysis().expect("an analysis");
        let kinds: Vec<IssueType> = analysis.issues.iter().map(|issue| issue.issue_type).collect();
        assert!(kinds.contains(&IssueType::SaturatedActivations), "{kinds:?}");
        assert_eq!(analysis.activations.iter().map(|one| one.saturated).collect::<Vec<_>>(), [Some(1.0), Some(0.0)]);
        // first → mul → tanh → mul → tanh → mul.
        let FlowStatistics { total_nodes, total_edges, depth, max_gradient_magnitude, .. } = analysis.statistics;
        assert_eq!((total_nodes, total_edges, depth), (8, 8, 5));
        // The slope by w1 is 1 - tanh²(0.5) = 0.7864, that by w2 tanh(0.5) = 0.4621.
        assert!((max_gradient_magnitude - 0.7864).abs() < 1e-4);
        assert!(visualizer.to_text()?.contains("third") && visualizer.get_health_summary()?.score < 1.0);
        Ok(())
    }
}
