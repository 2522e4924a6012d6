//! Composition, evaluation and cancellation of fracterms.

use meromorph::Error;
use meromorph_meadow::Scm;
use meromorph_meadow::symbolic::{Cancellation, Expression, Fracterm, Guard, Limits, Polynomial, Refusal};

use crate::{BOTTOM, UNLIMITED, at, flat, polynomial, real, x, xy, y};

#[test]
fn p38_products_multiply_out_and_depth_and_degrees_are_tracked() {
    let (one, x) = (Fracterm::constant(Scm::ONE), Fracterm::variable("x"));
    let product = &(&x + &one) * &x;
    assert_eq!(product.numerator(), &polynomial(&[(1.0, &[("x", 2)]), (1.0, &[("x", 1)])]));
    assert_eq!(product.denominator(), &Polynomial::constant(Scm::ONE));
    assert_eq!((product.depth(), product.degrees()), (3, (2, 0)));
    assert_eq!(product.degree_profile(), [(1, 0), (1, 0), (2, 0)]);
    assert_eq!(product.to_string(), "(x + x^2)/(1)");
    let two = Fracterm::constant(real(2.0));
    assert_eq!((&two / &(&two * &x)).to_string(), "(1)/(x)", "whole factors go");
    assert_eq!((&(&x * &x) / &(&x + &one)).degree_profile(), [(1, 0), (2, 0), (2, 1)]);
}

#[test]
fn p38_depth_and_degree_over_the_limits_are_errors() {
    let x = Fracterm::variable("x");
    let powers = (0..5).fold(x.clone(), |power, _| &power * &x);
    let refusal = powers.flattened(Cancellation::ScmStrict, &[], Limits::default()).unwrap_err();
    assert_eq!(refusal, Refusal::Depth { depth: 6, limit: 5 });
    assert_eq!(refusal.to_string(), "flatten: too many levels of composition: got 6, expected at most 5");
    let limits = Limits { depth: Some(6), degree: Some(5) };
    let refusal = powers.flattened(Cancellation::ScmStrict, &[], limits).unwrap_err();
    assert_eq!(refusal, Refusal::Degree { degrees: (6, 0), limit: 5 });
    assert_eq!(refusal.to_string(), "flatten: degrees too high: got 6 over 0, expected at most 5");
    let limits = Limits { depth: Some(6), degree: Some(6) };
    assert_eq!(powers.flattened(Cancellation::ScmStrict, &[], limits), Ok(powers.clone()));
}

#[test]
fn p39_evaluation_is_bottom_at_poles_and_at_bottom() {
    let (one, x) = (Fracterm::constant(Scm::ONE), Fracterm::variable("x"));
    let product = &x * &(&one / &x);
    assert_eq!(product.evaluate(&at(&[("x", real(2.0))])), Ok(Scm::ONE));
    assert_eq!(product.evaluate(&at(&[("x", real(0.0))])), Ok(BOTTOM));
    assert_eq!(product.evaluate(&at(&[("x", BOTTOM)])), Ok(BOTTOM));
    assert_eq!((&one / &Fracterm::constant(Scm::ZERO)).evaluate(&at(&[])), Ok(BOTTOM));
    let huge = at(&[("x", real(1e200))]);
    assert_eq!((&x * &x).evaluate(&huge), Ok(BOTTOM), "what overflows is ⊥");
    let i = at(&[("x", Scm::complex(0.0, 1.0).unwrap())]);
    assert_eq!((&x * &x).evaluate(&i), Ok(real(-1.0)));
    let odd = Polynomial::term(real(2.0), &[("x", 5)]);
    assert_eq!(odd.evaluate(&at(&[("x", real(3.0))])), Ok(real(486.0)));
}

#[test]
fn p39_a_missing_variable_is_an_error() {
    let message = |result: Result<Scm, Error>| result.unwrap_err().to_string();
    let sum = &Fracterm::variable("x") + &Fracterm::variable("y");
    let expected = "evaluate: the variable \"y\" has no value; given: x, z";
    assert_eq!(message(sum.evaluate(&at(&[("x", Scm::ONE), ("z", Scm::ONE)]))), expected);
    assert_eq!(message((x() + y()).evaluate(&at(&[("x", Scm::ONE), ("z", Scm::ONE)]))), expected);
    let expected = "evaluate: the variable \"x\" has no value; given: none";
    assert_eq!(message(flat(&(x() - x())).evaluate(&at(&[]), Guard::default())), expected);
    assert_eq!(message(x().evaluate(&at(&[]))), expected);
}

#[test]
fn p40_sums_have_the_product_of_denominators() {
    let [x, y, u, v] = ["x", "y", "u", "v"].map(Fracterm::variable);
    let sum = &(&x / &y) + &(&u / &v);
    let numerator = polynomial(&[(1.0, &[("x", 1), ("v", 1)]), (1.0, &[("u", 1), ("y", 1)])]);
    assert_eq!(sum.numerator(), &numerator);
    assert_eq!(sum.denominator(), &polynomial(&[(1.0, &[("y", 1), ("v", 1)])]));
    let same = &(&x / &y) + &(&u / &y);
    assert_eq!(same.to_string(), "(u*y + x*y)/(y^2)");
    let expression = crate::x() / crate::y() + Expression::variable("u") / crate::y();
    assert_eq!(flat(&expression).to_string(), "(u + x)/(y)", "a common denominator is cancelled; its guard stays");
}

