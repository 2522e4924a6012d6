//! Where second order ends: zeros, errors, orders of a rational function, and what a product costs.

use super::{leaf, numbers, refs};
use meromorph::autograd::Var;
use meromorph::internal::kernels::rational::{Basis, Rational};
use meromorph::nn::{Activation, Layout, Pass, Spec, forward};
use meromorph::tensor::Shape;
use meromorph::{Device, ErrorKind, ops};

#[test]
fn what_depends_on_nothing_has_zeros() {
    let device = Device::cpu(1);
    let (x, other) = (leaf(&device, [2], &[1.0, 2.0]), leaf(&device, [3], &[1.0, 2.0, 3.0]));
    let (one, two) = (leaf(&device, [2], &[1.0; 2]), leaf(&device, [3], &[1.0; 3]));
    // Linear in x, and without `other`; a constant; and one whose gradient is there but flat.
    for loss in [ops::sum(&x, 0..1), leaf(&device, [1], &[1.0]).detach(), ops::sum(&ops::floor(&x), 0..1)] {
        let found = ops::hvp(&loss, &[&x, &other], &[&one, &two]).unwrap();
        assert_eq!((numbers(&found[0]), numbers(&found[1])), (vec![0.0; 2], vec![0.0; 3]));
        assert_eq!(numbers(&ops::hessian(&loss, &x).unwrap()), [0.0; 4]);
        assert_eq!(numbers(&ops::hessian_diagonal(&loss, &other).unwrap()), [0.0; 3]);
        assert_eq!(numbers(&ops::hutchinson_diagonal(&loss, &x, 2, 0).unwrap().0), [0.0; 2]);
        assert_eq!(numbers(&ops::jacobian(&loss, &other).unwrap()), [0.0; 3]);
        assert_eq!(numbers(&ops::jvp(&[&loss], &[&other], &[&two]).unwrap()[0]), [0.0]);
        assert_eq!(numbers(&ops::vjp(&[&loss], &[&other], &[&loss]).unwrap()[0]), [0.0; 3]);
    }
    let squares = ops::square(&other);
    let rows = ops::per_sample_gradients(|_| Ok(squares.clone()), &[&x, &other], 2).unwrap();
    assert_eq!((numbers(&rows[0]), numbers(&rows[1])), (vec![0.0; 4], vec![2.0, 4.0, 6.0, 2.0, 4.0, 6.0]));
}

#[test]
fn what_is_too_large_and_what_has_no_gradient_are_errors() {
    let device = Device::cpu(1);
    let x = leaf(&device, [257], &[0.5; 257]);
    let loss = ops::sum(&ops::square(&x), 0..1);
    let error = ops::hessian_diagonal(&loss, &x).err().unwrap();
    let expected = "hessian_diagonal: elements of x: got 257, expected at most 256; hutchinson_diagonal estimates the diagonal of more";
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Usage, expected));
    let error = ops::jacobian(&x, &x).err().unwrap();
    assert!(error.to_string().starts_with("jacobian: elements of the output: got 257, expected at most 256"));
    assert!(ops::hessian(&loss, &x).err().unwrap().to_string().starts_with("hessian: elements of x: got 257"));
    let error = ops::hutchinson_diagonal(&loss, &x, 1, 0).err().unwrap();
    assert_eq!(error.to_string(), "hutchinson_diagonal: got 1 probes, expected at least 2");
    let error = ops::hvp(&ops::argmax(&x, 0), &[&x], &[&x]).err().unwrap();
    assert_eq!(error.to_string(), "grad: argmax has no gradient");
    let error = ops::hvp(&loss, &[&x, &x.detach()], &[&x, &x]).err().unwrap();
    assert_eq!(error.to_string(), "hvp: variable 1 is a constant: make it with Var::leaf");
}

#[test]
fn a_rational_function_has_two_orders_and_names_itself_beyond() {
    let device = Device::cpu(1);
    let x = leaf(&device, [2], &[3.0, -1.0]);
    // 1 / (x - 1).
    let w = leaf(&device, [4], &[1.0, 0.0, -1.0, 1.0]);
    let form = Rational { numerator: 1, denominator: 1, basis: Basis::Monomial, is_safe: false, epsilon: 1e-3 };
    let y = ops::rational(&x, &w, &form).0;
    assert_eq!(numbers(&ops::hessian(&y, &x).unwrap()), [0.25, 0.0, 0.0, -0.25]);
    let t = leaf(&device, [2], &[2.0, 4.0]);
    assert_eq!(numbers(&ops::jvp(&[&y], &[&x], &[&t]).unwrap()[0]), [-0.5, -1.0]);
    let second = ops::hvp(&y, &[&x], &[&t]).unwrap().swap_remove(0);
    let error = ops::hessian(&second, &x).err().unwrap();
    assert_eq!(error.to_string(), "grad: second gradient of a rational function has no gradient");
    // What does not depend on the variable does not matter.
    let other = leaf(&device, [2], &[1.0, 2.0]);
    let found = ops::grad(&ops::mul(&second, &other), &[&other]).unwrap();
    assert_eq!(numbers(found[0].as_ref().unwrap()), numbers(&second));
}

#[test]
fn a_product_costs_a_few_gradients() {
    let device = Device::dry();
    let spec = Spec::mlp(16, &[64, 64], 4, Activation::silu());
    let layout = Layout::of(&spec);
    let zeros = |shape: &Shape| leaf(&device, shape, &vec![0.0; shape.len()]);
    let parameters: Vec<Var> = layout.parameters.iter().map(|parameter| zeros(&parameter.shape)).collect();
    let vectors: Vec<Var> = layout.parameters.iter().map(|parameter| zeros(&parameter.shape)).collect();
    let x = zeros(&[256, 16].into()).detach();
    let flops = |run: &dyn Fn(&Var) -> Vec<Var>| {
        let loss = || Ok(run(&ops::sum(&ops::square(&forward(&spec, &parameters, &x, &Pass::Predict)), 0..2)));
        let (plan, _) = device.capture(loss).expect("plans");
        plan.summary().cost.flops
    };
    let gradient = flops(&|loss| ops::grad(loss, &refs(&parameters)).unwrap().into_iter().flatten().collect());
    let product = flops(&|loss| ops::hvp(loss, &refs(&parameters), &refs(&vectors)).unwrap());
    assert!(product <= 4 * gradient, "got {product} flops, expected at most 4 · {gradient}");
    // The second pass of J t does not go back through the first one to the parameters: 1.6 gradients, against 3.8.
    let along = flops(&|loss| ops::jvp(&[loss], &refs(&parameters), &refs(&vectors)).unwrap());
    assert!(along <= 2 * gradient, "got {along} flops, expected at most 2 · {gradient}");
}
