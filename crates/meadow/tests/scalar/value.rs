//! Arithmetic and functions of scalars, and conversion to and from IEEE numbers.

use std::collections::HashSet;

use meromorph_meadow::orientation::weak_sign;
use meromorph_meadow::{Complex, Scm};

use crate::{BINARY, BOTTOM, Cases, UNARY, assert_near, complex, real};

#[test]
fn p01_bottom_absorbs_in_every_position_and_division_by_zero_is_bottom() {
    for (name, op) in BINARY {
        for x in [Scm::ZERO, Scm::ONE, real(-0.0), complex(1.0, -2.0), BOTTOM] {
            assert_eq!(op(x, BOTTOM), BOTTOM, "{name}");
            assert_eq!(op(BOTTOM, x), BOTTOM, "{name}");
        }
    }
    for zero in [real(0.0), real(-0.0), complex(0.0, -0.0)] {
        for x in [real(3.0), real(0.0), complex(1.0, 1.0)] {
            assert_eq!(x / zero, BOTTOM);
        }
        assert_eq!(zero.inv(), BOTTOM);
    }
}

#[test]
fn p02_bottom_absorbs_in_functions_and_powers() {
    for (name, function) in UNARY {
        assert_eq!(function(BOTTOM), BOTTOM, "{name}");
    }
    for exponent in [0.0, 1.0, -1.0, 0.5, f64::NAN] {
        assert_eq!(BOTTOM.pow(exponent), BOTTOM, "{exponent}");
    }
}

#[test]
fn p03_sums_and_products_commute_and_associate() {
    let mut cases = Cases(3);
    for _ in 0..2000 {
        let (x, y, z) = (cases.any(), cases.any(), cases.any());
        assert_eq!(x + y, y + x);
        assert_eq!(x * y, y * x);
        assert_near((x + y) + z, x + (y + z), "sum");
        assert_near((x * y) * z, x * (y * z), "product");
    }
}

#[test]
fn p04_regular_inputs_give_real_arithmetic() {
    let mut cases = Cases(4);
    for _ in 0..1000 {
        let (x, y) = (cases.within(100.0), cases.within(100.0));
        assert_eq!((real(x) / real(y)).to_ieee(), x / y);
        assert_eq!((real(x) * real(y)).to_ieee(), x * y);
        assert_eq!(real(x.abs()).ln().to_ieee(), x.abs().ln());
        assert_eq!(real(x.abs()).sqrt().to_ieee(), x.abs().sqrt());
        let z = complex(x, y);
        assert_near(z.sqrt() * z.sqrt(), z, "square of the root");
        assert_near(z.ln().exp(), z, "exp of the logarithm");
        assert_near(z.sin() / z.cos(), z.tan(), "tangent");
        assert_near(z.pow(3.0) * z.pow(-3.0), Scm::ONE, "powers");
        assert_near(z.pow(0.3) * z.pow(0.7), z, "fractional powers");
    }
}

#[test]
fn p04_undefined_and_unrepresentable_results_are_bottom() {
    let bottoms = [
        real(1e300) * real(1e10),
        real(f64::MAX) + real(f64::MAX),
        real(1e300) / real(1e-300),
        complex(1e200, 1e200) * complex(1e200, 0.0),
        real(1000.0).exp(),
        complex(0.0, 1000.0).sin(),
        Scm::ZERO.ln(),
        real(-1.0).ln(),
        complex(0.0, 0.0).ln(),
        real(-4.0).sqrt(),
        real(-8.0).pow(1.0 / 3.0),
        Scm::ZERO.pow(-1.0),
        complex(0.0, 0.0).pow(-0.5),
        Scm::ONE.pow(f64::INFINITY),
        real(10.0).pow(1000.0),
    ];
    assert!(bottoms.iter().all(|x| x.is_bottom()), "{bottoms:?}");
    assert_eq!(Scm::ZERO.pow(0.0), Scm::ONE);
    assert_eq!(complex(0.0, 0.0).pow(2.0), Scm::ZERO);
    assert_eq!(Scm::ZERO.sqrt(), Scm::ZERO);
    assert_eq!(real(-2.0).pow(3.0), real(-8.0));
    assert_near(complex(-1.0, 0.0).ln(), complex(0.0, std::f64::consts::PI), "the principal branch");
    assert_near(complex(-4.0, 0.0).sqrt(), complex(0.0, 2.0), "the principal root");
}

