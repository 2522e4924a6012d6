//! An expression as one reduced fraction with guards: factors that were cancelled from the denominator and that still
//! make the value ⊥ where they are 0.

use std::collections::HashMap;
use std::fmt;

use super::expression::{Expression, Node, Operation};
use super::fracterm::Fracterm;
use super::monomial::{Monomial, Values, Variable};
use super::polynomial::Polynomial;
use super::refusal::{Flattening, Refusal};
use super::simplify::{Nonzero, cancelled, has_zeros_of, without_whole_factor};
use crate::Scm;
use meromorph::error::{Error, Result};

/// Limits on the cost of flattening, which is estimated before anything is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Limit of the number of steps, of terms of the numerator and of terms of the denominator.
    pub work: u64,
    /// Limit of the product of the numbers of terms of a rational leaf's numerator and denominator.
    pub terms: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { work: 100_000, terms: 10_000 }
    }
}

/// Thresholds of guards: if a guard is 0 or below its threshold, the value is ⊥. Thresholds are finite and at least 0; 0
/// tests for exactly 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Guard<'a> {
    /// One threshold for all.
    All(f64),
    /// One for each guard, in the order of `guards`.
    Each(&'a [f64]),
}

impl Default for Guard<'_> {
    fn default() -> Self {
        Self::All(1e-6)
    }
}

/// A polynomial that the expression divides by.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The part of the expression that it comes from.
    pub source: String,
    /// How it became a divisor.
    pub origin: Origin,
    /// The factor.
    pub polynomial: Polynomial,
    /// How the value becomes ⊥ where it is 0.
    pub duty: BottomRole,
}

/// How a factor became a divisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The denominator of a rational leaf.
    Denominator,
    /// The denominator of a divisor.
    DivisorDenominator,
    /// The numerator of a divisor.
    Divisor,
}

/// How the value becomes ⊥ where a factor is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BottomRole {
    /// The reduced denominator is 0 there.
    Denominator,
    /// It is evaluated and compared with its threshold.
    Guard,
    /// It does not: the caller declared the factor to be never 0.
    Declared,
}

/// P/Q with guards.
#[derive(Clone, Debug, PartialEq)]
pub struct Flattened {
    payload: Fracterm,
    factors: Vec<Factor>,
}

impl Expression {
    /// One reduced fraction of the same value: ⊥ where this is ⊥, except at zeros of factors that `nonzero` declares to be
    /// never 0. Errors if the estimated cost exceeds the budget, before expanding anything.
    pub fn flattened(&self, nonzero: &[Polynomial], budget: Budget) -> Flattening<Flattened> {
        let nonzero = Nonzero::new(nonzero)?;
        self.check_nesting()?;
        estimate(self, budget, &mut HashMap::new())?;
        let (fracterm, mut factors) = composed(&self.folded());
        if fracterm.is_bottom() || factors.iter().any(|factor| factor.polynomial.is_bottom()) {
            return Err(Refusal::Coefficient);
        }
        let payload = fracterm.with(guarded(&fracterm, &factors));
        for factor in &mut factors {
            factor.duty = duty(&factor.polynomial, payload.denominator(), &nonzero);
        }
        Ok(Flattened { payload, factors })
    }
}

impl Flattened {
    /// The reduced fraction without guards: it may have a value where the expression is ⊥.
    pub fn payload(&self) -> &Fracterm {
        &self.payload
    }

    /// All divisors and their roles.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The factors that are evaluated in addition to the fraction.
    pub fn guards(&self) -> impl Iterator<Item = &Polynomial> {
        self.factors.iter().filter(|factor| factor.duty == BottomRole::Guard).map(|factor| &factor.polynomial)
    }

    /// The value of the fraction, or ⊥ if a guard fails: if it is ⊥, 0, or below its threshold.
    pub fn evaluate(&self, values: &Values<'_>, guard: Guard<'_>) -> Result<Scm> {
        let value = self.payload.evaluate(values)?;
        let is_failing = self.failures(values, guard)?.contains(&true);
        Ok(if is_failing { Scm::BOTTOM } else { value })
    }

    /// Which guards fail. Errors on thresholds that are not finite or below 0, and if their number is not that of the guards.
    pub fn failures(&self, values: &Values<'_>, guard: Guard<'_>) -> Result<Vec<bool>> {
        let thresholds = guard.thresholds(self.guards().count())?;
        let fails = |(polynomial, threshold): (&Polynomial, f64)| {
            let modulus = polynomial.evaluate(values)?.modulus();
            Ok(modulus.is_none_or(|modulus| modulus == 0.0 || modulus < threshold))
        };
        self.guards().zip(thresholds).map(fails).collect()
    }
}

impl fmt::Display for Flattened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.payload)?;
        let guards: Vec<String> = self.guards().map(|guard| format!("|{guard}|")).collect();
        match guards.len() {
            0 => Ok(()),
            1 => write!(f, " where {} is not small", guards[0]),
            _ => write!(f, " where {} are not small", guards.join(", ")),
        }
    }
}

impl Guard<'_> {
    fn thresholds(self, count: usize) -> Result<Vec<f64>> {
        let thresholds = match self {
            // At least one, so that it is checked.
            Self::All(threshold) => vec![threshold; count.max(1)],
            Self::Each(thresholds) if thresholds.len() == count => thresholds.to_vec(),
            Self::Each(thresholds) => {
                let given = thresholds.len();
                return Err(Error::new(format!("evaluate: got {given} thresholds, expected {count}, one per guard")));
            }
        };
        match thresholds.iter().find(|threshold| !threshold.is_finite() || **threshold < 0.0) {
            Some(threshold) => Err(Error::new(format!(
                "evaluate: threshold of a guard: got {threshold}, expected a finite number of at least 0"
            ))),
            None => Ok(thresholds),
        }
    }
}

