//! The forward pass in ops, for the recorded step and recorded prediction.

use super::kind::LayerKind;
use super::layer::{Layer, curve_of, kinds};
use super::pass::{Forward, Pass, RunningStats};
use super::spec::Spec;
use crate::autograd::Var;
use crate::device::Device;
use crate::error::Result;
use crate::graph::{self, Graph, GraphParameter, Input};
use crate::ops;
use crate::scm::infinite_where;
use crate::tensor::Tensor;

/// The model's outputs [rows, outputs], or the pairs [rows, 2 · outputs] of a projective head, for `x` [rows, inputs], with parameters in the
/// layout's order.
pub fn forward(spec: &Spec, parameters: &[Var], x: &Var, mode: &Pass) -> Var {
    learn(spec, parameters, x, mode).0
}

/// The same, and in training also the updated running statistics of the norms.
pub fn learn(spec: &Spec, parameters: &[Var], x: &Var, mode: &Pass) -> (Var, Vec<RunningStats>) {
    let mut pass = Forward::over(parameters, mode);
    let y = pass.layers(&kinds(&spec.layers), x.clone(), "layers");
    let y = match pass.rows().filter(|_| spec.head().is_none()) {
        // A model that cannot predict ⊥ must not predict a number instead: it is infinite there, as without masks.
        Some(rows) => infinite_where(&y, &rows),
        None => y,
    };
    (y, pass.seen)
}

/// The same with every output of a model that is one function.
pub(crate) fn learn_each(
    spec: &Spec,
    parameters: &[Var],
    x: &Var,
    mode: &Pass,
) -> Result<(Vec<Var>, Vec<RunningStats>)> {
    if let [Layer::Function(graph)] = &spec.layers[..] {
        return Ok((graph.record(parameters, x, curve_of)?, Vec::new()));
    }
    let (z, running) = learn(spec, parameters, x, mode);
    Ok((vec![z], running))
}

/// What a layer applies in prediction, as a graph, for `width` values per row before it.
pub(crate) fn traced(layer: &dyn LayerKind, width: usize) -> Result<Graph> {
    let own = layer.parameters(width).into_iter();
    let parameters =
        own.map(|own| GraphParameter { name: own.name, shape: own.shape.sizes().to_vec(), init: own.init });
    let run = |leaves: &[Var], inputs: &[Var]| {
        Ok(vec![layer.forward(&mut Forward::over(leaves, &Pass::Predict), inputs[0].clone(), layer.kind(), None)])
    };
    let tracing = graph::trace(&Device::dry(), Input::plain(width), parameters.collect(), &run)?;
    tracing.graph_at_once()
}

/// After each layer except the head, 1 for each row, [rows, 1], that contains ⊥.
pub fn bottoms(spec: &Spec, parameters: &[Var], x: &Var) -> Vec<Var> {
    let mut pass = Forward::over(parameters, &Pass::Predict);
    let rows = x.shape().sizes()[0];
    let none = Var::constant(Tensor::scalar(x.value().device(), 0.0));
    let mut x = x.clone();
    let body = spec.body();
    kinds(body)
        .into_iter()
        .map(|layer| {
            x = layer.forward(&mut pass, x.clone(), "", None);
            pass.rows().unwrap_or_else(|| ops::broadcast_to(&none, &[rows, 1].into()))
        })
        .collect()
}

/// The values after each layer.
pub fn layer_outputs(spec: &Spec, parameters: &[Var], x: &Var) -> Vec<Var> {
    let mut pass = Forward::over(parameters, &Pass::Predict);
    let mut x = x.clone();
    let layers = kinds(&spec.layers).into_iter().enumerate();
    layers
        .map(|(at, layer)| {
            x = layer.forward(&mut pass, x.clone(), &format!("layers.{at}"), None);
            x.clone()
        })
        .collect()
}
