//! A function as a layer: a graph of ops.

use std::sync::Arc;

use crate::autograd::Var;
use crate::error::Result;
pub use crate::graph::Graph;
use crate::graph::InputKind;
use crate::nn::activation::Activation;
use crate::nn::kind::{LayerKind, NewParameter, wrong};
use crate::nn::pass::Forward;
use crate::program::Curve;

/// The function of a name or a formula, as ops of a graph name it.
pub(crate) fn curve_of(text: &str) -> Result<Arc<Curve>> {
    Activation::parse(text).map(|function| function.curve().clone())
}

impl LayerKind for Graph {
    fn kind(&self) -> &'static str {
        "function"
    }

    fn text(&self) -> String {
        format!("a function of {} op{}", self.nodes.len(), if self.nodes.len() == 1 { "" } else { "s" })
    }

    fn check(&self, width: usize, path: &str) -> Result<()> {
        if self.width() != width {
            return Err(wrong(path, &format!("a function of {} inputs: got {width} values", self.width())));
        }
        // Values between layers are no indices: nothing could be learnt before them.
        let is_first = path == "layers.0";
        if let Some(input) = self.inputs.iter().find(|input| !is_first && input.kind != InputKind::Numbers) {
            return Err(wrong(path, &format!("a function of {input}: expected numbers after another layer")));
        }
        if self.outputs.len() != 1 {
            let got = self.outputs.len();
            return Err(wrong(path, &format!("a function of {got} outputs, expected one here")));
        }
        Self::check(self, curve_of).map_err(|error| wrong(path, &error.to_string()))
    }

    fn width(&self, _width: usize) -> usize {
        self.outputs.first().map_or(0, |one| one.columns)
    }

    fn parameters(&self, _width: usize) -> Vec<NewParameter> {
        let own = self.parameters.iter();
        own.map(|own| NewParameter::new(&own.name, own.shape.clone(), own.init, (1, 1))).collect()
    }

    fn forward(&self, pass: &mut Forward<'_>, x: Var, path: &str, _activation: Option<&Activation>) -> Var {
        pass.mask = pass.rows();
        let parameters: Vec<Var> = self.parameters.iter().map(|_| pass.next()).collect();
        let outputs = self.record(&parameters, &x, curve_of);
        outputs.unwrap_or_else(|error| panic!("model: {path}: {error}")).swap_remove(0)
    }

    fn blocks(&self) -> Vec<String> {
        Self::blocks(self)
    }

    fn format(&self) -> u32 {
        Self::format(self)
    }
}
