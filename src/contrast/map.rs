//! The linear map z = A x under which distances are measured, |A (c - q)|: a metric AᵀA with rotations before it, or a matrix of its own. Whatever its
//! form, a window gives the gradient by A, and the chain from A back to the parameters is that of a matrix of a few hundred rows.

use super::rotors::Rotors;
use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::model::{Initial, Network};
use crate::ops;
use crate::program::expr::{exp, floor, ln, max, min};
use crate::record;
use crate::tensor::Tensor;
use crate::train::Trainer;

/// The form of a metric G = AᵀA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// diag(g): a weight per coordinate, kept as its logarithm.
    Diagonal,
    /// Blocks of 2 to 8 coordinates, each L Lᵀ with a lower triangular L.
    Block(usize),
    /// diag(g) + U diag(λ) Uᵀ of this rank.
    LowRank(usize),
}

record! { enum Metric { Diagonal, Block(_), LowRank(_) } }

/// The form of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A metric, after rotations if there are any.
    Metric(Metric, Option<Rotors>),
    /// A matrix with so many rows.
    Linear(usize),
}

/// What a metric has learned, as its user reads it: weights of 1 and angles of 0 leave distances Euclidean. A matrix of its own and blocks have none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetricParts {
    /// How much the square of each coordinate counts, after the rotations if there are any.
    pub weights: Vec<f32>,
    /// Angles of the plane rotations in radians, in the order in which they are applied.
    pub angles: Vec<f32>,
    /// The two coordinates that each angle turns, [angles, 2].
    pub planes: Vec<u32>,
}

/// The bounds of the weights of a metric.
pub(crate) const WEIGHTS: [f32; 2] = [0.01, 100.0];

/// A map of `inputs` coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map {
    /// Coordinates of a row.
    pub inputs: usize,
    /// Its form.
    pub form: Form,
}

impl Map {
    /// Errors if the form does not fit the number of coordinates.
    pub fn new(inputs: usize, form: Form) -> Result<Self> {
        let wrong = |what: String| Err(Error::usage(format!("contrast: {what}")));
        match form {
            Form::Metric(_, Some(rotors)) if rotors.coordinates != inputs => {
                wrong(format!("rotations: got {} coordinates, expected {inputs}", rotors.coordinates))
            }
            Form::Metric(Metric::Block(size), _) if !(2..=8).contains(&size) || !inputs.is_multiple_of(size) => {
                wrong(format!("metric: got blocks of {size}, expected 2 to 8, a divisor of {inputs} coordinates"))
            }
            Form::Metric(Metric::LowRank(rank), _) if rank == 0 || rank > inputs => {
                wrong(format!("metric: got rank {rank}, expected 1 to {inputs}, the number of coordinates"))
            }
            Form::Linear(0) => wrong("map: got 0 outputs, expected at least 1".into()),
            _ => Ok(Self { inputs, form }),
        }
    }

    /// Coordinates after the map.
    pub fn outputs(&self) -> usize {
        match self.form {
            Form::Metric(Metric::LowRank(rank), _) => self.inputs + rank,
            Form::Metric(..) => self.inputs,
            Form::Linear(outputs) => outputs,
        }
    }

    /// Its parameters with their initial values, with which a metric is Euclidean. `weight` holds the initial values of a matrix, [outputs, inputs].
    #[must_use]
    pub fn parameters(&self, weight: Option<&[f32]>) -> Vec<(String, Initial)> {
        let inputs = self.inputs;
        let mut found: Vec<(&str, Initial)> = Vec::new();
        match self.form {
            Form::Metric(metric, rotors) => {
                match metric {
                    Metric::Diagonal => found.push(("log_metric", Initial::zeros([inputs]))),
                    Metric::Block(size) => {
                        let unit = (0..inputs * size).map(|at| f32::from(u8::from(at % size == at / size % size)));
                        found.push(("blocks", Initial::values([inputs / size, size, size], unit.collect::<Vec<_>>())));
                    }
                    Metric::LowRank(rank) => {
                        found.push(("log_metric", Initial::zeros([inputs])));
                        found.push(("factor", Initial::normal([rank, inputs], 0.01)));
                        found.push(("log_scales", Initial::zeros([rank])));
                    }
                }
                if let Some(rotors) = rotors {
                    found.push(("angles", Initial::zeros([rotors.angles])));
                }
            }
            Form::Linear(outputs) => {
                let shape = [outputs, inputs];
                let drawn = || Initial::normal(shape, 1.0 / (inputs as f64).sqrt());
                found.push(("weight", weight.map_or_else(drawn, |weight| Initial::values(shape, weight))));
            }
        }
        found.into_iter().map(|(name, initial)| (name.to_owned(), initial)).collect()
    }

    /// What the values of its parameters, in their order, say to a reader.
    #[must_use]
    pub fn metric_parts(&self, values: &[&[f32]]) -> MetricParts {
        let Form::Metric(_, rotors) = self.form else { return MetricParts::default() };
        let names = self.parameters(None);
        let of = |name: &str| {
            let found = names.iter().zip(values).find(|((known, _), _)| known == name);
            found.map(|(_, values)| values.to_vec()).unwrap_or_default()
        };
        let weights = of("log_metric").iter().map(|log| log.exp()).collect();
        let plane = |rotors: &Rotors, angle: usize| {
            let (a, b) = rotors.plane(angle);
            [a as u32, b as u32]
        };
        let planes = rotors.iter().flat_map(|rotors| (0..rotors.angles).flat_map(move |angle| plane(rotors, angle)));
        MetricParts { weights, angles: of("angles"), planes: planes.collect() }
    }

