//! Experiments: closed forms compared with golden values, properties of the generators, measures compared with known results, every
//! domain end to end, and errors.

use std::collections::HashSet;
use std::f64::consts::PI;

use meromorph::Device;
use meromorph::experiment::{
    Confusion, Domain, Estimate, ExperimentReport, MethodReport, OperatingPoints, Operation, Purpose, Request, Role,
    Size, Stream, Verdict, auroc, average_precision, dose, ik, lj, log_space, mean, page, quantile, rf, run, sweep,
};
use pollster::block_on;

/// Asserts that two numbers agree within a relative error.
#[track_caller]
fn close(got: f64, wanted: f64, within: f64) {
    assert!((got - wanted).abs() <= within * wanted.abs().max(1e-300), "got {got}, wanted {wanted}");
}

#[test]
fn closed_forms_have_their_golden_values() {
    for (c, wanted) in [(1e-9, 0.9960347143808477), (1e-7, 0.5), (1e-5, 0.0039652856191522015)] {
        close(dose::hill(c, 1e-7, 1.2, [0.0, 1.0]), wanted, 1e-14);
    }
    let responses = [
        ([1.0, 1.0, 10.0], [0.0, -10.0]),
        ([1.2, 1.0, 10.0], [-2.115384615384616, -0.5769230769230771]),
        ([0.5, 2.0, 200.0], [1.0666647703737415, -0.0014222196938316553]),
    ];
    for ([w, w0, q], wanted) in responses {
        let got = rf::response(w, w0, q);
        assert!((got[0] - wanted[0]).abs() < 1e-14 && (got[1] - wanted[1]).abs() < 1e-14, "{got:?}");
    }
    let steps = [
        ([0.3, 0.8], [0.05, -0.02], [0.006746060402852472, -0.06507186919184518]),
        ([0.3, 0.0], [0.05, -0.02], [-0.01355282498974475, -0.006776412494872375]),
        ([0.3, 1e-3], [0.05, -0.02], [0.06994228605657327, -0.17379173755578847]),
    ];
    for (pose, e, wanted) in steps {
        let got = ik::damped_least_squares(pose, e, 0.01);
        close(got[0], wanted[0], 1e-9);
        close(got[1], wanted[1], 1e-9);
    }
    let potentials = [
        (0.8, 42.94887185096741, -758.6739957332604),
        (1.0, 0.0, -24.0),
        (2_f64.powf(1.0 / 6.0), -1.0, 0.0),
        (2.0, -0.0615234375, 0.181640625),
    ];
    for (r, v, slope) in potentials {
        assert!((lj::potential(r) - v).abs() < 1e-12 * v.abs().max(1.0), "V({r}) = {}", lj::potential(r));
        assert!((lj::slope(r) - slope).abs() < 1e-12 * slope.abs().max(10.0), "dV/dr({r}) = {}", lj::slope(r));
    }
}

#[test]
fn the_peak_is_at_the_position_of_the_formula() {
    let [height, place] = rf::peak(1.0, 10.0);
    close(height, 10.012523486435178, 1e-14);
    close(place, 0.9974968671630001, 1e-14);
    assert_eq!(rf::peak(3.0, 0.5), [1.0, 0.0]);
    for (w0, q) in [(1.0, 10.0), (4.2, 350.0), (0.5, 2.0)] {
        let grid = rf::peak_grid(rf::Filter { w0, q }, 2048);
        let size = |w: f64| rf::response(w, w0, q).into_iter().map(|part| part * part).sum::<f64>().sqrt();
        let top = grid.iter().map(|&w| size(w)).fold(0.0, f64::max);
        assert!(top <= rf::peak(w0, q)[0] && top > 0.9999 * rf::peak(w0, q)[0], "{top} at Q = {q}");
        assert!(grid.is_sorted() && grid[0] >= 0.1 && *grid.last().unwrap() <= 10.0 + 1e-12);
    }
}

#[test]
fn buckets_include_their_upper_bound() {
    let cases =
        [(0.0, 0), (1e-5, 0), (-1e-5, 0), (1.0001e-5, 1), (1e-4, 1), (1e-3, 2), (1e-2, 3), (0.010001, 4), (1.0, 4)];
    for (determinant, wanted) in cases {
        assert_eq!(ik::bucket(determinant), wanted, "{determinant}");
    }
    let distances = [(0.2, 0), (0.5, 1), (0.79, 1), (0.8, 2), (1.2, 3), (2.0, 4), (9.0, 4)];
    for (r, wanted) in distances {
        assert_eq!(lj::bucket(r), wanted, "{r}");
    }
}

