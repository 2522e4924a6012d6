//! The graph's input columns, and from them the inputs of the model: a number is one column, from which the graph makes its bins.

use super::graph::{Graph, INPUT, Name, Setting};
use crate::io::{Bins, DateFeature, Feature};
use crate::train::Model;

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
fn inputs(model: &Model) -> (Vec<Input>, usize) {
    let Some(preparation) = &model.preparation else { return (Vec::new(), model.spec.inputs) };
    let (mut inputs, mut column) = (Vec::new(), 0);
    let mut plain = |inputs: &mut Vec<Input>| {
        inputs.push(Input::plain(column));
        column += 1;
        column - 1
    };
    for feature in &preparation.features {
        match feature {
            Feature::Numeric(number) => {
                let at = plain(&mut inputs);
                inputs.extend(Input::bins(at, [number.mean, number.scale], &number.bins));
                if number.has_gaps {
                    plain(&mut inputs);
                }
            }
            Feature::Categorical(category) => (0..category.inputs()).for_each(|_| _ = plain(&mut inputs)),
            Feature::Date(date) => {
                let DateFeature { elapsed, .. } = date;
                let at = plain(&mut inputs);
                inputs.extend(Input::bins(at, [elapsed.mean, elapsed.scale], &elapsed.bins));
                (1 + elapsed.bins.len()..date.inputs()).for_each(|_| _ = plain(&mut inputs));
            }
        }
    }
    (inputs, column as usize)
}

/// Number of columns of the graph's input.
pub(super) fn columns(model: &Model) -> usize {
    inputs(model).1
}

/// The inputs of the model, [batch, inputs], from the graph's input.
pub(super) fn with_bins(graph: &mut Graph, model: &Model) -> Name {
    let (inputs, columns) = inputs(model);
    if columns == model.spec.inputs {
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
