//! Methods of other programs: they get the same data as built-in methods, their predictions are scored in the same way, and predictions
//! that cannot be scored are errors.

use std::collections::HashSet;

use meromorph::Device;
use meromorph_experiments::{
    Domain, ExperimentReport, ExternalMethod, Predictions, Request, Role, Size, Verdict, ik, lj, page, rf, run, sheets,
};
use pollster::block_on;

/// The report on seeds 3 and 4 with a method called "mine" that predicts each row of `predict` by a formula.
fn beside(
    domain: Domain,
    methods: &[&str],
    answer: impl Fn(&[f32]) -> Vec<f64>,
) -> meromorph::Result<ExperimentReport> {
    let answers = |seed| {
        let all = sheets(domain, Size::Contract, seed);
        let Predictions { name, columns, values } = all.last().unwrap();
        assert_eq!(*name, "predict");
        values.chunks_exact(columns.len()).flat_map(&answer).map(|value| value as f32).collect()
    };
    let mine = ExternalMethod { name: "mine".into(), predictions: [3, 4].map(answers).into() };
    let methods = methods.iter().map(|name| (*name).to_owned()).collect();
    let request = Request { mode: Size::Contract, seeds: vec![3, 4], methods, epochs: None, elsewhere: vec![mine] };
    block_on(run(domain, &request, &Device::cpu(1), &mut |_, _, _| {}))
}

#[test]
fn a_method_elsewhere_is_scored_like_a_built_in_one() {
    let wide = |x: &[f32]| x.iter().copied().map(f64::from).collect::<Vec<f64>>();
    let ten = |log: f32| 10_f64.powf(f64::from(log));
    let ik = |x: &[f32]| {
        let x = wide(x);
        ik::damped_least_squares([x[0], x[1]], [x[2], x[3]], 0.01).into()
    };
    let reports = [
        beside(Domain::Ik, &["dls"], ik).unwrap(),
        beside(Domain::Rf, &["formula"], |x| rf::response(ten(x[0]), ten(x[1]), ten(x[2])).into()).unwrap(),
        beside(Domain::Lj, &["formula"], |x| vec![lj::potential(0.8 / f64::from(x[0])) / 10.0]).unwrap(),
    ];
    for report in reports {
        let [known, mine] = &report.methods[..] else { panic!("{} methods", report.methods.len()) };
        assert_eq!((&*mine.name, mine.role, mine.parameters), ("mine", Role::Elsewhere, None));
        assert_eq!(mine.trials.iter().map(|trial| trial.seed).collect::<Vec<_>>(), [3, 4]);
        for (a, b) in known.trials.iter().zip(&mine.trials) {
            for ((a, b), metric) in a.values.iter().zip(&b.values).zip(report.metrics) {
                let (a, b) = (a.unwrap_or(-1.0), b.unwrap_or(-1.0));
                // Predictions are handed over in f32, whose rounding grows with V and in a difference of steps.
                assert!(
                    (a - b).abs() <= 1e-3 * a.abs().max(0.1),
                    "{} {}: {a} here, {b} elsewhere",
                    report.name,
                    metric.key
                );
            }
            assert_eq!(a.values.len(), b.values.len());
        }
        let (json, text) = (report.to_json(), page(&report));
        assert_eq!(
            (&json["methods"][1]["role"], &json["methods"][1]["parameters"]),
            (&"elsewhere".into(), &serde_json::Value::Null)
        );
        assert!(
            text.contains("<td>elsewhere</td>") && text.contains(" --predictions mine=DIR") && !text.contains("NaN")
        );
    }
}

#[test]
fn exported_rows_are_the_training_rows_of_built_in_methods() {
    let all = sheets(Domain::Ik, Size::Contract, 5);
    let data = ik::draw(Size::Contract, 5);
    let rows = data.train.x.chunks_exact(4).zip(data.train.y.chunks_exact(2));
    let expected: Vec<f32> = rows.flat_map(|(x, y)| x.iter().chain(y).copied()).collect();
    assert_eq!(all.iter().map(|sheet| sheet.name).collect::<Vec<_>>(), ["train", "predict"]);
    assert_eq!(
        (&all[0].columns[..], &all[0].values),
        (&["theta1", "theta2", "dx", "dy", "dtheta1", "dtheta2"][..], &expected)
    );
    assert_eq!(all[1].values, data.test.x, "inputs only");
    for (domain, rows) in
        [(Domain::Dose, [256, 64, 128]), (Domain::Rf, [512, 128, 8 * 16]), (Domain::Lj, [512, 128, 256])]
    {
        let all = sheets(domain, Size::Contract, 5);
        assert_eq!(all.iter().map(|sheet| sheet.name).collect::<Vec<_>>(), ["train", "validation", "predict"]);
        for (sheet, rows) in all.iter().zip(rows) {
            let got = sheet.values.len() / sheet.columns.len();
            // Peaks and slopes are requested in addition to the test rows.
            assert!(
                if sheet.name == "predict" { got >= rows } else { got == rows },
                "{} {}: {got}",
                domain.name(),
                sheet.name
            );
        }
    }
}