#[test]
fn random_numbers_have_their_moments_and_streams_do_not_overlap() {
    let mut stream = Stream::new(7, Purpose::Data);
    let normals: Vec<f64> = (0..100_000).map(|_| stream.normal()).collect();
    assert!(mean(&normals).abs() < 0.02);
    assert!((mean(&normals.iter().map(|x| x * x).collect::<Vec<_>>()) - 1.0).abs() < 0.02);
    assert!((mean(&normals.iter().map(|x| x.powi(4)).collect::<Vec<_>>()) - 3.0).abs() < 0.15);
    let uniforms: Vec<f64> = (0..100_000).map(|_| stream.uniform()).collect();
    assert!(uniforms.iter().all(|u| (0.0..1.0).contains(u)) && (mean(&uniforms) - 0.5).abs() < 0.005);
    let mut counts = [0; 3];
    (0..30_000).for_each(|_| counts[stream.choice(&[1.0, 2.0, 3.0])] += 1);
    assert!(counts.iter().zip([5000, 10_000, 15_000]).all(|(got, wanted)| i32::abs(got - wanted) < 400), "{counts:?}");
    assert!((0..1000).all(|_| stream.below(7) < 7));
    let streams = [(7, Purpose::Data), (7, Purpose::Order), (8, Purpose::Data), (7, Purpose::Weights)];
    let drawn: Vec<u64> = streams
        .iter()
        .flat_map(|&(seed, purpose)| {
            let mut stream = Stream::new(seed, purpose);
            (0..1000).map(move |_| stream.bits()).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), drawn.len());
    let mut order = Stream::new(3, Purpose::Order).permutation(100);
    assert_ne!(order, (0..100).collect::<Vec<u32>>());
    order.sort_unstable();
    assert!(order.into_iter().eq(0..100));
}

#[test]
fn dose_curves_have_their_documented_properties() {
    let data = dose::split(5, 6000);
    assert_eq!(data, dose::split(5, 6000), "the same seed");
    assert_ne!(data.x, dose::split(6, 6000).x, "another seed");
    let rows: Vec<&[f32]> = data.y.chunks_exact(dose::TARGETS).collect();
    let share = |class: f32| rows.iter().filter(|row| row[1] == class).count() as f64 / 6000.0;
    // A tenth of each class is flat and counts as above.
    for (class, wanted) in [(0.0, 0.3), (1.0, 0.3), (2.0, 0.4)] {
        assert!((share(class) - wanted).abs() < 0.025, "class {class}: {}", share(class));
    }
    for (row, x) in rows.iter().zip(data.x.chunks_exact(2 * dose::POINTS)) {
        let [value, class, clamped, yn, yd] = row[..] else { panic!("five targets") };
        match class as u8 {
            0 => assert!((-13.0..-10.19).contains(&value) && [clamped, yn, yd] == [-9.0, -1.0, 0.0]),
            1 => assert!((-8.81..-5.19).contains(&value) && [clamped, yn, yd] == [value, value, 1.0]),
            _ => assert!((-13.0..-0.99).contains(&value) && [clamped, yn, yd] == [-5.0, 1.0, 0.0]),
        }
        assert!((x[0] + 9.0).abs() < 1e-6 && (x[18] + 5.0).abs() < 1e-6);
        assert!(x.chunks_exact(2).all(|point| (-0.5..1.5).contains(&point[1])), "a response far from [0, 1]");
    }
    let first = rows.iter().position(|row| row[1] == 1.0).unwrap();
    let responses: Vec<f32> = data.x[first * 20..first * 20 + 20].iter().skip(1).step_by(2).copied().collect();
    assert!(responses[0] > responses[9] + 0.5, "a curve inside the window falls: {responses:?}");
}

