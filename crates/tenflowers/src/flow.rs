//! Gradient flow by the guide's names.

use std::fmt;

use super::tape::GradientTape;
use meromorph::autograd::Var;
use meromorph::error::Result;
use meromorph::train::{GradientIssue, TensorGradient};

/// Looks for gradients that vanish, explode, are zero or no numbers.
///
/// ```
/// use meromorph_tenflowers::{GradientFlowVisualizer, GradientTape};
/// use meromorph::prelude::*;
///
/// let tape = GradientTape::new();
/// let [a, b, c] = [1.0, 2.0, 3.0].map(|x| Tensor::from_f32(tape.device(), [2], &[x, x]).map(|x| tape.watch(x)));
/// let (a, b, c) = (a?, b?, c?);
/// let tiny = ops::fused(&[&c], |v| v[0] * 1e-9);
/// let loss = ops::sum(&ops::add(&ops::mul(&a, &b), &tiny), 0..1);
/// let visualizer = GradientFlowVisualizer::new();
/// let analysis = pollster::block_on(visualizer.analyze_flow(&tape, &loss, &[("a", &a), ("b", &b), ("c", &c)]))?;
/// let health = analysis.get_health_summary();
/// assert_eq!(health.to_string(), "2 of 3 gradients are sound; c: vanishing");
/// # Ok::<(), Error>(())
/// ```
#[derive(Default)]
pub struct GradientFlowVisualizer;

/// The gradient of each parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowAnalysis {
    /// In the order of the parameters; a parameter without a gradient has one of zeros.
    pub gradients: Vec<TensorGradient>,
}

/// What is wrong with which gradients.
#[derive(Clone, Debug, PartialEq)]
pub struct HealthSummary {
    /// Number of gradients.
    pub total: usize,
    /// Names of parameters and what is wrong.
    pub issues: Vec<(String, GradientIssue)>,
}

impl GradientFlowVisualizer {
    /// With the thresholds of [`GradientIssue`].
    pub fn new() -> Self {
        Self
    }

    /// Computes and reads the gradients of a loss with respect to named parameters.
    pub async fn analyze_flow(
        &self,
        tape: &GradientTape,
        loss: &Var,
        parameters: &[(&str, &Var)],
    ) -> Result<FlowAnalysis> {
        let sources: Vec<&Var> = parameters.iter().map(|(_, parameter)| *parameter).collect();
        let mut named = Vec::new();
        for ((name, parameter), gradient) in parameters.iter().zip(tape.gradient(&[loss], &sources)?) {
            let values = match gradient {
                Some(gradient) => gradient.value().to_f32().await?,
                None => vec![0.0; parameter.shape().len()],
            };
            named.push(((*name).to_owned(), values));
        }
        Ok(FlowAnalysis { gradients: TensorGradient::of_all(&named) })
    }
}

impl FlowAnalysis {
    /// What is wrong.
    pub fn get_health_summary(&self) -> HealthSummary {
        let issues = self.gradients.iter().filter_map(|one| Some((one.name.clone(), one.issue?)));
        HealthSummary { total: self.gradients.len(), issues: issues.collect() }
    }
}

impl fmt::Display for HealthSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} gradients are sound", self.total - self.issues.len(), self.total)?;
        self.issues.iter().try_for_each(|(name, issue)| write!(f, "; {name}: {issue}"))
    }
}
