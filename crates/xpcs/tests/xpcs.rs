//! Two-time correlations: the physics of the models, their formulas and derivatives, recovery, calibration of the intervals, files. `mero xpcs` as a
//! process is in `tests/cli/xpcs.rs`.

use meromorph::files::npy::Array;
use meromorph::fit::{Fit, Formula, Problem, SavedFit, SolveOptions, solve};
use meromorph::internal::host::{Archive, in_threads};
use meromorph_xpcs::{
    AngleRange, Config, Convention, Experiment, Fitting, Flow, Model, Results, Scaling, Setup, SincArgument, Synthetic,
    Values, decay, parse_angles, read_experiment, write_experiment,
};
use nalgebra::{DMatrix, SVD};

/// Data of a few angles and times.
fn small(flow: Flow, noise: f64) -> Synthetic {
    Synthetic { phi: vec![0.0, 30.0, 75.0, 120.0], times: 20, dt: 0.3, noise, ..Synthetic::new(Model::new(flow)) }
}

/// A fit that starts at the truth.
fn at_truth(made: &Synthetic) -> Fitting {
    Fitting { starts: made.truth.clone(), ..Fitting::new(made.model) }
}

/// Every pair t1 < t2: the angle and the places of t1 and t2.
fn pairs(experiment: &Experiment) -> Vec<[usize; 3]> {
    let times = experiment.t.len();
    let of_angle = |angle| (0..times).flat_map(move |i| (i + 1..times).map(move |j| [angle, i, j]));
    (0..experiment.phi.len()).flat_map(of_angle).collect()
}

fn place(experiment: &Experiment, [angle, i, j]: [usize; 3]) -> usize {
    (angle * experiment.t.len() + i) * experiment.t.len() + j
}

const CONVENTIONS: [Convention; 4] = [
    Convention::CODE,
    Convention::THEORY,
    Convention { argument: SincArgument::OverTwoPi, power: 1 },
    Convention { argument: SincArgument::Half, power: 2 },
];

#[test]
fn limits_of_the_physics() {
    for flow in [Flow::Static, Flow::Laminar] {
        let made = Synthetic { phi: vec![3.0, 93.0, -87.0, 40.0], dt: 1e-6, times: 30, ..small(flow, 0.0) };
        let raw = |made: &Synthetic, model: Model| {
            let experiment = made.experiment().unwrap();
            decay(&model, &experiment, |name| made.value(name)).unwrap()
        };
        // t2 near t1: 1. The diagonal is 1.
        assert!(raw(&made, made.model).iter().all(|value| (value - 1.0).abs() < 1e-4));
        let made = Synthetic { dt: 0.5, times: 60, ..made };
        let values = raw(&made, made.model);
        let experiment = made.experiment().unwrap();
        let at = |angle, i, j| values[place(&experiment, [angle, i, j])];
        for [angle, i, j] in pairs(&experiment) {
            let value = at(angle, i, j);
            assert!((0.0..=1.0).contains(&value) && value == at(angle, j, i) && at(angle, i, i) == 1.0);
            if flow == Flow::Static {
                assert!(value > 0.0 && value < at(angle, i, j - 1), "{angle} {i} {j}");
            }
        }
        // Large lags: 0.
        assert!(at(0, 0, 59) < 1e-4);
        if flow == Flow::Laminar {
            // Where the flow is across, it has no effect.
            let still = raw(&made, Model { flow: Flow::Static, ..made.model });
            for [angle, i, j] in pairs(&experiment) {
                let place = place(&experiment, [angle, i, j]);
                let apart = (values[place] - still[place]).abs();
                assert!(apart < 1e-12 || ![1, 2].contains(&angle), "{apart}");
            }
            assert!((at(0, 0, 4) - still[place(&experiment, [0, 0, 4])]).abs() > 0.01);
        }
    }
}