    /// The model whose outputs are the mapped coordinates. `weight` holds the initial values of a matrix, [outputs, inputs].
    pub(crate) fn network(self, weight: Option<&[f32]>) -> Network {
        Network::function(self.inputs, self.parameters(weight), move |parameters, x| {
            ops::product(x, &self.matrix(parameters.values()), false, true)
        })
    }

    /// The inverse of the metric AᵀA, [inputs, inputs], of a form with a weight per coordinate.
    ///
    /// Panics for other forms.
    pub(super) fn inverse_metric(&self, parameters: &[Var]) -> Var {
        assert!(self.has_diagonal(), "contrast: got another form, expected a weight per coordinate");
        let opposite: Vec<Var> =
            [ops::neg(&parameters[0])].into_iter().chain(parameters[1..].iter().cloned()).collect();
        let matrix = self.matrix(&opposite);
        ops::product(&matrix, &matrix, true, false)
    }

    /// Whether it has a weight per coordinate, and perhaps rotations before it.
    pub(super) fn has_diagonal(&self) -> bool {
        matches!(self.form, Form::Metric(Metric::Diagonal, _))
    }

    /// A [outputs, inputs], from the values of its parameters in their order.
    ///
    /// Panics if there are fewer values than parameters.
    #[must_use]
    pub fn matrix(&self, parameters: &[Var]) -> Var {
        let Form::Metric(metric, rotors) = self.form else { return parameters[0].clone() };
        let n = self.inputs;
        let frame = match rotors {
            Some(rotors) => {
                let angles = &parameters[parameters.len() - 1];
                rotors.apply(angles, &identity(angles, n))
            }
            None => identity(&parameters[0], n),
        };
        let diagonal = |log: &Var, frame: &Var| {
            let log = ops::reshape(log, [frame.shape().sizes()[0], 1]);
            ops::fused(&[&log, frame], |v| exp(0.5 * v[0]) * v[1])
        };
        match metric {
            Metric::Diagonal => diagonal(&parameters[0], &frame),
            Metric::Block(size) => {
                let blocks = &parameters[0];
                let lower: Vec<f32> = (0..size * size).map(|at| f32::from(u8::from(at % size <= at / size))).collect();
                let mask = Var::constant(Tensor::constant(blocks.value().device(), [1, size, size], &lower));
                let lower = ops::mul(blocks, &mask);
                let rows = ops::reshape(&frame, [n / size, size, n]);
                ops::reshape(&ops::product(&lower, &rows, true, false), [n, n])
            }
            Metric::LowRank(_) => {
                let low = diagonal(&parameters[2], &ops::matmul(&parameters[1], &frame));
                ops::concat(&[&diagonal(&parameters[0], &frame), &low], 0)
            }
        }
    }
}

/// The smallest and the largest weight of the metric of a run, as it is now; `None` for a map without weights of columns: a matrix or blocks.
pub async fn metric_weights(trainer: &Trainer) -> Result<Option<[f64; 2]>> {
    let all = trainer.network().layout().parameters.iter();
    let parts: Vec<_> = all.filter(|one| ["log_metric", "log_scales"].contains(&&*one.name)).collect();
    if parts.is_empty() {
        return Ok(None);
    }
    let flat = trainer.parameters().await?;
    let weights = parts.iter().flat_map(|one| &flat[one.offset..][..one.shape.len()]).map(|log| f64::from(*log).exp());
    Ok(Some(weights.fold([f64::MAX, 0.0], |[least, most], weight| [weight.min(least), weight.max(most)])))
}

/// A parameter after a step of gradient descent at this rate, inside its bounds: weights of a metric in [0.01, 100], angles in [-π, π).
pub fn stepped(name: &str, value: &Var, gradient: &Var, rate: f32) -> Var {
    let [least, most] = WEIGHTS;
    match name {
        // By the weight itself, g' = g - rate dC/dg with dC/dg = dC/d(ln g) / g.
        "log_metric" | "log_scales" => ops::fused(&[value, gradient], |v| {
            let weight = exp(v[0]);
            ln(max(least, min(weight - rate * (v[1] / weight), most)))
        }),
        "angles" => ops::fused(&[value, gradient], |v| {
            let moved = v[0] - rate * v[1];
            moved - floor((moved + PI) * (0.5 / PI)) * (2.0 * PI)
        }),
        _ => ops::fused(&[value, gradient], |v| v[0] - rate * v[1]),
    }
}

const PI: f32 = std::f32::consts::PI;

fn identity(like: &Var, n: usize) -> Var {
    let unit: Vec<f32> = (0..n * n).map(|at| f32::from(u8::from(at / n == at % n))).collect();
    Var::constant(Tensor::constant(like.value().device(), [n, n], &unit))
}
