//! Recognising a plain perceptron, which the fused kernels take.

use super::Graph;
use crate::json::Json;

/// A plain perceptron.
#[derive(Debug, PartialEq)]
pub struct Perceptron<'a> {
    /// The outputs of each linear layer.
    pub outputs: Vec<usize>,
    /// The name and the program of the function between them, if there is one.
    pub function: Option<(&'a str, &'a Json)>,
}

impl Graph {
    /// The perceptron, if the graph is nothing but linear layers with biases, whose weights and biases are its parameters in order, and one function
    /// between all of them.
    pub fn as_perceptron(&self) -> Option<Perceptron<'_>> {
        let count = self.nodes.len();
        let is_last = |output: usize| output + 1 == self.before() + count;
        if count == 0
            || self.parameters.len() != 2 * count
            || self.outputs.len() != 1
            || !matches!(&self.inputs[..], [input] if input.is_plain())
            || !is_last(self.outputs[0].output)
        {
            return None;
        }
        let (mut function, mut outputs) = (None, Vec::new());
        for (at, node) in self.nodes.iter().enumerate() {
            let value = if at == 0 { 0 } else { self.before() + at - 1 };
            if node.op != "layer" || node.inputs != [value, 1 + 2 * at, 2 + 2 * at] {
                return None;
            }
            let own = node.attributes.get("function").and_then(Json::text).zip(node.attributes.get("program"));
            let is_last = at + 1 == count;
            if is_last != own.is_none() || (!is_last && at > 0 && own != function) {
                return None;
            }
            function = if is_last { function } else { own };
            outputs.push(*self.parameters[2 * at].shape.first()?);
        }
        Some(Perceptron { outputs, function })
    }
}
