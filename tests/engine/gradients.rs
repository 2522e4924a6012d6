//! Gradients compared with central differences, for every op and for second derivatives, on the CPU device.

use meromorph::autograd::Var;
use meromorph::internal::kernels::rational::{Basis, Rational};
use meromorph::nn::Activation;
use meromorph::ops;
use meromorph::program::expr::hypot;
use meromorph::program::op::OPS;
use meromorph::program::{Expr, ScalarOp};
use meromorph::tensor::Tensor;
use meromorph::{Device, Result};
use pollster::block_on;

type Function = Box<dyn Fn(&[Var]) -> Var>;

/// A function of tensors, the values at which it is tested, and its name.
struct Case {
    name: String,
    inputs: Vec<(Vec<usize>, Vec<f32>)>,
    run: Function,
}

fn case(name: &str, inputs: &[(&[usize], &[f32])], run: impl Fn(&[Var]) -> Var + 'static) -> Case {
    let inputs = inputs.iter().map(|(shape, data)| (shape.to_vec(), data.to_vec())).collect();
    Case { name: name.into(), inputs, run: Box::new(run) }
}

/// Pseudo-random values away from kinks, the same every time.
fn values(count: usize, low: f32, high: f32) -> Vec<f32> {
    (0..count).map(|k| low + (high - low) * ((k as f32 * 0.618_034 + 0.137).fract())).collect()
}

fn row_case(row: &'static ScalarOp) -> Case {
    let (low, high) = match row.name {
        "ln" | "log2" | "sqrt" | "rsqrt" | "recip" | "pow" | "div" | "ratio" | "atan2" | "hypot" | "log1p" => {
            (0.3, 2.0)
        }
        _ => (-1.7, 1.9),
    };
    // `clamp` has no useful derivative for an empty interval, so its bounds are in order.
    let range = |k: usize| match (row.name, k) {
        ("clamp", 1) => (-1.0, -0.5),
        ("clamp", 2) => (0.4, 0.9),
        _ => (low, high),
    };
    // If an argument must only stay away from 0, use all pairs of signs: + - + - + - for one argument, + + - - + + for the other.
    let has_signs = matches!(row.name, "recip" | "div" | "ratio" | "atan2" | "hypot");
    let sign = |k: usize, element: usize| if has_signs && element >> k & 1 == 1 { -1.0 } else { 1.0 };
    let inputs = row.arguments.iter().enumerate().map(|(k, _)| {
        let (low, high) = range(k);
        let values = &values(6 + k, low, high)[k..];
        (vec![2, 3], values.iter().enumerate().map(|(element, value)| sign(k, element) * value).collect())
    });
    Case {
        name: row.name.into(),
        inputs: inputs.collect(),
        run: Box::new(move |inputs: &[Var]| {
            let inputs: Vec<&Var> = inputs.iter().collect();
            ops::fused(&inputs, |values| Expr::op(row, values))
        }),
    }
}

fn leaves(device: &Device, case: &Case, moved: Option<(usize, usize, f32)>) -> Result<Vec<Var>> {
    let mut all = Vec::new();
    for (at, (shape, data)) in case.inputs.iter().enumerate() {
        let mut data = data.clone();
        if let Some((input, element, by)) = moved
            && input == at
        {
            data[element] += by;
        }
        all.push(Var::leaf(Tensor::from_f32(device, shape.clone(), &data)?));
    }
    Ok(all)
}

/// A weighted sum, so that different elements of the output matter differently.
fn scalar(out: &Var) -> Var {
    let weights = values(out.shape().len(), 0.4, 1.6);
    let weights = Tensor::from_f32(out.value().device(), out.shape(), &weights).expect("the cpu device uploads");
    ops::sum(&ops::mul(out, &Var::constant(weights)), 0..out.shape().rank())
}

fn value(device: &Device, case: &Case, moved: (usize, usize, f32)) -> f64 {
    let out = scalar(&(case.run)(&leaves(device, case, Some(moved)).expect("uploads")));
    f64::from(block_on(out.value().to_f32()).expect("reads")[0])
}

