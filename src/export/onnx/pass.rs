//! A traversal of the layers: their parameters in order, and which values or rows are ⊥ so far.

use super::graph::{Graph, Name, Setting};
use crate::nn::{Layout, Parameter};

/// A traversal of the layers that returns their parameters in order.
pub(super) struct Pass<'a> {
    pub graph: &'a mut Graph,
    layout: &'a Layout,
    parameters: std::slice::Iter<'a, Parameter>,
    flat: &'a [f32],
    /// What the names of parameters begin with, of one of several models.
    prefix: String,
    /// Values per row.
    pub width: usize,
    /// Mask of the values, [batch, columns], or rows, [batch, 1], that are ⊥, as in `nn::forward`.
    pub mask: Option<Name>,
}

impl<'a> Pass<'a> {
    /// Before the first layer of a model.
    pub(super) fn new(
        graph: &'a mut Graph,
        layout: &'a Layout,
        (prefix, flat): (String, &'a [f32]),
        width: usize,
    ) -> Self {
        Self { graph, layout, parameters: layout.parameters.iter(), flat, prefix, width, mask: None }
    }

    /// The name of a parameter as a constant. One that the author of a function gave may be that of a node.
    pub(super) fn name_of(&self, parameter: &Parameter) -> String {
        let group = if parameter.name.starts_with("layers.") { "" } else { "parameters." };
        format!("{}{group}{}", self.prefix, parameter.name)
    }

    /// The next parameter as a constant.
    pub(super) fn next(&mut self) -> Name {
        let (parameter, values) = self.values();
        self.graph.floats(&self.name_of(parameter), parameter.shape.sizes(), values)
    }

    /// The next parameter with its values.
    pub(super) fn values(&mut self) -> (&'a Parameter, &'a [f32]) {
        let parameter = self.parameters.next().expect("the layout has a parameter for every layer that takes one");
        (parameter, self.layout.slice(parameter, self.flat))
    }

    /// Mask of the rows, [batch, 1], with a value that is ⊥.
    pub(super) fn rows(&mut self) -> Option<Name> {
        let mask = self.mask.as_ref()?;
        Some(any(self.graph, mask))
    }

    /// Adds `bottom` to the mask.
    pub(super) fn join(&mut self, bottom: Name) {
        self.mask = Some(match self.mask.take() {
            Some(before) => self.graph.op("Or", &[&before, &bottom]),
            None => bottom,
        });
    }
}

/// Whether any value of a row is set in the mask: [batch, 1].
fn any(graph: &mut Graph, mask: &Name) -> Name {
    let number = graph.node("Cast", &[mask], &[Setting::Int("to", 1)]);
    let (columns, none) = (graph.list(&[1]), graph.number(0.0));
    let most = graph.node("ReduceMax", &[&number, &columns], &[Setting::Int("keepdims", 1)]);
    graph.op("Greater", &[&most, &none])
}
