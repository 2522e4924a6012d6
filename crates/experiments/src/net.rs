//! The model of a method: a perceptron, a head in ops with parameters of its own, and a loss, made into a `Network` for the trainer.
//! These heads divide, or return numerator and denominator apart; the engine's ordinary models need none of them.

use super::random::{Purpose, Stream};
use meromorph::autograd::Var;
use meromorph::model::{Batch, Initial, Network, Parameters};
use meromorph::nn::{self, Init, Layout, Pass, Spec};
use meromorph::tensor::Shape;

/// The outputs, each [rows, columns], for inputs [rows, columns].
pub(super) type Head = Box<dyn Fn(&Parts<'_>, &Var) -> Vec<Var>>;
/// The loss, of shape [1], of the outputs and the batch.
pub(super) type Loss = Box<dyn Fn(&[Var], &Batch) -> Var>;

/// A trainable model.
pub(super) struct Net {
    /// The perceptron below the head.
    pub body: Spec,
    /// The head's parameters, in order.
    pub extras: Vec<Extra>,
    /// Computes the outputs.
    pub head: Head,
    /// The loss.
    pub loss: Loss,
    /// Changes the initial weights, which lie as the layout says.
    pub adjust: Option<fn(&Layout, &mut [f32])>,
}

/// A parameter of a head.
pub(super) struct Extra {
    /// Its shape.
    pub shape: Shape,
    /// Its initial values.
    pub start: Start,
}

/// The initial values of a head's parameter.
pub(super) enum Start {
    /// Normal with mean 0 and this deviation.
    Normal(f64),
    /// Uniform between minus and plus this.
    Uniform(f64),
    /// These values.
    Values(Vec<f32>),
}

/// What a head computes with.
pub(super) struct Parts<'a> {
    spec: &'a Spec,
    weights: &'a [Var],
    /// The head's parameters.
    pub extras: &'a [Var],
}

impl Parts<'_> {
    /// The outputs of the perceptron.
    pub(super) fn body(&self, x: &Var) -> Var {
        nn::forward(self.spec, self.weights, x, &Pass::Predict)
    }
}

impl Net {
    /// All parameters: those of the perceptron, then those of the head.
    fn layout(&self) -> Layout {
        let body = Layout::of(&self.body).parameters.into_iter().map(|own| (own.name, own.shape, own.init));
        let named = |(at, extra): (usize, &Extra)| (format!("head.{at}"), extra.shape.clone(), Init::Zero);
        Layout::named(body.chain(self.extras.iter().enumerate().map(named)))
    }

    /// Number of parameter values.
    pub(super) fn parameters(&self) -> usize {
        self.layout().count()
    }

    /// The model as the trainer takes it, for `inputs` values per row, with the initial values of a seed.
    pub(super) fn network(self, inputs: usize, seed: u64) -> Network {
        let layout = self.layout();
        let flat = self.initialise(&layout, seed);
        let initial = layout.parameters.iter().map(|parameter| {
            let values = layout.slice(parameter, &flat);
            (parameter.name.clone(), Initial::values(parameter.shape.clone(), values))
        });
        let (body, head, loss) = (self.body, self.head, self.loss);
        let weights = layout.parameters.len() - self.extras.len();
        let forward = move |parameters: &Parameters, x: &Var| {
            let (weights, extras) = parameters.values().split_at(weights);
            head(&Parts { spec: &body, weights, extras }, x)
        };
        Network::function(inputs, initial, forward).with_loss(loss)
    }

    /// The flat initial values: the perceptron's from its own initialisers, the head's from a stream of their own.
    fn initialise(&self, layout: &Layout, seed: u64) -> Vec<f32> {
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
            adjust(layout, &mut flat);
        }
        flat
    }
}
