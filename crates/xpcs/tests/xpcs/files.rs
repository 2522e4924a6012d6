//! Files of data and of results: what is selected, read back and refused.

use crate::{at_truth, pairs, place, small};
use meromorph::files::npy::Array;
use meromorph::fit::SavedFit;
use meromorph::internal::host::Archive;
use meromorph_xpcs::{
    AngleRange, Experiment, Fitting, Flow, Model, Results, Scaling, Setup, Synthetic, Values, open_experiment,
    parse_angles, read_experiment, write_experiment,
};

#[test]
fn sigma_weighs_and_single_precision_is_read() {
    let made = small(Flow::Static, 0.01);
    let mut experiment = made.experiment().unwrap();
    experiment.sigma = Some(Values::Double(vec![0.01; experiment.c2.len()]));
    let with = |is_absolute| Fitting { is_absolute, ..at_truth(&made) }.solve(&experiment).unwrap().fit;
    let (scaled, absolute) = (with(false), with(true));
    let ratio = scaled.parameters[0].stderr.unwrap() / absolute.parameters[0].stderr.unwrap();
    assert!((ratio * ratio / scaled.statistics.reduced_chi_square - 1.0).abs() < 1e-9 && (ratio - 1.0).abs() < 0.1);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("single.npz");
    let doubles = (0..experiment.c2.len()).map(|at| experiment.c2.at(at).unwrap() as f32);
    experiment.c2 = Values::Single(doubles.collect());
    write_experiment(&path, &experiment).unwrap();
    let read = read_experiment(&path, &Setup::default()).unwrap();
    assert_eq!(read, experiment);
    let fit = at_truth(&made).solve(&read).unwrap().fit;
    let apart = (fit.parameters[0].value - scaled.parameters[0].value).abs() / scaled.parameters[0].stderr.unwrap();
    assert!(apart < 1e-2, "{apart}");
}

#[test]
fn angles_and_frames_are_selected() {
    let made = small(Flow::Laminar, 0.01);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.npz");
    let experiment = made.experiment().unwrap();
    write_experiment(&path, &experiment).unwrap();
    let frames = |first, last| Setup { frames: (first, last), ..Setup::default() };
    let cut = read_experiment(&path, &frames(Some(3), Some(12))).unwrap();
    assert_eq!((cut.t.len(), cut.t[0]), (10, 0.0));
    for [angle, i, j] in pairs(&cut) {
        let value = experiment.c2.at(place(&experiment, [angle, i + 2, j + 2])).unwrap();
        assert_eq!(cut.c2.at(place(&cut, [angle, i, j])).unwrap(), value);
    }
    // A file that has only these frames is used whole.
    assert_eq!(read_experiment(&path, &frames(Some(1001), Some(1020))).unwrap(), experiment);
    let error = read_experiment(&path, &frames(Some(3), Some(30))).unwrap_err().to_string();
    assert!(error.ends_with("frames: got 3 to 30, expected at most 20, the times of c2_exp"), "{error}");

    let places = AngleRange::places(&parse_angles("-10..10, 75").unwrap(), &experiment.phi).unwrap();
    assert_eq!(places, [0, 2]);
    let some = experiment.clone().with_angles(&places).unwrap();
    assert_eq!(some.phi, [0.0, 75.0]);
    assert_eq!(some.c2.at(place(&some, [1, 4, 7])).unwrap(), experiment.c2.at(place(&experiment, [2, 4, 7])).unwrap());
    assert_eq!(at_truth(&made).solve(&some).unwrap().fit.rows, 2 * 190);
}

#[test]
fn numbers_that_stay_in_the_file_give_the_same_bits() {
    let made = small(Flow::Laminar, 0.01);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.npz");
    let mut whole = made.experiment().unwrap();
    let is_far = |at: usize| at.is_multiple_of(7);
    whole.sigma = Some(Values::Single((0..whole.c2.len()).map(|at| if is_far(at) { 0.02 } else { 0.01 }).collect()));
    write_experiment(&path, &whole).unwrap();
    let setup = Setup { frames: (Some(3), Some(18)), ..Setup::default() };
    let stored = open_experiment(&path, &setup).unwrap().with_angles(&[1, 3]).unwrap();
    assert!(stored.c2.is_stored() && stored.sigma.as_ref().is_some_and(Values::is_stored));
    let held = read_experiment(&path, &setup).unwrap().with_angles(&[1, 3]).unwrap();
    assert_eq!(held.c2.len(), 2 * 16 * 16);
    for at in 0..held.c2.len() {
        assert_eq!(stored.c2.at(at).unwrap(), held.c2.at(at).unwrap(), "{at}");
    }
    assert_eq!(stored.clone().held().unwrap(), held);
    let cost = |experiment: &Experiment| at_truth(&made).solve(experiment).unwrap().fit.cost.to_bits();
    assert_eq!(cost(&stored), cost(&held));
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(500).unwrap();
    let error = at_truth(&made).solve(&stored).unwrap_err().to_string();
    assert!(error.contains("its length changed while it was read"), "{error}");
}

