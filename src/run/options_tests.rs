//! What a recipe leaves to the target: class weights, and where there is no value.

use super::resolve::{balanced, default_decoding};
use super::*;
use crate::optim::{OneCycle, Polynomial, Restarts, Schedule, ScheduleShape, Step};
use crate::options::{Given, Kind, Naming, Value};
use crate::table::Target;

fn regression([mean, scale, min, max]: [f64; 4]) -> Target {
    Target::Regression { name: "y".into(), mean, scale, min, max }
}

#[test]
fn class_weights_are_rows_over_classes_times_rows_of_the_class() {
    let weights = |counts: &[u32]| {
        let levels = (0..counts.len()).map(|at| at.to_string()).collect();
        balanced(&Target::Classification { name: "kind".into(), levels, counts: counts.to_vec() })
    };
    assert_eq!(weights(&[8, 8]), [1.0, 1.0]);
    assert_eq!(weights(&[2, 4, 6]), [2.0, 1.0, 4.0 / 6.0]);
    assert_eq!(weights(&[16, 0, 4, 4]), [0.375, 1.0, 1.5, 1.5], "a class without rows counts as one");
    assert!(balanced(&regression([0.0, 1.0, -1.0, 1.0])).is_empty());
}

#[test]
fn values_beyond_the_training_targets_on_either_side_have_no_value() {
    // The largest distance from the mean in scales; the angle's sine for a value v is 1/√(v² + 1).
    let cases = [
        ([0.0, 1.0, -1.0, 40.0], 40.0),
        ([0.0, 1.0, -40.0, 1.0], 40.0),
        ([5.0, 2.0, -75.0, 15.0], 40.0),
        ([5.0, 2.0, -5.0, 85.0], 40.0),
        ([0.0, 1.0, -2.0, 2.0], 10.0),
        ([0.0, 1.0, -9e9, 2.0], 1e6),
    ];
    for (target, largest) in cases {
        let Decoding { tau_infer, tau_train, .. } = default_decoding(&regression(target));
        let sine = 1.0 / f64::hypot(largest, 1.0);
        let near = |got: f32, expected: f64| (f64::from(got) / expected - 1.0).abs() < 1e-6;
        assert!(near(tau_infer, sine), "{target:?}: got {tau_infer:e}, expected {sine:e}");
        assert!(near(tau_train.unwrap(), 3.0 * sine), "{target:?}: got {tau_train:?}, expected {:e}", 3.0 * sine);
    }
}

/// A value that the option accepts and that is not its default.
fn sample(name: &str, kind: &Kind) -> Value {
    match (name, kind) {
        ("momentum", _) => Value::Number(0.5),
        ("recompute", _) => Value::Text("3".into()),
        ("test" | "validation", _) => Value::Number(0.3),
        ("power", _) => Value::Number(1.25),
        ("encode", _) => Value::Fields(vec![("zip".into(), Value::Text("levels".into()))]),
        ("policy", _) => Value::Fields(vec![("scm_norm".into(), Value::Text("pass".into()))]),
        ("term", _) => Value::Fields(vec![("decoded".into(), Value::Text("0..1@2..5".into()))]),
        (_, Kind::Flag) => Value::Flag(true),
        (_, Kind::Number(_)) => Value::Number(0.25),
        (_, Kind::Whole { .. }) => Value::Number(7.0),
        (_, Kind::Wholes { length }) => Value::List(vec![Value::Number(5.0); length.unwrap_or(3)]),
        (_, Kind::Name(names) | Kind::Formula(names)) => Value::Text(names().last().unwrap().0.into()),
        (_, Kind::Texts) => Value::List(vec![Value::Text("a".into())]),
        (_, _) => Value::Text("a".into()),
    }
}