#[test]
fn p41_strict_keeps_what_the_unsafe_mode_cancels() {
    let x = Fracterm::variable("x");
    let quotient = &x / &x;
    let strict = quotient.flattened(Cancellation::ScmStrict, &[], UNLIMITED).unwrap();
    assert_eq!(strict.to_string(), "(x)/(x)");
    let field = quotient.flattened("bergstra_tucker".parse().unwrap(), &[], UNLIMITED).unwrap();
    assert_eq!(field.to_string(), "(1)/(1)");
    let zero = at(&[("x", Scm::ZERO)]);
    assert_eq!((strict.evaluate(&zero), field.evaluate(&zero)), (Ok(BOTTOM), Ok(Scm::ONE)));
    assert_eq!(field.evaluate(&at(&[("x", BOTTOM)])), Ok(BOTTOM), "⊥ is absorbed even there");
    let declared = quotient.flattened(Cancellation::ScmStrict, &[Polynomial::variable("x")], UNLIMITED).unwrap();
    assert_eq!(declared.to_string(), "(1)/(1)");
    let other = quotient.flattened(Cancellation::ScmStrict, &[Polynomial::variable("y")], UNLIMITED).unwrap();
    assert_eq!(other.to_string(), "(x)/(x)");
    assert_eq!("scm_strict".parse(), Ok(Cancellation::ScmStrict));
    assert_eq!("field_rational".parse(), Ok(Cancellation::FieldRational));
    let expected = "simplify: unknown mode \"sympy\": expected scm_strict, field_rational or bergstra_tucker";
    assert_eq!("sympy".parse::<Cancellation>().unwrap_err().to_string(), expected);
}

#[test]
fn p41_a_zero_numerator_keeps_its_poles_unless_declared_nonzero() {
    let zero = polynomial(&[]);
    let pole = polynomial(&[(2.0, &[("x", 1)]), (2.0, &[])]);
    let term = Fracterm::new(zero.clone(), &pole * &Polynomial::variable("y"));
    let shown =
        |nonzero: &[Polynomial]| term.flattened(Cancellation::ScmStrict, nonzero, UNLIMITED).unwrap().to_string();
    assert_eq!(shown(&[]), "(0)/(x*y + y)");
    assert_eq!(shown(&[Polynomial::variable("y")]), "(0)/(1 + x)");
    let half = polynomial(&[(1.0, &[("x", 1)]), (1.0, &[])]);
    assert_eq!(shown(&[Polynomial::variable("y"), half]), "(0)/(1)");
    let field = term.flattened(Cancellation::FieldRational, &[], UNLIMITED).unwrap();
    assert_eq!(field.to_string(), "(0)/(x*y + y)");
    let refusal = term.flattened(Cancellation::ScmStrict, &[zero], UNLIMITED).unwrap_err();
    assert_eq!(refusal, Refusal::ZeroDeclaredNonzero);
    assert_eq!(refusal.to_string(), "flatten: the polynomial 0 was declared to be never 0");
}

#[test]
fn p41_integer_factors_need_integer_coefficients() {
    let shown = |p: &[(f64, &[(&str, u32)])], q: f64| {
        let term = Fracterm::new(polynomial(p), Polynomial::constant(real(q)));
        term.flattened(Cancellation::ScmStrict, &[], UNLIMITED).unwrap().to_string()
    };
    assert_eq!(shown(&[(6.0, &[("x", 1)]), (-4.0, &[])], 10.0), "(-2 + 3*x)/(5)");
    assert_eq!(shown(&[(6.0, &[("x", 1)]), (-4.5, &[])], 3.0), "(-4.5 + 6*x)/(3)");
    assert_eq!(shown(&[(6.0 + 1e-13, &[("x", 1)])], 3.0), "(2.0000000000000333*x)/(1)");
    assert_eq!(shown(&[(6.0 + 1e-11, &[("x", 1)])], 3.0), "(6.00000000001*x)/(3)");
    assert_eq!(shown(&[(1e300, &[("x", 1)])], 1e300), "(x)/(1)");
}

#[test]
fn strict_division_keeps_the_divisors_denominator() {
    let (x, y) = (Fracterm::variable("x"), Fracterm::variable("y"));
    let quotient = &(&x / &y) / &(&y / &x);
    assert_eq!(quotient.to_string(), "(x^3)/(x*y^2)");
    assert_eq!(quotient.degrees(), (3, 3));
    assert_eq!(quotient.evaluate(&xy(0.0, 4.0)), Ok(BOTTOM));
    assert_eq!((&x / &y).over_in_field(&(&y / &x)).to_string(), "(x^2)/(y^2)");
}
