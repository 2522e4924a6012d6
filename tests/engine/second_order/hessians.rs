//! Whole Hessians: symmetry, and matrices that are known.

use super::graph::Random;
use super::{BOUND, all, distance, dot, graph, graph_shapes, leaf, leaves, numbers, refs};
use meromorph::autograd::Var;
use meromorph::tensor::Tensor;
use meromorph::{Device, ops};

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
