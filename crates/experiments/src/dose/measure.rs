//! The measures of the domain: the class of every curve and, inside the window, its log10 IC50.

use serde_json::json;

use super::data::{Data, TARGETS, THRESHOLDS};
use crate::classify::{Confusion, OperatingPoints, Operation, auroc, average_precision, log_space, sweep};
use crate::description::{Axes, Chart, Description, Direction, Gathering, Metric, Remark};
use crate::report::MethodReport;
use crate::statistics::mean;
use crate::subject::{Curve, MethodResult};
use meromorph::{Error, Result};

/// A smaller |Q| means censored.
pub(super) const TAU: f64 = 2.5e-2;

/// The predictions of a method for curves.
pub struct Call {
    /// 0 below, 1 inside, 2 above.
    pub class: Vec<usize>,
    /// log10 IC50, valid only inside.
    pub value: Vec<f64>,
    /// |Q|, for methods that have one.
    pub q: Option<Vec<f64>>,
}

pub(super) static FACTS: Description = Description {
    name: "dose",
    title: "Censored dose-response",
    about: "A drug's dose-response curve is measured at ten concentrations between 1 nM and 10 µM. Where its IC50 lies outside \
            of that window the assay cannot give a number, only a side: censored below or above. One curve in ten is flat and \
            counts as above, though it looks like a curve from far below, so no method can tell all directions.",
    claim: "A denominator that may be zero says \"no number here\" with far fewer censored curves reported as finite than a \
            division guarded by an epsilon (published for the latter: 57.3 %).",
    published: "projective",
    ours: "odds",
    rival: ("rational-eps", &["false_inside"]),
    metrics: &[
        Metric::headline("false_inside", "censored called finite", Direction::Less),
        Metric::headline("false_censored", "finite called censored", Direction::Less),
        Metric::headline("macro_f1", "macro F1", Direction::More),
        Metric::headline("direction_f1", "direction F1", Direction::More),
        Metric::headline("finite_mae", "MAE inside, log10", Direction::Less),
        Metric::detail("bottom_rate", "called censored", Direction::Neither),
        Metric::detail("auroc", "AUROC of |Q| for inside", Direction::More),
        Metric::detail("average_precision", "average precision of small |Q| for censored", Direction::More),
    ],
    charts: &[
        Chart {
            title: "What a higher threshold catches",
            note: "Share of censored curves called finite against the threshold τ on |Q|, mean over seeds. The figures above use \
               τ = 0.025, and 0.37 for double-angle.",
            x: "τ",
            y: "share of censored curves called finite",
            shape: Axes::LOG_X,
            gathering: Gathering::Mean,
        },
        Chart {
            title: "What a higher threshold costs",
            note: "Share of finite curves called censored against τ, mean over seeds.",
            x: "τ",
            y: "share of finite curves called censored",
            shape: Axes::LOG_X,
            gathering: Gathering::Mean,
        },
    ],
};

/// Classes of numbers by the thresholds; NaN counts as inside, without a value.
pub(super) fn by_number(values: &[f32]) -> Call {
    let value: Vec<f64> = values.iter().copied().map(f64::from).collect();
    let class = value.iter().map(|&value| {
        if value < THRESHOLDS[0] {
            0
        } else if value > THRESHOLDS[1] {
            2
        } else {
            1
        }
    });
    Call { class: class.collect(), value, q: None }
}

/// Classes by the largest of three logits, and a separate value.
pub(super) fn by_logits(outputs: &[Vec<f32>]) -> Call {
    let class = outputs[0].chunks_exact(3).map(meromorph::internal::math::largest).collect();
    Call { class, value: outputs[1].iter().copied().map(f64::from).collect(), q: None }
}

/// Censored where |Q| < τ (or is NaN), on the side of P (0 and above: above) or of the larger direction logit; else P / Q.
pub(super) fn by_denominator(outputs: &[Vec<f32>], tau: f64) -> Call {
    let (p, q) = (&outputs[0], &outputs[1]);
    let side = |row: usize| match outputs.get(2) {
        Some(logits) => logits[2 * row + 1] > logits[2 * row],
        None => p[row] >= 0.0,
    };
    let is_inside = |row: usize| f64::from(q[row]).abs() >= tau;
    let class = (0..p.len()).map(|row| if is_inside(row) { 1 } else { 2 * usize::from(side(row)) }).collect();
    let value = (0..p.len()).map(|row| if is_inside(row) { f64::from(p[row]) / f64::from(q[row]) } else { f64::NAN });
    let value = value.collect();
    Call { class, value, q: Some(q.iter().map(|&q| f64::from(q).abs()).collect()) }
}

