//! Properties 1 to 10 of the original list.

use super::{OPERATIONS, gpu, masked, random_bits, read};
use meromorph::scm::{self, Masked};
use meromorph::{Device, Result};

#[test]
fn property_01_bottom_absorbs_in_any_argument_and_x_over_0_is_bottom() {
    let device = Device::cpu(1);
    for (name, arity, run) in OPERATIONS {
        for place in 0..*arity {
            // Element 0 is ⊥ in one argument only; 0 · ⊥ is ⊥ too.
            let inputs: Vec<Masked> =
                (0..*arity).map(|at| masked(&device, &[0.0, 0.75], if at == place { &[0] } else { &[] })).collect();
            let (values, bits) = read(&run(&inputs));
            assert!(bits[0] && values[0].to_bits() == 0, "{name}: ⊥ in place {place} gives {}", values[0]);
            assert!(!bits[1], "{name}: no ⊥, yet ⊥");
        }
    }
    let quotient = scm::div(&masked(&device, &[1.0, 0.0, -3.0], &[]), &masked(&device, &[0.0, -0.0, 0.0], &[]));
    assert_eq!(read(&quotient), (vec![0.0; 3], vec![true; 3]));
}

#[test]
fn property_02_unary_ops_and_pow_of_bottom_are_bottom() {
    let device = Device::cpu(1);
    for exponent in [0.0, 1.0, -1.0, 0.5, 2.0, -7.25] {
        let power = scm::pow(&masked(&device, &[1.0], &[0]), &masked(&device, &[exponent], &[]));
        assert_eq!(read(&power), (vec![0.0], vec![true]), "⊥ to the {exponent}");
    }
    for (name, _, run) in OPERATIONS.iter().filter(|operation| operation.1 == 1) {
        assert_eq!(read(&run(&[masked(&device, &[1.0], &[0])])), (vec![0.0], vec![true]), "{name}");
    }
}

#[test]
fn property_03_sums_and_products_commute_and_associate() {
    let device = Device::cpu(1);
    // Small integers: every result is exact.
    let whole =
        |seed: u64| -> Vec<f32> { random_bits(500, seed).iter().map(|x| (x.to_bits() % 201) as f32 - 100.0).collect() };
    let [a, b, c] = [1, 2, 3].map(|seed| masked(&device, &whole(seed), &[seed as usize, 40, 99 * seed as usize]));
    for op in [scm::add, scm::mul] {
        assert_eq!(read(&op(&a, &b)), read(&op(&b, &a)));
        assert_eq!(read(&op(&op(&a, &b), &c)), read(&op(&a, &op(&b, &c))));
    }
}

#[test]
fn property_04_and_08_results_agree_with_real_arithmetic() {
    let device = Device::cpu(1);
    let x: Vec<f32> = (1..400).map(|k| 0.03 * k as f32).collect();
    let y: Vec<f32> = (1..400).map(|k| 5.0 - 0.011 * k as f32).collect();
    let (a, b) = (masked(&device, &x, &[]), masked(&device, &y, &[]));
    let near = |name: &str, got: &Masked, expected: &dyn Fn(f64, f64) -> f64| {
        let (values, bits) = read(got);
        for (i, value) in values.iter().enumerate() {
            let expected = expected(f64::from(x[i]), f64::from(y[i]));
            let off = (f64::from(*value) - expected).abs();
            assert!(!bits[i] && off <= 3e-7 * expected.abs() + 1e-7, "{name}: {value} for {expected}");
        }
    };
    near("div", &scm::div(&a, &b), &|x, y| x / y);
    near("mul", &scm::mul(&a, &b), &|x, y| x * y);
    near("log", &scm::log(&a), &|x, _| x.ln());
    near("sqrt", &scm::sqrt(&a), &|x, _| x.sqrt());
    near("pow", &scm::pow(&a, &b), &f64::powf);
    near("hypot", &scm::hypot(&a, &b), &f64::hypot);
}

#[test]
fn property_05_constructors_keep_values_and_check_lengths() {
    let device = Device::cpu(1);
    let values = [1.5, -0.0, f32::MIN_POSITIVE / 4.0, f32::MAX];
    let (kept, bits) = read(&masked(&device, &values, &[]));
    assert!(kept.iter().zip(values).all(|(a, b)| a.to_bits() == b.to_bits()) && bits == [false; 4]);
    let refusal = |result: Result<Masked>| result.err().expect("a refusal").to_string();
    let long = refusal(Masked::with_mask(&device, [4], &values, &[0, 0]));
    assert_eq!(long, "mask: got 2 words, expected 1 for [4] (4 elements)");
    let tail = refusal(Masked::with_mask(&device, [4], &values, &[0x10]));
    assert_eq!(tail, "mask: bits after its 4 elements are set, expected 0");
    assert_eq!(refusal(Masked::from_f32(&device, [3], &values)), "masked: got 4 values, expected 3 for [3]");
    assert_eq!(scm::pack(&[true, false, true]), [5]);
    assert_eq!(scm::pack(&[true; 33]), [u32::MAX, 1]);
}

#[test]
fn property_06_values_under_the_mask_are_0_and_masks_are_joined() {
    let device = Device::cpu(1);
    let sum = scm::add(&masked(&device, &[1.0, -2.0], &[1]), &masked(&device, &[3.0, 4.0], &[]));
    assert_eq!(read(&sum), (vec![4.0, 0.0], vec![false, true]));
}

#[test]
fn property_07_zero_divisors_are_flagged() {
    let device = Device::cpu(1);
    let quotient = scm::div(&masked(&device, &[1.0, 2.0], &[]), &masked(&device, &[0.0, 4.0], &[]));
    assert_eq!(read(&quotient), (vec![0.0, 0.5], vec![true, false]));
}

#[test]
fn property_09_the_inverse_of_0_is_flagged_and_the_second_mask_is_used() {
    for device in [Some(Device::cpu(2)), gpu()].into_iter().flatten() {
        assert_eq!(read(&scm::inv(&masked(&device, &[0.0, 4.0], &[]))), (vec![0.0, 0.25], vec![true, false]));
        let sum = scm::add(&masked(&device, &[1.0, 2.0], &[]), &masked(&device, &[1.0, 2.0], &[1]));
        assert_eq!(read(&sum), (vec![2.0, 0.0], vec![false, true]));
    }
}

#[test]
fn property_10_values_that_are_not_finite_are_bottom() {
    let device = Device::cpu(1);
    let x = Masked::from_f32(&device, [5], &[f32::NAN, f32::INFINITY, 2.5, f32::NEG_INFINITY, -0.5]).expect("values");
    assert_eq!(read(&x), (vec![0.0, 0.0, 2.5, 0.0, -0.5], vec![true, true, false, true, false]));
}
