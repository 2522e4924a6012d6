//! Partial dependence (Friedman 2001): the mean prediction over rows of a table when one column has the same value in all of them, over a
//! grid of values. It says what the model does, not what would happen if somebody changed the column.

use serde::Serialize;

use super::importance::{ExamineOptions, sample};
use crate::device::Device;
use crate::error::{Error, Result, hint, listed};
use crate::files::{Column, Table};
use crate::math::order::ascending_numbers;
use crate::model::{Model, PredictOptions, Prediction};
use crate::table::{Cycle, DateFeature, NumberFeature, Seen, Unknown, frequent_levels};

/// The mean prediction over a grid of one column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Partial {
    /// The column.
    pub column: String,
    /// The numbers that it was set to, ascending; empty for a category.
    pub values: Vec<f64>,
    /// The texts that it was set to, the most frequent first; empty for a number.
    pub levels: Vec<String>,
    /// One for a number that is predicted, one for each class.
    pub curves: Vec<PartialCurve>,
    /// Rows that were used.
    pub rows: usize,
}

/// The mean of one output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartialCurve {
    /// The target column, or the class whose probability this is.
    pub name: String,
    /// One for each value or level; NaN where the model gives no row a value.
    pub means: Vec<f64>,
}

/// Values of a grid of numbers, and levels of a category, at most.
const GRID: usize = 20;
/// The grid lies between these quantiles: a few far values would make it empty.
const ENDS: [f64; 2] = [0.05, 0.95];

/// The partial dependence of a model on one of its columns, over rows of a table. Errors if the model does not read the column.
pub async fn partial(
    model: &Model,
    device: &Device,
    (table, rows): (&Table, &[u32]),
    column: &str,
    options: ExamineOptions,
) -> Result<Partial> {
    let preparation = model.preparation()?;
    let Some(feature) = preparation.features.iter().find(|feature| feature.name() == column) else {
        let (names, near) = (listed(&preparation.names().collect::<Vec<_>>()), hint(column, preparation.names()));
        return Err(Error::usage(format!(
            "partial: the model does not read column \"{column}\"; it reads {names}{near}"
        )));
    };
    let table = table.only(preparation.names())?.take(&sample(rows, options))?;
    let (values, levels) = match feature.seen() {
        Seen::Numbers(number) => (grid(&table, column, [number.min, number.max])?, Vec::new()),
        Seen::Levels { levels, counts, .. } => (Vec::new(), frequent(levels, counts)),
        Seen::Times(date) => (Vec::new(), evenly(date)),
        Seen::Texts { .. } => {
            let cells = &table.columns()[table.position(column)?];
            (Vec::new(), frequent_levels(cells, &table.every_row(), GRID))
        }
    };
    let numbers = values.iter().map(|value| Column::numeric(column, vec![*value; table.rows()]));
    let texts = levels.iter().map(|level| Column::categorical(column, &vec![level.clone(); table.rows()]));
    let classes = preparation.target.levels();
    let names = if classes.is_empty() { vec![preparation.target.name().to_owned()] } else { classes.to_vec() };
    let mut curves: Vec<PartialCurve> =
        names.into_iter().map(|name| PartialCurve { name, means: Vec::new() }).collect();
    for column in numbers.chain(texts) {
        let means = means(model, device, &table.with_column(column)?).await?;
        curves.iter_mut().zip(means).for_each(|(curve, mean)| curve.means.push(mean));
    }
    Ok(Partial { column: column.to_owned(), values, levels, curves, rows: table.rows() })
}

/// The mean prediction, or the mean probability of each class, over the rows that have one.
async fn means(model: &Model, device: &Device, table: &Table) -> Result<Vec<f64>> {
    let classes = model.preparation()?.target.levels().len();
    let all: Vec<f64> = if classes > 0 {
        model.probabilities(device, table, Unknown::Other).await?
    } else {
        let value = |prediction: &Prediction| match prediction {
            Prediction::Number(value) | Prediction::Normal { mean: value, .. } => *value,
            Prediction::Decoded { value, .. } => value.unwrap_or(f64::NAN),
            Prediction::None | Prediction::Class { .. } => f64::NAN,
        };
        model.predict_as(device, table, PredictOptions::lenient()).await?.iter().map(value).collect()
    };
    let width = classes.max(1);
    let mean = |output: usize| {
        let own = all.iter().skip(output).step_by(width).filter(|value| value.is_finite());
        let (sum, count) = own.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        sum / count
    };
    Ok((0..width).map(mean).collect())
}