fn check(device: &Device, case: &Case, failures: &mut Vec<String>) {
    let inputs = leaves(device, case, None).expect("uploads");
    let out = scalar(&(case.run)(&inputs));
    let expected: Vec<&Var> = inputs.iter().collect();
    let gradients = ops::grad(&out, &expected).expect("a gradient");
    for (at, gradient) in gradients.iter().enumerate() {
        let Some(gradient) = gradient else {
            failures.push(format!("{}: input {at} unreached", case.name));
            continue;
        };
        let got = block_on(gradient.value().to_f32()).expect("reads");
        for (element, &got) in got.iter().enumerate() {
            let step = 2e-3;
            let difference = value(device, case, (at, element, step)) - value(device, case, (at, element, -step));
            let expected = difference / (2.0 * f64::from(step));
            if (f64::from(got) - expected).abs() > 4e-3 * (1.0 + expected.abs()) {
                failures.push(format!("{}: d/d input {at}[{element}]: got {got}, expected {expected}", case.name));
            }
        }
    }
}

/// The first derivative of the sum of `y`, itself differentiable.
fn first(y: &Var, x: &Var) -> Var {
    let gradients = ops::grad(y, &[x]).expect("a gradient");
    gradients.into_iter().next().flatten().expect("x is reached")
}

fn index(beside: &Var, places: &[u32]) -> Tensor {
    Tensor::from_u32(beside.value().device(), [places.len()], places).expect("uploads")
}

/// x and the coefficients of degrees 2 and 1, shared and for each of two channels.
const RATIONAL: &[(&[usize], &[f32])] =
    &[(&[2, 3], &[0.3, -1.2, 0.8, 1.7, -0.4, 0.9]), (&[5], &[0.4, -0.7, 0.6, 2.5, 0.3])];
const CHANNELS: &[(&[usize], &[f32])] =
    &[(&[2, 2], &[0.3, -1.2, 0.8, 1.7]), (&[5, 2], &[0.4, 0.2, -0.7, 0.5, 0.6, -0.3, 2.5, 1.9, 0.3, -0.2])];

/// Of two functions, so that the slope by one input depends on all.
fn rational(v: &[Var], basis: Basis, is_safe: bool) -> Var {
    let form = Rational { numerator: 2, denominator: 1, basis, is_safe, epsilon: 1e-6 };
    ops::square(&ops::rational(&v[0], &v[1], &form).0)
}

