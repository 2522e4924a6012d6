//! Permutation importance (Breiman 2001): how much worse the model's main metric gets when the cells of one column are shuffled among the
//! rows of a table, on average over several shuffles. Columns that carry the same information share it, and each may look unimportant.

use serde::Serialize;

use super::metrics::Metrics;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::files::Table;
use crate::math::order::ascending_numbers;
use crate::math::permutation;
use crate::model::{Examples, Model};

/// How a model is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExamineOptions {
    /// Shuffles of each column; more make the mean more precise.
    pub repeats: usize,
    /// Seed of shuffles and samples.
    pub seed: u64,
    /// Rows at most; of more, a sample.
    pub rows: usize,
}

impl Default for ExamineOptions {
    fn default() -> Self {
        Self { repeats: 5, seed: 0, rows: 10_000 }
    }
}

/// The importance of every column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImportanceReport {
    /// The metric that is compared, by its name in JSON.
    pub metric: &'static str,
    /// Its name for people.
    #[serde(skip)]
    pub label: &'static str,
    /// Its value on the table as it is.
    pub value: f64,
    /// Rows that were used.
    pub rows: usize,
    /// Shuffles of each column.
    pub repeats: usize,
    /// The most important column first.
    pub columns: Vec<Importance>,
}

/// The importance of one column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Importance {
    /// The column.
    pub column: String,
    /// How much worse the metric gets on average: below 0 if shuffling made it better by chance.
    pub mean: f64,
    /// Sample standard deviation over the shuffles; 0 for a single one.
    pub spread: f64,
}

/// The metric that says best how good a model is: the median error of a model with poles, R² of numbers, AUC of classes; and whether larger
/// values are better.
pub fn main_metric(metrics: &Metrics) -> (&'static str, &'static str, f64, bool) {
    for (expected, is_better) in [("median", false), ("r2", true), ("auc", true), ("accuracy", true)] {
        let known = Metrics::FIGURES.iter().find(|(name, _, _)| *name == expected);
        if let Some((name, label, value)) =
            known.and_then(|(name, label, figure)| Some((name, label, figure(metrics)?)))
        {
            return (name, label, value, is_better);
        }
    }
    ("loss", "loss", metrics.loss, false)
}

/// The importance of every column that the model reads, measured on rows of a table with the target column. The cells of the table are
/// shuffled, then encoded. `follow` is called after each shuffle with the number of shuffles so far and of all. Errors if there are no rows or no repeats, or if the table does not fit the model.
pub async fn importance(
    model: &Model,
    device: &Device,
    (table, rows): (&Table, &[u32]),
    options: ExamineOptions,
    follow: &mut dyn FnMut(usize, usize),
) -> Result<ImportanceReport> {
    let preparation = model.preparation()?;
    if options.repeats == 0 {
        return Err(Error::usage("importance: got 0 repeats, expected at least 1"));
    }
    let table = table.only(preparation.every_name())?.take(&sample(rows, options))?;
    let judge = async |table: &Table| {
        let Examples { x, y } = Examples::encode(preparation, table, &table.every_row(), &model.loss)?;
        let z = model.outputs(device, &x).await?;
        let metrics = Metrics::of(&model.spec, &model.loss, &z, &y, preparation.target.scale());
        metrics.ok_or_else(|| Error::new("importance: the model has no metrics on these rows"))
    };
    let (metric, label, value, is_better) = main_metric(&judge(&table).await?);
    let figure = Metrics::FIGURES.iter().find(|(name, _, _)| *name == metric).map(|(_, _, figure)| figure);
    let figure = figure.ok_or_else(|| Error::internal("importance: a metric without a figure"))?;
    let mut columns = Vec::new();
    for column in preparation.names() {
        let own = &table.columns()[table.position(column)?];
        let mut drops = Vec::new();
        for repeat in 0..options.repeats {
            let order = permutation(table.rows(), options.seed, repeat);
            // Without a value, the model decides nothing any more.
            let shuffled = figure(&judge(&table.with_column(own.take(&order))?).await?).unwrap_or(f64::NAN);
            follow(columns.len() * options.repeats + repeat + 1, preparation.features.len() * options.repeats);
            drops.push(if is_better { value - shuffled } else { shuffled - value });
        }
        let (mean, spread) = mean_and_deviation(&drops);
        columns.push(Importance { column: column.to_owned(), mean, spread });
    }
    let falling: Vec<f64> = columns.iter().map(|column| -column.mean).collect();
    let columns = ascending_numbers(&falling).into_iter().map(|at| columns[at as usize].clone()).collect();
    Ok(ImportanceReport { metric, label, value, rows: table.rows(), repeats: options.repeats, columns })
}

