//! Predictions against targets: a chart of numbers, or a confusion table of classes.

use meromorph::internal::kernels::strict;
use meromorph::internal::math::largest;
use meromorph::loss::Loss;
use meromorph::nn::Spec;
use meromorph::report::{Axis, Chart, Series, Style, Table, count, short};
use meromorph::table::Preparation;

/// Maximum classes of a confusion table; for more, the most frequent errors are listed instead.
const MOST_CLASSES: usize = 12;
/// Maximum length of that list.
const MOST_ERRORS: usize = 10;

/// Predictions and targets of some rows.
pub(crate) enum PlotData {
    /// (target, prediction) of each row that has both.
    Numbers(Vec<[f64; 2]>),
    /// Rows by actual and predicted class.
    Classes {
        /// Names of the classes.
        names: Vec<String>,
        /// counts[actual][predicted].
        counts: Vec<Vec<u64>>,
    },
}

impl PlotData {
    /// From a model's raw outputs `z` and encoded targets `y`.
    pub(crate) fn of(spec: &Spec, loss: &Loss, preparation: &Preparation, (z, y): (&[f32], &[f32])) -> Self {
        if let Some(head) = spec.head() {
            // One output: a row of z is (P, Q), one of y is (y, 1) or a pole.
            let pair = |(z, y): (&[f32], &[f32])| {
                let (value, _) = strict::decode(&head.decoding, z[0], z[1])?;
                (y[1] != 0.0).then(|| [preparation.decode_target(y[0]), preparation.decode_target(value)])
            };
            return Self::Numbers(z.chunks_exact(2).zip(y.chunks_exact(2)).filter_map(pair).collect());
        }
        let names = preparation.target.levels().to_vec();
        if names.is_empty() {
            let link = loss.link();
            let pair =
                |(&z, &y): (&f32, &f32)| [preparation.decode_target(y), preparation.decode_target(link.number(z))];
            let width = z.len() / y.len().max(1);
            return Self::Numbers(z.iter().step_by(width.max(1)).zip(y).map(pair).collect());
        }
        let (classes, link) = (names.len(), loss.link());
        let outputs = loss.outputs(classes);
        let mut counts = vec![vec![0; classes]; classes];
        let targets = y.len() * outputs / z.len().max(1);
        for (z, y) in z.chunks_exact(outputs).zip(y.chunks_exact(targets.max(1))) {
            let actual = if targets > 1 { largest(y) } else { y[0] as usize };
            counts[actual][(link.class)(z)] += 1;
        }
        Self::Classes { names, counts }
    }
}

/// The data as text, after an empty line and a title; `rows` names the rows.
pub(crate) fn draw(data: &PlotData, rows: &str) -> String {
    match data {
        PlotData::Numbers(pairs) => format!("\n{}", scatter(pairs, format!("predicted against actual, {rows}")).text()),
        PlotData::Classes { names, counts } if names.len() <= MOST_CLASSES => {
            format!("\n  predicted (right) against actual (down), {rows}\n{}", confusion(names, counts).text())
        }
        PlotData::Classes { names, counts } => {
            format!("\n  the most frequent errors, {rows}\n{}", errors(names, counts).text())
        }
    }
}

/// Predicted against actual numbers on equal axes, with the diagonal of a perfect model.
pub(crate) fn scatter(pairs: &[[f64; 2]], title: String) -> Chart {
    let finite = || pairs.iter().flatten().copied().filter(|value| value.is_finite());
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let diagonal = if low <= high { vec![[low, low], [high, high]] } else { Vec::new() };
    Chart::new(title, Axis::linear("actual"), Axis::linear("predicted"))
        .series(Series::new("perfect", Style::Reference, diagonal))
        .series(Series::dots("rows", pairs.to_vec()))
}

pub(crate) fn confusion(names: &[String], counts: &[Vec<u64>]) -> Table {
    let names: Vec<String> = names.iter().map(|name| short(name, 12)).collect();
    let header = ["actual".to_owned()].into_iter().chain(names.iter().cloned()).chain(["right".to_owned()]);
    let row = |(actual, row): (usize, &Vec<u64>)| {
        let of = row.iter().sum::<u64>();
        let share = if of == 0 { "–".into() } else { format!("{:.1} %", 100.0 * row[actual] as f64 / of as f64) };
        let cells = row.iter().map(|&rows| if rows == 0 { "·".into() } else { count(rows) });
        [names[actual].clone()].into_iter().chain(cells).chain([share]).collect::<Vec<_>>()
    };
    Table::new(header).rows(counts.iter().enumerate().map(row))
}

fn errors(names: &[String], counts: &[Vec<u64>]) -> Table {
    let mut all = Vec::new();
    for (actual, row) in counts.iter().enumerate() {
        all.extend(row.iter().enumerate().filter(|(p, n)| *p != actual && **n > 0).map(|(p, n)| (*n, actual, p)));
    }
    all.sort_by(|a, b| b.cmp(a));
    let row = |(n, actual, predicted): &(u64, usize, usize)| {
        [short(&names[*actual], 24), short(&names[*predicted], 24), count(*n)]
    };
    Table::new(["actual", "predicted", "rows"]).rows(all.iter().take(MOST_ERRORS).map(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use meromorph::table::Target;

    #[test]
    fn predictions_lie_on_equal_axes_around_the_diagonal() {
        let text = scatter(&[[0.0, 0.0], [10.0, 10.0], [10.0, 5.0], [3.0, f64::NAN]], "predicted".into()).text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "  predicted");
        let ticks = |label: &str| lines.iter().filter(|line| line.contains(label)).count();
        assert_eq!([ticks(" 10 ┤"), ticks("  0 ┤"), ticks(" predicted")], [1, 1, 2], "{text}");
        assert!(lines.iter().any(|line| line.trim() == "actual") && text.contains('·'), "{text}");
        assert!(scatter(&[[3.0, 3.0]], "t".into()).text().contains("┤"), "a single value has a range");
        assert!(scatter(&[], "t".into()).text().ends_with("t: no values to draw"));
    }

    #[test]
    fn classes_are_counted_from_indices_and_from_one_column_per_class() {
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let target = Target::Classification { name: "y".into(), levels: names, counts: vec![1, 1, 1] };
        let preparation = Preparation::new(Vec::new(), target);
        let z = [2.0, -1.0, 0.0, -3.0, -1.0, -2.0];
        let spec = Spec::mlp(1, &[], 3, meromorph::nn::Activation::identity());
        for y in [&[0.0, 2.0][..], &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0]] {
            let PlotData::Classes { counts, .. } = PlotData::of(&spec, &Loss::bce(), &preparation, (&z, y)) else {
                panic!("classes")
            };
            assert_eq!(counts, [[1, 0, 0], [0, 0, 0], [0, 1, 0]]);
        }
    }

    #[test]
    fn classes_mistaken_for_each_other() {
        let names: Vec<String> = ["a", "b"].map(String::from).into();
        let table = confusion(&names, &[vec![8, 2], vec![0, 0]]).text();
        assert_eq!(table, "  actual  a  b   right\n  a       8  2  80.0 %\n  b       ·  ·       –");
        let list = errors(&names, &[vec![8, 2], vec![3, 0]]).text();
        assert_eq!(list, "  actual  predicted  rows\n  b       a             3\n  a       b             2");
    }
}
