//! Saved fits: predictions with bands, tests of one against another, edited files.

use super::{DECAY, decay, fitted, problem};
use meromorph::fit::{SavedFit, report};

#[test]
fn a_saved_fit_predicts_with_bands() {
    let data = decay(200);
    let problem = problem(DECAY, &data).unwrap();
    let fit = fitted(&problem);
    let saved = SavedFit::parse(&report(&problem, &fit, "y", 0.0).to_string(), "fit.json").unwrap();
    let places = [0.0, 2.5, 50.0];
    let predicted = saved.predict(&[&places], 3, 0.95).unwrap();
    // Far away only c is left of the model.
    let c = &fit.parameters[2];
    assert_eq!(predicted.values[2], c.value);
    let half = c.interval.unwrap()[1] - c.value;
    assert!((predicted.confidence[2] - half).abs() < 1e-12);
    // The prediction band adds the variance of one observation, of which the interval of c is a known multiple.
    let reach = half / c.stderr.unwrap();
    for (wide, narrow) in predicted.prediction.iter().zip(&predicted.confidence) {
        let expected = (narrow * narrow + reach * reach * fit.statistics.reduced_chi_square).sqrt();
        assert!((wide - expected).abs() < 1e-12, "{wide}, expected {expected}");
    }
}

#[test]
fn edited_files_are_errors() {
    let data = decay(20);
    let problem = problem(DECAY, &data).unwrap();
    let text = report(&problem, &fitted(&problem), "y", 0.0).to_string();
    let message = |text: &str| match SavedFit::parse(text, "fit.json") {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    };
    assert_eq!(message(&text), "no error");
    assert!(message(&text[..text.len() / 2]).starts_with("fit.json: "));
    assert!(
        message(&text.replace("\"is_weighted\":false", "\"is_weighted\":true"))
            .starts_with("fit.json: is damaged or was changed: its checksum is ")
    );
    // Without its checksum, a file is judged field by field.
    let checksum = text.find(",\"checksum\":\"").unwrap();
    let unsealed = [&text[..checksum], &text[checksum + ",\"checksum\":\"01234567\"".len()..]].concat();
    assert_eq!(message(&unsealed), "no error");
    let edited = |from: &str, to: &str| {
        assert!(unsealed.contains(from), "{from}");
        message(&unsealed.replace(from, to))
    };
    assert_eq!(
        edited("\"free\":[\"a\"", "\"free\":[\"b\""),
        "fit.json: free: \"b\" is there twice: expected each name once"
    );
    assert_eq!(
        edited("\"covariance\":[[", "\"covariance\":[[1,"),
        "fit.json: covariance: expected 3 rows of 3 numbers, one for each free parameter"
    );
    assert_eq!(
        edited("\"is_weighted\":false", "\"is_weighted\":\"no\""),
        "fit.json: is_weighted: got \"no\", expected true or false"
    );
    assert_eq!(
        edited("\"kind\":\"meromorph fit\"", "\"kind\":\"table\""),
        "fit.json: this JSON is not a fit: expected a file that mero fit --out wrote"
    );
}

#[test]
fn needed_parameters_are_told_from_others() {
    let data = decay(60);
    let saved = |text: &str| {
        let problem = problem(text, &data).unwrap();
        SavedFit::parse(&report(&problem, &fitted(&problem), "y", 0.0).to_string(), "fit").unwrap()
    };
    let [small, right, large] = ["a * exp(-b * x)", DECAY, "a * exp(-b * x) + c + d * x^3"].map(saved);
    let needed = small.tested_against(&right).unwrap();
    assert!(needed.p < 1e-6 && needed.aic_difference < 0.0 && needed.dof == [1, 57], "{needed:?}");
    let not = right.tested_against(&large).unwrap();
    assert!(not.p > 0.01, "{not:?}");
    let wrong = right.tested_against(&small).unwrap_err().to_string();
    assert_eq!(
        wrong,
        "F test: got models of 3 and 2 free parameters, expected more in the second, and fewer than rows"
    );
}