/// At most `options.rows` of the rows, in their order.
pub(crate) fn sample(rows: &[u32], options: ExamineOptions) -> Vec<u32> {
    if rows.len() <= options.rows {
        return rows.to_vec();
    }
    let mut chosen = vec![false; rows.len()];
    permutation(rows.len(), options.seed, usize::MAX - 1)
        .iter()
        .take(options.rows)
        .for_each(|&at| chosen[at as usize] = true);
    rows.iter().zip(chosen).filter_map(|(&row, is_chosen)| is_chosen.then_some(row)).collect()
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::examined::{judged, linear};
    use pollster::block_on;

    #[test]
    fn the_importance_of_a_linear_model_is_what_its_weights_say() {
        // y = 3 a - b + 0 c exactly, with a, b and c of equal spread: shuffling a column of weight w adds 2 w² to the squared error, and the
        // variance of y is 9 + 1.
        let (model, table) = (linear([3.0, -1.0, 0.0]), judged(4000));
        let rows = table.every_row();
        let options = ExamineOptions { repeats: 4, seed: 3, rows: 3000 };
        let got = block_on(importance(&model, &Device::cpu(1), (&table, &rows), options, &mut |_, _| {})).unwrap();
        assert_eq!((got.metric, got.rows, got.repeats), ("r2", 3000, 4));
        assert!((got.value - 1.0).abs() < 1e-9, "{got:?}");
        let names: Vec<&str> = got.columns.iter().map(|column| column.column.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        for (column, expected) in got.columns.iter().zip([1.8, 0.2, 0.0]) {
            assert!((column.mean - expected).abs() < 0.1 && column.spread < 0.1, "{column:?}, expected {expected}");
        }
        assert!(got.columns[0].spread > 0.0 && got.columns[2].mean.abs() < 1e-9);
        let again = block_on(importance(&model, &Device::cpu(1), (&table, &rows), options, &mut |_, _| {})).unwrap();
        assert_eq!(got, again, "the same seed gives the same figures");
        let none = ExamineOptions { repeats: 0, ..options };
        assert!(block_on(importance(&model, &Device::cpu(1), (&table, &rows), none, &mut |_, _| {})).is_err());
    }

    #[test]
    fn shuffles_follow_the_seed() {
        // y = 3 a with a = 0, 1, 2, 3 has 45 as the sum of squares about its mean, so that an order σ of a costs Σ 9 (i - σᵢ)² / 45 of R².
        let names = ["a", "b", "c", "y"].map(String::from);
        let values = [0.0, 1.0, 2.0, 3.0].map(|a| [a, 0.0, 0.0, 3.0 * a]).concat();
        let (model, table) = (linear([3.0, 0.0, 0.0]), Table::from_matrix("t", &names, &values).unwrap());
        let rows = table.every_row();
        let of_seed = |seed: u64| {
            let options = ExamineOptions { repeats: 1, seed, rows: 4 };
            let got = block_on(importance(&model, &Device::cpu(1), (&table, &rows), options, &mut |_, _| {})).unwrap();
            let squares =
                permutation(4, seed, 0).into_iter().zip(0..).map(|(at, i)| (f64::from(at) - f64::from(i)).powi(2));
            let expected = squares.sum::<f64>() / 5.0;
            let mean = got.columns.iter().find(|column| column.column == "a").unwrap().mean;
            assert!((mean - expected).abs() < 1e-6, "seed {seed}: got {mean}, expected {expected}");
            expected
        };
        let found = [0, 1, 2, 3, 4, 5].map(of_seed);
        assert!(found.iter().any(|mean| *mean != found[0]), "{found:?}");
    }

    #[test]
    fn samples_follow_the_seed() {
        let rows: Vec<u32> = (100..200).collect();
        let sampled = |seed| sample(&rows, ExamineOptions { repeats: 1, seed, rows: 10 });
        assert_eq!((sampled(1).len(), sampled(1)), (10, sampled(1)));
        assert_ne!(sampled(1), sampled(2));
        assert_ne!(sampled(0), sampled(2));
    }

    #[test]
    fn the_main_metric_fits_the_task() {
        let of = |metrics: Metrics| main_metric(&metrics).0;
        let both = Metrics { r2: Some(0.5), median: Some(1.0), ..Metrics::default() };
        assert_eq!(of(both), "median");
        assert_eq!(of(Metrics { median: None, ..both }), "r2");
        assert_eq!(of(Metrics { auc: Some(0.9), accuracy: Some(0.8), ..Metrics::default() }), "auc");
        assert_eq!(of(Metrics::default()), "loss");
    }
}