/// Bounds on the steps of flattening a part, and on the terms of its numerator and denominator.
type Cost = (u64, u64, u64);

/// Errors if the cost may exceed the budget. Costs multiply in shared trees, so sums and products saturate.
fn estimate(expression: &Expression, budget: Budget, known: &mut HashMap<*const Node, Cost>) -> Flattening<Cost> {
    if let Some(cost) = known.get(&expression.address()) {
        return Ok(*cost);
    }
    let cost = match expression.node() {
        Node::Constant(_) | Node::Variable(_) => (1, 1, 1),
        Node::Rational { numerator, denominator, .. } => {
            let terms = (numerator.count().max(1) as u64, denominator.count().max(1) as u64);
            if terms.0.saturating_mul(terms.1) > budget.terms {
                return Err(Refusal::Terms { leaf: expression.to_string(), terms, limit: budget.terms });
            }
            (terms.0.saturating_mul(terms.1).saturating_add(1), terms.0, terms.1)
        }
        Node::Pair { operation, left, right } => {
            let (left, right) = (estimate(left, budget, known)?, estimate(right, budget, known)?);
            pair_cost(*operation, left, right)
        }
    };
    let (steps, p, q) = cost;
    if steps.max(p).max(q) > budget.work {
        return Err(Refusal::Work { steps, terms: (p, q), limit: budget.work });
    }
    known.insert(expression.address(), cost);
    Ok(cost)
}

fn pair_cost(operation: Operation, (steps_left, p, q): Cost, (steps_right, u, v): Cost) -> Cost {
    let products = match operation {
        Operation::Add => [p.saturating_mul(v), q.saturating_mul(u), q.saturating_mul(v)],
        Operation::Mul => [p.saturating_mul(u), 0, q.saturating_mul(v)],
        Operation::Div => [p.saturating_mul(v), 0, q.saturating_mul(u)],
    };
    let steps = products.iter().fold(1u64, |sum, &product| sum.saturating_add(product));
    let steps = steps.saturating_add(steps_left).saturating_add(steps_right);
    (steps, products[0].saturating_add(products[1]), products[2])
}

/// The fraction, divided as in a field, and every divisor.
fn composed(expression: &Expression) -> (Fracterm, Vec<Factor>) {
    match expression.node() {
        Node::Constant(value) => (Fracterm::constant(*value), Vec::new()),
        Node::Variable(name) => (Fracterm::variable(name), Vec::new()),
        Node::Rational { numerator, denominator, .. } => {
            let mut factors = Vec::new();
            add_factor(&mut factors, expression, Origin::Denominator, denominator);
            (Fracterm::new(numerator.clone(), denominator.clone()), factors)
        }
        Node::Pair { operation, left, right } => {
            let ((a, mut factors), (b, others)) = (composed(left), composed(right));
            let is_division = *operation == Operation::Div;
            for mut factor in others {
                if is_division && factor.origin == Origin::Denominator {
                    factor.origin = Origin::DivisorDenominator;
                }
                if !is_known(&factors, &factor.polynomial) {
                    factors.push(factor);
                }
            }
            if is_division {
                add_factor(&mut factors, right, Origin::Divisor, b.numerator());
            }
            let result = match operation {
                Operation::Add => &a + &b,
                Operation::Mul => &a * &b,
                Operation::Div => a.over_in_field(&b),
            };
            (result, factors)
        }
    }
}

/// Adds a factor, unless it can never be 0 or is already known.
fn add_factor(factors: &mut Vec<Factor>, source: &Expression, origin: Origin, polynomial: &Polynomial) {
    let can_be_zero = polynomial.as_constant().is_none_or(|value| value.is_zero() || value.is_bottom());
    if can_be_zero && !is_known(factors, polynomial) {
        let (source, polynomial) = (source.to_string(), polynomial.clone());
        factors.push(Factor { source, origin, polynomial, duty: BottomRole::Guard });
    }
}

fn is_known(factors: &[Factor], polynomial: &Polynomial) -> bool {
    factors.iter().any(|factor| factor.polynomial == *polynomial)
}

/// P and Q with the factors cancelled that guards replace.
fn guarded(fracterm: &Fracterm, factors: &[Factor]) -> (Polynomial, Polynomial) {
    let (p, q) = (fracterm.numerator(), fracterm.denominator());
    let is_factor = factors.iter().any(|factor| factor.polynomial.has_terms_of(q));
    let one = || Polynomial::constant(Scm::ONE).reading(p).reading(q);
    if is_factor && p.has_terms_of(q) {
        return (one(), one());
    }
    if is_factor && p.is_zero() {
        return (p.clone(), one());
    }
    let commons: Vec<_> = factors.iter().map(|factor| factor.polynomial.common()).collect();
    let is_guarded =
        |variable: &Variable| commons.iter().any(|common| common.factors().iter().any(|(known, _)| known == variable));
    let (p, q) = cancelled(p, q, is_guarded);
    without_whole_factor(p, q)
}

fn duty(factor: &Polynomial, denominator: &Polynomial, nonzero: &Nonzero<'_>) -> BottomRole {
    let divides = |monomial: &Monomial| monomial.divides(&denominator.common());
    if denominator.is_zero() || has_zeros_of(factor, denominator) || factor.as_monomial().is_some_and(divides) {
        BottomRole::Denominator
    } else if nonzero.covers(factor) {
        BottomRole::Declared
    } else {
        BottomRole::Guard
    }
}
