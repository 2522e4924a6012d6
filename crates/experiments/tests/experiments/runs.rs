//! Every domain end to end, methods compared, and errors.

use meromorph::Device;
use meromorph_experiments::{Domain, ExperimentReport, MethodReport, Request, Role, Size, Verdict, page, run};
use pollster::block_on;

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