#[test]
fn resonators_stay_in_their_ranges() {
    let data = rf::draw(Size::Contract, 3);
    assert_eq!([data.train.y.len(), data.validation.y.len(), data.test.y.len()], [32 * 16 * 2, 8 * 16 * 2, 8 * 16 * 2]);
    let within = |x: &[f32], highest: f64| {
        let [w, w0, q] = [0, 1, 2].map(|at| 10_f64.powf(f64::from(x[at])));
        (0.099..10.01).contains(&w) && (0.499..5.01).contains(&w0) && (1.999..highest * 1.001).contains(&q)
    };
    assert!(data.train.x.chunks_exact(3).all(|x| within(x, 30.0)));
    assert!(data.test.x.chunks_exact(3).all(|x| within(x, 500.0)));
    for (x, y) in data.test.x.chunks_exact(3).zip(data.test.y.chunks_exact(2)) {
        let [w, w0, q] = [0, 1, 2].map(|at| 10_f64.powf(f64::from(x[at])));
        let wanted = rf::response(w, w0, q);
        let size = wanted[0].hypot(wanted[1]);
        assert!((f64::from(y[0]) - wanted[0]).abs() < 1e-3 * size && (f64::from(y[1]) - wanted[1]).abs() < 1e-3 * size);
    }
    assert!(rf::draw(Size::Smoke, 1).filters.iter().any(|filter| filter.q > rf::QUALITIES[1]));
}

#[test]
fn poses_fill_every_bucket_and_split_by_bucket() {
    let samples = ik::samples(&mut Stream::new(1, Purpose::Data), 4000);
    let [exact, folded] = [samples[0][1], samples[1][1]];
    assert_eq!([exact, folded], [0.0, PI]);
    let near = samples[..1200].iter().filter(|sample| ik::determinant(sample[1]).abs() < 6e-3).count();
    assert_eq!(near, 1200, "six deviations");
    assert!(samples[1200..].iter().all(|sample| ik::determinant(sample[1]).abs() >= 2e-3));
    let at_pi = samples.iter().filter(|sample| sample[1] == PI).count() as f64 / 4000.0;
    assert!((at_pi - 0.075).abs() < 0.02, "half of those near π are cut to π: {at_pi}");
    let steps: Vec<f64> = samples.iter().map(|sample| sample[2]).collect();
    assert!((mean(&steps.iter().map(|dx| dx * dx).collect::<Vec<_>>()).sqrt() - 0.1).abs() < 0.01);
    let [train, test] = ik::stratified(&samples, 0.8);
    assert_eq!(train.len() + test.len(), 4000);
    for bucket in 0..ik::BUCKETS {
        let count =
            |part: &[[f64; 4]]| part.iter().filter(|sample| ik::bucket(ik::determinant(sample[1])) == bucket).count();
        let (train, test) = (count(&train), count(&test));
        assert!((train as f64 - 0.8 * (train + test) as f64).abs() <= 0.5, "bucket {bucket}: {train} and {test}");
    }
    let data = ik::draw(Size::Contract, 2);
    for part in [&data.train, &data.test] {
        for wanted in 0..4 {
            let found = part.x.chunks_exact(4).any(|x| ik::bucket(ik::determinant(f64::from(x[1]))) == wanted);
            // In f32 the error of π is 8.7e-8, so an exactly folded arm stays in the first bucket.
            assert!(found, "bucket {wanted} is empty");
        }
    }
}

#[test]
fn training_distances_are_above_and_test_distances_below() {
    let data = lj::draw(Size::Smoke, 1);
    assert_eq!((data.train.y.len(), data.test.len()), (5000, 2000));
    assert!(data.train.x.chunks_exact(2).all(|x| x[0] <= 1.0 && x[0] >= 0.8 / 3.0 - 1e-6));
    let below = data.test.iter().filter(|r| (0.2..0.8).contains(*r)).count();
    assert_eq!(below, 1200);
    let decade = data.test[..1200].iter().filter(|r| **r < 0.4).count() as f64 / 1200.0;
    assert!((decade - 0.5).abs() < 0.05, "uniform in the logarithm: {decade}");
}

#[test]
fn classes_are_counted() {
    let truth = [0, 0, 0, 1, 1, 1, 1, 2, 2, 2];
    let found = [0, 1, 2, 1, 1, 1, 0, 2, 2, 1];
    let confusion = Confusion::of(&truth, &found);
    assert_eq!(confusion.0, [[1, 1, 1], [1, 3, 0], [0, 1, 2]]);
    assert_eq!(confusion.false_censored(), Some(0.25));
    close(confusion.false_inside().unwrap(), 1.0 / 3.0, 1e-15);
    let f1 = [2.0 / 5.0, 6.0 / 9.0, 4.0 / 6.0];
    close(confusion.macro_f1(), f1.iter().sum::<f64>() / 3.0, 1e-15);
    // Among censored rows: below, 1 of 3 found and no false positive; above, 2 of 3 and one false positive.
    close(confusion.direction_f1().unwrap(), f64::midpoint(2.0 / 4.0, 4.0 / 6.0), 1e-15);
    assert_eq!(Confusion::of(&[1], &[1]).false_inside(), None);
}