#[test]
fn result_files_are_read_back() {
    let made = small(Flow::Laminar, 0.005);
    let made = Synthetic { model: Model { scaling: Scaling::Individual, ..made.model }, ..made };
    let experiment = made.experiment().unwrap();
    let outcome = at_truth(&made).solve(&experiment).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let notes = ["a note".to_owned()];
    let results =
        Results { outcome: &outcome, experiment: &experiment, data: "data.npz", notes: &notes, timings: None };
    let written = results.write(&folder.path().join("new/results"), true).unwrap();
    let names: Vec<&str> = written.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["parameters.json", "analysis_results.json", "convergence.json", "fitted_data.npz"]);
    let json = |at: usize| -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(&written[at]).unwrap()).unwrap()
    };
    let d0 = &json(0)["parameters"]["D0"];
    assert_eq!((d0["value"].as_f64(), d0["unit"].as_str()), (outcome.fit.value("D0"), Some("Å²/s")));
    assert!(json(0)["parameters"]["contrast[30]"]["uncertainty"].as_f64().unwrap() > 0.0);
    assert_eq!((json(1)["preset"].as_str(), json(1)["notes"][0].as_str()), (Some("code"), Some("a note")));
    assert_eq!((json(2)["is_converged"].as_bool(), json(2)["rows"].as_u64()), (Some(true), Some(4 * 190)));

    let bytes = std::fs::read(&written[3]).unwrap();
    let mut archive = Archive::open(&bytes, "fitted").unwrap();
    assert_eq!(archive.names().unwrap().len(), 10);
    let mut array = |name: &str| {
        let bytes = archive.unpack(&format!("{name}.npy")).unwrap();
        let array = Array::parse(&bytes, name).unwrap();
        (array.layout.shape.clone(), array.values(|value| value))
    };
    let (shape, scaled) = array("c2_theoretical_scaled");
    assert_eq!(shape, [4, 20, 20]);
    let (raw, residuals) = (array("c2_theoretical_raw").1, array("residuals").1);
    let (normalized, scaling) = (array("residuals_normalized").1, array("per_angle_scaling"));
    assert_eq!(scaling.0, [4, 2]);
    assert_eq!(scaling.1[2], outcome.fit.value("contrast[30]").unwrap());
    assert_eq!((array("q"), array("phi_angles").1), ((vec![], vec![0.0054]), experiment.phi.clone()));
    assert_eq!((array("t1").1, array("t2").1), (experiment.t.clone(), experiment.t.clone()));
    let mut square = 0.0;
    for at in pairs(&experiment) {
        let (angle, place) = (at[0], place(&experiment, at));
        let [contrast, offset] = [0, 1].map(|one| scaling.1[2 * angle + one]);
        assert!((offset + contrast * raw[place] - scaled[place]).abs() < 1e-15);
        assert!((experiment.c2.at(place).unwrap() - scaled[place] - residuals[place]).abs() < 1e-15);
        square += normalized[place].powi(2);
    }
    assert!((square / outcome.fit.rows as f64 - 1.0).abs() < 1e-9);
    let sum: f64 = pairs(&experiment).iter().map(|at| residuals[place(&experiment, *at)].powi(2)).sum();
    assert!((0.5 * sum / outcome.fit.cost - 1.0).abs() < 1e-9);

    // The archive is also data, and the report is a fit that predicts.
    let gap = experiment.gap;
    let again = read_experiment(&written[3], &Setup { gap, ..Setup::default() }).unwrap();
    assert_eq!((again.c2, again.q), (experiment.c2.clone(), experiment.q));
    let saved = SavedFit::parse(&std::fs::read_to_string(&written[1]).unwrap(), "saved").unwrap();
    let (t1, t2, phi) = (vec![experiment.t[3]], vec![experiment.t[9]], vec![experiment.phi[1]]);
    let levels = meromorph::fit::Levels { names: vec!["30".into()], codes: vec![0] };
    let columns: Vec<&[f64]> = saved
        .formula()
        .columns()
        .iter()
        .map(|name| match name.as_str() {
            "t1" => &t1[..],
            "t2" => &t2[..],
            _ => &phi[..],
        })
        .collect();
    let value = saved.predict_levels(&columns, &[&levels], 1, 0.95).unwrap().values[0];
    assert!((value - scaled[place(&experiment, [1, 3, 9])]).abs() < 1e-12);
}

#[test]
fn data_that_cannot_be_used_are_named() {
    let made = small(Flow::Laminar, 0.01);
    let good = made.experiment().unwrap();
    let error = |change: &dyn Fn(&mut Experiment)| {
        let mut experiment = good.clone();
        change(&mut experiment);
        at_truth(&made).solve(&experiment).map(|outcome| outcome.fit.cost).unwrap_err().to_string()
    };
    let set = |experiment: &mut Experiment, at: [usize; 3], value: f64| {
        let place = place(experiment, at);
        if let Values::Double(values) = &mut experiment.c2 {
            values[place] = value;
        }
    };
    assert_eq!(error(&|one| set(one, [2, 3, 5], f64::NAN)), "xpcs: c2[2, 3, 5]: got NaN, expected a finite number");
    // The diagonal and what is below it are not used.
    let mut other = good.clone();
    set(&mut other, [2, 3, 3], f64::NAN);
    set(&mut other, [2, 5, 3], f64::NAN);
    let fits = [&good, &other].map(|one| at_truth(&made).solve(one).unwrap().fit);
    assert_eq!(fits[0], fits[1]);
    assert_eq!(error(&|one| one.phi[1] = 0.0), "xpcs: phi: the angle 0 is there twice");
    assert_eq!(error(&|one| one.t[1] = 0.0), "xpcs: t: expected finite times from 0 on that ascend");
    assert_eq!(error(&|one| one.q = -1.0), "xpcs: wavevector q: got -1, expected a finite number above 0");
    assert_eq!(
        error(&|one| one.gap = None),
        "xpcs: laminar flow needs the gap between stator and rotor: expected analyzer_parameters.geometry.stator_rotor_gap"
    );
    assert_eq!(
        error(&|one| one.phi.push(170.0)),
        "xpcs: c2: got 1600 numbers, expected 5 x 20 x 20 for 5 angles and 20 times"
    );
    let start = Fitting { starts: vec![("D0", 1.0)], ..Fitting::new(made.model) }.solve(&good).unwrap_err();
    assert_eq!(start.to_string(), "D0: got the start 1, expected 100 to 100000");
}