#[test]
fn the_formula_is_the_theory() {
    // With all else fixed, contrast and offset are found without residuals only if both agree.
    for (flow, convention) in [Flow::Static, Flow::Laminar].into_iter().flat_map(|flow| CONVENTIONS.map(|c| (flow, c)))
    {
        let made = small(flow, 0.0);
        let made = Synthetic { model: Model { convention, ..made.model }, ..made };
        let experiment = made.experiment().unwrap();
        let physical = made.truth.iter().filter(|(name, _)| !["contrast", "offset"].contains(name));
        let fitting = Fitting { fixed: physical.copied().collect(), ..Fitting::new(made.model) };
        let outcome = fitting.solve(&experiment).unwrap();
        assert!(outcome.fit.cost < 1e-26, "{flow:?} {convention:?}: {}", outcome.fit.cost);
        assert!((outcome.value("contrast", 0.0) - 0.3).abs() < 1e-12, "{flow:?} {convention:?}");
    }
    // Floors: the rate is negative at first, then 1e-10.
    let made = small(Flow::Static, 0.0).with("D_offset", -1500.0).unwrap();
    let experiment = made.experiment().unwrap();
    let physical = made.truth.iter().filter(|(name, _)| !["contrast", "offset"].contains(name));
    let fitting = Fitting { fixed: physical.copied().collect(), ..Fitting::new(made.model) };
    assert!(fitting.solve(&experiment).unwrap().fit.cost < 1e-26);
}

/// The derivatives of g2 by the parameters, by hand, for one pair of times: those of the integrals times those of g2 by the integrals.
fn slopes(made: &Synthetic, experiment: &Experiment, [angle, i, j]: [usize; 3]) -> Vec<(&'static str, f64)> {
    let value = |name: &str| made.value(name);
    let dt = experiment.dt;
    let integral = |f: &dyn Fn(f64) -> f64| -> f64 {
        let steps = experiment.t[i..=j].windows(2);
        steps.map(|t| 0.5 * (t[1] - t[0]) * (f(t[0].max(dt / 2.0)) + f(t[1].max(dt / 2.0)))).sum()
    };
    let [contrast, d0, alpha, offset] = ["contrast", "D0", "alpha", "D_offset"].map(value);
    let square = experiment.q * experiment.q;
    let diffusion = integral(&|t| d0 * t.powf(alpha) + offset);
    let e = (-square * diffusion).exp();
    let (sinc, sinc_slope, power, factor) = if made.model.flow == Flow::Laminar {
        let [start, beta, offset, phi0] = ["gamma_dot_0", "beta", "gamma_dot_offset", "phi0"].map(value);
        let delta = (phi0 - experiment.phi[angle]).to_radians();
        let b = experiment.q * experiment.gap.unwrap()
            / if made.model.convention.argument == SincArgument::Half { 2.0 } else { std::f64::consts::TAU };
        let x = b * delta.cos() * integral(&|t| start * t.powf(beta) + offset);
        (x.sin() / x, (x * x.cos() - x.sin()) / (x * x), 2 * made.model.convention.power as i32, b)
    } else {
        (1.0, 0.0, 1, 0.0)
    };
    let w = e * sinc.powi(power);
    let mut all = vec![
        ("contrast", w),
        ("offset", 1.0),
        ("D0", -contrast * square * w * integral(&|t| t.powf(alpha))),
        ("alpha", -contrast * square * w * integral(&|t| d0 * t.powf(alpha) * t.ln())),
        ("D_offset", -contrast * square * w * integral(&|_| 1.0)),
    ];
    if made.model.flow == Flow::Laminar {
        let [start, beta, offset, phi0] = ["gamma_dot_0", "beta", "gamma_dot_offset", "phi0"].map(value);
        let delta = (phi0 - experiment.phi[angle]).to_radians();
        let outer = contrast * e * f64::from(power) * sinc.powi(power - 1) * sinc_slope * factor;
        let shear = integral(&|t| start * t.powf(beta) + offset);
        all.extend([
            ("gamma_dot_0", outer * delta.cos() * integral(&|t| t.powf(beta))),
            ("beta", outer * delta.cos() * integral(&|t| start * t.powf(beta) * t.ln())),
            ("gamma_dot_offset", outer * delta.cos() * integral(&|_| 1.0)),
            ("phi0", -outer * delta.sin() * 1.0_f64.to_radians() * shear),
        ]);
    }
    all
}