#[test]
fn every_option_is_stored_and_has_a_doc() {
    // What options need besides themselves.
    let context = |name: &str| match name {
        "delta" => vec![("loss", Value::Text("huber".into()))],
        "quantile" => vec![("loss", Value::Text("quantile".into()))],
        "power" => vec![("loss", Value::Text("tweedie".into()))],
        "gamma" => vec![("loss", Value::Text("focal".into()))],
        "keep_f32" | "keep_half" | "loss_scale" | "scale_interval" | "strict" => {
            vec![("precision", Value::Text("f16".into()))]
        }
        "momentum" => vec![("optimizer", Value::Text("sgd".into()))],
        "tau_train" | "threshold" => {
            vec![("head", Value::Text("rational".into())), ("tau_infer", Value::Number(0.01))]
        }
        "coverage_patience" => vec![("head", Value::Text("rational".into())), ("min_coverage", Value::Number(0.5))],
        "degrees" | "tau_infer" | "min_coverage" | "term" | "hold_coverage" | "sample_poles" => {
            vec![("head", Value::Text("rational".into()))]
        }
        _ => Vec::new(),
    };
    for entry in TABLE.entries() {
        let mut given: Vec<_> =
            context(entry.name).into_iter().map(|(name, value)| (TABLE.entry(name), value)).collect();
        let applied = |given: &[Given<TrainOptions>]| {
            let mut options = TrainOptions::default();
            TABLE.apply(&mut options, given, Naming::Rust).map(|()| format!("{options:?}"))
        };
        let without = applied(&given).unwrap();
        given.push((entry, sample(entry.name, &entry.kind)));
        assert_ne!(applied(&given).unwrap(), without, "{}: its value changes nothing", entry.name);
        assert!(!entry.doc.is_empty() && !entry.doc.ends_with('.'), "{}: {}", entry.name, entry.doc);
        // A condition is met by the context and not without it.
        if entry.needs.is_some() {
            let alone = [(entry, sample(entry.name, &entry.kind))];
            let message = applied(&alone).unwrap_err().to_string();
            assert!(message.starts_with(&format!("{} has no effect without", entry.name)), "{message}");
        }
    }
}

#[test]
fn each_name_of_an_option_sets_something_else() {
    for entry in TABLE.entries() {
        let (Kind::Name(names) | Kind::Formula(names)) = entry.kind else { continue };
        let head = Value::Text("rational".into());
        let context = if entry.name == "threshold" {
            vec![(TABLE.entry("head"), head), (TABLE.entry("tau_infer"), Value::Number(0.01))]
        } else {
            Vec::new()
        };
        let mut seen = std::collections::HashMap::new();
        for (name, _) in names() {
            let mut given = context.clone();
            given.push((entry, Value::Text(name.into())));
            let mut options = TrainOptions::default();
            TABLE.apply(&mut options, &given, Naming::Rust).unwrap();
            if let Some(other) = seen.insert(format!("{options:?}"), name) {
                panic!("{}: {name} sets the same as {other}", entry.name);
            }
        }
    }
}

#[test]
fn a_schedule_and_its_warm_up_are_set_together() {
    let mut options = TrainOptions::default();
    let number = |name: &str, value: f64| (TABLE.entry(name), Value::Number(value));
    let given = [number("warmup", 10.0), (TABLE.entry("schedule"), Value::Text("step".into())), number("epochs", 30.0)];
    TABLE.apply(&mut options, &given, Naming::Rust).unwrap();
    let shape = ScheduleShape::Step(Step { every: 10, factor: 0.1 });
    assert_eq!(options.schedule, Some(Schedule { warmup_steps: 10, shape }));
}

#[test]
fn each_listed_schedule_has_the_shape_of_its_name() {
    let entry = TABLE.entry("schedule");
    let Kind::Name(names) = entry.kind else { panic!("schedules have names") };
    let shape = |name: &str| {
        let mut options = TrainOptions { epochs: Some(30), ..TrainOptions::default() };
        TABLE.apply(&mut options, &[(entry, Value::Text(name.into()))], Naming::Rust).unwrap();
        options.schedule.expect("it is set").shape
    };
    let kinds: Vec<_> = names().iter().map(|(name, _)| std::mem::discriminant(&shape(name))).collect();
    let is_new = |at: usize| !kinds[..at].contains(&kinds[at]);
    assert!((0..kinds.len()).all(is_new), "two names have one shape");
    for (name, expected) in [
        ("constant", ScheduleShape::Constant),
        ("linear", ScheduleShape::Polynomial(Polynomial { power: 1.0, floor: 0.0 })),
        ("one-cycle", ScheduleShape::OneCycle(OneCycle { rise: 0.3, first: 0.04, last: 4e-6 })),
        ("restarts", ScheduleShape::Restarts(Restarts { period: 5, growth: 2.0, floor: 0.0 })),
    ] {
        assert_eq!(shape(name), expected);
    }
}

/// The options of a run have these names; those that a table lacks are not suggested.
#[test]
fn names_of_other_libraries_are_understood() {
    let hint = |name: &str| TABLE.find(name, Naming::JavaScript).map(|_| ()).unwrap_err().to_string();
    for (given, meant) in [
        ("layers", "hidden"),
        ("iterations", "epochs"),
        ("max_iter", "epochs"),
        ("earlyStopping", "patience"),
        ("validationFraction", "validation"),
        ("l2", "weightDecay"),
    ] {
        assert_eq!(hint(given), format!("option \"{given}\" is unknown: did you mean \"{meant}\"?"));
    }
    let has_quiet = TABLE.entries().any(|entry| entry.name == "quiet");
    assert_eq!(hint("verbose").contains("did you mean \"quiet\""), has_quiet);
}
