//! Second order: products with Hessians and Jacobians against hyper-dual numbers in f64, and the properties that they must have.

mod dual;
mod graph;
mod scalar;

use crate::devices::devices;
use dual::{Dual, Matrix, activation, products};
use graph::Random;
use meromorph::autograd::Var;
use meromorph::internal::kernels::rational::{Basis, Rational};
use meromorph::nn::{Activation, Head, Layout, Pass, Spec, forward};
use meromorph::program::{Expr, expr};
use meromorph::scm::policy::Policy;
use meromorph::scm::{self, Masked, Moments};
use meromorph::tensor::{Shape, Tensor};
use meromorph::{Device, ErrorKind, ops};
use pollster::block_on;

/// Normwise relative error of an engine in f32.
const BOUND: f64 = 1e-4;

fn leaf(device: &Device, shape: impl Into<Shape>, values: &[f32]) -> Var {
    Var::leaf(Tensor::from_f32(device, shape, values).expect("uploads"))
}

fn numbers(var: &Var) -> Vec<f32> {
    block_on(var.value().to_f32()).expect("reads")
}

fn all(vars: &[Var]) -> Vec<f64> {
    vars.iter().flat_map(|var| numbers(var).into_iter().map(f64::from)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// ‖got - expected‖ / ‖expected‖.
fn distance(got: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(got.len(), expected.len());
    let difference: Vec<f64> = got.iter().zip(expected).map(|(a, b)| a - b).collect();
    (dot(&difference, &difference) / dot(expected, expected)).sqrt()
}

fn leaves(device: &Device, shapes: &[Shape], values: &[Vec<f32>]) -> Vec<Var> {
    shapes.iter().zip(values).map(|(shape, values)| leaf(device, shape, values)).collect()
}

fn refs(vars: &[Var]) -> Vec<&Var> {
    vars.iter().collect()
}

/// A loss by the engine and by the reference, and the values at which they are compared.
struct Case<'a> {
    name: String,
    shapes: Vec<Shape>,
    values: Vec<Vec<f32>>,
    loss: Box<Loss<'a>>,
    reference: Box<Reference<'a>>,
}

type Loss<'a> = dyn Fn(&[Var]) -> Var + 'a;
type Reference<'a> = dyn Fn(&[Vec<Dual>]) -> Dual + 'a;

/// Compares the gradient along a direction and the Hessian's product with it; returns the distance of the products.
fn check(device: &Device, case: &Case<'_>, seed: u64) -> f64 {
    let variables = leaves(device, &case.shapes, &case.values);
    let directions = Random(seed).like(&case.values);
    let vectors = leaves(device, &case.shapes, &directions);
    let loss = (case.loss)(&variables);
    let (slope, expected) = products(&case.values, &directions, &case.reference);
    let gradient = ops::grad(&loss, &refs(&variables)).expect("a gradient");
    let gradient: Vec<Var> = gradient.into_iter().map(|found| found.expect("every input is reached")).collect();
    let got = dot(&all(&gradient), &all(&vectors));
    assert!((got - slope).abs() < 1e-3 * (1.0 + slope.abs()), "{}: slope: got {got}, expected {slope}", case.name);
    let products = ops::hvp(&loss, &refs(&variables), &refs(&vectors)).expect("a product");
    for (product, variable) in products.iter().zip(&variables) {
        assert_eq!(product.shape(), variable.shape(), "{}", case.name);
    }
    distance(&all(&products), &expected)
}

/// Checks all and reports every failure.
fn check_all<'a>(cases: impl IntoIterator<Item = Case<'a>>) {
    let mut failures = Vec::new();
    for (at, case) in cases.into_iter().enumerate() {
        let distance = check(&Device::cpu(1), &case, 77 + at as u64);
        if distance.is_nan() || distance > BOUND {
            failures.push(format!("{}: off by {distance:.1e}", case.name));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

fn graph_shapes() -> Vec<Shape> {
    vec![[graph::ROWS, graph::COLUMNS].into(), [graph::COLUMNS; 2].into(), [graph::COLUMNS].into()]
}

fn graph_case(number: usize) -> Case<'static> {
    let steps = graph::graph(number);
    let name = format!("graph {number}: {steps:?}");
    let other = steps.clone();
    Case {
        name,
        shapes: graph_shapes(),
        values: graph::inputs(number),
        loss: Box::new(move |inputs| graph::loss(&steps, inputs)),
        reference: Box::new(move |inputs| graph::reference_loss(&other, inputs)),
    }
}

#[test]
fn products_of_random_graphs_are_those_of_the_reference() {
    check_all((0..20).map(graph_case));
}

#[test]
fn products_are_the_same_on_every_device() {
    // Software adapters take seconds to compile the kernels of a graph.
    for device in devices(&[2]) {
        for number in [5, 14] {
            let distance = check(&device, &graph_case(number), number as u64);
            assert!(distance < BOUND, "graph {number} on {}: off by {distance:.1e}", device.info().device);
        }
    }
}

#[test]
fn a_plan_of_a_jacobian_gives_what_the_ops_give() {
    for device in devices(&[1, 2]) {
        // Rows of 64 words start where a launch may write, rows of 6 words do not.
        for shape in [[8, 8], [2, 3]] {
            let [rows, columns] = shape;
            let mut random = Random(rows as u64);
            let x = leaf(&device, shape, &random.numbers(rows * columns));
            let weight = leaf(&device, [columns; 2], &random.numbers(columns * columns)).detach();
            let jacobian = || Ok(ops::jacobian(&ops::tanh(&ops::matmul(&x, &weight)), &x)?.detach());
            let expected = numbers(&jacobian().unwrap());
            assert!(expected.iter().any(|value| *value != 0.0));
            let (plan, planned) = device.capture(jacobian).unwrap();
            for _ in 0..2 {
                plan.run(1).unwrap();
                assert_eq!(numbers(&planned), expected, "{shape:?} on {}", device.info().device);
            }
        }
    }
}

/// Σ P / Q over x with the coefficients of one channel, by the definition of each basis.
fn quotient(form: &Rational, x: Dual, w: &[Dual]) -> Dual {
    let mut terms = vec![Dual::constant(1.0), x];
    for k in 2..=form.numerator.max(form.denominator) {
        terms.push(match form.basis {
            Basis::Monomial => terms[k - 1] * x,
            Basis::Chebyshev => (x * terms[k - 1]).scale(2.0) - terms[k - 2],
        });
    }
    let (p, q) = w.split_at(form.numerator + 1);
    let over = |w: &[Dual], terms: &[Dual]| w.iter().zip(terms).map(|(w, term)| *w * *term).sum::<Dual>();
    let q = if form.is_safe { over(&q[1..], &terms[1..]).abs() + Dual::constant(1.0) } else { over(q, &terms) };
    over(p, &terms) * q.recip()
}

#[test]
fn products_through_rational_layers_are_those_of_the_reference() {
    let form = |basis, is_safe| Rational { numerator: 3, denominator: 2, basis, is_safe, epsilon: 1e-6 };
    let kinds = [(Basis::Monomial, false), (Basis::Chebyshev, false), (Basis::Monomial, true)];
    let cases = kinds.into_iter().flat_map(|(basis, is_safe)| [1, 4].map(|channels| (form(basis, is_safe), channels)));
    check_all(cases.enumerate().map(|(number, (form, channels))| {
        let mut random = Random(number as u64);
        // Denominators stay away from 0: q_0 is 3.
        let mut coefficients = random.numbers(7 * channels);
        coefficients[4 * channels..5 * channels].fill(3.0);
        let values = vec![random.numbers(12), random.numbers(16), coefficients];
        Case {
            name: format!("{form:?} for {channels} channels"),
            shapes: vec![[3, 4].into(), [4, 4].into(), [7, channels].into()],
            values,
            loss: Box::new(move |v| {
                let z = ops::tanh(&ops::matmul(&v[0], &v[1]));
                let w = if channels == 1 { ops::reshape(&v[2], [7]) } else { v[2].clone() };
                ops::sum(&ops::square(&ops::rational(&z, &w, &form).0), 0..2)
            }),
            reference: Box::new(move |v| {
                let matrix = |at: usize| Matrix { columns: 4, data: v[at].clone() };
                let z = matrix(0).product(&matrix(1)).map(Dual::tanh);
                let value = |(at, z): (usize, &Dual)| {
                    let channel = at % 4 % channels;
                    let w: Vec<Dual> = (0..7).map(|k| v[2][k * channels + channel]).collect();
                    let y = quotient(&form, *z, &w);
                    y * y
                };
                z.data.iter().enumerate().map(value).sum()
            }),
        }
    }));
}

/// Σ (P Yd - Q Yn)² over rows, the distance of pairs without a division.
const TARGETS: [[f32; 2]; 5] = [[1.0, 1.0], [-0.5, 1.0], [1.0, 0.0], [0.25, 1.0], [-2.0, 1.0]];

#[test]
fn products_of_a_model_with_a_projective_head_are_those_of_the_reference() {
    let spec = Spec::projective(2, &[5, 4], Head::rational(1), Activation::silu());
    let layout = Layout::of(&spec);
    let shapes: Vec<Shape> = layout.parameters.iter().map(|parameter| parameter.shape.clone()).collect();
    let mut random = Random(5);
    let values: Vec<Vec<f32>> = shapes.iter().map(|shape| random.numbers(shape.len())).collect();
    let x = random.numbers(10);
    let sizes: Vec<usize> = shapes.iter().map(Shape::len).collect();
    assert_eq!(sizes, [10, 5, 20, 4, 8, 2, 1, 1, 1, 1, 1, 1, 1], "what the reference assumes of the layout");
    let constants = x.clone();
    check_all([Case {
        name: "projective head".into(),
        shapes,
        values,
        loss: Box::new(move |parameters| {
            let device = parameters[0].value().device();
            let x = Var::constant(Tensor::from_f32(device, [5, 2], &x).expect("uploads"));
            let pairs = forward(&spec, parameters, &x, &Pass::Predict);
            let targets = Tensor::from_f32(device, [5, 2], TARGETS.as_flattened()).expect("uploads");
            // Yd and -Yn lie where P and Q do.
            let swap = Tensor::from_f32(device, [2, 2], &[0.0, -1.0, 1.0, 0.0]).expect("uploads");
            let crossed = ops::matmul(&Var::constant(targets), &Var::constant(swap));
            ops::sum(&ops::square(&ops::sum(&ops::mul(&pairs, &crossed), 1..2)), 0..2)
        }),
        reference: Box::new(move |v| {
            let matrix = |columns, at: usize| Matrix { columns, data: v[at].clone() };
            let x = Matrix::build(5, 2, |row, column| Dual::constant(f64::from(constants[2 * row + column])));
            let silu = |z: &Matrix| z.map(|z| activation("silu", z));
            let hidden = silu(&x.dense(&matrix(2, 0), &matrix(5, 1)));
            let hidden = silu(&hidden.dense(&matrix(5, 2), &matrix(4, 3)));
            let features = hidden.dense(&matrix(4, 4), &matrix(2, 5));
            let row = |row: usize| {
                let [a, b] = [features.at(row, 0), features.at(row, 1)];
                let p = v[6][0] + v[7][0] * a + v[8][0] * a * a + v[9][0] * a * a * a;
                let q = v[10][0] + v[11][0] * b + v[12][0] * b * b + Dual::constant(1.0);
                let [n, d] = TARGETS[row].map(f64::from);
                let gap = p.scale(d) - q.scale(n);
                gap * gap
            };
            (0..5).map(row).sum()
        }),
    }]);
}

#[test]
fn products_through_masked_numbers_are_those_of_plain_ones() {
    let device = Device::cpu(1);
    let mut random = Random(4);
    let x = leaf(&device, [3, 4], &random.numbers(12));
    let vector = leaf(&device, [3, 4], &random.numbers(12));
    let masked = Masked::from(&x);
    let slope = |x: Expr| x / (x * x + 2.0) + expr::exp(x);
    let normal = scm::standardize(&masked, &Moments::of(&masked), 0.1);
    let plain = {
        let centred = ops::sub(&x, &ops::mean(&x, 0..1));
        let variance = ops::mean(&ops::square(&centred), 0..1);
        ops::fused(&[&centred, &variance], |v| v[0] * expr::rsqrt(v[1] + 0.1))
    };
    let pairs = [
        ("program", scm::fused(&[&masked], |v| slope(v[0])).value().clone(), ops::fused(&[&x], |v| slope(v[0]))),
        ("softmax", scm::softmax(&masked, Policy::Project).0, ops::softmax(&x)),
        ("standardize", normal.value().clone(), plain),
    ];
    for (name, masked, plain) in pairs {
        let product = |y: &Var| {
            let loss = ops::mul(&ops::square(y), y);
            all(&ops::hvp(&loss, &[&x], &[&vector]).unwrap())
        };
        let distance = distance(&product(&masked), &product(&plain));
        assert!(distance < 1e-5, "{name}: off by {distance:.1e}");
    }
}

#[test]
fn the_hessian_is_symmetric_and_its_product_is_linear() {
    let device = Device::cpu(1);
    for number in 0..20 {
        let steps = graph::graph(number);
        let values = graph::inputs(number);
        let inputs = leaves(&device, &graph_shapes(), &values);
        let loss = graph::loss(&steps, &inputs);
        let mut random = Random(300 + number as u64);
        let [u, v] = [(); 2].map(|()| leaves(&device, &graph_shapes(), &random.like(&values)));
        let product = |v: &[Var]| all(&ops::hvp(&loss, &refs(&inputs), &refs(v)).expect("a product"));
        let (hu, hv) = (product(&u), product(&v));
        let size = (dot(&hu, &hu) * dot(&all(&v), &all(&v))).sqrt();
        let gap = dot(&all(&u), &hv) - dot(&all(&v), &hu);
        assert!(gap.abs() < BOUND * size, "graph {number}: u'Hv - v'Hu = {gap:e} of {size:e}");
        let mixed: Vec<Var> = u.iter().zip(&v).map(|(u, v)| ops::fused(&[u, v], |e| 2.0 * e[0] - 0.5 * e[1])).collect();
        let expected: Vec<f64> = hu.iter().zip(&hv).map(|(u, v)| 2.0 * u - 0.5 * v).collect();
        assert!(distance(&product(&mixed), &expected) < BOUND, "graph {number}");
        let zeros: Vec<Var> = u.iter().map(|u| u * 0.0).collect();
        assert!(product(&zeros).iter().all(|value| *value == 0.0), "graph {number}: H 0");
    }
}

/// Small whole numbers, so that sums are exact.
const QUADRATIC: [f32; 9] = [4.0, -1.0, 2.0, -1.0, 3.0, 0.5, 2.0, 0.5, -5.0];

#[test]
fn a_quadratic_has_exactly_its_matrix() {
    let device = Device::cpu(1);
    let x = leaf(&device, [3], &[1.0, -2.0, 3.0]);
    let a = Var::constant(Tensor::from_f32(&device, [3, 3], &QUADRATIC).unwrap());
    let row = ops::reshape(&x, [1, 3]);
    let loss = &ops::product(&ops::matmul(&row, &a), &row, false, true) * 0.5;
    assert_eq!(numbers(&ops::hessian(&loss, &x).unwrap()), QUADRATIC);
    assert_eq!(numbers(&ops::hessian_diagonal(&loss, &x).unwrap()), [4.0, 3.0, -5.0]);
    let v = leaf(&device, [3], &[2.0, 1.0, -1.0]);
    assert_eq!(numbers(&ops::hvp(&loss, &[&x], &[&v]).unwrap()[0]), [5.0, 0.5, 9.5]);
}

#[test]
fn the_hessian_of_rosenbrock() {
    let device = Device::cpu(1);
    let (x, y) = (-1.5, 2.0);
    let point = leaf(&device, [2], &[x, y]);
    let element = |at: &[f32]| ops::sum(&ops::mul(&point, &leaf(&device, [2], at).detach()), 0..1);
    let loss = ops::fused(&[&element(&[1.0, 0.0]), &element(&[0.0, 1.0])], |v| {
        let (left, right) = (1.0 - v[0], v[1] - v[0] * v[0]);
        left * left + 100.0 * right * right
    });
    let expected = [1200.0 * x * x - 400.0 * y + 2.0, -400.0 * x, -400.0 * x, 200.0];
    assert_eq!(numbers(&ops::hessian(&loss, &point).unwrap()), expected);
    assert_eq!(numbers(&ops::hessian_diagonal(&loss, &point).unwrap()), [expected[0], expected[3]]);
}

#[test]
fn the_diagonal_of_a_separable_function_is_exact_and_so_is_its_estimate() {
    let device = Device::cpu(1);
    let values: Vec<f32> = (0..12).map(|k| k as f32 * 0.25 - 1.5).collect();
    let x = leaf(&device, [3, 4], &values);
    let loss = ops::mul(&ops::square(&x), &x);
    let expected: Vec<f32> = values.iter().map(|x| 6.0 * x).collect();
    let exact = ops::hessian_diagonal(&loss, &x).unwrap();
    assert_eq!((exact.shape(), numbers(&exact)), (x.shape(), expected.clone()));
    let (mean, error) = ops::hutchinson_diagonal(&loss, &x, 7, 3).unwrap();
    assert_eq!((numbers(&mean), numbers(&error)), (expected, vec![0.0; 12]));
}

#[test]
fn the_standard_error_of_an_estimate_is_that_of_a_mean() {
    // The Hessian of 3 x₀ x₁ is [[0, 3], [3, 0]], so that a probe z gives 3 z₀ z₁ twice, which is 3 or -3. The squares of n of them about
    // their mean add up to n (9 - mean²), and the squared error of the mean is this over n (n - 1).
    let device = Device::cpu(1);
    let x = leaf(&device, [2], &[0.5, -2.0]);
    let element = |at: &[f32]| ops::sum(&ops::mul(&x, &leaf(&device, [2], at).detach()), 0..1);
    let loss = ops::fused(&[&element(&[1.0, 0.0]), &element(&[0.0, 1.0])], |v| 3.0 * v[0] * v[1]);
    let mut errors = Vec::new();
    for seed in 0..8 {
        let (mean, error) = ops::hutchinson_diagonal(&loss, &x, 4, seed).unwrap();
        let ([mean, same], [error, error_too]) =
            (numbers(&mean).try_into().unwrap(), numbers(&error).try_into().unwrap());
        assert_eq!((mean, error), (same, error_too));
        assert!([-3.0, -1.5, 0.0, 1.5, 3.0].contains(&mean), "seed {seed}: {mean}");
        let wanted = (9.0 - mean * mean) / 3.0;
        assert!((error * error - wanted).abs() < 1e-5, "seed {seed}: got {error}², wanted {wanted}");
        errors.push(error);
    }
    assert!(errors.iter().any(|error| *error > 0.0), "{errors:?}");
}

#[test]
fn the_estimated_diagonal_is_within_its_standard_errors() {
    let device = Device::cpu(1);
    // Few probes have standard errors that are themselves uncertain; with 200 a deviation beyond four is 1 in 16,000.
    for number in [0, 3, 8, 13] {
        let inputs = leaves(&device, &graph_shapes(), &graph::inputs(number));
        let loss = graph::loss(&graph::graph(number), &inputs);
        let weight = &inputs[1];
        let exact = numbers(&ops::hessian_diagonal(&loss, weight).unwrap());
        let (mean, error) = ops::hutchinson_diagonal(&loss, weight, 200, 11).unwrap();
        let (mean, error) = (numbers(&mean), numbers(&error));
        for (at, exact) in exact.iter().enumerate() {
            let limit = 4.0 * error[at] + 1e-4 * (1.0 + exact.abs());
            let gap = (mean[at] - exact).abs();
            assert!(gap <= limit, "graph {number}, {at}: off by {gap}, standard error {}", error[at]);
        }
        assert!(error.iter().any(|error| *error > 0.0), "graph {number}: nothing was estimated");
        let again = |seed| numbers(&ops::hutchinson_diagonal(&loss, weight, 3, seed).unwrap().0);
        assert_eq!(again(1), again(1));
        assert_ne!(again(1), again(2));
    }
}

#[test]
fn directional_derivatives_are_those_of_the_reference_and_transposed_products() {
    let device = Device::cpu(1);
    for number in 0..20 {
        let steps = graph::graph(number);
        let values = graph::inputs(number);
        let mut random = Random(500 + number as u64);
        let directions = random.like(&values);
        let inputs = leaves(&device, &graph_shapes(), &values);
        let tangents = leaves(&device, &graph_shapes(), &directions);
        let y = graph::output(&steps, &inputs);
        let got = ops::jvp(&[&y], &refs(&inputs), &refs(&tangents)).unwrap();
        assert_eq!(got[0].shape(), y.shape());
        let along = |step: f64| {
            let moved = |(values, directions): (&Vec<f32>, &Vec<f32>)| {
                let pairs = values.iter().zip(directions);
                pairs.map(|(v, d)| Dual::constant(f64::from(*v) + step * f64::from(*d))).collect::<Vec<_>>()
            };
            let inputs: Vec<Vec<Dual>> = values.iter().zip(&directions).map(moved).collect();
            let made = graph::reference_output(&steps, &inputs);
            made.data.iter().map(|y| y.v).collect::<Vec<f64>>()
        };
        let step = 1e-5;
        let (right, left) = (along(step), along(-step));
        let expected: Vec<f64> = right.iter().zip(left).map(|(right, left)| (right - left) / (2.0 * step)).collect();
        assert!(distance(&all(&got), &expected) < BOUND, "graph {number}: {:.1e}", distance(&all(&got), &expected));
        // u · (J t) = (Jᵀ u) · t.
        let u = leaf(&device, y.shape(), &random.numbers(y.shape().len()));
        let back = ops::vjp(&[&y], &refs(&inputs), &[&u]).unwrap();
        let (forwards, backwards) = (dot(&all(&[u]), &all(&got)), dot(&all(&back), &all(&tangents)));
        assert!((forwards - backwards).abs() < 1e-4 * (1.0 + forwards.abs()), "{number}: {forwards} {backwards}");
    }
}

#[test]
fn jacobians_have_a_row_per_output_and_can_be_differentiated() {
    let device = Device::cpu(1);
    let x = leaf(&device, [2, 2], &[1.0, 2.0, 3.0, 4.0]);
    // The product of x with itself.
    let y = ops::matmul(&x, &x);
    let jacobian = ops::jacobian(&y, &x).unwrap();
    assert_eq!(jacobian.shape(), &[4, 4].into());
    let [a, b, c, d] = [1.0, 2.0, 3.0, 4.0];
    let expected = [[2.0 * a, c, b, 0.0], [b, a + d, 0.0, b], [c, 0.0, a + d, c], [0.0, c, b, 2.0 * d]];
    assert_eq!(numbers(&jacobian), expected.as_flattened());
    // Each of a and d occurs four times in it, and so do b and c.
    assert_eq!(numbers(&ops::grad(&jacobian, &[&x]).unwrap()[0].clone().unwrap()), [4.0; 4]);
}

#[test]
fn the_mean_of_gradients_of_rows_is_the_gradient_of_the_batch() {
    let device = Device::cpu(1);
    let rows = 6;
    let mut random = Random(9);
    let x = random.numbers(rows * 3);
    let spec = Spec::mlp(3, &[4], 2, Activation::tanh());
    let layout = Layout::of(&spec);
    let parameters: Vec<Var> = layout
        .parameters
        .iter()
        .map(|parameter| leaf(&device, &parameter.shape, &random.numbers(parameter.shape.len())))
        .collect();
    let loss = |x: &[f32]| {
        let rows = x.len() / 3;
        let x = Var::constant(Tensor::from_f32(&device, [rows, 3], x)?);
        let y = forward(&spec, &parameters, &x, &Pass::Predict);
        Ok(&ops::sum(&ops::square(&y), 0..2) * (1.0 / rows as f32))
    };
    let found =
        ops::per_sample_gradients(|row| loss(&x[3 * row..3 * row + 3]), &refs(&parameters), rows).expect("gradients");
    let batch = ops::grad(&loss(&x).unwrap(), &refs(&parameters)).unwrap();
    for ((each, batch), parameter) in found.iter().zip(batch).zip(&parameters) {
        let sizes: Vec<usize> = [rows].into_iter().chain(parameter.shape().sizes().iter().copied()).collect();
        assert_eq!(each.shape(), &Shape::from(sizes));
        let mean = all(&[ops::mean(each, 0..1)]);
        assert!(distance(&mean, &all(&[batch.unwrap()])) < 1e-5);
    }
    let error = ops::per_sample_gradients(|_| loss(&x), &refs(&parameters), 0).err().unwrap();
    assert_eq!(error.to_string(), "per_sample_gradients: got 0 rows, expected at least 1");
}

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
