//! Products with Hessians against the reference: random graphs, layers, heads, masked numbers, every device.

use super::dual::{Dual, Matrix, activation};
use super::graph::Random;
use super::{BOUND, Case, all, check, check_all, distance, graph_case, leaf};
use crate::devices::devices;
use meromorph::autograd::Var;
use meromorph::internal::kernels::rational::{Basis, Rational};
use meromorph::nn::{Activation, Head, Layout, Pass, Spec, forward};
use meromorph::program::{Expr, expr};
use meromorph::scm::policy::Policy;
use meromorph::scm::{self, Masked, Moments};
use meromorph::tensor::{Shape, Tensor};
use meromorph::{Device, ops};

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
