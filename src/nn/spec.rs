//! The architecture of a model. A spec is data: it is printed, compared and stored in the model file.

use super::activation::Activation;
use super::head::Head;
use super::kind::{LayerKind, width_after, wrong};
use super::layer::{ActivationLayer, Layer, Linear, Residual, curve_of, kinds};
use crate::error::{Error, Result};
use crate::graph::{Input, Perceptron};
use crate::json::Record;
use crate::record;

/// A model: inputs and layers in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// Input values per row.
    pub inputs: usize,
    /// The layers, in order.
    pub layers: Vec<Layer>,
}

record! { Spec { inputs, layers } }

impl Spec {
    /// A multi-layer perceptron: linear layers with an activation between them.
    pub fn mlp(inputs: usize, hidden: &[usize], outputs: usize, function: Activation) -> Self {
        let linear = |outputs| Layer::Linear(Linear::new(outputs));
        let mut layers = Vec::new();
        for &width in hidden {
            layers.extend([linear(width), ActivationLayer { function: function.clone() }.into()]);
        }
        layers.push(linear(outputs));
        Self { inputs, layers }
    }

    /// The perceptron with a projective head on top.
    pub fn projective(inputs: usize, hidden: &[usize], head: Head, function: Activation) -> Self {
        let mut spec = Self::mlp(inputs, hidden, head.features(), function);
        spec.layers.push(Layer::Projective(head));
        spec
    }

    /// The projective head, if the model ends in one.
    pub fn head(&self) -> Option<&Head> {
        if let Some(Layer::Projective(head)) = self.layers.last() { Some(head) } else { None }
    }

    /// The same, to change its thresholds.
    pub(crate) fn head_mut(&mut self) -> Option<&mut Head> {
        if let Some(Layer::Projective(head)) = self.layers.last_mut() { Some(head) } else { None }
    }

    /// Values per row that the model predicts; a pair counts once.
    pub fn values(&self) -> Result<usize> {
        let outputs = self.outputs()?;
        Ok(self.head().map_or(outputs, |head| head.outputs))
    }

    /// The layers below a projective head, or all of them.
    pub fn body(&self) -> &[Layer] {
        match self.layers.split_last() {
            Some((Layer::Projective(_), before)) => before,
            _ => &self.layers,
        }
    }

    /// Outputs per row; an error names the invalid layer.
    pub fn outputs(&self) -> Result<usize> {
        if self.inputs == 0 {
            return Err(Error::new("model: got 0 inputs, expected at least 1"));
        }
        let body = kinds(self.body());
        for (at, layer) in body.iter().enumerate() {
            let path = format!("layers.{at}");
            if let Some(why) = layer.bottoms().filter(|_| self.head().is_none()) {
                return Err(wrong(&path, why));
            }
        }
        check_heads(self.body(), "layers")?;
        let path = format!("layers.{}", body.len());
        if let Some(head) = self.head() {
            head.check().map_err(|error| wrong(&path, &error.to_string()))?;
        }
        let width = width_after(&body, self.inputs, "layers")?;
        let Some(head) = self.head() else { return Ok(width) };
        LayerKind::check(head, width, &path)?;
        Ok(2 * head.outputs)
    }

    /// The inputs: those of the function that comes first, or so many numbers.
    pub fn each_input(&self) -> Vec<Input> {
        match &self.layers[..] {
            [Layer::Function(graph), ..] => graph.inputs.clone(),
            _ => Input::plain(self.inputs),
        }
    }

    /// Columns of every output: of several if the model is one function that has them.
    pub fn each_output(&self) -> Result<Vec<usize>> {
        match &self.layers[..] {
            [Layer::Function(graph)] if graph.outputs.len() > 1 => {
                if self.inputs != graph.width() {
                    let (got, expected) = (self.inputs, graph.width());
                    return Err(wrong("layers.0", &format!("a function of {expected} inputs: got {got} values")));
                }
                graph.check(curve_of).map_err(|error| wrong("layers.0", &error.to_string()))?;
                Ok(graph.outputs.iter().map(|one| one.columns).collect())
            }
            _ => Ok(vec![self.outputs()?]),
        }
    }

    /// Widths of the linear layers and their activation, if the model is a plain perceptron with the same activation everywhere,
    /// optionally with a projective head.
    pub fn as_mlp(&self) -> Option<(Vec<usize>, Activation)> {
        let layers = self.body();
        if let [Layer::Function(graph)] = layers {
            let Perceptron { outputs: widths, function } = graph.as_perceptron()?;
            let Some((text, program)) = function else { return Some((widths, Activation::identity())) };
            let function = Activation::parse(text).ok().filter(|own| own.curve().value.to_json() == *program)?;
            return Some((widths, function));
        }
        let mut widths = Vec::new();
        let mut function = None;
        for (at, layer) in layers.iter().enumerate() {
            match (at % 2, layer) {
                (0, Layer::Linear(Linear { outputs, bias: true, .. })) => widths.push(*outputs),
                (1, Layer::Activation(ActivationLayer { function: f }))
                    if function.as_ref().is_none_or(|known| known == f) =>
                {
                    function = Some(f.clone());
                }
                _ => return None,
            }
        }
        (layers.len() % 2 == 1).then_some((widths, function.unwrap_or_else(Activation::identity)))
    }
}

/// Errors if a head is not the last layer.
fn check_heads(layers: &[Layer], path: &str) -> Result<()> {
    for (at, layer) in layers.iter().enumerate() {
        let path = format!("{path}.{at}");
        match layer {
            Layer::Projective(_) => return Err(wrong(&path, "a projective head can only be the last layer")),
            Layer::Residual(Residual { layers }) => check_heads(layers, &format!("{path}.layers"))?,
            _ => {}
        }
    }
    Ok(())
}
