//! Pairs that represent quotients, and strict inference: decoding, causes of ⊥, and fallbacks.
//! The numbers in the names are those of the properties that ZeroProofML 0.6's tests check.

use meromorph::autograd::Var;
use meromorph::internal::kernels::strict::Decoded;
use meromorph::nn::{Decoding, PairNormalization};
use meromorph::scm::strict::{Answer, Range, accepted, ranges, routed, strict, with_sentinel};
use meromorph::scm::{Masked, Pair};
use meromorph::tensor::Tensor;
use meromorph::{Device, ops};
use meromorph_meadow::Scm;
use pollster::block_on;

fn var(values: &[f32]) -> Var {
    Var::leaf(Tensor::from_f32(&Device::cpu(1), [values.len()], values).unwrap())
}

fn numbers(var: &Var) -> Vec<f32> {
    block_on(var.value().to_f32()).unwrap()
}

fn pair(p: &[f32], q: &[f32]) -> Pair {
    // Both on one device.
    let p = var(p);
    let q = Var::leaf(Tensor::from_f32(p.value().device(), [q.len()], q).unwrap());
    Pair { p, q }
}

/// Values and mask.
fn read(masked: &Masked) -> (Vec<f32>, Vec<u32>) {
    (numbers(masked.value()), block_on(masked.mask()).unwrap())
}

fn decoded(p: &[f32], q: &[f32], decoding: &Decoding) -> Decoded {
    let Pair { p, q } = pair(p, q);
    block_on(strict(&p, &q, decoding, &[])).unwrap()
}

#[test]
fn property_17_decoding_inverts_encoding() {
    let x = Masked::with_mask(&Device::cpu(1), [4], &[3.0, 0.0, -2.5, 0.0], &[0b1000]).unwrap();
    let encoded = Pair::encode(&x);
    assert_eq!((numbers(&encoded.p), numbers(&encoded.q)), (vec![3.0, 0.0, -2.5, 1.0], vec![1.0, 1.0, 1.0, 0.0]));
    assert_eq!(read(&encoded.decode()), (vec![3.0, 0.0, -2.5, 0.0], vec![0b1000]));
    assert_eq!(read(&pair(&[0.0, 1.0], &[0.0, -0.0]).decode()).1, [0b11]);
}

#[test]
fn property_18_pairs_are_equal_up_to_scale() {
    let (a, b) = (pair(&[2.0, 2.0], &[1.0, 1.0]), [4.0, 1.0]);
    let device = a.p.value().device().clone();
    let on = |values: &[f32]| Var::leaf(Tensor::from_f32(&device, [2], values).unwrap());
    let b = Pair { p: on(&b), q: on(&[2.0, 0.0]) };
    assert_eq!(numbers(&a.is_equal(&b, 1e-8)), [1.0, 0.0]);
}

#[test]
fn property_19_decoding_is_scale_invariant() {
    let (p, q) = ([0.7, -0.2, 5.0, 1.0], [0.3, 0.8, 1e-5, 0.0]);
    for scale in [1e-12_f32, 1e-3, -4.0, 1e12] {
        let scaled = |values: [f32; 4]| values.map(|value| value * scale);
        let (whole, other) =
            (decoded(&p, &q, &Decoding::default()), decoded(&scaled(p), &scaled(q), &Decoding::default()));
        assert_eq!((&whole.provenance, &whole.gap), (&other.provenance, &other.gap), "{scale}");
        assert_eq!(whole.provenance, [0, 0, 2, 2]);
        for (a, b) in whole.value.iter().zip(&other.value) {
            assert!((a - b).abs() <= 4e-7 * a.abs(), "{a} {b}");
        }
    }
    // |Q| itself depends on the scale.
    let raw = Decoding::raw(1e-4, None);
    assert_eq!(decoded(&[1.0], &[1.0], &raw).provenance, [0]);
    assert_eq!(decoded(&[1e-5], &[1e-5], &raw).provenance, [2]);
}

#[test]
fn property_20_normalization_detaches_the_length_unless_attached() {
    let x = pair(&[3.0, 0.0, 3e30], &[4.0, 0.0, 4e30]);
    let unit = x.normalized(PairNormalization::Unit, 1e-9);
    for (got, expected) in numbers(&unit.p).iter().zip([0.599_999_999_88, 0.0, 0.6]) {
        assert!((f64::from(*got) - expected).abs() < 1e-7, "{got}");
    }
    assert!((numbers(&unit.q)[2] - 0.8).abs() < 1e-7, "squares that are no float are no exception");
    let slope = |gauge: PairNormalization| {
        numbers(ops::grad(&x.normalized(gauge, 0.0).p, &[&x.p]).unwrap()[0].as_ref().unwrap())[0]
    };
    assert!((slope(PairNormalization::Unit) - 0.2).abs() < 1e-6, "1 / S");
    assert!((slope(PairNormalization::UnitAttached) - 0.2 * 0.64).abs() < 1e-6, "(1 - p²) / S");
    assert_eq!(numbers(&x.normalized(PairNormalization::Free, 0.0).p), numbers(&x.p));
    let gradients = ops::grad(&x.normalized(PairNormalization::UnitAttached, 0.0).p, &[&x.p, &x.q]).unwrap();
    assert!(gradients.iter().flatten().flat_map(numbers).all(f32::is_finite));
}

