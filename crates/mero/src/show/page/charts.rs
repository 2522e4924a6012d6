//! The charts of the page: predictions against targets, losses, residuals, ROC and reliability.

use super::content::PageContent;
use crate::show::plot::{PlotData, confusion, scatter};
use meromorph::Result;
use meromorph::internal::math::largest;
use meromorph::judge::{reliability, roc};
use meromorph::report::{Axis, Chart, Mark, Series, Style, Table, count};
use meromorph::train::EpochReport;

/// Classes with a ROC curve of their own.
const MOST_CURVES: usize = 6;
/// Bins of the reliability.
const BINS: usize = 10;
/// Dots of a chart: of more rows, every so many are drawn.
const MOST_DOTS: usize = 4000;

/// The range of an axis of shares, with room for dots at its ends.
const SHARES: [f64; 2] = [-0.02, 1.02];

/// The chart of the first view: predictions against targets, or the ROC curves of classes.
pub(crate) fn first(content: &PageContent<'_>) -> Result<Option<Chart>> {
    let (z, y) = content.outputs;
    if y.is_empty() {
        return Ok(None);
    }
    Ok(match data(content)? {
        PlotData::Numbers(pairs) => {
            Some(scatter(&thinned(&pairs), format!("Predicted against actual, {}", content.part)))
        }
        PlotData::Classes { names, .. } => {
            let (probabilities, own) = classes(content, (z, y), names.len());
            Some(roc_chart(&probabilities, &own, &names))
        }
    })
}

/// How the model errs: residuals of numbers, reliability of classes.
pub(crate) fn errors(content: &PageContent<'_>) -> Result<Vec<Chart>> {
    let (z, y) = content.outputs;
    if y.is_empty() {
        return Ok(Vec::new());
    }
    Ok(match data(content)? {
        PlotData::Numbers(pairs) => vec![residuals(&pairs), spread(&pairs)],
        PlotData::Classes { names, .. } => {
            let (probabilities, own) = classes(content, (z, y), names.len());
            vec![reliability_chart(&probabilities, &own)]
        }
    })
}

/// The confusion table.
pub(crate) fn mistakes(content: &PageContent<'_>) -> Result<Table> {
    Ok(match data(content)? {
        PlotData::Classes { names, counts } => confusion(&names, &counts),
        PlotData::Numbers(_) => Table::default(),
    })
}

/// Training and validation loss over the epochs.
pub(crate) fn losses(history: &[EpochReport], best: Option<usize>) -> Chart {
    let points = |of: fn(&EpochReport) -> Option<f64>| {
        let point = |report: &EpochReport| Some([(report.epoch + 1) as f64, of(report)?]);
        history.iter().filter_map(point).collect::<Vec<_>>()
    };
    // A likelihood can be above 1, so that its loss is below 0.
    let is_positive =
        history.iter().all(|report| report.train_loss > 0.0 && report.val_loss.is_none_or(|loss| loss > 0.0));
    let axis = if is_positive { Axis::log("loss") } else { Axis::linear("loss") };
    let chart = Chart::new("Loss over the epochs", Axis::linear("epoch"), axis)
        .series(Series::line("validation", points(|report| report.val_loss)))
        .series(Series::new("training", Style::Dashed, points(|report| Some(report.train_loss))))
        .note("The training loss of an epoch comes from before each of its updates.");
    best.into_iter().fold(chart, |chart, epoch| chart.mark(Mark::new((epoch + 1) as f64, "kept")))
}

fn data(content: &PageContent<'_>) -> Result<PlotData> {
    let model = content.model;
    Ok(PlotData::of(&model.spec, &model.loss, model.preparation()?, content.outputs))
}

/// Probabilities [rows, classes] and the rows' own classes.
fn classes(content: &PageContent<'_>, (z, y): (&[f32], &[f32]), classes: usize) -> (Vec<f64>, Vec<usize>) {
    let probabilities = content.model.class_probabilities(z, classes);
    let rows = z.len() / content.model.loss.outputs(classes).max(1);
    let own = if y.len() == rows {
        y.iter().map(|y| *y as usize).collect()
    } else {
        y.chunks_exact(classes).map(largest).collect()
    };
    (probabilities, own)
}

fn thinned(pairs: &[[f64; 2]]) -> Vec<[f64; 2]> {
    pairs.iter().step_by(pairs.len().div_ceil(MOST_DOTS).max(1)).copied().collect()
}