#[test]
fn scores_are_ranked() {
    let is_positive = [true, false, true, false];
    assert_eq!(auroc(&is_positive, &[0.9, 0.1, 0.8, 0.2]), Some(1.0));
    assert_eq!(auroc(&is_positive, &[0.5; 4]), Some(0.5));
    assert_eq!(auroc(&is_positive, &[0.1, 0.9, 0.2, 0.8]), Some(0.0));
    assert_eq!(auroc(&[true; 2], &[0.1, 0.2]), None);
    assert_eq!(average_precision(&is_positive, &[0.9, 0.1, 0.8, 0.2]), Some(1.0));
    close(average_precision(&[false, true, false, true], &[0.9, 0.8, 0.7, 0.6]).unwrap(), 0.5, 1e-15);
    assert_eq!(average_precision(&is_positive, &[0.5; 4]), Some(0.5));
}

#[test]
fn thresholds_are_swept_strictly_below() {
    let found = sweep(&[0.5, 0.1, 0.3], &[0.1, 0.01], &[0.05, 0.1, 0.2, 1.0]);
    let rates: Vec<[f64; 2]> = found.iter().map(|at| [at.false_censored, at.false_inside]).collect();
    assert_eq!(rates, [[0.0, 0.5], [0.0, 0.5], [1.0 / 3.0, 0.0], [1.0, 0.0]]);
    assert_eq!(found[2].bottom_rate, 0.6);
    let taus = log_space(-6.0, -1.0, 41);
    assert_eq!(taus.len(), 41);
    close(taus[0], 1e-6, 1e-12);
    close(taus[40], 1e-1, 1e-12);
}

#[test]
fn a_perfect_rate_ranks_first() {
    let one = |false_inside, false_censored, direction_f1| Operation { false_censored, false_inside, direction_f1 };
    let points = OperatingPoints::of(&[
        one(Some(0.2), Some(0.1), Some(0.9)),
        one(Some(0.0), Some(0.0), Some(0.5)),
        one(None, Some(0.3), None),
    ]);
    assert_eq!([points.safety_first, points.accuracy_first, points.balanced], [Some(1); 3]);
    assert_eq!(points.direction_aware, Some(0));
    assert_eq!(OperatingPoints::of(&[one(None, None, None)]).balanced, None);
}

#[test]
fn intervals_contain_their_means() {
    let values = [1.0, 2.0, 3.0, 4.0, 10.0];
    let found = Estimate::of(&values).unwrap();
    assert_eq!((found.mean, found.count), (4.0, 5));
    assert!(1.0 < found.low && found.low < 2.6 && 5.5 < found.high && found.high < 8.0, "{found:?}");
    assert_eq!(Estimate::of(&values), Some(found), "the same values, the same interval");
    assert_eq!(Estimate::of(&[]), None);
    let same = Estimate::of_differences(&values, &values.map(|value| value - 0.5)).unwrap();
    assert_eq!((same.mean, same.low, same.high), (0.5, 0.5, 0.5), "pairs cancel what they share");
    assert_eq!([quantile(&values, 0.5), quantile(&values, 0.875), quantile(&[], 0.5)], [Some(3.0), Some(7.0), None]);
}

#[test]
fn poles_are_found_where_steps_are_large() {
    // Δθ = (0, 1/sin θ2): a pole of first order whose sign flips.
    let place = |at: i32| f64::from(at) * 1e-3;
    let row = |theta1: f64, at: i32| ([theta1, place(at), 0.0, 0.0], [0.0, 1.0 / place(at).sin()]);
    let anchors = [-2.0, -1.0, 0.0, 1.0, 2.0];
    let rows: Vec<_> =
        anchors.iter().flat_map(|&theta1| (-100..=100).filter(|at| *at != 0).map(move |at| row(theta1, at))).collect();
    let found = ik::pole_metrics(&rows);
    assert!(found.ple.unwrap() < 4e-3, "{found:?}");
    assert_eq!(found.sign_consistency, Some(1.0));
    assert!(found.slope_error.unwrap() < 1e-9, "{found:?}");
    let even: Vec<_> = rows.iter().map(|(x, step)| (*x, [step[0], step[1].abs()])).collect();
    assert_eq!(ik::pole_metrics(&even).sign_consistency, Some(0.0));
    let exact = |pose: [f64; 2], step: [f64; 2]| {
        let (from, to) = (ik::hand(pose), ik::hand([pose[0] + step[0], pose[1] + step[1]]));
        ([pose[0], pose[1], to[0] - from[0], to[1] - from[1]], step)
    };
    assert_eq!(ik::pole_metrics(&[exact([0.3, 0.8], [0.1, -0.2])]).residual, Some(0.0));
    assert_eq!(ik::pole_metrics(&[]).residual, None);
}

