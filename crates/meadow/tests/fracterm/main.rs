//! Polynomials, fracterms and flattened expressions: the properties, numbered as in the published list, every error,
//! and the results of the original.

mod exact;
mod flattened;
mod laws;
mod original;
mod refused;
mod unit;

use meromorph_meadow::Scm;
use meromorph_meadow::symbolic::{Budget, Expression, Flattened, Limits, Polynomial, Values};

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

fn assert_near(got: Scm, expected: Scm, what: &str) {
    let scale = expected.modulus().unwrap_or(0.0).max(1.0);
    let is_near = (got - expected).modulus().is_some_and(|difference| difference <= 1e-9 * scale);
    assert!(is_near || (got.is_bottom() && expected.is_bottom()), "{what}: got {got}, expected {expected}");
}