/// What is left of the actual value after the prediction, over the prediction.
fn residuals(pairs: &[[f64; 2]]) -> Chart {
    let points: Vec<[f64; 2]> =
        thinned(pairs).iter().map(|[actual, predicted]| [*predicted, actual - predicted]).collect();
    let ends =
        points.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], [x, _]| [low.min(*x), high.max(*x)]);
    Chart::new("Error over the prediction", Axis::linear("predicted"), Axis::linear("actual − predicted"))
        .series(Series::new("", Style::Reference, ends.map(|x| [x, 0.0]).to_vec()))
        .series(Series::dots("", points).color(0))
        .note("A pattern here is something that the model has not learnt.")
}

/// The share of rows whose error is at most so large.
fn spread(pairs: &[[f64; 2]]) -> Chart {
    let mut sizes: Vec<f64> =
        pairs.iter().map(|[actual, predicted]| (actual - predicted).abs()).filter(|size| size.is_finite()).collect();
    sizes.sort_by(f64::total_cmp);
    let last = sizes.len().saturating_sub(1).max(1);
    let steps = last.min(200);
    let at = |step: usize| sizes.get(step * last / steps).map(|size| [*size, 100.0 * step as f64 / steps as f64]);
    Chart::new(
        "How large the errors are",
        Axis::linear("error, without its sign"),
        Axis::linear("rows at most, %").within(0.0, 100.0),
    )
    .series(Series::line("", (0..=steps).filter_map(at).collect()))
    .note("Half of the rows have an error below the place where the line passes 50 %.")
}

fn roc_chart(probabilities: &[f64], own: &[usize], names: &[String]) -> Chart {
    let share = |label: &str| Axis::linear(label).within(SHARES[0], SHARES[1]);
    let chart = Chart::new(
        "ROC curve",
        share("rows of other classes that are named so"),
        share("rows of the class that are found"),
    )
    .series(Series::new("chance", Style::Reference, vec![[0.0, 0.0], [1.0, 1.0]]));
    // Of two classes, one curve is the other turned round.
    let first = usize::from(names.len() == 2);
    let curves = (first..names.len()).filter_map(|class| Some((class, roc(probabilities, own, class)?)));
    let chart = curves.take(MOST_CURVES).fold(chart, |chart, (class, points)| {
        chart.series(Series::line(names[class].as_str(), points).color(class - first))
    });
    let note = format!("Over all thresholds of the probability, {} rows.", count(own.len() as u64));
    if names.len() - first > MOST_CURVES {
        chart.note(format!("{note} The first {MOST_CURVES} classes."))
    } else {
        chart.note(note)
    }
}

fn reliability_chart(probabilities: &[f64], own: &[usize]) -> Chart {
    let bins = reliability(probabilities, own, BINS);
    let points: Vec<[f64; 2]> = bins.iter().map(|bin| [bin.probability, bin.right]).collect();
    let share = |label: &str| Axis::linear(label).within(SHARES[0], SHARES[1]);
    Chart::new("Calibration", share("probability of the predicted class"), share("share that is right"))
        .series(Series::new("as good as it says", Style::Reference, vec![[0.0, 0.0], [1.0, 1.0]]))
        .series(Series::line("", points.clone()).color(0))
        .series(Series::new("ten bins of the probability", Style::Points, points).color(0))
        .note("Below the dotted line the model is too sure of itself.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_a_line_at_zero_and_their_sizes_rise_to_all_rows() {
        let pairs: Vec<[f64; 2]> = (0..50).map(|i| [f64::from(i), f64::from(i) + f64::from(i % 5)]).collect();
        let svg = residuals(&pairs).svg();
        assert!(svg.contains("line reference") && svg.contains("dots c0"), "{svg}");
        let text = spread(&pairs).text();
        assert!(text.contains("100 ┤") && text.contains("  0 ┤"), "{text}");
        assert!(spread(&[]).svg().is_empty());
        assert_eq!(thinned(&vec![[0.0; 2]; 9000]).len(), 3000);
    }

    #[test]
    fn two_classes_have_one_roc_curve_and_three_have_three() {
        let p = [0.9, 0.1, 0.6, 0.4, 0.35, 0.65, 0.2, 0.8];
        let names = |count: usize| (0..count).map(|class| format!("class {class}")).collect::<Vec<_>>();
        let two = roc_chart(&p, &[0, 0, 1, 1], &names(2)).html();
        assert!(two.contains("class 1") && !two.contains("class 0"), "{two}");
        let p = [0.7, 0.2, 0.1, 0.2, 0.7, 0.1, 0.1, 0.3, 0.6];
        let three = roc_chart(&p, &[0, 1, 2], &names(3)).html();
        assert!((0..3).all(|class| three.contains(&format!("class {class}"))), "{three}");
        assert!(reliability_chart(&p, &[0, 1, 2]).html().contains("<circle"));
    }
}