fn contract(domain: Domain, seeds: &[u64], methods: &[&str]) -> ExperimentReport {
    let methods = methods.iter().map(|name| (*name).to_owned()).collect();
    let request = Request { mode: Size::Contract, seeds: seeds.into(), methods, epochs: None, elsewhere: Vec::new() };
    block_on(run(domain, &request, &Device::cpu(1), &mut |_, _, _| {})).unwrap()
}

#[test]
fn every_domain_runs_end_to_end() {
    for domain in [Domain::Dose, Domain::Rf, Domain::Ik, Domain::Lj] {
        let report = contract(domain, &[1], &[]);
        assert_eq!(report.name, domain.name());
        for method in &report.methods {
            let trial = &method.trials[0];
            assert_eq!(trial.values.len(), report.metrics.len(), "{}", method.name);
            assert!(trial.values.iter().flatten().all(|value| value.is_finite()));
            assert!(trial.losses.iter().flatten().all(|loss| loss.is_finite()), "{}: {:?}", method.name, trial.losses);
            assert_eq!(trial.losses.is_empty(), method.role == Role::Oracle, "{}", method.name);
        }
        let json = report.to_json();
        assert_eq!(json["methods"].as_array().unwrap().len(), report.methods.len());
        assert_eq!(json["schema"], "meromorph.experiment");
        let text = page(&report);
        assert!(text.starts_with("<!doctype html>") && text.contains(report.title) && text.ends_with("</html>\n"));
        let outside = ["http://www.w3.org/2000/svg", "http"];
        assert_eq!(text.matches(outside[1]).count(), text.matches(outside[0]).count(), "the page loads nothing");
        assert!(!text.contains("<script") && !text.contains("NaN") && !text.contains(">inf<"));
        assert_eq!(text.matches("<svg").count(), text.matches("</svg>").count());
    }
}

#[test]
fn numbers_of_parameters_are_as_published() {
    let published: [(Domain, &[(&str, usize)]); 3] = [
        (Domain::Dose, &[("clamped", 203_009), ("two-stage", 203_780), ("two-stage-iso", 5641), ("projective", 5641)]),
        (
            Domain::Rf,
            &[
                ("mlp", 67_330),
                ("mlp-deep", 791_042),
                ("mlp-iso", 17_282),
                ("decoupled", 17_181),
                ("transfer", 17_283),
                ("rational-transfer", 17_669),
            ],
        ),
        (Domain::Ik, &[("projective-basic", 4740), ("projective-full", 4686)]),
    ];
    for (domain, methods) in published {
        let names: Vec<&str> = methods.iter().map(|(name, _)| *name).collect();
        let report = contract(domain, &[1], &names);
        let counts: Vec<(&str, usize)> =
            report.methods.iter().map(|method| (&*method.name, method.parameters.unwrap())).collect();
        assert_eq!(counts, methods);
    }
}

#[test]
fn a_seed_repeats_its_figures_and_another_seed_gives_others() {
    let names = ["mlp", "projective-full"];
    let [first, again] = [contract(Domain::Ik, &[4, 5], &names), contract(Domain::Ik, &[4, 5], &names)];
    for (a, b) in first.methods.iter().zip(&again.methods) {
        assert_eq!(a.trials[0].values, b.trials[0].values);
        assert_ne!(a.trials[0].values, a.trials[1].values);
    }
}

