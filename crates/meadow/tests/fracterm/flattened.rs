//! Flattened expressions: guards, absorption, folding.

use meromorph_meadow::Scm;
use meromorph_meadow::symbolic::{BottomRole, Budget, Expression, Flattened, Guard, Origin, Polynomial};

use crate::{BOTTOM, at, flat, polynomial, real, x, xy, y};

#[test]
fn a_guard_keeps_what_the_reduced_fraction_lost() {
    let quotient = (x() / y()) / (y() / x());
    let flat = flat(&quotient);
    assert_eq!(flat.payload().to_string(), "(x^2)/(y^2)");
    assert_eq!(flat.guards().collect::<Vec<_>>(), [&Polynomial::variable("x")]);
    let evaluate = |x, y, guard| flat.evaluate(&xy(x, y), guard).unwrap();
    assert_eq!(evaluate(2.0, 4.0, Guard::default()), real(0.25));
    assert_eq!(evaluate(0.0, 4.0, Guard::default()), BOTTOM);
    assert_eq!(evaluate(2.0, 0.0, Guard::default()), BOTTOM);
    assert_eq!(evaluate(1e-7, 1e-7, Guard::default()), BOTTOM, "below the threshold");
    assert_eq!(evaluate(1e-7, 1e-7, Guard::All(1e-8)), Scm::ONE);
    assert_eq!(evaluate(1e-300, 1e-300, Guard::Each(&[0.0])), BOTTOM, "its square is 0");
    assert_eq!(evaluate(0.0, 1.0, Guard::All(0.0)), BOTTOM, "0 is 0 at any threshold");
    assert_eq!(quotient.evaluate(&xy(1e-7, 1e-7)), Ok(Scm::ONE), "node by node there is no threshold");
}

#[test]
fn factors_have_their_origin_and_role() {
    let gain = Expression::rational(Polynomial::variable("x"), Polynomial::variable("y"), Some("gain"));
    let quotient = gain.clone() / (gain / x());
    let known = |flat: &Flattened| -> Vec<_> {
        flat.factors().iter().map(|f| (f.source.clone(), f.polynomial.to_string(), f.origin, f.duty)).collect()
    };
    let expected = [
        ("gain".to_owned(), "y".to_owned(), Origin::Denominator, BottomRole::Guard),
        ("x".to_owned(), "x".to_owned(), Origin::Divisor, BottomRole::Guard),
    ];
    assert_eq!(known(&flat(&quotient)), expected);
    assert_eq!(flat(&quotient).to_string(), "(x)/(1) where |y|, |x| are not small");
    let inverse =
        Expression::from(1.0) / Expression::rational(Polynomial::variable("y"), Polynomial::variable("x"), None);
    let expected = [
        ("(y)/(x)".to_owned(), "x".to_owned(), Origin::DivisorDenominator, BottomRole::Guard),
        ("(y)/(x)".to_owned(), "y".to_owned(), Origin::Divisor, BottomRole::Denominator),
    ];
    assert_eq!(known(&flat(&inverse)), expected);
    let declared = inverse.flattened(&[Polynomial::variable("x")], Budget::default()).unwrap();
    assert_eq!(declared.factors()[0].duty, BottomRole::Declared);
    assert_eq!(declared.evaluate(&xy(0.0, 1.0), Guard::default()), Ok(Scm::ZERO), "the caller's word is taken");
}

#[test]
fn whole_polynomials_cancel_and_become_guards() {
    let sum = x() + 1.0;
    let one = flat(&(sum.clone() / sum.clone()));
    assert_eq!(one.to_string(), "(1)/(1) where |1 + x| is not small");
    assert_eq!(one.evaluate(&at(&[("x", real(-1.0))]), Guard::default()), Ok(BOTTOM));
    assert_eq!(one.evaluate(&at(&[("x", BOTTOM)]), Guard::default()), Ok(BOTTOM));
    let zero = flat(&((sum.clone() - sum.clone()) / sum));
    assert_eq!(zero.to_string(), "(0)/(1) where |1 + x| is not small");
    assert_eq!(zero.evaluate(&at(&[("x", real(2.0))]), Guard::default()), Ok(Scm::ZERO));
    let doubled = (x() * 2.0) / (x() * 2.0 + 2.0);
    assert_eq!(flat(&doubled).to_string(), "(x)/(1 + x)", "a factor is known by its zeros");
}

