//! Results of the original on random formulas: `data/fracterm.json`, made by the script in the same folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use meromorph_meadow::Scm;
use meromorph_meadow::symbolic::{BottomRole, Cancellation, Expression, Fracterm, Guard, Polynomial, Values};
use serde_json::Value;

use crate::{BOTTOM, UNLIMITED, assert_near, flat, real};

/// Away from poles a flattened value equals the composed one; where a divisor is small it is ⊥, and at ⊥ both are ⊥.
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
        assert_fraction(&flattened(Cancellation::ScmStrict, &[]), &case["fractions"]["strict"], tree);
        assert_fraction(&flattened(Cancellation::FieldRational, &[]), &case["fractions"]["field"], tree);
        assert_fraction(
            &flattened(Cancellation::ScmStrict, &[Polynomial::variable("x")]),
            &case["fractions"]["declared"],
            tree,
        );
        let guards: BTreeSet<_> = flat.guards().map(ToString::to_string).collect();
        let expected: BTreeSet<_> =
            case["guards"].as_array().unwrap().iter().map(|terms| listed(terms).to_string()).collect();
        assert!(guards.is_subset(&expected), "{tree}: {guards:?}, expected {expected:?}");
        // The original adds a guard for an integer multiple of the denominator, which is not needed.
        for extra in expected.difference(&guards) {
            let factor = flat.factors().iter().find(|factor| factor.polynomial.to_string() == *extra);
            assert_eq!(factor.map(|factor| factor.duty), Some(BottomRole::Denominator), "{tree}: {extra}");
        }
        for point in case["points"].as_array().unwrap() {
            let values: Values<'_> =
                point["at"].as_object().unwrap().iter().map(|(name, value)| (name.as_str(), unpacked(value))).collect();
            let (eager, what) = (unpacked(&point["eager"]), format!("{tree} at {values:?}"));
            assert_near(expression.evaluate(&values).unwrap(), eager, &what);
            // The original loses variables that cancelled, so at ⊥ its unflattened value is the right one.
            let is_bottom = values.values().any(|value| value.is_bottom());
            let expected = |name: &str| if is_bottom && eager.is_bottom() { eager } else { unpacked(&point[name]) };
            assert_near(flat.evaluate(&values, Guard::default()).unwrap(), expected("flat"), &what);
            assert_near(flat.evaluate(&values, Guard::All(0.0)).unwrap(), eager, &what);
            assert_near(strict.evaluate(&values).unwrap(), expected("strict"), &what);
            compared += 1;
        }
    }
    assert!(compared > 150, "{compared} points");
}

fn assert_fraction(got: &Fracterm, expected: &Value, what: &Value) {
    let terms = |polynomial: &Polynomial| -> Vec<(String, Scm)> {
        let names = |factors: &[_]| factors.iter().map(|(name, exponent)| format!("{name}^{exponent} ")).collect();
        polynomial.terms().map(|(factors, coefficient)| (names(factors), coefficient)).collect()
    };
    for (got, expected) in [(got.numerator(), &expected[0]), (got.denominator(), &expected[1])] {
        assert_eq!(terms(got), terms(&listed(expected)), "{what}");
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
