//! Polynomials, fracterms and flattened expressions: the properties, numbered as in the published list, every refusal, and the
//! original's own answers on random formulas (`data/fracterm.json`, made by the script beside it).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use meromorph::Error;
use meromorph::scm::Scm;
use meromorph::scm::symbolic::{
    Budget, Duty, Expression, Flattened, Fracterm, Growth, Guard, Limits, Mode, Origin, Polynomial, RationalUnit,
    Refusal, Values,
};
use serde_json::Value;

const BOTTOM: Scm = Scm::BOTTOM;
const UNLIMITED: Limits = Limits { depth: None, degree: None };

fn real(x: f64) -> Scm {
    Scm::real(x).expect("finite")
}

/// A polynomial from coefficients and exponents: `[(3.0, &[("x", 2)])]` is 3x².
fn polynomial(terms: &[(f64, &[(&str, u32)])]) -> Polynomial {
    let zero = Polynomial::constant(Scm::ZERO);
    terms.iter().fold(zero, |sum, (value, factors)| &sum + &Polynomial::term(real(*value), factors))
}

fn x() -> Expression {
    Expression::variable("x")
}

fn y() -> Expression {
    Expression::variable("y")
}

fn at<'a>(values: &[(&'a str, Scm)]) -> Values<'a> {
    values.iter().copied().collect()
}

fn xy(x: f64, y: f64) -> Values<'static> {
    at(&[("x", real(x)), ("y", real(y))])
}

fn flat(expression: &Expression) -> Flattened {
    expression.flattened(&[], Budget::default()).expect("flattens")
}

fn assert_near(got: Scm, wanted: Scm, what: &str) {
    let scale = wanted.modulus().unwrap_or(0.0).max(1.0);
    let is_near = (got - wanted).modulus().is_some_and(|difference| difference <= 1e-9 * scale);
    assert!(is_near || (got.is_bottom() && wanted.is_bottom()), "{what}: got {got}, wanted {wanted}");
}

#[test]
fn p36_degrees_double_or_triple_with_depth_up_to_a_maximum() {
    let unit = RationalUnit::new((1, 2), Growth::Guarded, 3, 5).unwrap();
    assert_eq!(unit.degree_profile(), [2, 4, 8]);
    let longer = unit.extended(1).unwrap();
    assert_eq!((longer.depth(), longer.bound(), longer.degree_profile()), (4, 16, vec![2, 4, 8, 16]));
    assert_eq!(unit.extended(3), Err(Refusal::UnitDepth { depth: 6, limit: 5 }));
    assert_eq!(RationalUnit::new((3, 1), Growth::Strict, 3, 5).unwrap().degree_profile(), [3, 9, 27]);
    let deep = RationalUnit::new((3, 1), Growth::Strict, 100, 100).unwrap();
    assert_eq!(deep.bound(), u64::MAX, "bounds saturate");
    let message = RationalUnit::new((1, 1), Growth::Guarded, 0, 5).unwrap_err().to_string();
    assert_eq!(message, "rational unit: the depth 0 should be from 1 to 5");
}