#[test]
fn the_covariance_is_that_of_derivatives_by_hand() {
    for (flow, convention) in [Flow::Static, Flow::Laminar].into_iter().flat_map(|flow| CONVENTIONS.map(|c| (flow, c)))
    {
        let made = small(flow, 0.001);
        let made = Synthetic { model: Model { convention, ..made.model }, ..made };
        let experiment = made.experiment().unwrap();
        let fit = at_truth(&made).solve(&experiment).unwrap().fit;
        // The derivatives where the fit ended.
        let truth = made.truth.iter().map(|(name, _)| (*name, fit.value(name).unwrap())).collect();
        let found = Synthetic { truth, ..made };
        let rows = pairs(&experiment);
        let slopes: Vec<Vec<(&str, f64)>> = rows.iter().map(|at| slopes(&found, &experiment, *at)).collect();
        let column = |row: usize, at: usize| slopes[row].iter().find(|(name, _)| *name == fit.free[at]).unwrap().1;
        let free = fit.free.len();
        let scales: Vec<f64> =
            (0..free).map(|at| (0..rows.len()).map(|row| column(row, at).powi(2)).sum::<f64>().sqrt()).collect();
        let jacobian = DMatrix::from_fn(rows.len(), free, |row, at| column(row, at) / scales[at]);
        let svd = SVD::new(jacobian, false, true);
        let v_t = svd.v_t.unwrap();
        let variance = 2.0 * fit.cost / fit.dof as f64;
        for i in 0..free {
            for j in 0..free {
                let sum: f64 = (0..free).map(|k| v_t[(k, i)] * v_t[(k, j)] / svd.singular_values[k].powi(2)).sum();
                let expected = variance * sum / (scales[i] * scales[j]);
                let size = (fit.covariance[i][i] * fit.covariance[j][j]).sqrt();
                let apart = (fit.covariance[i][j] - expected).abs() / size;
                assert!(apart < 1e-8, "{flow:?} {convention:?} {} {}: {apart:e}", fit.free[i], fit.free[j]);
            }
        }
    }
}

#[test]
fn fifty_three_parameters_equal_a_formula_that_writes_them_out() {
    let phi: Vec<f64> = (0..23).map(|at| 7.5 * f64::from(at)).collect();
    let made = Synthetic { phi, times: 9, dt: 0.6, ..small(Flow::Laminar, 0.002) };
    let made = Synthetic { model: Model { scaling: Scaling::Individual, ..made.model }, ..made };
    let experiment = made.experiment().unwrap();
    let fit = at_truth(&made).solve(&experiment).unwrap().fit;
    assert_eq!(fit.free.len(), 53);

    let rows = pairs(&experiment);
    let column = |pick: &dyn Fn([usize; 3]) -> f64| -> Vec<f64> { rows.iter().map(|at| pick(*at)).collect() };
    let t1 = column(&|[_, i, _]| experiment.t[i]);
    let t2 = column(&|[_, _, j]| experiment.t[j]);
    let phi = column(&|[angle, ..]| experiment.phi[angle]);
    let c2 = column(&|at| experiment.c2.at(place(&experiment, at)));
    let switched = |name: &str| {
        let terms: Vec<String> =
            experiment.phi.iter().enumerate().map(|(at, angle)| format!("{name}{at}*(phi == {angle})")).collect();
        format!("({})", terms.join(" + "))
    };
    let text = made.model.formula(&experiment).unwrap();
    let text = text.replace("contrast[phi]", &switched("contrast")).replace("offset[phi]", &switched("offset"));
    let formula = Formula::parse(&text, &["t1", "t2", "phi"]).unwrap();
    let mut problem = Problem::new(formula, &[("t1", &t1), ("t2", &t2), ("phi", &phi)], &c2).unwrap();
    for (name, value) in &made.truth {
        if ["contrast", "offset"].contains(name) {
            for at in 0..23 {
                problem = problem.start(&format!("{name}{at}"), *value).unwrap();
            }
        } else {
            problem = problem.start(name, *value).unwrap();
        }
    }
    let written = solve(&problem, &SolveOptions::default()).unwrap();
    for one in &fit.parameters {
        let name = match one.name.split_once('[') {
            Some((name, angle)) => {
                let angle: f64 = angle.trim_end_matches(']').parse().unwrap();
                format!("{name}{}", experiment.phi.iter().position(|phi| *phi == angle).unwrap())
            }
            None => one.name.clone(),
        };
        let other = written.parameters.iter().find(|other| other.name == name).unwrap();
        let (stderr, value) = (one.stderr.unwrap(), other.value);
        assert!((one.value - value).abs() < 1e-4 * stderr, "{name}: {one:?}, {other:?}");
        assert!((other.stderr.unwrap() / stderr - 1.0).abs() < 1e-5, "{name}: {one:?}, {other:?}");
    }
    assert!((written.cost / fit.cost - 1.0).abs() < 1e-9);
}

