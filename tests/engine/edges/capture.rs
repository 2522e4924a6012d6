//! What a capture keeps, and what it refuses afterwards.

use super::leaf;
use meromorph::autograd::Var;
use meromorph::{Device, ops};

/// A chain of twenty layers of 64 x 64, and the gradient by its input.
fn chain(x: &Var) -> (Var, Var) {
    let mut y = x.clone();
    for _ in 0..20 {
        y = ops::tanh(&ops::matmul(&y, x));
    }
    let gradient = ops::grad(&y, &[x]).expect("gradients").remove(0).expect("a gradient");
    (y, gradient)
}

#[test]
fn a_tracked_result_does_not_keep_what_it_was_computed_from() {
    let bytes = |is_tracked: bool| {
        let device = Device::dry();
        let x = leaf(&device, &[64, 64], &[0.01; 64 * 64]);
        let before = device.counters().live_bytes;
        let kept = device.capture(|| {
            let (_, gradient) = chain(&x);
            Ok(if is_tracked { gradient } else { gradient.detach() })
        });
        let (plan, gradient) = kept.expect("a plan");
        assert_eq!(gradient.is_tracked(), is_tracked);
        let bytes = device.counters().live_bytes - before;
        drop(plan);
        bytes
    };
    assert_eq!(bytes(true), bytes(false));
}

#[test]
fn gradients_through_a_capture_that_has_ended_are_an_error() {
    let device = Device::cpu(1);
    let x = leaf(&device, &[1], &[3.0]);
    let (plan, y) = device.capture(|| Ok(ops::square(&x))).expect("a plan");
    plan.run(1).expect("a run");
    let refused = ops::grad(&(&y * 2.0), &[&x]).map(|_| ()).expect_err("an error").to_string();
    let expected = "grad: a value was computed in a capture that has ended: expected gradients to be taken inside the capture, or the value detached";
    assert_eq!(refused, expected);
    // By the value itself, and by what comes after it, there are gradients.
    assert_eq!(super::gradient(&(&y * 2.0), &y), [2.0]);
    let later = leaf(&device, &[1], &[5.0]);
    assert_eq!(super::gradient(&(&y * &later), &later), [9.0]);
    assert_eq!(super::gradient(&(&y.detach() * &x), &x), [9.0]);
}
