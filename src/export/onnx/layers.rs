//! The layers of a spec as nodes. Dropout is the identity; activations are put together from operators of the set, each by the
//! formula of its own (`kernels::mlp::Activation`).

use super::graph::{Graph, INPUT, Name, Setting};
use super::{head, rational};
use crate::nn::{Activation, Layer, Layout, Parameter, RationalLayer};
use crate::train::Model;

/// What the graph gives: the last layer's output, or the six fields of strict decoding.
pub(super) fn outputs(graph: &mut Graph, model: &Model) -> Vec<Name> {
    let layout = Layout::of(&model.spec);
    let mut pass =
        Pass { graph, layout: &layout, parameters: layout.parameters.iter(), flat: &model.parameters, bottom: None };
    let (layers, head) = match model.spec.layers.split_last() {
        Some((Layer::Projective(head), before)) => (before, Some(head)),
        _ => (&model.spec.layers[..], None),
    };
    let z = pass.layers(layers, INPUT.into());
    let Some(head) = head else { return vec![z] };
    let [p, q] = head::pairs(&mut pass, head, &z);
    head::decode(pass.graph, &head.decoding, &p, &q).to_vec()
}

/// A walk over the layers that hands out their parameters in order.
pub(super) struct Pass<'a> {
    pub graph: &'a mut Graph,
    layout: &'a Layout,
    parameters: std::slice::Iter<'a, Parameter>,
    flat: &'a [f32],
    /// The rows, [batch, 1], in which a layer met a pole.
    pub bottom: Option<Name>,
}

impl Pass<'_> {
    /// The next parameter as a constant.
    pub(super) fn next(&mut self) -> Name {
        let parameter = self.parameters.next().expect("the layout has a parameter for every layer that takes one");
        let values = self.layout.slice(parameter, self.flat);
        self.graph.floats(&parameter.name, parameter.shape.sizes(), values)
    }

    fn layers(&mut self, layers: &[Layer], x: Name) -> Name {
        layers.iter().fold(x, |x, layer| self.layer(layer, x))
    }

    fn layer(&mut self, layer: &Layer, x: Name) -> Name {
        match layer {
            Layer::Linear { bias, .. } => {
                let mut operands = vec![x, self.next()];
                if *bias {
                    operands.push(self.next());
                }
                self.graph.node("Gemm", &operands.iter().collect::<Vec<_>>(), &[Setting::Int("transB", 1)])
            }
            Layer::Activation { function } => activation(self.graph, *function, x),
            Layer::LayerNorm { epsilon } => {
                let (gain, bias) = (self.next(), self.next());
                let settings = [Setting::Int("axis", -1), Setting::Float("epsilon", *epsilon)];
                self.graph.node("LayerNormalization", &[&x, &gain, &bias], &settings)
            }
            Layer::Dropout { .. } => x,
            Layer::Residual { layers } => {
                let inner = self.layers(layers, x.clone());
                self.graph.op("Add", &[&x, &inner])
            }
            Layer::Rational(layer) => self.rational(layer, &x),
            Layer::Projective(_) => unreachable!("a spec that was checked has its head at its end"),
        }
    }
}

impl Pass<'_> {
    /// A rational layer's values; its poles are remembered for the head.
    fn rational(&mut self, layer: &RationalLayer, x: &Name) -> Name {
        let parameter = self.parameters.next().expect("a rational layer has coefficients");
        let values = self.layout.slice(parameter, self.flat);
        let channels = parameter.shape.sizes()[1];
        let rows = values.chunks_exact(channels).enumerate();
        let weights: Vec<Name> =
            rows.map(|(k, row)| self.graph.floats(&format!("{}.{k}", parameter.name), &[channels], row)).collect();
        let [y, bottom] = rational::layer(self.graph, layer, &weights, x);
        if !layer.is_safe {
            self.bottom = Some(match self.bottom.take() {
                Some(before) => self.graph.op("Or", &[&before, &bottom]),
                None => bottom,
            });
        }
        y
    }
}

fn activation(graph: &mut Graph, function: Activation, x: Name) -> Name {
    match function {
        Activation::Identity => x,
        Activation::Relu => graph.op("Relu", &[&x]),
        Activation::LeakyRelu => graph.node("LeakyRelu", &[&x], &[Setting::Float("alpha", 0.01)]),
        Activation::Elu => graph.node("Elu", &[&x], &[Setting::Float("alpha", 1.0)]),
        Activation::Gelu => gelu(graph, &x),
        Activation::Sigmoid => graph.op("Sigmoid", &[&x]),
        Activation::Silu => gated(graph, &x, &x),
        Activation::Softplus => graph.op("Softplus", &[&x]),
        Activation::Tanh => graph.op("Tanh", &[&x]),
    }
}

/// x · sigmoid(2 √(2/π) (x + 0.044715 x³)), which is x/2 (1 + tanh …).
fn gelu(graph: &mut Graph, x: &Name) -> Name {
    let (rise, cubic) = (graph.number(1.595_769), graph.number(0.071_354_82));
    let square = graph.op("Mul", &[x, x]);
    let steep = graph.op("Mul", &[&square, &cubic]);
    let steep = graph.op("Add", &[&steep, &rise]);
    let gate = graph.op("Mul", &[x, &steep]);
    gated(graph, x, &gate)
}

/// x · sigmoid(gate).
fn gated(graph: &mut Graph, x: &Name, gate: &Name) -> Name {
    let open = graph.op("Sigmoid", &[gate]);
    graph.op("Mul", &[x, &open])
}