#[test]
fn the_published_method_is_compared_with_its_published_rival() {
    let names = ["mlp", "eps-ensemble", "projective-basic", "projective-full"];
    let report = contract(Domain::Ik, &[1, 2, 3, 4, 5], &names);
    for comparison in report.claimed() {
        assert_eq!((comparison.ours.0, comparison.theirs.0), ("projective-full", "eps-ensemble"));
        assert_eq!(comparison.difference.count, 5);
        let difference = comparison.ours.1 - comparison.theirs.1;
        assert!((comparison.difference.mean - difference).abs() < 1e-12, "pairs differ by as much as their means");
        let is_below = comparison.difference.high < 0.0;
        assert_eq!(comparison.verdict() == Verdict::Direction, is_below, "smaller is better");
    }
    assert_eq!(report.claimed().len(), 2);
    let few = contract(Domain::Ik, &[1, 2], &names);
    assert!(
        few.comparisons().iter().all(|comparison| comparison.verdict() == Verdict::Open),
        "two seeds decide nothing"
    );
}

#[test]
fn the_own_method_matches_the_published_one_with_no_more_parameters() {
    for domain in [Domain::Dose, Domain::Rf, Domain::Ik, Domain::Lj] {
        let names = contract(domain, &[1], &[]);
        let report = contract(domain, &[1, 2], &[names.published, names.ours]);
        let [published, ours] = [report.published, report.ours].map(|name| {
            report.methods.iter().find(|method| method.name == name).unwrap_or_else(|| panic!("no method {name}"))
        });
        assert!(ours.parameters <= published.parameters, "{}: {:?} parameters", ours.name, ours.parameters);
        assert_eq!((ours.role, published.role), (Role::Projective, Role::Projective));
        let steps = |method: &MethodReport| method.trials.iter().map(|trial| trial.steps).collect::<Vec<_>>();
        assert_eq!(steps(ours), steps(published), "the same number of steps");
        let reproduced = report.reproduced();
        assert!(!reproduced.is_empty());
        for comparison in &reproduced {
            assert_eq!((comparison.ours.0, comparison.theirs.0), (report.ours, report.published));
            assert!(comparison.metric.is_headline && comparison.verdict() == Verdict::Open, "two seeds decide nothing");
        }
        let json = &report.to_json()["reproduced"][0];
        assert_eq!((json["own"].as_str(), json["published"].as_str()), (Some(report.ours), Some(report.published)));
        assert_eq!(json["own_mean"].as_f64(), Some(reproduced[0].ours.1));
    }
}

/// A metric of each method after many epochs over the few rows of a small test run.
fn after(domain: Domain, epochs: usize, methods: &[&str], metric: &str) -> Vec<f64> {
    let methods = methods.iter().map(|name| (*name).to_owned()).collect();
    let request =
        Request { mode: Size::Contract, seeds: vec![1], methods, epochs: Some(epochs), elsewhere: Vec::new() };
    let report = block_on(run(domain, &request, &Device::cpu(1), &mut |_, _, _| {})).unwrap();
    report.methods.iter().map(|method| report.estimate(method, metric).unwrap().mean).collect()
}

#[test]
fn model_families_that_contain_the_truth_find_it() {
    let found = after(Domain::Rf, 400, &["transfer", "power-law"], "mse_extrapolation");
    assert!(found[1] < 1e-3 * found[0], "a resonator's coefficients are powers of its conditions: {found:?}");
    let found = after(Domain::Lj, 400, &["mlp", "powers"], "decades_05_08");
    assert!(found[1] < 0.5 * found[0], "exponents are learnt from r ≥ 0.8: {found:?}");
}

#[test]
fn oracles_are_exact() {
    let error = |domain, method: &str, metric: &str| {
        let report = contract(domain, &[1], &[method]);
        report.estimate(&report.methods[0], metric).unwrap().mean
    };
    assert!(error(Domain::Rf, "formula", "retention") == 1.0);
    assert!(error(Domain::Ik, "dls", "mse") < 1e-8);
    assert!(error(Domain::Lj, "formula", "relative_below_05") < 1e-5);
}

#[test]
fn unknown_methods_and_empty_requests_are_errors() {
    let methods = vec!["magic".into()];
    let request = Request { mode: Size::Contract, seeds: vec![1], methods, epochs: None, elsewhere: Vec::new() };
    let refused = |request: &Request| {
        let outcome = block_on(run(Domain::Lj, request, &Device::cpu(1), &mut |_, _, _| {}));
        outcome.err().unwrap().to_string()
    };
    for nothing in [Request { seeds: vec![], ..request.clone() }, Request { epochs: Some(0), ..request.clone() }] {
        assert_eq!(refused(&nothing), "experiment: seeds and epochs must be at least 1");
    }
    let message = refused(&request);
    assert!(message.starts_with("experiment: lj has no method \"magic\"; it has formula, mlp,"), "{message}");
}