fn composed() -> Vec<Case> {
    let six: &[f32] = &[0.3, -1.2, 0.8, 1.7, -0.4, 0.9];
    let row: &[f32] = &[0.5, -0.25, 1.5];
    vec![
        case("broadcast row", &[(&[2, 3], six), (&[3], row)], |v| ops::mul(&v[0], &v[1])),
        case("broadcast scalar", &[(&[2, 3], six), (&[], &[0.7])], |v| ops::div(&v[0], &v[1])),
        case("broadcast column", &[(&[2, 3], six), (&[2, 1], &[0.7, -0.2])], |v| ops::add(&v[0], &v[1])),
        case("sum inner", &[(&[2, 3], six)], |v| ops::square(&ops::sum(&v[0], 1..2))),
        case("mean outer", &[(&[2, 3], six)], |v| ops::square(&ops::mean(&v[0], 0..1))),
        case("max", &[(&[2, 3], six)], |v| ops::max(&v[0], 1..2)),
        case("reshape", &[(&[2, 3], six)], |v| ops::square(&ops::reshape(&v[0], [3, 2]))),
        case("permute", &[(&[1, 2, 3], six)], |v| ops::square(&ops::permute(&v[0], &[2, 0, 1]))),
        case("slice", &[(&[2, 3, 2], &values(12, -1.0, 1.0))], |v| ops::sin(&ops::slice(&v[0], 1, 1..3))),
        case("slice of the first axis", &[(&[3, 2], six)], |v| ops::sin(&ops::slice(&v[0], 0, 1..2))),
        case("pad", &[(&[2, 3], six)], |v| ops::cos(&ops::mul(&ops::pad(&v[0], 0, 1, 2), &ops::pad(&v[0], 0, 0, 3)))),
        case("concat", &[(&[2, 3], six), (&[2, 1], &values(2, -1.0, 1.0))], |v| {
            ops::sin(&ops::concat(&[&v[0], &v[1], &v[0]], 1))
        }),
        case("stack", &[(&[2, 3], six), (&[2, 3], six)], |v| {
            ops::square(&ops::matmul(
                &ops::reshape(&ops::stack(&[&v[0], &v[1], &v[0]]), [6, 3]),
                &ops::transpose(&v[1]),
            ))
        }),
        case("broadcast_to", &[(&[3], row)], |v| ops::square(&ops::broadcast_to(&v[0], &[2, 3].into()))),
        case("matmul", &[(&[2, 3], six), (&[3, 2], six)], |v| ops::matmul(&v[0], &v[1])),
        case("matmul ta", &[(&[3, 2], six), (&[3, 2], six)], |v| ops::product(&v[0], &v[1], true, false)),
        case("matmul tb", &[(&[2, 3], six), (&[2, 3], six)], |v| ops::product(&v[0], &v[1], false, true)),
        case("matmul ta tb", &[(&[3, 2], six), (&[2, 3], six)], |v| ops::product(&v[0], &v[1], true, true)),
        case("matmul batch", &[(&[2, 1, 3], six), (&[2, 3, 1], six)], |v| ops::matmul(&v[0], &v[1])),
        case("matmul shared", &[(&[2, 1, 3], six), (&[3, 2], six)], |v| ops::matmul(&v[0], &v[1])),
        case("layer", &[(&[2, 3], six), (&[2, 3], six), (&[2], &[0.1, -0.3])], |v| {
            ops::layer(&v[0], &v[1], Some(&v[2]), Some(Activation::silu().curve()))
        }),
        case("layer without bias", &[(&[2, 3], six), (&[2, 3], six)], |v| {
            ops::square(&ops::layer(&v[0], &v[1], None, None))
        }),
        case("softmax", &[(&[2, 3], six)], |v| ops::softmax(&v[0])),
        case("log_softmax", &[(&[2, 3], six)], |v| ops::log_softmax(&v[0])),
        case("logsumexp", &[(&[2, 3], six)], |v| ops::logsumexp(&v[0])),
        case("layer_norm", &[(&[2, 3], six)], |v| ops::layer_norm(&v[0], 1e-3)),
        case("take_rows", &[(&[2, 3], six)], |v| ops::square(&ops::take_rows(&v[0], &index(&v[0], &[1, 0, 1])))),
        case("add_rows", &[(&[2, 3], six)], |v| ops::square(&ops::add_rows(&v[0], &index(&v[0], &[2, 2]), 4))),
        case("pick", &[(&[2, 3], six)], |v| ops::square(&ops::pick(&v[0], &index(&v[0], &[2, 1])))),
        case("place", &[(&[3], row)], |v| ops::square(&ops::place(&v[0], &index(&v[0], &[1, 0, 1]), 2))),
        case("second derivative of softmax", &[(&[2, 3], six)], |v| first(&ops::square(&ops::softmax(&v[0])), &v[0])),
        case("second derivative of log_softmax", &[(&[2, 3], six)], |v| {
            first(&ops::square(&ops::log_softmax(&v[0])), &v[0])
        }),
        case("second derivative of layer_norm", &[(&[2, 4], &[0.3, -1.2, 0.8, 1.7, -0.4, 0.9, 0.1, 2.0])], |v| {
            first(&ops::square(&ops::layer_norm(&v[0], 0.1)), &v[0])
        }),
        case("second derivative of a layer", &[(&[2, 3], six), (&[2, 3], six), (&[2], &[0.1, -0.3])], |v| {
            first(&ops::layer(&v[0], &v[1], Some(&v[2]), Some(Activation::silu().curve())), &v[0])
        }),
        case("third derivative of a layer", &[(&[1, 2], &[0.4, -0.8]), (&[1, 2], &[0.7, 0.5])], |v| {
            first(&first(&ops::layer(&v[0], &v[1], None, Some(Activation::silu().curve())), &v[0]), &v[0])
        }),
        case(
            "second derivative of layer_norm of a product",
            &[(&[2, 2], &[0.3, -1.2, 0.8, 1.7]), (&[2, 2], &[0.9, 0.1, -0.4, 0.6])],
            |v| first(&ops::square(&ops::layer_norm(&ops::matmul(&v[0], &v[1]), 0.1)), &v[0]),
        ),
        case("second derivative of a rational function by x", RATIONAL, |v| {
            first(&rational(v, Basis::Monomial, false), &v[0])
        }),
        case("second derivative of a rational function by w", RATIONAL, |v| {
            first(&rational(v, Basis::Chebyshev, false), &v[1])
        }),
        case("second derivative of a safe rational function", RATIONAL, |v| {
            first(&rational(v, Basis::Monomial, true), &v[1])
        }),
        case("second derivative with coefficients of each channel", CHANNELS, |v| {
            &ops::sum(&first(&rational(v, Basis::Chebyshev, false), &v[0]), 0..1)
                + &ops::sum(&first(&rational(v, Basis::Monomial, false), &v[1]), 0..1)
        }),
        case("second derivative of lgamma", &[(&[3], &[0.4, 1.7, 5.5])], |v| first(&ops::lgamma(&v[0]), &v[0])),
        case("second derivative", &[(&[3], row)], |v| first(&ops::softplus(&ops::tanh(&v[0])), &v[0])),
        case("second derivative of a product", &[(&[2, 3], six), (&[3, 2], six)], |v| {
            first(&ops::tanh(&ops::matmul(&v[0], &v[1])), &v[0])
        }),
    ]
}

