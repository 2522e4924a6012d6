//! Programs of more inputs than a launch can bind, and their gradients of any order.

use super::{gradient, leaf, read};
use crate::devices::devices;
use meromorph::Device;
use meromorph::autograd::Var;
use meromorph::ops;
use meromorph::prelude::Expr;

/// The derivative of this order by the first of some variables.
fn derivative(mut y: Var, x: &Var, order: usize) -> Vec<f32> {
    for _ in 0..order {
        y = ops::grad(&y, &[x]).expect("gradients").remove(0).expect("a gradient");
    }
    read(&y)
}

/// sin(x0 x1 … xn): the derivatives by x0 are r^k sin(r x0 + k π / 2) with r = x1 … xn.
#[test]
fn derivatives_of_wide_programs_are_numbers() {
    for device in devices(&[1]) {
        for count in [3, 5, 6, 7, 8, 12] {
            let values: Vec<f32> = (0..count).map(|k| 1.0 + 0.02 * k as f32).collect();
            let inputs: Vec<Var> = values.iter().map(|&value| leaf(&device, &[1], &[value])).collect();
            let views: Vec<&Var> = inputs.iter().collect();
            let rate: f64 = values[1..].iter().map(|&x| f64::from(x)).product();
            for order in 0..4 {
                let product = |v: &[Expr]| v.iter().copied().reduce(|a, b| a * b).expect("an input");
                let y = ops::fused(&views, |v| meromorph::prelude::sin(product(v)));
                let got = f64::from(derivative(y, &inputs[0], order)[0]);
                let turns = f64::from(order as u32) * std::f64::consts::FRAC_PI_2;
                let expected = rate.powi(order as i32) * (rate * f64::from(values[0]) + turns).sin();
                let name = device.info().device;
                assert!(
                    (got - expected).abs() < 2e-5 * (1.0 + expected.abs()),
                    "{name}: {count}, {order}: {got}, {expected}"
                );
            }
        }
    }
}

#[test]
fn a_unary_op_has_derivatives_of_high_order() {
    for device in devices(&[1]) {
        let x = leaf(&device, &[2], &[0.7, -0.2]);
        for order in 1..=9 {
            let got = derivative(ops::sin(&x), &x, order);
            for (got, x) in got.iter().zip([0.7_f64, -0.2]) {
                let expected = (x + f64::from(order as u32) * std::f64::consts::FRAC_PI_2).sin();
                assert!((f64::from(*got) - expected).abs() < 1e-5, "order {order}: {got}, expected {expected}");
            }
        }
    }
}

/// Inputs of several shapes, constants, and an input that the result does not need.
#[test]
fn wide_programs_broadcast_like_others() {
    for device in devices(&[1]) {
        let wide: Vec<Var> = (0..9)
            .map(|k| leaf(&device, if k == 4 { &[2, 1] } else { &[1, 3] }, &vec![k as f32; if k == 4 { 2 } else { 3 }]))
            .collect();
        let views: Vec<&Var> = wide.iter().collect();
        let y = ops::fused(&views, |v| 2.0 * v[0] - v[1] * v[2] + v[5] + v[6] + v[7] * 0.5 + v[8]);
        assert_eq!(y.shape().sizes(), [2, 3]);
        // -2 + 5 + 6 + 3.5 + 8.
        assert_eq!(read(&y), [20.5; 6]);
        assert_eq!(gradient(&y, &wide[1]), [-4.0; 3]);
        assert!(ops::grad(&y, &[&wide[4]]).expect("gradients")[0].is_none(), "no path leads there");
        let constant = ops::fused(&views, |_| Expr::from(3.0));
        assert_eq!(read(&constant), [3.0; 6]);
    }
}

#[test]
fn owned_values_have_operators() {
    let device = Device::cpu(1);
    let [x, y] = [3.0, 4.0].map(|value| leaf(&device, &[1], &[value]));
    assert_eq!(read(&(x.clone() + y.clone())), [7.0]);
    assert_eq!(read(&(x.clone() - &y)), [-1.0]);
    assert_eq!(read(&(&x * y.clone())), [12.0]);
    assert_eq!(read(&(x.clone() / 2.0)), [1.5]);
    assert_eq!(read(&(1.0 - y)), [-3.0]);
    assert_eq!(read(&-x), [-3.0]);
}