/// Rows of class, log10 IC50 and |Q|; the last is NaN in every row for methods without one.
pub(super) fn written(values: &[f32]) -> Result<Call> {
    let rows = || values.chunks_exact(3);
    let class = |row: &[f32]| [0.0, 1.0, 2.0].iter().position(|class| *class == row[0]);
    let Some(class) = rows().map(class).collect() else {
        let (at, row) = rows().enumerate().find(|(_, row)| class(row).is_none()).expect("a row is no class");
        return Err(Error::new(format!("row {}: class is {}, expected 0, 1 or 2", at + 1, row[0])));
    };
    let has_q = rows().any(|row| !row[2].is_nan());
    let q = has_q.then(|| rows().map(|row| f64::from(row[2])).collect());
    Ok(Call { class, value: rows().map(|row| f64::from(row[1])).collect(), q })
}

pub(super) fn measure(data: &Data, calls: &[Call]) -> MethodResult {
    let call = &calls[0];
    let truth: Vec<&[f32]> = data.test.y.chunks_exact(TARGETS).collect();
    let classes: Vec<usize> = truth.iter().map(|row| row[1] as usize).collect();
    let confusion = Confusion::of(&classes, &call.class);
    let errors: Vec<f64> = (0..truth.len())
        .filter(|&row| classes[row] == 1 && call.class[row] == 1 && call.value[row].is_finite())
        .map(|row| (call.value[row] - f64::from(truth[row][0])).abs())
        .collect();
    let bottom = call.class.iter().filter(|&&class| class != 1).count() as f64 / classes.len() as f64;
    let values = vec![
        confusion.false_inside(),
        confusion.false_censored(),
        Some(confusion.macro_f1()),
        confusion.direction_f1(),
        (!errors.is_empty()).then(|| mean(&errors)),
        Some(bottom),
        call.q.as_ref().and_then(|q| auroc(&classes.iter().map(|&class| class == 1).collect::<Vec<_>>(), q)),
        call.q.as_ref().and_then(|q| {
            let is_censored: Vec<bool> = classes.iter().map(|&class| class != 1).collect();
            average_precision(&is_censored, &q.iter().map(|q| -q).collect::<Vec<_>>())
        }),
    ];
    let mut curves = Vec::new();
    if let Some(q) = &call.q {
        let of = |is_inside: bool| -> Vec<f64> {
            (0..q.len()).filter(|&row| (classes[row] == 1) == is_inside).map(|row| q[row]).collect()
        };
        let found = sweep(&of(true), &of(false), &log_space(-6.0, 0.0, 49));
        curves.push(Curve { chart: 0, points: found.iter().map(|at| [at.tau, at.false_inside]).collect() });
        curves.push(Curve { chart: 1, points: found.iter().map(|at| [at.tau, at.false_censored]).collect() });
    }
    MethodResult { values, curves, more: json!({ "confusion": confusion.0 }) }
}

/// The best method by each criterion, by the means over seeds.
pub(super) fn remarks(methods: &[MethodReport]) -> Vec<Remark> {
    let of = |method: &MethodReport| Operation {
        false_inside: method.mean_at(0),
        false_censored: method.mean_at(1),
        direction_f1: method.mean_at(3),
    };
    let candidates: Vec<Operation> = methods.iter().map(of).collect();
    let points = OperatingPoints::of(&candidates);
    let named =
        |what: &str, at: Option<usize>| at.map(|at| Remark { what: what.into(), answer: methods[at].name.clone() });
    [
        named("Fewest censored curves called finite", points.safety_first),
        named("Fewest finite curves called censored", points.accuracy_first),
        named("Best direction", points.direction_aware),
        named("Smallest sum of both rates", points.balanced),
    ]
    .into_iter()
    .flatten()
    .collect()
}
