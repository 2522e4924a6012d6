//! Second derivatives of every scalar op against second differences of its value in f64, which use none of its derivatives.

use meromorph::program::op::OPS;
use meromorph::program::{Expr, ScalarOp};
use meromorph::{Device, ops};

use super::{leaf, numbers, refs};

/// Points [point][argument] at which the op is smooth.
fn points(op: &ScalarOp) -> Vec<Vec<f32>> {
    let positive = [0.3, 0.55, 0.9, 1.3, 1.9, 2.6];
    let mixed = [-1.7, -0.8, -0.35, 0.4, 0.75, 1.6];
    let unary = |values: &[f32]| values.iter().map(|value| vec![*value]).collect::<Vec<_>>();
    let pairs = |first: &[f32], second: &[f32]| {
        // Each with a neighbour of another rank, so that no two are equal.
        first.iter().enumerate().map(|(at, a)| vec![*a, second[(at + 2) % second.len()]]).collect::<Vec<_>>()
    };
    match op.name {
        "ln" | "log2" | "sqrt" | "rsqrt" | "log1p" | "gamma" => unary(&positive),
        "asin" | "acos" => unary(&[-0.9, -0.4, 0.0, 0.3, 0.8]),
        "abs" | "sign" | "relu" | "recip" | "floor" | "ceil" | "not" | "lgamma" => unary(&mixed),
        // Second differences are not exact near the pole.
        "tan" => unary(&[-1.3, -0.8, 0.0, 0.4, 1.2]),
        "round" => unary(&[-1.7, -0.8, 0.4, 0.75]),
        "clamp" => mixed.iter().map(|x| vec![*x, -1.0, 0.9]).collect(),
        "select" => mixed.iter().map(|x| vec![*x, 0.5, 1.5]).collect(),
        "pow" => {
            let mut all = pairs(&positive, &mixed);
            // Whole powers also of numbers that are not positive; of them only the base can move.
            all.extend([vec![-1.5, 2.0], vec![-1.5, 3.0], vec![0.0, 2.0], vec![0.0, 3.0], vec![2.0, 1.0]]);
            all
        }
        "faddeeva_re" | "faddeeva_im" => pairs(&mixed, &positive),
        "polygamma" => [0.0, 1.0, 2.0].iter().flat_map(|n| positive.map(|x| vec![*n, x])).collect(),
        _ if op.arguments.len() == 2 => pairs(&mixed, &[-1.9, -1.2, -0.6, 0.55, 1.1, 1.45]),
        // 0 is where forms of special functions are joined.
        _ => unary(&[-1.7, -0.8, -0.35, 0.0, 1e-3, 0.4, 1.6, 5.5]),
    }
}

/// Whether the op has a derivative by argument `at` at a point.
fn moves(op: &ScalarOp, point: &[f32], at: usize) -> bool {
    match (op.name, at) {
        ("polygamma", 0) => false,
        ("pow", 1) => point[0] > 0.0,
        _ => true,
    }
}

/// ∂²/∂a_i∂a_j by central differences.
fn difference(op: &ScalarOp, point: &[f32], i: usize, j: usize) -> f64 {
    let step = 1e-3;
    let at = |by_i: f64, by_j: f64| {
        let mut point: Vec<f64> = point.iter().map(|value| f64::from(*value)).collect();
        point[i] += by_i * step;
        point[j] += by_j * step;
        op.at(&point)
    };
    if i == j {
        return (at(1.0, 0.0) - 2.0 * at(0.0, 0.0) + at(-1.0, 0.0)) / (step * step);
    }
    (at(1.0, 1.0) - at(1.0, -1.0) - at(-1.0, 1.0) + at(-1.0, -1.0)) / (4.0 * step * step)
}

#[test]
fn every_scalar_op_agrees_with_second_differences() {
    let device = Device::cpu(1);
    let mut failures = Vec::new();
    for op in OPS {
        let points = points(op);
        let count = op.arguments.len();
        let column = |at: usize| points.iter().map(|point| point[at]).collect::<Vec<f32>>();
        let inputs: Vec<_> = (0..count).map(|at| leaf(&device, [points.len()], &column(at))).collect();
        let y = ops::fused(&refs(&inputs), |values| Expr::op(op, values));
        for j in 0..count {
            let units: Vec<_> = (0..count).map(|at| &inputs[at] * 0.0).collect();
            let units: Vec<_> =
                units.iter().enumerate().map(|(at, unit)| unit + f32::from(u8::from(at == j))).collect();
            let found = ops::hvp(&y, &refs(&inputs), &refs(&units)).expect("a product");
            for (i, found) in found.iter().enumerate() {
                for (point, got) in points.iter().zip(numbers(found)) {
                    let expected = difference(op, point, i, j);
                    let is_off = (f64::from(got) - expected).abs() > 3e-4 * (1.0 + expected.abs());
                    if moves(op, point, i) && moves(op, point, j) && (is_off || got.is_nan()) {
                        failures.push(format!("{} at {point:?} by {i}, {j}: got {got}, expected {expected}", op.name));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} wrong:\n{}", failures.len(), failures.join("\n"));
}