fn real(value: f64) -> Scm {
    Scm::real(value).unwrap()
}

/// An operation on pairs and on scalars.
type Step = (&'static str, fn(&Pair, &Pair) -> Pair, fn(&Scm, &Scm) -> Scm);

#[test]
fn arithmetic_of_pairs_keeps_bottom() {
    let bottom = [0.0_f32, 0.0];
    let operands = [[2.0, 1.0], [-3.0, 2.0], [0.0, 5.0], [1.0, 0.0], bottom];
    let steps: [Step; 5] = [
        ("+", Pair::add, |a, b| *a + *b),
        ("-", Pair::sub, |a, b| *a - *b),
        ("·", Pair::mul, |a, b| *a * *b),
        ("/", Pair::div, |a, b| *a / *b),
        ("inv", |a, _| a.inv(), |a, _| real(1.0) / *a),
    ];
    let scalar = |[p, q]: [f32; 2]| real(f64::from(p)) / real(f64::from(q));
    for a in operands {
        for b in operands {
            let x = pair(&a[..1], &a[1..]);
            let device = x.p.value().device().clone();
            let on = |value: f32| Var::leaf(Tensor::from_f32(&device, [1], &[value]).unwrap());
            let y = Pair { p: on(b[0]), q: on(b[1]) };
            for (name, step, expected) in steps {
                let (value, mask) = read(&step(&x, &y).decode());
                let expected = expected(&scalar(a), &scalar(b));
                assert_eq!(mask[0] == 1, expected.is_bottom(), "{a:?} {name} {b:?}");
                if let Some(expected) = expected.number().map(|number| number.re) {
                    assert!(
                        (f64::from(value[0]) - expected).abs() < 1e-6,
                        "{a:?} {name} {b:?}: {value:?} for {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn property_22_bottom_gap_and_value() {
    let q = [1e-5_f32, 5e-4, 1.0];
    let p = q.map(|q| 1.0 + q);
    let seen = decoded(&p, &q, &Decoding::raw(1e-4, Some(1e-3)));
    assert_eq!((seen.provenance, seen.gap), (vec![2, 0, 0], vec![false, true, false]));
    assert_eq!(seen.value[0], 0.0);
    assert!((seen.value[1] - 2001.0).abs() < 0.01 && seen.value[2] == 2.0, "{:?}", seen.value);
}

#[test]
fn property_23_a_non_finite_numerator_is_a_fault_and_not_a_gap() {
    let seen = decoded(&[f32::NAN, 1.0], &[5e-4, f32::INFINITY], &Decoding::raw(1e-4, Some(1e-3)));
    assert_eq!((seen.provenance, seen.gap, seen.value), (vec![1, 1], vec![false, false], vec![0.0, 0.0]));
}

#[test]
fn property_24_a_robot_arm_is_bottom_exactly_where_it_is_singular() {
    let angles: Vec<f32> = (0..4001).map(|i| -3.2 + 0.0016 * i as f32).collect();
    let q: Vec<f32> = angles.iter().map(|angle| angle.sin()).collect();
    let p: Vec<f32> = angles.iter().map(|angle| 0.3 + angle.cos()).collect();
    let seen = decoded(&p, &q, &Decoding::raw(1e-2, Some(1e-1)));
    for at in 0..q.len() {
        assert_eq!(seen.is_bottom(at), q[at].abs() < 1e-2);
        assert_eq!(seen.gap[at], (1e-2..1e-1).contains(&q[at].abs()));
        assert!(seen.is_bottom(at) || (seen.value[at] - p[at] / q[at]).abs() <= 1e-6 * seen.value[at].abs());
    }
}

#[test]
fn property_25_complex_denominators_are_bottom_at_the_origin() {
    let at = |re: f64, im: f64| Scm::complex(re, im).unwrap();
    assert!((at(1.0, 2.0) / at(0.0, 0.0)).is_bottom());
    let quotient = (at(1.0, 2.0) / at(0.0, 1.0)).number().unwrap();
    assert!((quotient.re - 2.0).abs() < 1e-12 && (quotient.im + 1.0).abs() < 1e-12);
}

#[test]
fn property_27_a_layers_mask_equals_the_strict_mask() {
    let (p, q) = ([1.0; 3], [-1.0, 0.0, 2.0]);
    let Pair { p, q } = pair(&p, &q);
    let layer = Pair { p: p.clone(), q: q.clone() }.decode();
    let seen = block_on(strict(&p, &q, &Decoding::raw(1e-6, None), &[])).unwrap();
    assert_eq!(block_on(layer.mask()).unwrap(), [0b010]);
    assert_eq!(seen.provenance, [0, 2, 0]);
}

#[test]
fn property_28_masks_have_the_shape_of_the_denominators() {
    let device = Device::cpu(1);
    let p = Var::constant(Tensor::from_f32(&device, [2, 3], &[1.0, 2.0, 3.0, 4.0, f32::NAN, 6.0]).unwrap());
    let q = Var::constant(Tensor::from_f32(&device, [2], &[2.0, 2.0]).unwrap());
    let seen = block_on(strict(&p, &q, &Decoding::raw(1e-6, None), &[])).unwrap();
    assert_eq!((seen.provenance, seen.value), (vec![0, 1], vec![0.5, 1.0, 1.5, 0.0, 0.0, 0.0]));
    let wide = Var::constant(Tensor::from_f32(&device, [3], &[1.0; 3]).unwrap());
    let error = block_on(strict(&wide, &q, &Decoding::default(), &[])).unwrap_err().to_string();
    assert_eq!(error, "strict: shapes do not match: P [3] and Q [2]");
}

#[test]
fn property_30_zero_is_bottom_at_any_threshold_and_overflow_is_a_fault() {
    let raw = Decoding::raw(f32::MIN_POSITIVE, None);
    let seen = decoded(&[1.0, 1.0, 3e38, f32::NAN], &[0.0, -0.0, 1e-3, 0.0], &raw);
    assert_eq!(seen.provenance, [2, 2, 1, 3]);
}

#[test]
fn property_31_codes_masks_and_gaps_are_consistent() {
    let mut word = 1_u32;
    let mut next = || {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from_bits(word.rotate_left(7))
    };
    let (p, q): (Vec<f32>, Vec<f32>) = (0..20_000).map(|_| (next(), next())).unzip();
    for decoding in [Decoding::default(), Decoding::raw(1e-3, Some(10.0))] {
        let seen = decoded(&p, &q, &decoding);
        assert!(seen.provenance.contains(&1) && seen.provenance.contains(&2));
        for at in 0..p.len() {
            assert_eq!(seen.is_bottom(at), seen.is_fault(at) || seen.is_semantic(at));
            assert!(!(seen.gap[at] && seen.is_bottom(at)));
            assert!(seen.value[at].is_finite() && (!seen.is_bottom(at) || seen.value[at] == 0.0));
        }
    }
}

#[test]
fn validity_factors_below_their_threshold_give_bottom() {
    let Pair { p, q } = pair(&[4.0, 4.0, 4.0], &[2.0, 2.0, 2.0]);
    let factor = Var::constant(Tensor::from_f32(p.value().device(), [3], &[1.0, 1e-7, f32::NAN]).unwrap());
    let decoding = Decoding::raw(1e-6, None);
    let seen = block_on(strict(&p, &q, &decoding, &[(&factor, 1e-6)])).unwrap();
    assert_eq!((seen.provenance, seen.value), (vec![0, 2, 1], vec![2.0, 0.0, 0.0]));
    let error = block_on(strict(&p, &q, &decoding, &[(&factor, 0.0)])).unwrap_err().to_string();
    assert_eq!(error, "strict: tau of a validity factor: got 0e0, expected a finite number of at least 1.1754944e-38");
}

fn seen() -> Decoded {
    Decoded {
        value: vec![1.5, 0.0, 0.0, 0.0, 2.5],
        provenance: vec![0, 2, 2, 1, 0],
        gap: vec![false, false, false, false, true],
    }
}

#[test]
fn censored_values_are_on_the_side_of_their_numerators_sign() {
    use Range::{Above, Below, Within};
    let p = [1.0, -1.0, 0.0, 1.0, 1.0];
    assert_eq!(ranges(&seen(), &p, None).unwrap(), [Within, Below, Above, Within, Within]);
    let orientation = [0.0, 1.0, 0.0, -1.0, 1.0];
    assert_eq!(ranges(&seen(), &p, Some(&orientation)).unwrap(), [Within, Above, Within, Below, Within]);
    let error = ranges(&seen(), &p[..2], None).unwrap_err().to_string();
    assert_eq!(error, "ranges: got 2 numerators, expected 5, one per value");
    let error = ranges(&seen(), &p, Some(&[f32::NAN; 5])).unwrap_err().to_string();
    assert_eq!(error, "ranges: got the orientation NaN, expected finite numbers");
}

#[test]
fn fallbacks_accept_reject_and_route() {
    assert_eq!(accepted(&seen(), true), [true, false, false, false, true]);
    assert_eq!(accepted(&seen(), false), [true, false, false, false, false]);
    assert_eq!(with_sentinel(&seen(), -9.0), [1.5, -9.0, -9.0, -9.0, 2.5]);
    let (values, answers) =
        routed(&seen(), 1, true, |rows| Ok(rows.iter().map(|row| 10.0 + *row as f32).collect())).unwrap();
    assert_eq!(
        (values, answers),
        (
            vec![1.5, 0.0, 0.0, 13.0, 14.0],
            vec![Answer::Model, Answer::Nobody, Answer::Nobody, Answer::Solver, Answer::Solver]
        )
    );
    let error = routed(&seen(), 1, false, |_| Ok(vec![])).unwrap_err().to_string();
    assert_eq!(error, "routed: got 0 values from the solver, expected 1");
}
