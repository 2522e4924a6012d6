//! Layout of the parameters in one flat buffer. Every tensor starts at a multiple of 64 words, the portable binding
//! alignment; the padding in between stays zero.

use super::activation::Activation;
use super::head::HeadForm;
use super::kind::{LayerKind, NewParameter, parameters_of};
use super::layer::{Layer, kinds};
use super::spec::Spec;
use crate::autograd::Var;
use crate::device::{Device, View};
use crate::graph::Init;
use crate::kernels::mlp::{self, Mlp};
use crate::tensor::{Shape, Tensor};

/// Alignment of a parameter's start in words: 256 bytes.
const ALIGN: usize = 64;

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its stable name: `layers.0.weight`.
    pub name: String,
    /// Its shape; a weight is [outputs, inputs].
    pub shape: Shape,
    /// Its first word in the flat buffer.
    pub offset: usize,
    /// Its initialisation.
    pub init: Init,
    /// Inputs and outputs of its layer, for the initialisation.
    pub fan: (usize, usize),
    /// Whether it is a running statistic, which a step sets and no gradient changes.
    pub is_statistic: bool,
}

/// All parameters of a model, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// Words of the flat buffer.
    pub total: usize,
}

impl Layout {
    /// The layout of a spec.
    pub fn of(spec: &Spec) -> Self {
        let mut layout = Self { parameters: Vec::new(), total: 0 };
        let layers = kinds(&spec.layers);
        // A model that is one function keeps the names that its author gave.
        let own = match &spec.layers[..] {
            [Layer::Function(graph)] => graph.parameters(spec.inputs),
            _ => parameters_of(&layers, spec.inputs, "layers"),
        };
        for NewParameter { name, shape, init, fan, is_statistic } in own {
            layout.push(name, shape, init, fan);
            layout.parameters.last_mut().expect("just added").is_statistic = is_statistic;
        }
        layout
    }

    /// Parameters with these names, shapes and initialisations, in order.
    pub fn named(parameters: impl IntoIterator<Item = (String, Shape, Init)>) -> Self {
        let mut layout = Self { parameters: Vec::new(), total: 0 };
        for (name, shape, init) in parameters {
            layout.push(name, shape, init, (1, 1));
        }
        layout
    }

    /// Number of parameter values, without padding.
    pub fn count(&self) -> usize {
        self.parameters.iter().map(|parameter| parameter.shape.len()).sum()
    }

    /// The parameters as tracked tensors over the flat ones.
    pub fn leaves(&self, device: &Device, flat: impl Into<View>) -> Vec<Var> {
        let flat = flat.into();
        let leaf = |parameter: &Parameter| {
            let view = flat.part(parameter.offset, parameter.shape.len());
            Var::leaf(Tensor::over(device, view, parameter.shape.clone()))
        };
        self.parameters.iter().map(leaf).collect()
    }

    /// A parameter's values inside the flat ones.
    pub fn slice<'a>(&self, parameter: &Parameter, flat: &'a [f32]) -> &'a [f32] {
        &flat[parameter.offset..parameter.offset + parameter.shape.len()]
    }

    fn push(&mut self, name: String, shape: Shape, init: Init, fan: (usize, usize)) {
        // A layout may be larger than memory: callers check its size before they allocate.
        let words = shape.sizes().iter().fold(1_usize, |words, size| words.saturating_mul(*size));
        self.parameters.push(Parameter { name, shape, offset: self.total, init, fan, is_statistic: false });
        self.total = self.total.saturating_add(words.div_ceil(ALIGN).saturating_mul(ALIGN));
    }
}

/// The flat parameters of a new model.
pub fn initialise(layout: &Layout, seed: u64) -> Vec<f32> {
    let mut flat = vec![0.0; layout.total];
    for (stream, parameter) in layout.parameters.iter().enumerate() {
        let values = &mut flat[parameter.offset..parameter.offset + parameter.shape.len()];
        parameter.init.fill(values, parameter.fan, [seed as u32, (seed >> 32) as u32], stream as u32);
    }
    flat
}

