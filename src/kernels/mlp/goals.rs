//! Functions and losses for the cases of the perceptron's kernels, each with its oracle in plain f64.

use std::sync::Arc;

use super::pairs::rule::PairRule;
use super::row_goal::RowGoal;
use crate::program::expr::{clamp, relu, sigmoid, square, tanh};
use crate::program::{Curve, Expr};

/// A function of one value and its oracle.
#[derive(Clone)]
pub struct Function {
    /// The formula that the kernels use.
    pub curve: Arc<Curve>,
    /// The oracle in plain f64.
    pub oracle: fn(f64) -> f64,
}

impl Function {
    pub(crate) fn tanh() -> Self {
        Self { curve: Arc::new(Curve::build("tanh(x)", 1, |x| tanh(x[0]))), oracle: f64::tanh }
    }

    pub(crate) fn silu() -> Self {
        let curve = Curve::build("x*sigmoid(x)", 1, |x| x[0] * sigmoid(x[0]));
        Self { curve: Arc::new(curve), oracle: |x| x / (1.0 + (-x).exp()) }
    }

    pub(super) fn relu() -> Self {
        Self { curve: Arc::new(Curve::build("relu(x)", 1, |x| relu(x[0]))), oracle: |x| x.max(0.0) }
    }

    pub(super) fn identity() -> Self {
        Self { curve: Arc::new(Curve::build("x", 1, |x| x[0])), oracle: |x| x }
    }
}

/// The goal of a case, and its oracle.
#[derive(Clone)]
pub(crate) enum Goal {
    Pointwise(Pointwise),
    CrossEntropy(f32),
    Pairs(PairRule),
}

/// A pointwise loss and its oracle.
#[derive(Clone)]
pub struct Pointwise {
    /// The formula that the kernels use.
    pub curve: Arc<Curve>,
    /// The oracle in plain f64.
    pub oracle: Arc<dyn Fn(f64, f64) -> f64>,
    /// Whether targets are probabilities, in [0, 1].
    pub takes_probabilities: bool,
}

impl Pointwise {
    pub(super) fn squares() -> Self {
        let curve = Arc::new(Curve::build("square(p - y)", 2, |v| square(v[0] - v[1])));
        Self { curve, oracle: Arc::new(|p, y| (p - y).powi(2)), takes_probabilities: false }
    }

    pub(super) fn held() -> Self {
        let body = |v: &[Expr]| {
            let near = clamp(v[0] - v[1], -0.4, 0.4);
            near * (v[0] - v[1] - 0.5 * near)
        };
        let oracle = |p: f64, y: f64| {
            let size = (p - y).abs();
            if size < 0.4 { 0.5 * size * size } else { 0.4 * (size - 0.2) }
        };
        Self { curve: Arc::new(Curve::build("held", 2, body)), oracle: Arc::new(oracle), takes_probabilities: false }
    }
}

impl Goal {
    pub(crate) fn goal(&self) -> RowGoal {
        match self {
            Self::Pointwise(loss) => RowGoal::Pointwise(loss.curve.clone()),
            Self::CrossEntropy(smoothing) => RowGoal::CrossEntropy { smoothing: *smoothing },
            Self::Pairs(rule) => RowGoal::Pairs(*rule),
        }
    }

    pub(super) fn is_class(&self) -> bool {
        matches!(self, Self::CrossEntropy(_))
    }

    pub(super) fn takes_probabilities(&self) -> bool {
        matches!(self, Self::Pointwise(loss) if loss.takes_probabilities)
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::Pointwise(loss) => loss.curve.text.clone(),
            other => format!("{:?}", other.goal()),
        }
    }
}

/// The slope of a function in f64.
pub(super) fn slope(function: &dyn Fn(f64) -> f64, x: f64) -> f64 {
    const H: f64 = 1e-6;
    (function(x + H) - function(x - H)) / (2.0 * H)
}

/// A row's weighted loss, its weight, and the gradient with respect to z.
pub(super) fn grade(goal: &Goal, z: &[f64], y: &[f64], weights: &[f64]) -> (f64, f64, Vec<f64>) {
    let count = z.len() as f64;
    match goal {
        Goal::CrossEntropy(smoothing) => {
            let (smoothing, class) = (f64::from(*smoothing), y[0] as usize);
            let mass: f64 = z.iter().map(|z| z.exp()).sum();
            let own = |c: usize| f64::from(u8::from(c == class));
            let weight = weights[class];
            let q: Vec<f64> = (0..z.len()).map(|c| (1.0 - smoothing) * own(c) + smoothing / count).collect();
            let value: f64 = q.iter().zip(z).map(|(q, z)| -q * (z - mass.ln())).sum();
            (weight * value, weight, q.iter().zip(z).map(|(q, z)| weight * (z.exp() / mass - q)).collect())
        }
        Goal::Pointwise(loss) => {
            let values: f64 = z.iter().zip(y).map(|(&z, &y)| (loss.oracle)(z, y)).sum();
            let slopes = z.iter().zip(y).map(|(&z, &y)| slope(&|z| (loss.oracle)(z, y), z) / count);
            (values / count, 1.0, slopes.collect())
        }
        Goal::Pairs(_) => unreachable!("pairs have their own oracle"),
    }
}
