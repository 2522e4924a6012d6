//! The graph's input columns, and from them the inputs of the model: a number is one column, from which the graph makes its bins.

use super::graph::{Graph, INPUT, Name, Setting};
use crate::model::Model;
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

/// Number of columns of the graph's input.
pub(super) fn columns(model: &Model) -> usize {
    Inputs::of(model).columns as usize
}

/// The inputs of the model, [batch, inputs], from the graph's input.
pub(super) fn with_bins(graph: &mut Graph, model: &Model) -> Name {
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
