//! Operators on masked tensors, masks as truth values, gradients with a seed.
#![allow(clippy::unwrap_used, reason = "a test")]

use meromorph::autograd::Var;
use meromorph::device::Device;
use meromorph::ops;
use meromorph::scm::{self, Masked, pack, unpack};
use meromorph::tensor::Tensor;
use pollster::block_on;

/// Values and which of them are ⊥.
fn read(x: &Masked) -> (Vec<f32>, Vec<bool>) {
    let mask = block_on(x.mask()).unwrap();
    (block_on(x.value().value().to_f32()).unwrap(), unpack(&mask, x.shape().len()))
}

#[test]
fn operators_broadcast_and_divide_by_zero() {
    let device = Device::cpu(1);
    let x = Masked::from_f32(&device, [3], &[2.0, 0.0, f32::NAN]).unwrap();
    let column = Masked::from_f32(&device, [2, 1], &[1.0, -3.0]).unwrap();
    let (value, bottom) = read(&(&column / &x));
    assert_eq!(value, [0.5, 0.0, 0.0, -1.5, 0.0, 0.0]);
    assert_eq!(bottom, [false, true, true, false, true, true]);
    let cases = [
        (&x + 1.0, [3.0, 1.0, 0.0], [false, false, true]),
        (1.0 - &x, [-1.0, 1.0, 0.0], [false, false, true]),
        (&x * &x, [4.0, 0.0, 0.0], [false, false, true]),
        (&x / 0.0, [0.0; 3], [true; 3]),
        (4.0 / &x, [2.0, 0.0, 0.0], [false, true, true]),
        (-&x, [-2.0, 0.0, 0.0], [false, false, true]),
    ];
    for (at, (got, value, bottom)) in cases.into_iter().enumerate() {
        assert_eq!(read(&got), (value.to_vec(), bottom.to_vec()), "case {at}");
    }
}

#[test]
fn unpack_undoes_pack() {
    let mask: Vec<bool> = (0..77).map(|at| at % 3 == 0 || at == 64).collect();
    assert_eq!(unpack(&pack(&mask), mask.len()), mask);
    assert_eq!(unpack(&[u32::MAX], 40)[32..], [false; 8], "past the last word there is nothing");
}

#[test]
fn a_seed_weighs_the_elements_of_an_output() {
    let device = Device::cpu(1);
    let x = Var::leaf(Tensor::from_f32(&device, [3], &[2.0, 0.0, 4.0]).unwrap());
    let seed = Var::constant(Tensor::from_f32(&device, [3], &[1.0, 5.0, -3.0]).unwrap());
    let numbers = |gradient: Vec<Option<Var>>| block_on(gradient[0].as_ref().unwrap().value().to_f32()).unwrap();
    // d(x²)/dx = 2x.
    let squares = &x * &x;
    assert_eq!(numbers(ops::grad_with_seed(&squares, &seed, &[&x]).unwrap()), [4.0, 0.0, -24.0]);
    // d(1/x)/dx = -1/x², and 0 where 1/x is ⊥.
    let inverse = 1.0 / &Masked::from(&x);
    assert_eq!(numbers(scm::grad_with_seed(inverse.value(), &seed, &[&x]).unwrap()), [-0.25, 0.0, 0.1875]);
    assert_eq!(numbers(scm::grad(inverse.value(), &[&x]).unwrap()), [-0.25, 0.0, -0.0625]);
}

#[test]
fn every_scalar_operation_is_a_function_of_its_name() {
    let device = Device::cpu(1);
    let numbers = |values: &[f32]| Var::constant(Tensor::from_f32(&device, [values.len()], values).unwrap());
    let plain = |var: &Var| block_on(var.value().to_f32()).unwrap();
    // ln(2 + √5), and Γ'(1) / Γ(1) = -γ.
    let near =
        |got: f32, expected: f64| assert!((f64::from(got) - expected).abs() < 1e-6, "{got}, expected {expected}");
    near(plain(&ops::asinh(&numbers(&[2.0])))[0], 1.443_635_475_178_810_3);
    near(plain(&ops::polygamma(&numbers(&[0.0]), &numbers(&[1.0])))[0], -0.577_215_664_901_532_9);
    // The larger of two, and along an axis.
    assert_eq!(plain(&ops::maximum(&numbers(&[1.0, 5.0]), &numbers(&[2.0, 3.0]))), [2.0, 5.0]);
    assert_eq!(plain(&ops::max(&numbers(&[1.0, 5.0]), 0..1)), [5.0]);
    // A masked quotient looks at its slope as well, |a| / b², the plain one does not.
    let masked = |values: &[f32]| Masked::from(&numbers(values));
    near(read(&scm::asinh(&masked(&[2.0]))).0[0], 1.443_635_475_178_810_3);
    let (value, bottom) = read(&scm::div(&masked(&[1e-10, 1.0]), &masked(&[1e-30, 4.0])));
    assert_eq!((value, bottom), (vec![0.0, 0.25], vec![true, false]));
    assert_eq!(read(&scm::inv(&masked(&[4.0, 0.0]))), (vec![0.25, 0.0], vec![false, true]));
}