/// Points in time in the range of the training rows. If they are days or weeks apart, all have the same time of day (noon if that varies) and
/// weekday, since otherwise a curve would jump up and down with them.
fn evenly(date: &DateFeature) -> Vec<String> {
    let NumberFeature { min, max, .. } = &date.elapsed;
    let least = (max - min) / (GRID - 1) as f64;
    let unit = if least >= 7.0 { 7.0 } else { 1.0 };
    let (first, step) = match (least < 1.0, date.cycles.contains(&Cycle::Day)) {
        (true, _) => (*min, least),
        (_, true) => (min.ceil() + 0.5, (least / unit).ceil() * unit),
        (_, false) => (*min, (least / unit).ceil() * unit),
    };
    let points = (0..GRID).map(|at| first + step * at as f64);
    // The last of evenly divided points may exceed the last row by a rounding error.
    let mut texts: Vec<String> = points.filter(|day| *day <= max + step / 1e6).map(|day| date.text(day)).collect();
    texts.dedup();
    texts
}

/// Quantiles of the column within the training range; every value if they are few.
fn grid(table: &Table, column: &str, [min, max]: [f64; 2]) -> Result<Vec<f64>> {
    let all: Vec<f64> = table.numbers(column)?.iter().copied().filter(|value| (min..=max).contains(value)).collect();
    let mut sorted: Vec<f64> = ascending_numbers(&all).into_iter().map(|at| all[at as usize]).collect();
    let mut distinct = sorted.clone();
    distinct.dedup();
    if distinct.len() <= GRID {
        return Ok(if distinct.is_empty() { vec![min, max] } else { distinct });
    }
    let last = (sorted.len() - 1) as f64;
    let quantile = |at: usize| ENDS[0] + (ENDS[1] - ENDS[0]) * at as f64 / (GRID - 1) as f64;
    sorted = (0..GRID).map(|at| sorted[(quantile(at) * last).round() as usize]).collect();
    sorted.dedup();
    Ok(sorted)
}

fn frequent(levels: &[String], counts: &[u32]) -> Vec<String> {
    let falling: Vec<f64> = counts.iter().map(|count| -f64::from(*count)).collect();
    ascending_numbers(&falling).into_iter().take(GRID).map(|at| levels[at as usize].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::examined::{judged, linear};
    use pollster::block_on;

    #[test]
    fn the_dependence_of_a_linear_model_is_its_line() {
        let (model, table) = (linear([3.0, -1.0, 0.0]), judged(500));
        let rows = table.every_row();
        let of = |column: &str| {
            block_on(partial(&model, &Device::cpu(1), (&table, &rows), column, ExamineOptions::default()))
        };
        let got = of("b").unwrap();
        assert_eq!((got.values.len(), got.curves.len(), got.curves[0].name.as_str()), (GRID, 1, "y"));
        assert!(got.values.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", got.values);
        let mean = |name: &str| table.numbers(name).unwrap().iter().sum::<f64>() / 500.0;
        for (value, got) in got.values.iter().zip(&got.curves[0].means) {
            let expected = 3.0 * mean("a") - value;
            assert!((got - expected).abs() < 1e-5, "at {value}: got {got}, expected {expected}");
        }
        let expected = "partial: the model does not read column \"y\"; it reads \"a\", \"b\", \"c\"";
        assert_eq!(of("y").unwrap_err().to_string(), expected);
    }

    #[test]
    fn distant_points_in_time_have_one_time_of_day_and_one_weekday() {
        let of = |min, max, cycles: &[Cycle]| {
            let elapsed = NumberFeature { min, max, ..NumberFeature::default() };
            evenly(&DateFeature { elapsed, has_dates: true, cycles: cycles.to_vec(), ..DateFeature::default() })
        };
        let years = of(19_783.1, 19_783.1 + 730.0, &[Cycle::Day]);
        assert_eq!(years[..2], ["2024-03-02T12:00", "2024-04-13T12:00"], "42 days");
        assert!(years.len() > GRID / 2 && years.iter().all(|text| text.ends_with("T12:00")), "{years:?}");
        assert_eq!(of(19_783.0, 19_783.0 + 57.0, &[])[1..3], ["2024-03-04", "2024-03-07"]);
        assert_eq!(of(19_783.0, 19_783.0 + 19.0, &[]).len(), GRID);
        assert_eq!(of(19_783.0, 19_783.0 + 0.5, &[Cycle::Day]).len(), GRID);
        assert_eq!(of(19_783.0, 19_783.0, &[]), ["2024-03-01"]);
    }

    #[test]
    fn few_values_are_all_in_the_grid_and_far_ones_are_not() {
        let of = |values: Vec<f64>| {
            let table = Table::new("t", vec![Column::numeric("x", values)]).unwrap();
            grid(&table, "x", [0.0, 1e6]).unwrap()
        };
        assert_eq!(of(vec![2.0, 1.0, 2.0, -1.0, f64::NAN]), [1.0, 2.0]);
        let many: Vec<f64> = (0..1000).map(f64::from).chain([1e6]).collect();
        assert_eq!((of(many.clone())[0], of(many)[GRID - 1]), (50.0, 950.0));
    }
}
