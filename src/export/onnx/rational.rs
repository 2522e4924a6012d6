//! Rational functions as nodes: the polynomials of heads and layers, and the layer with its poles (`kernels::rational`).

use super::graph::{Graph, Name};
use crate::nn::{Basis, RationalLayer};

/// Σ w_k φ_k(x): by Horner's rule, or Clenshaw's for Chebyshev polynomials.
pub(super) fn polynomial(graph: &mut Graph, basis: Basis, weights: &[Name], x: &Name) -> Name {
    let [rest @ .., highest] = weights else { unreachable!("a polynomial has a coefficient of degree 0") };
    let shape = graph.op("Shape", &[x]);
    let mut sum = graph.op("Expand", &[highest, &shape]);
    if basis == Basis::Monomial {
        for weight in rest.iter().rev() {
            sum = graph.op("Mul", &[&sum, x]);
            sum = graph.op("Add", &[&sum, weight]);
        }
        return sum;
    }
    let (two, mut before) = (graph.number(2.0), graph.number(0.0));
    let twice = graph.op("Mul", &[x, &two]);
    for (k, weight) in rest.iter().enumerate().rev() {
        let rise = graph.op("Mul", &[if k == 0 { x } else { &twice }, &sum]);
        let rise = graph.op("Sub", &[&rise, &before]);
        before = sum;
        sum = graph.op("Add", &[&rise, weight]);
    }
    sum
}

/// P / Q of each value, 0 at ⊥, and the mask of ⊥. `weights` are p_0, …, q_0, ….
pub(super) fn layer(graph: &mut Graph, layer: &RationalLayer, weights: &[Name], x: &Name) -> [Name; 2] {
    let (p, q) = weights.split_at(layer.numerator + 1);
    let numerator = polynomial(graph, layer.basis, p, x);
    let mut denominator = polynomial(graph, layer.basis, q, x);
    if layer.is_safe {
        // The lowest coefficient of a safe denominator is 1.
        let (free, one) = (graph.op("Sub", &[&denominator, &q[0]]), graph.number(1.0));
        let size = graph.op("Abs", &[&free]);
        denominator = graph.op("Add", &[&size, &one]);
    }
    let (size, least, none) = (graph.op("Abs", &[&denominator]), graph.number(layer.epsilon), graph.number(0.0));
    let quotient = graph.op("Div", &[&numerator, &denominator]);
    let slope = graph.op("Div", &[&quotient, &denominator]);
    let mut is_value = graph.op("Greater", &[&size, &least]);
    for part in [x, &numerator, &denominator, &quotient, &slope] {
        let fits = graph.is_finite(part);
        is_value = graph.op("And", &[&is_value, &fits]);
    }
    let y = graph.op("Where", &[&is_value, &quotient, &none]);
    [y, graph.op("Not", &[&is_value])]
}