impl Mlp {
    /// The model for the fused kernels, with parameters at the layout's offsets; `None` if they do not support the spec.
    pub fn of(spec: &Spec, layout: &Layout) -> Option<Self> {
        let (widths, activation) = spec.as_mlp()?;
        let (pairs, coefficients) = layout.parameters.split_at(2 * widths.len());
        let mlp = Self::plain(spec.inputs, &widths, &activation, pairs, layout.total)?;
        let Some(head) = spec.head() else { return Some(mlp) };
        let degrees = if let HeadForm::Rational { numerator, .. } = head.form { [0, numerator + 1] } else { [0; 2] };
        let first_words = degrees.map(|at| coefficients.get(at).map_or(0, |first| first.offset));
        Some(mlp.with_pairs(head.pairing(first_words)?))
    }

    /// A plain perceptron of layers of these widths, with the weight and the bias of each in `pairs`.
    pub fn plain(
        inputs: usize,
        widths: &[usize],
        activation: &Activation,
        pairs: &[Parameter],
        total: usize,
    ) -> Option<Self> {
        let mut inputs = inputs;
        let linear = |(&outputs, pair): (&usize, &[Parameter])| {
            let layer = mlp::Layer {
                inputs: inputs as u32,
                outputs: outputs as u32,
                weight: pair[0].offset as u32,
                bias: pair[1].offset as u32,
            };
            inputs = outputs;
            layer
        };
        let layers = widths.iter().zip(pairs.chunks(2)).map(linear).collect();
        Self::new(activation.curve().clone(), layers, total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Linear;

    /// Initial weight and bias of a layer from `inputs` to `outputs`.
    fn drawn(init: Init, inputs: usize, outputs: usize) -> [Vec<f32>; 2] {
        let layout = Layout::of(&Spec { inputs, layers: vec![Layer::Linear(Linear { outputs, bias: true, init })] });
        let flat = initialise(&layout, 5);
        [0, 1].map(|at| layout.slice(&layout.parameters[at], &flat).to_vec())
    }

    #[test]
    fn weights_are_uniform_up_to_the_bound_of_their_layers_fan() {
        // A uniform number in (-b, b) has mean 0 and variance b²/3; the largest of 4000 is near b.
        let cases = [
            (Init::Linear, 1000, 4, 1.0 / 1000.0),
            (Init::Linear, 4, 1000, 1.0 / 4.0),
            (Init::Kaiming, 1000, 4, 6.0 / 1000.0),
            (Init::Kaiming, 4, 1000, 6.0 / 4.0),
            (Init::Xavier, 1000, 4, 6.0 / 1004.0),
            (Init::Xavier, 4, 1000, 6.0 / 1004.0),
        ];
        for (init, inputs, outputs, squared) in cases {
            let [weight, _] = drawn(init, inputs, outputs);
            let mean =
                |of: &dyn Fn(f64) -> f64| weight.iter().map(|w| of(f64::from(*w))).sum::<f64>() / weight.len() as f64;
            let bound = f64::sqrt(squared);
            let largest = f64::from(weight.iter().fold(0.0_f32, |largest, w| largest.max(w.abs())));
            let place = format!("{init:?} from {inputs} to {outputs}");
            assert_eq!(weight.len(), 4000, "{place}");
            assert!(largest <= bound && largest > 0.99 * bound, "{place}: got {largest}, expected at most {bound}");
            let (centre, variance) = (mean(&|w| w), mean(&|w| w * w));
            assert!(centre.abs() < 0.05 * bound, "{place}: the mean is {centre}");
            assert!(
                (3.0 * variance / squared - 1.0).abs() < 0.05,
                "{place}: got a variance of {variance}, expected {}",
                squared / 3.0
            );
        }
    }

    #[test]
    fn a_bias_follows_the_inputs_of_a_linear_start_and_is_0_else() {
        let largest = |init| drawn(init, 4, 1000)[1].iter().fold(0.0_f32, |largest, b| largest.max(b.abs()));
        let linear = largest(Init::Linear);
        assert!(linear <= 0.5 && linear > 0.49, "{linear}");
        assert_eq!([Init::Kaiming, Init::Xavier, Init::Zero].map(largest), [0.0; 3]);
    }
}
