//! The bounds of rational units.

use meromorph_meadow::symbolic::{Budget, Expression, Growth, RationalUnit, Refusal};

use crate::{flat, polynomial, x, y};

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
    assert_eq!(message, "rational unit: depth: got 0, expected 1 to 5");
}

#[test]
fn p36_expressions_too_deep_or_of_too_high_degree_are_errors() {
    let unit = RationalUnit::new((1, 1), Growth::Guarded, 2, 5).unwrap();
    let product = x() * y();
    assert_eq!(unit.flattened(&product, &[], Budget::default()).unwrap(), flat(&product));
    let refusal = unit.flattened(&(product.clone() * x()), &[], Budget::default()).unwrap_err();
    assert_eq!(refusal, Refusal::OverDepth { depth: 3, limit: 2 });
    assert_eq!(refusal.to_string(), "rational unit: expression too deep: got 3 levels, expected at most 2");
    let cube = Expression::rational(polynomial(&[(1.0, &[("x", 3)])]), polynomial(&[(1.0, &[])]), None);
    let refusal = unit.flattened(&cube, &[], Budget::default()).unwrap_err();
    assert_eq!(refusal, Refusal::OverDegree { degrees: (3, 0), limit: 2 });
    assert_eq!(
        refusal.to_string(),
        "rational unit: degrees of the expression too high: got 3 over 0, expected at most 2"
    );
}
