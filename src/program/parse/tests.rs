//! Formulas as they are printed and as conditions are written.

use super::*;

fn value(text: &str, x: f64) -> f64 {
    parse(text, &["x"], &[]).unwrap_or_else(|error| panic!("{text}: {error}")).at(&[x])[0]
}

#[test]
fn signs_of_printed_text_are_those_of_formulas() {
    let cases = [
        ("2·x² − x÷4", 17.25),
        ("x³", 27.0),
        ("-x²", -9.0),
        ("x⁻¹", 1.0 / 3.0),
        ("2×x⁺²", 18.0),
        ("(x+1)¹⁰", 1_048_576.0),
        ("π·x", 3.0 * std::f64::consts::PI),
        ("x\u{a0}+\u{a0}1", 4.0),
        ("2 – x", -1.0),
    ];
    for (text, expected) in cases {
        assert!((value(text, 3.0) - expected).abs() <= 1e-12 * expected.abs(), "{text}: {}", value(text, 3.0));
    }
    assert_eq!(free_names("a·x²", &["x"], &[]).unwrap(), ["a"]);
    let error = parse("x⁻", &["x"], &[]).unwrap_err().to_string();
    assert!(error.contains("character 2: expected a whole number as the exponent"), "{error}");
}

#[test]
fn conditions_are_joined() {
    let cases = [
        ("x > 3 && x < 9", [0.0, 1.0, 0.0]),
        ("3 < x < 9", [0.0, 1.0, 0.0]),
        ("3 < x ≤ 9", [0.0, 1.0, 1.0]),
        ("x <= 3 || x >= 9", [1.0, 0.0, 1.0]),
        ("(x == 3) | (x > 4) & (x ≠ 9)", [1.0, 1.0, 0.0]),
        ("x - 3 && 1", [0.0, 1.0, 1.0]),
    ];
    for (text, expected) in cases {
        assert_eq!([3.0, 5.0, 9.0].map(|x| value(text, x)), expected, "{text}");
    }
}