#[test]
fn p04_complex_functions_are_correct_near_the_limits_of_the_range() {
    for size in [f64::MAX, 1e-300, 5e-324, 1e-160, 1e160] {
        let z = complex(size, -size);
        assert_near(weak_sign(z), complex(0.5f64.sqrt(), -(0.5f64.sqrt())), "direction");
        let root = z.sqrt();
        let (scale, root) = (size.sqrt(), root.number().expect("finite"));
        let turn = std::f64::consts::FRAC_PI_8;
        let expected = complex(2f64.powf(0.25) * turn.cos(), -(2f64.powf(0.25) * turn.sin()));
        assert_near(complex(root.re / scale, root.im / scale), expected, "root");
        assert_near(z.ln(), complex(size.ln() + 0.5 * 2f64.ln(), -std::f64::consts::FRAC_PI_4), "logarithm");
    }
    assert_near(complex(1.0, 400.0).tan(), complex(0.0, 1.0), "tangent far from the real line");
    let step = 2f64.powi(-33);
    assert_near(complex(1.0 + step, step).ln() / real(step), complex(1.0, 1.0), "logarithm near 1");
}

#[test]
fn p05_constructors_keep_numbers_and_check_that_they_are_finite() {
    assert_eq!(real(0.5).number(), Some(Complex::new(0.5, 0.0)));
    assert_eq!(complex(1.5, -2.0).number(), Some(Complex::new(1.5, -2.0)));
    assert_eq!(BOTTOM.number(), None);
    let shown = [real(0.5), complex(1.5, -2.0), BOTTOM].map(|x| format!("{x} {x:?}"));
    assert_eq!(shown, ["0.5 Scm(0.5)", "1.5-2i Scm(1.5-2i)", "⊥ Scm(⊥)"]);
    let rest = "expected a finite number; for an undefined value use Scm::BOTTOM or Scm::from_ieee";
    assert_eq!(Scm::real(f64::NAN).unwrap_err().to_string(), format!("scm: got NaN, {rest}"));
    assert_eq!(Scm::real(f64::NEG_INFINITY).unwrap_err().to_string(), format!("scm: got -inf, {rest}"));
    assert_eq!(Scm::complex(1.0, f64::INFINITY).unwrap_err().to_string(), format!("scm: got 1+infi, {rest}"));
}

#[test]
fn p05_equality_is_structural_and_both_zeros_are_equal() {
    assert_eq!(BOTTOM, BOTTOM);
    assert_eq!(real(0.0), real(-0.0));
    assert_eq!(real(2.0), complex(2.0, -0.0));
    assert_ne!(real(2.0), complex(2.0, 1.0));
    assert_ne!(Scm::ZERO, BOTTOM);
    let values = [real(0.0), real(-0.0), complex(0.0, -0.0), BOTTOM, BOTTOM, Scm::ONE];
    assert_eq!(HashSet::from(values).len(), 3);
}

#[test]
fn p10_ieee_faults_become_bottom_and_bottom_becomes_nan() {
    for fault in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(Scm::from_ieee(fault).is_bottom());
    }
    assert!(BOTTOM.to_ieee().is_nan());
    assert!(complex(1.0, 1e-300).to_ieee().is_nan());
    assert_eq!(complex(1.5, 0.0).to_ieee(), 1.5);
    for x in [0.0, -0.0, 1.5, f64::MAX, f64::MIN_POSITIVE, 5e-324] {
        assert_eq!(Scm::from_ieee(x).to_ieee().to_bits(), x.to_bits());
    }
}
