//! What a method trains: a perceptron, a head in ops with a few parameters of its own, and what is made small.
//! The heads here divide, or leave numerator and denominator apart; the engine's ordinary models need none of this.

use crate::autograd::Var;
use crate::nn::{self, Init, Layout, Parameter, Pass, Spec};
use crate::tensor::Shape;

use super::random::{Purpose, Stream};

/// Outputs, each [rows, columns], of inputs [rows, columns].
pub(super) type Head = Box<dyn Fn(&Parts<'_>, &Var) -> Vec<Var>>;
/// What is made small, of shape [1], from the outputs and the batch.
pub(super) type Cost = Box<dyn Fn(&[Var], &Batch) -> Var>;

/// A trainable model.
pub(super) struct Net {
    /// The perceptron below the head.
    pub body: Spec,
    /// Parameters of the head, in order.
    pub extras: Vec<Extra>,
    /// What is made of the perceptron.
    pub head: Head,
    /// What is made small.
    pub loss: Cost,
    /// Changes the first weights, which lie as the layout says.
    pub adjust: Option<fn(&Layout, &mut [f32])>,
}

/// A parameter of a head.
pub(super) struct Extra {
    /// Its shape.
    pub shape: Shape,
    /// How it starts.
    pub start: Start,
}

/// How a head's parameter starts.
pub(super) enum Start {
    /// Normal with mean 0 and this deviation.
    Normal(f64),
    /// Uniform between minus and plus this.
    Uniform(f64),
    /// These values.
    Values(Vec<f32>),
}

/// What a head is made of in one pass.
pub(super) struct Parts<'a> {
    spec: &'a Spec,
    weights: &'a [Var],
    /// The head's own parameters.
    pub extras: &'a [Var],
}

impl Parts<'_> {
    /// The perceptron's outputs.
    pub(super) fn body(&self, x: &Var) -> Var {
        nn::forward(self.spec, self.weights, x, &Pass::Predict)
    }
}

/// The rows of one step.
pub(super) struct Batch {
    /// [rows, inputs].
    pub x: Var,
    /// [rows, targets].
    pub y: Var,
    /// [rows, 1]: 1, or 0 for a row repeated to fill the last batch.
    pub weight: Var,
}

impl Net {
    /// Where all parameters lie: the perceptron's, then the head's.
    pub(super) fn layout(&self) -> Layout {
        let mut layout = Layout::of(&self.body);
        for (at, extra) in self.extras.iter().enumerate() {
            let (name, shape, offset) = (format!("head.{at}"), extra.shape.clone(), layout.total);
            layout.total += shape.len().next_multiple_of(64);
            layout.parameters.push(Parameter { name, shape, offset, init: Init::Zero, fan: (1, 1) });
        }
        layout
    }

    /// Number of parameter values.
    pub(super) fn parameters(&self) -> usize {
        self.layout().count()
    }

    /// The flat first values of a seed.
    pub(super) fn start(&self, seed: u64) -> Vec<f32> {
        let layout = self.layout();
        let mut flat = nn::initialise(&Layout::of(&self.body), seed);
        flat.resize(layout.total, 0.0);
        let mut stream = Stream::new(seed, Purpose::Weights);
        let own = &layout.parameters[layout.parameters.len() - self.extras.len()..];
        for (parameter, extra) in own.iter().zip(&self.extras) {
            let place = &mut flat[parameter.offset..parameter.offset + parameter.shape.len()];
            match &extra.start {
                Start::Normal(deviation) => place.fill_with(|| (deviation * stream.normal()) as f32),
                Start::Uniform(bound) => place.fill_with(|| stream.between(-bound, *bound) as f32),
                Start::Values(values) => place.copy_from_slice(values),
            }
        }
        if let Some(adjust) = self.adjust {
            adjust(&layout, &mut flat);
        }
        flat
    }

    /// The outputs for parameters in the layout's order.
    pub(super) fn forward(&self, parameters: &[Var], x: &Var) -> Vec<Var> {
        let (weights, extras) = parameters.split_at(parameters.len() - self.extras.len());
        (self.head)(&Parts { spec: &self.body, weights, extras }, x)
    }
}
