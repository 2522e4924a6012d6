//! The graph's inputs, and from them those of the model. Of a table they are columns: a number is one column, from which the graph makes its bins.

use super::graph::{Element, Graph, INPUT, Name, Setting};
use super::info;
use crate::export::tensor_info::TensorInfo;
use crate::graph::{self, InputKind};
use crate::model::Model;
use crate::nn::Layer;
use crate::program::onnx::{self, element};
use crate::table::{Bins, NumberFeature};

/// One input of the model: scale of clamp(slope * column + offset, least, most).
struct Input {
    column: i64,
    slope: f32,
    offset: f32,
    least: f32,
    most: f32,
    mean: f32,
    scale: f32,
}

impl Input {
    fn plain(column: i64) -> Self {
        Self { column, slope: 1.0, offset: 0.0, least: f32::MIN, most: f32::MAX, mean: 0.0, scale: 1.0 }
    }

    /// The bins of a number in the unit of its column, which is scaled.
    fn bins(column: i64, [mean, scale]: [f64; 2], bins: &Bins) -> impl Iterator<Item = Self> {
        let scales = bins.means.iter().zip(&bins.scales);
        bins.edges.windows(2).zip(scales).map(move |(bin, of_bin)| {
            let width = bin[1] - bin[0];
            let [slope, offset] = [scale / width, (mean - bin[0]) / width].map(|value| value as f32);
            let (mean, scale) = (*of_bin.0 as f32, *of_bin.1 as f32);
            Self { column, slope, offset, least: 0.0, most: 1.0, mean, scale }
        })
    }
}

/// The inputs of the model in order, and the number of columns of the graph's input.
#[derive(Default)]
struct Inputs {
    all: Vec<Input>,
    columns: i64,
}

impl Inputs {
    fn of(model: &Model) -> Self {
        let mut inputs = Self::default();
        let Some(preparation) = &model.preparation else {
            inputs.plain(model.spec.inputs);
            return inputs;
        };
        for feature in &preparation.features {
            let before = inputs.all.len();
            if let Some(number) = feature.as_kind().number() {
                inputs.number(number);
            }
            inputs.plain(feature.inputs() - (inputs.all.len() - before));
        }
        inputs
    }

    /// So many inputs, each a column.
    fn plain(&mut self, count: usize) {
        let columns = self.columns..self.columns + count as i64;
        self.columns = columns.end;
        self.all.extend(columns.map(Input::plain));
    }

    /// A column and its bins.
    fn number(&mut self, number: &NumberFeature) {
        let column = self.columns;
        self.plain(1);
        self.all.extend(Input::bins(column, [number.mean, number.scale], &number.bins));
    }
}

/// The inputs of a function that is the whole model and takes its rows from a program: each is an input of the graph. Empty for other models.
fn separate(model: &Model) -> Vec<graph::Input> {
    match &model.spec.layers[..] {
        [Layer::Function(function)] if model.preparation.is_none() => function.inputs.clone(),
        _ => Vec::new(),
    }
}

/// The inputs of the graph with their shapes per row.
pub(super) fn infos(model: &Model) -> Vec<TensorInfo> {
    let inputs = separate(model);
    if inputs.is_empty() {
        return vec![info(INPUT, &[Inputs::of(model).columns as usize], Element::Float)];
    }
    let of = |input: &graph::Input| match input.kind {
        InputKind::Numbers => info(&input.name, &input.shape, Element::Float),
        InputKind::Indices { .. } => info(&input.name, &input.shape, Element::Int),
        InputKind::Bytes => info(&input.name, &input.shape, Element::Byte),
    };
    inputs.iter().map(of).collect()
}

/// What the model takes: each input of a function that is the whole model, or the columns [batch, inputs].
pub(super) fn of(graph: &mut Graph, model: &Model) -> Vec<Name> {
    let inputs = separate(model);
    if inputs.is_empty() {
        let x = with_bins(graph, model);
        let is_function = matches!(&model.spec.layers[..], [Layer::Function(_)]);
        return if is_function { split(graph, &model.spec.each_input(), &x) } else { vec![x] };
    }
    let as_floats = |input: &graph::Input| match input.kind {
        InputKind::Bytes => onnx::Graph::truth(graph, &input.name),
        InputKind::Numbers | InputKind::Indices { .. } => input.name.clone(),
    };
    inputs.iter().map(as_floats).collect()
}

/// The inputs of a function in columns `x` [batch, inputs].
pub(super) fn split(graph: &mut Graph, inputs: &[graph::Input], x: &Name) -> Vec<Name> {
    if matches!(inputs, [input] if input.is_plain()) {
        return vec![x.clone()];
    }
    let mut first = 0;
    let mut all = Vec::new();
    for input in inputs {
        let part = graph.columns(x, first, first + input.width());
        first += input.width();
        // 0 keeps the size of the axis.
        let sizes: Vec<i64> = [0].into_iter().chain(input.shape.iter().map(|&size| size as i64)).collect();
        let sizes = graph.list(&sizes);
        let part = graph.op("Reshape", &[&part, &sizes]);
        let is_index = matches!(input.kind, InputKind::Indices { .. });
        all.push(if is_index { graph.node("Cast", &[&part], &[Setting::Int("to", element::INT)]) } else { part });
    }
    all
}

/// The columns of the model, [batch, inputs], from the graph's input.
fn with_bins(graph: &mut Graph, model: &Model) -> Name {
    let Inputs { all: inputs, columns } = Inputs::of(model);
    if columns as usize == model.spec.inputs {
        return INPUT.into();
    }
    let places = graph.list(&inputs.iter().map(|input| input.column).collect::<Vec<_>>());
    let mut row = |name: &str, of: fn(&Input) -> f32| {
        graph.floats(&format!("bins_{name}"), &[inputs.len()], &inputs.iter().map(of).collect::<Vec<_>>())
    };
    let steps = [
        ("Mul", row("slope", |input| input.slope)),
        ("Add", row("offset", |input| input.offset)),
        ("Max", row("least", |input| input.least)),
        ("Min", row("most", |input| input.most)),
        ("Sub", row("mean", |input| input.mean)),
        ("Div", row("scale", |input| input.scale)),
    ];
    let x = graph.node("Gather", &[&INPUT.into(), &places], &[Setting::Int("axis", 1)]);
    steps.iter().fold(x, |x, (operator, row)| graph.op(operator, &[&x, row]))
}

#[cfg(test)]
#[path = "inputs_tests.rs"]
mod tests;