#[test]
fn invalid_thresholds_are_errors() {
    let flat = flat(&((x() / y()) / (y() / x())));
    let message = |guard| flat.evaluate(&xy(1.0, 1.0), guard).unwrap_err().to_string();
    let expected = "evaluate: threshold of a guard: got -1, expected a finite number of at least 0";
    assert_eq!(message(Guard::All(-1.0)), expected);
    let expected = "evaluate: threshold of a guard: got NaN, expected a finite number of at least 0";
    assert_eq!(message(Guard::Each(&[f64::NAN])), expected);
    assert_eq!(message(Guard::Each(&[1.0, 2.0])), "evaluate: got 2 thresholds, expected 1, one per guard");
    assert_eq!(flat.failures(&xy(0.5, 1.0), Guard::Each(&[0.6])), Ok(vec![true]));
    let unguarded = x().flattened(&[], Budget::default()).unwrap();
    assert!(unguarded.evaluate(&xy(1.0, 1.0), Guard::All(f64::NAN)).is_err(), "even where there is no guard");
}

/// In the original x + (-1)·x flattens to 0, so it is 0 at x = ⊥.
#[test]
fn cancelled_variables_still_absorb() {
    let bottom = at(&[("x", BOTTOM), ("y", Scm::ONE)]);
    let vanishing = [
        x() + x() * -1.0,
        x() * 0.0,
        (x() - x()) * y(),
        (x() - x()) / y(),
        y() / (x() - x() + 1.0),
        (x() + 1.0) / (x() + 1.0),
        Expression::from(0.0) / (x() + 2.0),
        Expression::rational(
            &polynomial(&[(1.0, &[("x", 1)])]) + &polynomial(&[(-1.0, &[("x", 1)])]),
            polynomial(&[(1.0, &[])]),
            None,
        ),
    ];
    for expression in vanishing {
        let flat = flat(&expression);
        assert_eq!(expression.evaluate(&bottom), Ok(BOTTOM), "{expression}");
        assert_eq!(flat.evaluate(&bottom, Guard::default()), Ok(BOTTOM), "{expression}: {flat}");
        let fine = at(&[("x", real(2.0)), ("y", real(3.0))]);
        assert_eq!(flat.evaluate(&fine, Guard::default()), expression.evaluate(&fine), "{expression}");
    }
    let (x, minus) = (Polynomial::variable("x"), Polynomial::term(real(-1.0), &[("x", 1)]));
    let zero = &x + &minus;
    assert_eq!((zero.terms().count(), zero.degree()), (0, 0));
    assert_eq!(zero.reads().map(|name| &**name).collect::<Vec<_>>(), ["x"]);
    assert_ne!(zero, Polynomial::constant(Scm::ZERO), "they differ at ⊥");
    assert_eq!(zero.evaluate(&bottom), Ok(BOTTOM));
    assert_eq!(Polynomial::term(Scm::ONE, &[("x", 0)]).evaluate(&bottom), Ok(BOTTOM));
}

#[test]
fn folding_removes_only_neutral_constants() {
    let shown = |expression: Expression| flat(&expression).payload().depth();
    assert_eq!(shown(Expression::from(0.0) + x()), 1);
    assert_eq!(shown(x() + 0.0), 1);
    assert_eq!(shown(Expression::from(1.0) * x()), 1);
    assert_eq!(shown(x() / 1.0), 1);
    assert_eq!(shown(x() + (Expression::from(6.0) / 2.0 - 3.0)), 1);
    assert_eq!(shown(x() * Expression::rational(polynomial(&[(2.0, &[])]), polynomial(&[(2.0, &[])]), None)), 1);
    assert_eq!(shown(x() * 0.0), 2);
    assert_eq!(shown(Expression::from(1.0) / x()), 2);
    let vanished = &Polynomial::variable("y") + &Polynomial::term(real(-1.0), &[("y", 1)]);
    let reads = x() + Expression::rational(vanished, polynomial(&[(1.0, &[])]), None);
    assert_eq!(shown(reads), 2, "what was read is no constant");
    assert_eq!(flat(&(x() + Expression::from(1.0) / 0.0)).evaluate(&xy(1.0, 1.0), Guard::default()), Ok(BOTTOM));
}

#[test]
fn formulas_are_printed_in_usual_notation() {
    let terms: [(f64, &[(&str, u32)]); 4] =
        [(-1.0, &[]), (1.0, &[("x", 1)]), (-2.5, &[("x", 2), ("y", 1)]), (3.0, &[("y", 1)])];
    assert_eq!(polynomial(&terms).to_string(), "-1 + x - 2.5*x^2*y + 3*y");
    let turned = Polynomial::term(Scm::complex(0.0, 2.0).unwrap(), &[("x", 1)]);
    assert_eq!(turned.to_string(), "(0+2i)*x");
    let long = (0..21).fold(polynomial(&[]), |sum, degree| &sum + &Polynomial::term(Scm::ONE, &[("x", degree)]));
    let long = Expression::rational(long, polynomial(&[(1.0, &[])]), None);
    assert_eq!(long.to_string(), "(a fraction of 21 terms over 1)");
    assert_eq!(format!("{:?}", (x() + 2.0) / (y() - x())), "Expression(((x + 2) / (y + (-1 * x))))");
}