#[test]
fn the_own_and_the_published_method_are_compared_with_those_elsewhere() {
    let seeds: Vec<u64> = (1..=5).collect();
    let rows = |seed: &u64| sheets(Domain::Ik, Size::Contract, *seed)[1].values.len() / 4;
    // A step of 1 everywhere is worse than anything learnt, no step at all is not.
    let predictions = seeds.iter().map(|seed| vec![1.0; 2 * rows(seed)]).collect();
    let elsewhere = vec![ExternalMethod { name: "far".into(), predictions }];
    let methods = vec!["damped".into(), "projective-full".into()];
    let request = Request { mode: Size::Contract, seeds, methods, epochs: None, elsewhere };
    let report = block_on(run(Domain::Ik, &request, &Device::cpu(1), &mut |_, _, _| {})).unwrap();
    let found = report.elsewhere();
    let names: HashSet<(&str, &str)> = found.iter().map(|one| (one.ours.0, one.theirs.0)).collect();
    assert_eq!(names, HashSet::from([("damped", "far"), ("projective-full", "far")]));
    let verdict =
        |one: &str| found.iter().find(|found| found.ours.0 == one && found.metric.key == "mse_b4").unwrap().verdict();
    assert_eq!([verdict("damped"), verdict("projective-full")], [Verdict::Direction; 2]);
    assert_eq!(report.to_json()["elsewhere"].as_array().unwrap().len(), found.len());
    assert!(page(&report).contains("External method: damped against far"));
    assert!(report.comparisons().iter().all(|one| one.ours.0 != "far" && one.theirs.0 != "far"));
}

#[test]
fn censored_curves_are_predicted_by_class() {
    let report = beside(Domain::Dose, &["two-stage-iso"], |_| vec![1.0, -7.0, f64::NAN]).unwrap();
    let mine = &report.methods[1];
    let all = |key| report.estimate(mine, key).map(|found| found.mean);
    assert_eq!((all("false_inside"), all("false_censored"), all("auroc")), (Some(1.0), Some(0.0), None));
    assert!(all("finite_mae").unwrap() < 1.8, "values inside lie between -8.8 and -5.2");
    let report = beside(Domain::Dose, &["two-stage-iso"], |_| vec![0.0, f64::NAN, 0.01]).unwrap();
    let of = |key| report.estimate(&report.methods[1], key).map(|found| found.mean);
    assert_eq!((of("false_inside"), of("false_censored"), of("auroc")), (Some(0.0), Some(1.0), Some(0.5)));
    let message = beside(Domain::Dose, &["two-stage-iso"], |_| vec![3.0, 0.0, 0.0]).err().unwrap().to_string();
    assert_eq!(message, "experiment: mine, seed 3: row 1: class is 3, expected 0, 1 or 2");
}

#[test]
fn invalid_predictions_are_errors_that_name_them() {
    let one = |name: &str, predictions: Vec<Vec<f32>>| ExternalMethod { name: name.into(), predictions };
    let refused = |elsewhere: Vec<ExternalMethod>| {
        let methods = vec!["dls".into()];
        let request = Request { mode: Size::Contract, seeds: vec![1], methods, epochs: None, elsewhere };
        block_on(run(Domain::Ik, &request, &Device::cpu(1), &mut |_, _, _| {})).err().unwrap().to_string()
    };
    let rows = sheets(Domain::Ik, Size::Contract, 1)[1].values.len() / 4;
    let whole = vec![vec![0.0; 2 * rows]];
    let cases = [
        (
            vec![one("mlp", whole.clone())],
            "experiment: there is a method \"mlp\" already; name it otherwise".to_owned(),
        ),
        (
            vec![one("a", whole.clone()), one("a", whole.clone())],
            "experiment: there is a method \"a\" already; name it otherwise".to_owned(),
        ),
        (
            vec![one("<b>", whole.clone())],
            "experiment: \"<b>\" names no method; expected 1 to 20 letters, digits, \"-\", \"_\" or \".\"".to_owned(),
        ),
        (vec![one("a", Vec::new())], "experiment: a has predictions for 0 seeds, expected 1".to_owned()),
        (
            vec![one("a", vec![vec![0.0; 2 * rows - 2]])],
            format!("experiment: a, seed 1: {} predictions, expected {rows}, one for each row of predict", rows - 1),
        ),
    ];
    for (elsewhere, expected) in cases {
        assert_eq!(refused(elsewhere), expected);
    }
}
