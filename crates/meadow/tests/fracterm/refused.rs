//! Formulas that are too large, too deep or out of range are errors before any expensive work.

use meromorph_meadow::Scm;
use meromorph_meadow::symbolic::{Budget, Cancellation, Expression, Fracterm, Polynomial, Refusal};

use crate::{BOTTOM, UNLIMITED, at, polynomial, real, x, xy, y};

#[test]
fn expansions_over_the_budget_are_errors_before_they_start() {
    let names: Vec<String> = (0..150).map(|at| format!("v{at:03}")).collect();
    let sum = |names: &[String]| {
        let zero = Polynomial::constant(Scm::ZERO);
        names.iter().fold(zero, |sum, name| &sum + &Polynomial::variable(name))
    };
    let leaf = |names: &[String]| Expression::rational(sum(names), Polynomial::constant(Scm::ONE), None);
    let bomb = leaf(&names[..50]) * leaf(&names[50..100]) * leaf(&names[100..]);
    let refusal = bomb.flattened(&[], Budget::default()).unwrap_err();
    assert_eq!(refusal, Refusal::Work { steps: 127_657, terms: (125_000, 1), limit: 100_000 });
    let expected =
        "flatten: cost too high: got up to 127657 steps and 125000 terms over 1, expected at most 100000 each";
    assert_eq!(refusal.to_string(), expected);
    let wide = Expression::rational(sum(&names[..101]), sum(&names[..100]), Some("wide"));
    let refusal = wide.flattened(&[], Budget::default()).unwrap_err();
    assert_eq!(refusal, Refusal::Terms { leaf: "wide".to_owned(), terms: (101, 100), limit: 10_000 });
    let expected = "flatten: wide has too many terms: got 101 x 100 = 10100, expected at most 10000; split it";
    assert_eq!(refusal.to_string(), expected);
    assert!(wide.flattened(&[], Budget { work: 20_000, terms: 10_100 }).is_ok());
}

#[test]
fn shared_and_deep_trees_do_not_hang_or_overflow() {
    let shared = (0..60).fold(x(), |tree, _| tree.clone() + tree);
    assert!(matches!(shared.flattened(&[], Budget::default()), Err(Refusal::Work { .. })));
    assert_eq!(shared.evaluate(&xy(1.0, 0.0)), Ok(real(2f64.powi(60))));
    assert_eq!(shared.to_string(), "(an expression of 2305843009213693951 nodes)");
    let chain = (1..1000).fold(x(), |tree, _| tree * 2.0);
    assert_eq!(chain.evaluate(&xy(1.0, 0.0)), Ok(real(2f64.powi(999))));
    assert!(chain.flattened(&[], Budget::default()).is_ok());
    let deep = (1..200_000).fold(x(), |tree, _| tree + y());
    let refusal = deep.flattened(&[], Budget::default()).unwrap_err();
    assert_eq!(refusal, Refusal::Nesting { depth: 200_000, limit: 1000 });
    let expected = "expression: nested too deeply: got 200000 levels, expected at most 1000";
    assert_eq!(deep.evaluate(&xy(1.0, 1.0)).unwrap_err().to_string(), expected);
    assert_eq!(deep.evaluate_whole(&xy(1.0, 1.0)).unwrap_err().to_string(), expected);
}

#[test]
fn coefficients_and_degrees_out_of_range_are_errors() {
    let expected = "flatten: a coefficient is ⊥, or a coefficient or degree is not representable";
    let steep = |size: f64, degree: u32| {
        Expression::rational(Polynomial::term(real(size), &[("x", degree)]), polynomial(&[(1.0, &[])]), None)
    };
    for product in [
        steep(1e200, 1) * steep(1e200, 1),
        steep(1e-200, 1) * steep(1e-200, 1),
        steep(1.0, u32::MAX) * steep(1.0, 1),
        x() * f64::NAN,
    ] {
        let refusal = product.flattened(&[], Budget::default()).unwrap_err();
        assert_eq!((refusal.clone(), refusal.to_string().as_str()), (Refusal::Coefficient, expected), "{product}");
    }
    let huge = Polynomial::term(real(1e200), &[("x", 1)]);
    let over = &huge * &huge;
    assert_eq!(over.evaluate(&at(&[("x", real(1e-200))])), Ok(BOTTOM));
    assert_eq!((&over * &polynomial(&[])).evaluate(&at(&[("x", Scm::ONE)])), Ok(BOTTOM), "0 times ⊥");
    let term = Fracterm::new(over, Polynomial::constant(Scm::ONE));
    assert_eq!(term.flattened(Cancellation::ScmStrict, &[], UNLIMITED), Err(Refusal::Coefficient));
    let nothing = Fracterm::new(polynomial(&[]), Polynomial::constant(BOTTOM));
    assert_eq!(nothing.flattened(Cancellation::ScmStrict, &[], UNLIMITED), Err(Refusal::Coefficient));
}

#[test]
fn exact_evaluation_accepts_only_integers() {
    let ratio = Expression::rational(Polynomial::variable("x"), polynomial(&[(2.0, &[])]), None);
    assert_eq!((ratio.clone() / y()).evaluate_whole(&xy(6.0, 3.0)), Ok(Scm::ONE));
    assert_eq!(ratio.evaluate_whole(&at(&[("x", BOTTOM)])), Ok(BOTTOM));
    let message = |tree: Expression, x: f64| tree.evaluate_whole(&xy(x, 1.0)).unwrap_err().to_string();
    let rest = "is not exact: expected an integer below 2^53";
    assert_eq!(message(x() + 0.5, 1.0), format!("evaluate: the constant 0.5 {rest}"));
    assert_eq!(message(x(), 0.1), format!("evaluate: x = 0.1 {rest}"));
    assert_eq!(message(ratio, 1e16), format!("evaluate: x = 10000000000000000 {rest}"));
    let half = Expression::rational(polynomial(&[(0.5, &[])]), polynomial(&[(1.0, &[])]), None);
    assert_eq!(message(half, 1.0), format!("evaluate: the coefficient 0.5 {rest}"));
}