#[test]
fn p36_a_unit_refuses_what_is_too_deep_or_of_too_high_a_degree() {
    let unit = RationalUnit::new((1, 1), Growth::Guarded, 2, 5).unwrap();
    let product = x() * y();
    assert_eq!(unit.flattened(&product, &[], Budget::default()).unwrap(), flat(&product));
    let refusal = unit.flattened(&(product.clone() * x()), &[], Budget::default()).unwrap_err();
    assert_eq!(refusal, Refusal::OverDepth { depth: 3, limit: 2 });
    assert_eq!(refusal.to_string(), "rational unit: the expression is 3 levels deep, the unit 2");
    let cube = Expression::rational(polynomial(&[(1.0, &[("x", 3)])]), polynomial(&[(1.0, &[])]), None);
    let refusal = unit.flattened(&cube, &[], Budget::default()).unwrap_err();
    assert_eq!(refusal, Refusal::OverDegree { degrees: (3, 0), limit: 2 });
    assert_eq!(refusal.to_string(), "rational unit: the expression has degrees 3 over 0, the unit's bound is 2");
}

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
fn p38_depth_and_degree_limits_refuse() {
    let x = Fracterm::variable("x");
    let powers = (0..5).fold(x.clone(), |power, _| &power * &x);
    let refusal = powers.flattened(Mode::ScmStrict, &[], Limits::default()).unwrap_err();
    assert_eq!(refusal, Refusal::Depth { depth: 6, limit: 5 });
    assert_eq!(refusal.to_string(), "flatten: the fracterm is composed over 6 levels, over the limit of 5");
    let limits = Limits { depth: Some(6), degree: Some(5) };
    let refusal = powers.flattened(Mode::ScmStrict, &[], limits).unwrap_err();
    assert_eq!(refusal, Refusal::Degree { degrees: (6, 0), limit: 5 });
    assert_eq!(refusal.to_string(), "flatten: the degrees are 6 over 0, over the limit of 5");
    let limits = Limits { depth: Some(6), degree: Some(6) };
    assert_eq!(powers.flattened(Mode::ScmStrict, &[], limits), Ok(powers.clone()));
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
fn p39_a_missing_variable_is_refused() {
    let message = |result: Result<Scm, Error>| result.unwrap_err().to_string();
    let sum = &Fracterm::variable("x") + &Fracterm::variable("y");
    let wanted = "evaluate: the variable \"y\" has no value; given: x, z";
    assert_eq!(message(sum.evaluate(&at(&[("x", Scm::ONE), ("z", Scm::ONE)]))), wanted);
    assert_eq!(message((x() + y()).evaluate(&at(&[("x", Scm::ONE), ("z", Scm::ONE)]))), wanted);
    let wanted = "evaluate: the variable \"x\" has no value; given: none";
    assert_eq!(message(flat(&(x() - x())).evaluate(&at(&[]), Guard::default())), wanted);
    assert_eq!(message(x().evaluate(&at(&[]))), wanted);
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
    let expression = Expression::variable("x") / self::y() + Expression::variable("u") / self::y();
    assert_eq!(flat(&expression).to_string(), "(u + x)/(y)", "a common denominator is cancelled beside its guard");
}

#[test]
fn p41_strict_keeps_what_the_unsafe_mode_cancels() {
    let x = Fracterm::variable("x");
    let quotient = &x / &x;
    let strict = quotient.flattened(Mode::ScmStrict, &[], UNLIMITED).unwrap();
    assert_eq!(strict.to_string(), "(x)/(x)");
    let field = quotient.flattened("bergstra_tucker".parse().unwrap(), &[], UNLIMITED).unwrap();
    assert_eq!(field.to_string(), "(1)/(1)");
    let zero = at(&[("x", Scm::ZERO)]);
    assert_eq!((strict.evaluate(&zero), field.evaluate(&zero)), (Ok(BOTTOM), Ok(Scm::ONE)));
    assert_eq!(field.evaluate(&at(&[("x", BOTTOM)])), Ok(BOTTOM), "⊥ is absorbed even there");
    let declared = quotient.flattened(Mode::ScmStrict, &[Polynomial::variable("x")], UNLIMITED).unwrap();
    assert_eq!(declared.to_string(), "(1)/(1)");
    let other = quotient.flattened(Mode::ScmStrict, &[Polynomial::variable("y")], UNLIMITED).unwrap();
    assert_eq!(other.to_string(), "(x)/(x)");
    assert_eq!("scm_strict".parse(), Ok(Mode::ScmStrict));
    assert_eq!("field_rational".parse(), Ok(Mode::FieldRational));
    let wanted = "simplify: \"sympy\" is unknown; there are scm_strict, field_rational and bergstra_tucker";
    assert_eq!("sympy".parse::<Mode>().unwrap_err().to_string(), wanted);
}

#[test]
fn p41_a_zero_numerator_keeps_its_poles_unless_they_are_declared_away() {
    let zero = polynomial(&[]);
    let pole = polynomial(&[(2.0, &[("x", 1)]), (2.0, &[])]);
    let term = Fracterm::new(zero.clone(), &pole * &Polynomial::variable("y"));
    let shown = |nonzero: &[Polynomial]| term.flattened(Mode::ScmStrict, nonzero, UNLIMITED).unwrap().to_string();
    assert_eq!(shown(&[]), "(0)/(x*y + y)");
    assert_eq!(shown(&[Polynomial::variable("y")]), "(0)/(1 + x)");
    let half = polynomial(&[(1.0, &[("x", 1)]), (1.0, &[])]);
    assert_eq!(shown(&[Polynomial::variable("y"), half]), "(0)/(1)");
    let field = term.flattened(Mode::FieldRational, &[], UNLIMITED).unwrap();
    assert_eq!(field.to_string(), "(0)/(x*y + y)");
    let refusal = term.flattened(Mode::ScmStrict, &[zero], UNLIMITED).unwrap_err();
    assert_eq!(refusal, Refusal::ZeroDeclaredNonzero);
    assert_eq!(refusal.to_string(), "flatten: the polynomial 0 was declared to be never 0");
}

#[test]
fn p41_whole_factors_need_whole_coefficients() {
    let shown = |p: &[(f64, &[(&str, u32)])], q: f64| {
        let term = Fracterm::new(polynomial(p), Polynomial::constant(real(q)));
        term.flattened(Mode::ScmStrict, &[], UNLIMITED).unwrap().to_string()
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
fn factors_say_where_they_come_from_and_what_became_of_them() {
    let gain = Expression::rational(Polynomial::variable("x"), Polynomial::variable("y"), Some("gain"));
    let quotient = gain.clone() / (gain / x());
    let known = |flat: &Flattened| -> Vec<_> {
        flat.factors().iter().map(|f| (f.source.clone(), f.polynomial.to_string(), f.origin, f.duty)).collect()
    };
    let wanted = [
        ("gain".to_owned(), "y".to_owned(), Origin::Denominator, Duty::Guard),
        ("x".to_owned(), "x".to_owned(), Origin::Divisor, Duty::Guard),
    ];
    assert_eq!(known(&flat(&quotient)), wanted);
    assert_eq!(flat(&quotient).to_string(), "(x)/(1) where |y|, |x| are not small");
    let inverse =
        Expression::from(1.0) / Expression::rational(Polynomial::variable("y"), Polynomial::variable("x"), None);
    let wanted = [
        ("(y)/(x)".to_owned(), "x".to_owned(), Origin::DivisorDenominator, Duty::Guard),
        ("(y)/(x)".to_owned(), "y".to_owned(), Origin::Divisor, Duty::Denominator),
    ];
    assert_eq!(known(&flat(&inverse)), wanted);
    let declared = inverse.flattened(&[Polynomial::variable("x")], Budget::default()).unwrap();
    assert_eq!(declared.factors()[0].duty, Duty::Declared);
    assert_eq!(declared.evaluate(&xy(0.0, 1.0), Guard::default()), Ok(Scm::ZERO), "the caller's word is taken");
}

#[test]
fn whole_polynomials_cancel_beside_their_guard() {
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
fn thresholds_that_make_no_sense_are_refused() {
    let flat = flat(&((x() / y()) / (y() / x())));
    let message = |guard| flat.evaluate(&xy(1.0, 1.0), guard).unwrap_err().to_string();
    let wanted = "evaluate: the threshold -1 of a guard should be a finite number not below 0";
    assert_eq!(message(Guard::All(-1.0)), wanted);
    let wanted = "evaluate: the threshold NaN of a guard should be a finite number not below 0";
    assert_eq!(message(Guard::Each(&[f64::NAN])), wanted);
    assert_eq!(message(Guard::Each(&[1.0, 2.0])), "evaluate: there are 2 thresholds for 1 guards");
    assert_eq!(flat.failures(&xy(0.5, 1.0), Guard::Each(&[0.6])), Ok(vec![true]));
    let unguarded = x().flattened(&[], Budget::default()).unwrap();
    assert!(unguarded.evaluate(&xy(1.0, 1.0), Guard::All(f64::NAN)).is_err(), "even where there is no guard");
}

/// In the original x + (-1)·x flattens to 0, so it is 0 at x = ⊥.
#[test]
fn what_cancels_still_absorbs() {
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
fn folding_drops_neutral_constants_and_nothing_else() {
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
fn expansions_over_the_budget_are_refused_before_they_start() {
    let names: Vec<String> = (0..150).map(|at| format!("v{at:03}")).collect();
    let sum = |names: &[String]| {
        let zero = Polynomial::constant(Scm::ZERO);
        names.iter().fold(zero, |sum, name| &sum + &Polynomial::variable(name))
    };
    let leaf = |names: &[String]| Expression::rational(sum(names), Polynomial::constant(Scm::ONE), None);
    let bomb = leaf(&names[..50]) * leaf(&names[50..100]) * leaf(&names[100..]);
    let refusal = bomb.flattened(&[], Budget::default()).unwrap_err();
    assert_eq!(refusal, Refusal::Work { steps: 127_657, terms: (125_000, 1), limit: 100_000 });
    let wanted = "flatten: it may take 127657 steps and give 125000 terms over 1, over the limit of 100000; raise the budget's work if that is wanted";
    assert_eq!(refusal.to_string(), wanted);
    let wide = Expression::rational(sum(&names[..101]), sum(&names[..100]), Some("wide"));
    let refusal = wide.flattened(&[], Budget::default()).unwrap_err();
    assert_eq!(refusal, Refusal::Terms { leaf: "wide".to_owned(), terms: (101, 100), limit: 10_000 });
    let wanted =
        "flatten: wide has 101 x 100 = 10100 terms, over the limit of 10000; split it or raise the budget's terms";
    assert_eq!(refusal.to_string(), wanted);
    assert!(wide.flattened(&[], Budget { work: 20_000, terms: 10_100 }).is_ok());
}

#[test]
fn shared_and_deep_trees_neither_hang_nor_overflow() {
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
    let wanted = "expression: it is nested 200000 deep, over the limit of 1000";
    assert_eq!(deep.evaluate(&xy(1.0, 1.0)).unwrap_err().to_string(), wanted);
    assert_eq!(deep.evaluate_whole(&xy(1.0, 1.0)).unwrap_err().to_string(), wanted);
}

#[test]
fn coefficients_and_degrees_out_of_range_are_refused() {
    let wanted = "flatten: a coefficient is ⊥, or a coefficient or degree leaves the range of numbers";
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
        assert_eq!((refusal.clone(), refusal.to_string().as_str()), (Refusal::Coefficient, wanted), "{product}");
    }
    let huge = Polynomial::term(real(1e200), &[("x", 1)]);
    let over = &huge * &huge;
    assert_eq!(over.evaluate(&at(&[("x", real(1e-200))])), Ok(BOTTOM));
    assert_eq!((&over * &polynomial(&[])).evaluate(&at(&[("x", Scm::ONE)])), Ok(BOTTOM), "0 times ⊥");
    let term = Fracterm::new(over, Polynomial::constant(Scm::ONE));
    assert_eq!(term.flattened(Mode::ScmStrict, &[], UNLIMITED), Err(Refusal::Coefficient));
    let nothing = Fracterm::new(polynomial(&[]), Polynomial::constant(BOTTOM));
    assert_eq!(nothing.flattened(Mode::ScmStrict, &[], UNLIMITED), Err(Refusal::Coefficient));
}

#[test]
fn the_whole_number_oracle_takes_nothing_else() {
    let ratio = Expression::rational(Polynomial::variable("x"), polynomial(&[(2.0, &[])]), None);
    assert_eq!((ratio.clone() / y()).evaluate_whole(&xy(6.0, 3.0)), Ok(Scm::ONE));
    assert_eq!(ratio.evaluate_whole(&at(&[("x", BOTTOM)])), Ok(BOTTOM));
    let message = |tree: Expression, x: f64| tree.evaluate_whole(&xy(x, 1.0)).unwrap_err().to_string();
    let rest = "is not a whole number below 2^53, and only those are exact";
    assert_eq!(message(x() + 0.5, 1.0), format!("evaluate: the constant 0.5 {rest}"));
    assert_eq!(message(x(), 0.1), format!("evaluate: x = 0.1 {rest}"));
    assert_eq!(message(ratio, 1e16), format!("evaluate: x = 10000000000000000 {rest}"));
    let half = Expression::rational(polynomial(&[(0.5, &[])]), polynomial(&[(1.0, &[])]), None);
    assert_eq!(message(half, 1.0), format!("evaluate: the coefficient 0.5 {rest}"));
}

#[test]
fn formulas_are_printed_as_one_writes_them() {
    let terms: [(f64, &[(&str, u32)]); 4] =
        [(-1.0, &[]), (1.0, &[("x", 1)]), (-2.5, &[("x", 2), ("y", 1)]), (3.0, &[("y", 1)])];
    assert_eq!(polynomial(&terms).to_string(), "-1 + x - 2.5*x^2*y + 3*y");
    let turned = Polynomial::term(Scm::complex(0.0, 2.0).unwrap(), &[("x", 1)]);
    assert_eq!(turned.to_string(), "(0+2i)*x");
    assert_eq!(format!("{:?}", (x() + 2.0) / (y() - x())), "Expression(((x + 2) / (y + (-1 * x))))");
}

/// Off poles a flattened value is the composed one; where a divisor is small it is ⊥, and at ⊥ both are ⊥.
#[test]
fn formulas_flatten_and_evaluate_as_in_the_original() {
    let mut compared = 0;
    for case in answers().as_array().unwrap() {
        let tree = &case["formula"];
        let (expression, strict) = (expression(tree), fracterm(tree));
        let flat = flat(&expression);
        assert_eq!(case["depths"], serde_json::json!([flat.payload().depth(), strict.depth()]), "{tree}");
        let flattened = |mode, nonzero: &[Polynomial]| strict.flattened(mode, nonzero, UNLIMITED).unwrap();
        assert_fraction(flat.payload(), &case["fractions"]["flat"], tree);
        assert_fraction(&flattened(Mode::ScmStrict, &[]), &case["fractions"]["strict"], tree);
        assert_fraction(&flattened(Mode::FieldRational, &[]), &case["fractions"]["field"], tree);
        assert_fraction(
            &flattened(Mode::ScmStrict, &[Polynomial::variable("x")]),
            &case["fractions"]["declared"],
            tree,
        );
        let guards: BTreeSet<_> = flat.guards().map(ToString::to_string).collect();
        let wanted: BTreeSet<_> =
            case["guards"].as_array().unwrap().iter().map(|terms| listed(terms).to_string()).collect();
        assert!(guards.is_subset(&wanted), "{tree}: {guards:?}, wanted {wanted:?}");
        // The original does not see that a whole multiple of the denominator needs no guard.
        for extra in wanted.difference(&guards) {
            let factor = flat.factors().iter().find(|factor| factor.polynomial.to_string() == *extra);
            assert_eq!(factor.map(|factor| factor.duty), Some(Duty::Denominator), "{tree}: {extra}");
        }
        for point in case["points"].as_array().unwrap() {
            let values: Values<'_> =
                point["at"].as_object().unwrap().iter().map(|(name, value)| (name.as_str(), unpacked(value))).collect();
            let (eager, what) = (unpacked(&point["eager"]), format!("{tree} at {values:?}"));
            assert_near(expression.evaluate(&values).unwrap(), eager, &what);
            // The original forgets variables that cancelled, so at ⊥ its eager value is the right one.
            let is_bottom = values.values().any(|value| value.is_bottom());
            let wanted = |name: &str| if is_bottom && eager.is_bottom() { eager } else { unpacked(&point[name]) };
            assert_near(flat.evaluate(&values, Guard::default()).unwrap(), wanted("flat"), &what);
            assert_near(flat.evaluate(&values, Guard::All(0.0)).unwrap(), eager, &what);
            assert_near(strict.evaluate(&values).unwrap(), wanted("strict"), &what);
            compared += 1;
        }
    }
    assert!(compared > 150, "{compared} points");
}

fn assert_fraction(got: &Fracterm, wanted: &Value, what: &Value) {
    let terms = |polynomial: &Polynomial| -> Vec<(String, Scm)> {
        let names = |factors: &[_]| factors.iter().map(|(name, exponent)| format!("{name}^{exponent} ")).collect();
        polynomial.terms().map(|(factors, coefficient)| (names(factors), coefficient)).collect()
    };
    for (got, wanted) in [(got.numerator(), &wanted[0]), (got.denominator(), &wanted[1])] {
        assert_eq!(terms(got), terms(&listed(wanted)), "{what}");
    }
}

fn expression(tree: &Value) -> Expression {
    match tree {
        Value::Number(value) => value.as_f64().unwrap().into(),
        Value::String(name) => Expression::variable(name),
        tree if tree.as_array().unwrap().len() == 2 => Expression::rational(listed(&tree[0]), listed(&tree[1]), None),
        tree => {
            let (left, right) = (expression(&tree[1]), expression(&tree[2]));
            match tree[0].as_str().unwrap() {
                "+" => left + right,
                "*" => left * right,
                _ => left / right,
            }
        }
    }
}

fn fracterm(tree: &Value) -> Fracterm {
    match tree {
        Value::Number(value) => Fracterm::constant(real(value.as_f64().unwrap())),
        Value::String(name) => Fracterm::variable(name),
        tree if tree.as_array().unwrap().len() == 2 => Fracterm::new(listed(&tree[0]), listed(&tree[1])),
        tree => {
            let (left, right) = (fracterm(&tree[1]), fracterm(&tree[2]));
            match tree[0].as_str().unwrap() {
                "+" => &left + &right,
                "*" => &left * &right,
                _ => &left / &right,
            }
        }
    }
}

fn listed(terms: &Value) -> Polynomial {
    let zero = Polynomial::constant(Scm::ZERO);
    terms.as_array().unwrap().iter().fold(zero, |sum, term| {
        let factors: Vec<(&str, u32)> = term[0]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_u64().unwrap() as u32))
            .collect();
        &sum + &Polynomial::term(real(term[1].as_f64().unwrap()), &factors)
    })
}

fn unpacked(value: &Value) -> Scm {
    let part = |at: usize| value[at].as_f64().expect("a number");
    match value {
        Value::Null => BOTTOM,
        value if value[2] == false => real(part(0)),
        _ => Scm::complex(part(0), part(1)).expect("finite"),
    }
}

fn answers() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fracterm.json");
    serde_json::from_str(&fs::read_to_string(path).expect("the answers are there")).expect("the answers are JSON")
}