#[test]
fn parameters_are_recovered_without_starts() {
    // Each with its tolerance: item 23 of the specification of homodyne's tests, at 1 % of noise.
    let tolerances = [
        ("contrast", 0.05),
        ("offset", 0.02),
        ("D0", 0.1),
        ("alpha", 0.05),
        ("gamma_dot_0", 0.2),
        ("beta", 0.1),
        ("phi0", 0.05),
    ];
    let mut failures = Vec::new();
    for flow in [Flow::Static, Flow::Laminar] {
        for (times, noise) in [(60, 0.003), (120, 0.003)] {
            let made = Synthetic { times, noise, seed: times as u64, ..Synthetic::new(Model::new(flow)) };
            let outcome = Fitting::new(made.model).solve(&made.experiment().unwrap()).unwrap();
            for one in &outcome.fit.parameters {
                let truth = made.value(&one.name);
                let tolerance = tolerances.iter().find(|(name, _)| *name == one.name).map_or(1.0, |(_, one)| *one);
                let is_near = (one.value - truth).abs() < tolerance * truth.abs();
                let is_likely = (one.value - truth).abs() < 4.0 * one.stderr.unwrap();
                if !is_near || !is_likely {
                    failures.push(format!("{flow:?} {times}: {one:?}, truth {truth}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn five_starts_agree() {
    for flow in [Flow::Static, Flow::Laminar] {
        let made = small(flow, 0.003);
        let experiment = made.experiment().unwrap();
        let reference = Fitting::new(made.model).solve(&experiment).unwrap().fit;
        for factor in [0.7, 0.85, 1.0, 1.15, 1.3] {
            let starts = made.truth.iter().map(|(name, value)| (*name, value * factor)).collect();
            let fit = Fitting { starts, ..Fitting::new(made.model) }.solve(&experiment).unwrap().fit;
            // The smallest start leads to a plateau where the rate of diffusion is at its least.
            for (one, other) in fit.parameters.iter().zip(&reference.parameters) {
                let apart = (one.value - other.value).abs() / other.stderr.unwrap();
                assert!(apart < 1e-3, "{flow:?} {factor} {}: {apart}", one.name);
            }
        }
    }
}

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
    let doubles = (0..experiment.c2.len()).map(|at| experiment.c2.at(at) as f32);
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
        let value = experiment.c2.at(place(&experiment, [angle, i + 2, j + 2]));
        assert_eq!(cut.c2.at(place(&cut, [angle, i, j])), value);
    }
    // A file that has only these frames is used whole.
    assert_eq!(read_experiment(&path, &frames(Some(1001), Some(1020))).unwrap(), experiment);
    let error = read_experiment(&path, &frames(Some(3), Some(30))).unwrap_err().to_string();
    assert!(error.ends_with("frames: got 3 to 30, expected at most 20, the times of c2_exp"), "{error}");

    let places = AngleRange::places(&parse_angles("-10..10, 75").unwrap(), &experiment.phi).unwrap();
    assert_eq!(places, [0, 2]);
    let some = experiment.clone().with_angles(&places);
    assert_eq!(some.phi, [0.0, 75.0]);
    assert_eq!(some.c2.at(place(&some, [1, 4, 7])), experiment.c2.at(place(&experiment, [2, 4, 7])));
    assert_eq!(at_truth(&made).solve(&some).unwrap().fit.rows, 2 * 190);
}

#[test]
fn result_files_are_read_back() {
    let made = small(Flow::Laminar, 0.005);
    let made = Synthetic { model: Model { scaling: Scaling::Individual, ..made.model }, ..made };
    let experiment = made.experiment().unwrap();
    let outcome = at_truth(&made).solve(&experiment).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let notes = ["a note".to_owned()];
    let results = Results { outcome: &outcome, experiment: &experiment, data: "data.npz", notes: &notes };
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
        assert!((experiment.c2.at(place) - scaled[place] - residuals[place]).abs() < 1e-15);
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
    assert_eq!(start.to_string(), "xpcs: D0: the start 1 is not within its bounds 100 to 100000");
}

#[test]
fn configurations_are_read_whole() {
    let text = "
metadata: {version: 1}
analysis_mode: laminar_flow
analyzer_parameters:
  dt: 0.1
  start_frame: 1
  end_frame: -1
  scattering: {wavevector_q: 0.0054}
  geometry: {stator_rotor_gap: 2000000}
experimental_data:
  data_folder_path: some/folder
  data_file_name: data.npz
  cache_file_path: elsewhere
phi_filtering:
  enabled: true
  target_ranges:
    - {min_angle: -10, max_angle: 10, description: along}
initial_parameters:
  parameter_names: [D0, alpha, gamma_dot_t0]
  values: [1e3, 0.5, 1e-3]
  active_parameters: [D0, gamma_dot_t0, D_offset, beta, gamma_dot_offset, phi0]
  fixed_parameters: {gamma_dot_t_offset: 0}
parameter_space:
  bounds:
    - {name: D0, min: 1, max: 1e6, type: Normal, prior_mu: 1, prior_sigma: 2}
    - {name: alpha, min: -10, max: 10, type: Normal}
optimization:
  method: nlsq
  nlsq: {max_iterations: 77, ftol: 1e-8, loss: soft_l1}
performance: {computation: {gpu_acceleration: true}}
";
    let config = Config::parse(text, "c.yaml", None).unwrap();
    assert_eq!(config.setup.q, Some(0.0054));
    assert_eq!(config.setup.frames, (Some(1), None));
    assert_eq!(config.data.unwrap().to_str(), Some("some/folder/data.npz"));
    assert_eq!((config.fitting.options.evaluations, config.fitting.loss.name()), (77, "soft_l1"));
    assert_eq!(config.fitting.bounds[0], ("D0", [1.0, 1e6]));
    assert_eq!(config.fitting.fixed, [("gamma_dot_offset", 0.0), ("alpha", 0.5)]);
    assert_eq!(config.fitting.starts[2], ("gamma_dot_0", 1e-3));
    assert_eq!(
        config.notes,
        [
            "experimental_data: cache_file_path is not used",
            "parameter_space.bounds: type, prior_mu, prior_sigma are not used",
            "parameter_space.bounds: type is not used",
            "optimization.nlsq: ftol is not used",
            "metadata, performance are not used",
        ]
    );
    let quiet = Config::parse(text, "c.yaml", Some(Flow::Static)).unwrap();
    assert!(quiet.notes.contains(&"\"gamma_dot_0\" is not used: it is not a parameter of the model static".to_owned()));

    let cases = [
        ("", "c.yaml: got 0 documents, expected one"),
        ("a: [1", "c.yaml: line 2: "),
        ("analyzer_parameters: {dt: 1}", "c.yaml: analysis_mode is missing: expected static or laminar_flow"),
        (
            "analysis_mode: laminr_flow",
            "c.yaml: line 1: analysis_mode: got \"laminr_flow\", expected one of \"static\", \"static_isotropic\", \"static_anisotropic\", \"laminar_flow\", \"laminar\"; did you mean \"laminar_flow\"?",
        ),
        (
            "analysis_mode: static\nanalyzer_parameters:\n  dt: 1\n  end_frames: 3",
            "c.yaml: line 4: analyzer_parameters.end_frames: unknown key: expected one of \"dt\", \"start_frame\", \"end_frame\", \"scattering\", \"geometry\"; did you mean \"end_frame\"?",
        ),
        (
            "analysis_mode: static\nanalyzer_parameters:\n  dt: fast",
            "c.yaml: line 3: analyzer_parameters.dt: got \"fast\", expected a finite number",
        ),
        (
            "analysis_mode: static\ninitial_parameters: {parameter_names: [D0, apha]}",
            "c.yaml: line 2: initial_parameters.parameter_names: parameter: got \"apha\", expected one of \"contrast\", \"offset\", \"D0\", \"alpha\", \"D_offset\", \"gamma_dot_0\", \"beta\", \"gamma_dot_offset\", \"phi0\"; did you mean \"alpha\"?",
        ),
        (
            "analysis_mode: static\ninitial_parameters:\n  parameter_names: [D0]\n  values: [1, 2]",
            "c.yaml: line 4: initial_parameters.values: got 2 values, expected 1 as parameter_names",
        ),
        (
            "analysis_mode: static\noptimization: {method: mcmc}",
            "c.yaml: line 2: optimization.method: got \"mcmc\", expected \"nlsq\": only least squares is supported",
        ),
        (
            "analysis_mode: static\nmodel: {int_rule: cumsum}",
            "c.yaml: line 2: model.int_rule: got \"cumsum\", expected \"trapezoid\"; the plain cumulative sum (cumsum) of early versions is not supported",
        ),
        ("analysis_mode: static\nanalysis_mode: static", "c.yaml: line 2: "),
    ];
    for (text, message) in cases {
        let error = Config::parse(text, "c.yaml", None).unwrap_err().to_string();
        assert!(
            error == message || message.ends_with(": ") && error.starts_with(message),
            "{text}\n{error}\n{message}"
        );
    }
}

#[test]
fn the_example_is_a_configuration() {
    let config = Config::parse(include_str!("../../../examples/xpcs.yaml"), "xpcs.yaml", None).unwrap();
    assert!(config.notes.is_empty(), "{:?}", config.notes);
    assert_eq!(config.fitting.model, Model { scaling: Scaling::Individual, ..Model::new(Flow::Laminar) });
    assert_eq!(config.angles.len(), 2);
}

/// For each parameter the share of fits whose interval, made longer by a factor, covers the truth.
fn coverage(fits: &[Fit], truth: &Synthetic, factor: f64) -> Vec<(String, f64)> {
    let share = |at: usize| {
        let is_covered = |fit: &&Fit| {
            let one = &fit.parameters[at];
            let [low, high] = one.interval.expect("an interval");
            (one.value - truth.value(&one.name)).abs() <= factor * 0.5 * (high - low)
        };
        fits.iter().filter(is_covered).count() as f64 / fits.len() as f64
    };
    fits[0].parameters.iter().enumerate().map(|(at, one)| (one.name.clone(), share(at))).collect()
}

/// Sets of data of each flow. The coverage of 2,000 has a standard error of half a percent, so that one of 14 parameters would be outside of 94 to
/// 96 % by chance; with 8,000 it is a quarter.
const SETS: u64 = 8_000;

#[test]
#[cfg_attr(debug_assertions, ignore = "minutes without optimisation, seconds with it")]
fn intervals_cover_the_truth_as_often_as_they_say() {
    for flow in [Flow::Static, Flow::Laminar] {
        let made = Synthetic { phi: vec![0.0, 30.0, 75.0, 120.0], times: 12, dt: 0.5, ..small(flow, 2e-4) };
        let seeds: Vec<u64> = (0..SETS).collect();
        let fits: Vec<Fit> = in_threads(&seeds, |seed| {
            let made = Synthetic { seed: *seed, ..made.clone() };
            let options = SolveOptions { threads: 1, ..SolveOptions::default() };
            let fitting = Fitting { options, ..at_truth(&made) };
            fitting.solve(&made.experiment().unwrap()).unwrap().fit
        });
        assert!(fits.iter().all(|fit| fit.stop.is_converged()));
        let shares = coverage(&fits, &made, 1.0);
        assert!(shares.iter().all(|(_, share)| (0.94..=0.96).contains(share)), "{flow:?}: {shares:?}");
        // Intervals that are a tenth too short or too long would be noticed, for every parameter.
        for factor in [0.9, 1.1] {
            for (name, share) in coverage(&fits, &made, factor) {
                assert!(!(0.94..=0.96).contains(&share), "{flow:?} {name}: {share} with {factor}");
            }
        }
        // Σ r² / σ² is distributed as χ².
        let mean = fits.iter().map(|fit| 2.0 * fit.cost / made.noise.powi(2)).sum::<f64>() / SETS as f64;
        let dof = fits[0].dof as f64;
        assert!((mean - dof).abs() < 4.0 * (2.0 * dof / SETS as f64).sqrt(), "{mean} {dof}");
    }
}