#[test]
fn every_op_agrees_with_central_differences() {
    let device = Device::cpu(1);
    let mut failures = Vec::new();
    // Jumps have no differences, and the order of polygamma is a whole number.
    let steps = ["floor", "ceil", "round", "sign", "polygamma"];
    for row in OPS.iter().filter(|row| !steps.contains(&row.name)) {
        check(&device, &row_case(row), &mut failures);
    }
    for case in composed() {
        check(&device, &case, &mut failures);
    }
    assert!(failures.is_empty(), "{} wrong:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn the_gradient_of_hypot_is_its_sides_over_its_length() {
    // d√(a² + b²) = (a, b) / √(a² + b²), over sides 3 and 4, 5 and 12 of every sign, and where one of them is 0.
    let sides: [[f32; 2]; 10] = [
        [3.0, 4.0],
        [-3.0, 4.0],
        [3.0, -4.0],
        [-3.0, -4.0],
        [12.0, 5.0],
        [-12.0, 5.0],
        [12.0, -5.0],
        [-12.0, -5.0],
        [-2.0, 0.0],
        [0.0, -2.0],
    ];
    let device = Device::cpu(1);
    let leaf = |k: usize| {
        let values: Vec<f32> = sides.iter().map(|side| side[k]).collect();
        Var::leaf(Tensor::from_f32(&device, [sides.len()], &values).expect("uploads"))
    };
    let (a, b) = (leaf(0), leaf(1));
    let sum = ops::sum(&ops::fused(&[&a, &b], |v| hypot(v[0], v[1])), 0..1);
    for (k, gradient) in ops::grad(&sum, &[&a, &b]).expect("walks").into_iter().enumerate() {
        let got = block_on(gradient.expect("both are reached").value().to_f32()).expect("reads");
        for (side, got) in sides.iter().zip(got) {
            let expected = side[k] / side[0].hypot(side[1]);
            assert!((got - expected).abs() < 1e-6, "by side {k} of {side:?}: got {got}, expected {expected}");
        }
    }
}

#[test]
fn an_unreached_gradient_is_none_and_a_missing_rule_is_an_error() {
    let device = Device::cpu(1);
    let x = Var::leaf(Tensor::from_f32(&device, [3], &[1.0, 2.0, 3.0]).expect("uploads"));
    let other = Var::leaf(Tensor::scalar(&device, 1.0));
    let y = ops::sum(&ops::square(&x), 0..1);
    assert!(ops::grad(&y, &[&other]).expect("walks")[0].is_none());
    let index = ops::argmax(&x, 0);
    let error = ops::grad(&index, &[&x]).err().expect("argmax has no derivative");
    assert_eq!(error.to_string(), "grad: argmax has no gradient");
}

#[test]
fn a_gradient_of_zero_is_not_a_missing_one() -> Result<()> {
    let device = Device::cpu(1);
    let x = Var::leaf(Tensor::from_f32(&device, [3], &[1.5, -2.0, 3.0])?);
    let of = |y: &Var| -> Result<Option<Vec<f32>>> {
        let found = ops::grad(&ops::sum(y, 0..1), &[&x])?.swap_remove(0);
        found.map(|gradient| block_on(gradient.value().to_f32())).transpose()
    };
    assert_eq!(of(&ops::floor(&x))?, Some(vec![0.0; 3]), "flat, but reached");
    // The product rule without the half that was cut off.
    assert_eq!(of(&ops::mul(&x, &x.detach()))?, Some(vec![1.5, -2.0, 3.0]));
    assert!(!x.detach().is_tracked() && !ops::exp(&x.detach()).is_tracked(), "nothing is recorded for constants");
    Ok(())
}

#[test]
fn a_long_history_is_released_on_a_small_stack() {
    let chain = || {
        let device = Device::dry();
        let x = Var::leaf(Tensor::scalar(&device, 1.0));
        let once = ops::sin(&x);
        // One chain alone, and one whose nodes have other owners as well.
        let long = (0..100_000).fold(x, |y, _| ops::sin(&y));
        let shared = (0..1_000).fold(once.clone(), |y, _| ops::mul(&y, &once));
        drop((long, shared));
        assert!(once.is_tracked());
    };
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(chain).expect("a thread");
    thread.join().expect("no overflow of the stack");
}

#[test]
fn chains_fuse_into_one_launch() {
    let device = Device::dry();
    let x = Var::constant(Tensor::from_f32(&device, [64, 64], &[0.0; 4096]).expect("uploads"));
    let w = Var::constant(Tensor::from_f32(&device, [64, 64], &[0.0; 4096]).expect("uploads"));
    let b = Var::constant(Tensor::from_f32(&device, [64], &[0.0; 64]).expect("uploads"));
    let chain = || Ok(ops::sum(&ops::exp(&ops::mul(&ops::add(&x, &w), &b)), 0..2));
    let (plan, _y) = device.capture(chain).expect("plans");
    let names: Vec<_> = plan.summary().launches.iter().map(|launch| launch.kernel).collect();
    assert_eq!(names, ["reduce"], "a pointwise chain into a sum is one reduction with a prologue");
    let layer = || Ok(ops::softplus(&ops::add(&ops::product(&x, &w, false, true), &b)));
    let (plan, _y) = device.capture(layer).expect("plans");
    let names: Vec<_> = plan.summary().launches.iter().map(|launch| launch.kernel).collect();
    assert_eq!(names, ["matmul"], "bias and activation are the product's epilogue");
}

#[test]
fn second_gradients_under_bottom_are_zero_and_a_third_is_an_error() {
    let device = Device::cpu(1);
    // 1 / (x - 1): ⊥ at 1, and at an infinite x.
    let x = Var::leaf(Tensor::from_f32(&device, [4], &[3.0, 1.0, f32::INFINITY, -1.0]).expect("uploads"));
    let w = Var::leaf(Tensor::from_f32(&device, [4], &[1.0, 0.0, -1.0, 1.0]).expect("uploads"));
    let form = Rational { numerator: 1, denominator: 1, basis: Basis::Monomial, is_safe: false, epsilon: 1e-3 };
    let (y, _) = ops::rational(&x, &w, &form);
    let one = |y: &Var| ops::grad(y, &[&x]).expect("walks").swap_remove(0).expect("it is reached");
    let second = one(&one(&y));
    // 2 / (x - 1)³.
    assert_eq!(block_on(second.value().to_f32()).expect("reads"), [0.25, 0.0, 0.0, -0.25]);
    let by_w = ops::grad(&one(&y), &[&w]).expect("walks").swap_remove(0).expect("it is reached");
    assert!(block_on(by_w.value().to_f32()).expect("reads").iter().all(|value| value.is_finite()));
    let error = ops::grad(&second, &[&x]).err().expect("there is no third");
    assert_eq!(error.to_string(), "grad: second gradient of a rational function has no gradient");
}

#[test]
fn gradients_of_the_callers_own_flow_as_they_say() -> Result<()> {
    let device = Device::cpu(1);
    let given = [-1.5, 0.25, 2.0];
    let x = Var::leaf(Tensor::from_f32(&device, [3], &given)?);
    let of = |y: &Var| -> Result<(Vec<f32>, Vec<f32>)> {
        let weights = Var::constant(Tensor::from_f32(&device, [3], &[1.0, 2.0, 3.0])?);
        let loss = ops::sum(&ops::mul(y, &weights), 0..1);
        let gradient = ops::grad(&loss, &[&x])?[0].clone().expect("a gradient");
        Ok((block_on(y.value().to_f32())?, block_on(gradient.value().to_f32())?))
    };
    let sign = ops::fused(&[&x], |v| meromorph::program::expr::sign(v[0]));
    assert_eq!(of(&ops::straight_through(&sign, &x))?, (vec![-1.0, 1.0, 1.0], vec![1.0, 2.0, 3.0]));
    assert_eq!(of(&ops::reverse_gradient(&x, 0.5))?, (given.to_vec(), vec![-0.5, -1.0, -1.5]));
    assert_eq!(of(&ops::scale_gradient(&x, 4.0))?, (given.to_vec(), vec![4.0, 8.0, 12.0]));
    // Second derivatives are those of the rule: of 3 x² by its input, 6 x.
    let cube = ops::custom(
        "cube",
        &[&x],
        |x| ops::mul(&x[0], &ops::mul(&x[0], &x[0])),
        |x, _, gradient| {
            let square = ops::mul(&x[0], &x[0]);
            Ok(vec![Some(ops::mul(gradient, &ops::mul(&square, &ops::constant(&square, 3.0))))])
        },
    );
    let first = ops::grad(&ops::sum(&cube, 0..1), &[&x])?[0].clone().expect("a gradient");
    let second = ops::grad(&ops::sum(&first, 0..1), &[&x])?[0].clone().expect("a second one");
    assert_eq!(block_on(second.value().to_f32())?, given.map(|x| 6.0 * x));
    let wrong = |rule: fn(&Var) -> Vec<Option<Var>>| {
        let y = ops::custom("mine", &[&x], |x| x[0].clone(), move |_, _, gradient| Ok(rule(gradient)));
        ops::grad(&ops::sum(&y, 0..1), &[&x]).map(|_| ()).expect_err("wrong").to_string()
    };
    assert_eq!(wrong(|_| Vec::new()), "grad: mine: got 0 gradients, expected 1, one for each input");
    let short = wrong(|gradient| vec![Some(ops::sum(gradient, 0..1))]);
    assert!(short.starts_with("grad: mine: the gradient of input 0 has the wrong shape: got "), "{short}");
    Ok(())
}
