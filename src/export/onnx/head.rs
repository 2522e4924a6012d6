//! Projective heads as nodes: pairs as in `nn::forward`, and strict decoding with the same exactly rounded comparisons as
//! `kernels::strict`, in the same order.

use super::graph::{Graph, Name, Setting};
use super::pass::Pass;
use super::rational::polynomial;
use crate::nn::{Decoding, Head, HeadForm, PairNormalization, Threshold};

/// Numerators and denominators, both [batch, outputs], from features; (1, 0) in rows with a ⊥ from an earlier layer.
pub(super) fn pairs(pass: &mut Pass<'_>, head: &Head, x: &Name) -> [Name; 2] {
    let pair = free_pair(pass, head, x);
    let [p, q] = in_gauge(pass.graph, head.gauge, pair);
    let Some(bottom) = pass.rows() else { return [p, q] };
    let (one, none) = (pass.graph.number(1.0), pass.graph.number(0.0));
    [pass.graph.op("Where", &[&bottom, &one, &p]), pass.graph.op("Where", &[&bottom, &none, &q])]
}

fn free_pair(pass: &mut Pass<'_>, head: &Head, x: &Name) -> [Name; 2] {
    let (mut p, mut q) = match head.form {
        HeadForm::Angular { scale } => {
            let scale = pass.graph.number(scale);
            let angle = pass.graph.op("Mul", &[x, &scale]);
            return ["Cos", "Sin"].map(|function| pass.graph.op(function, &[&angle]));
        }
        HeadForm::Value => {
            let (one, shape) = (pass.graph.number(1.0), pass.graph.op("Shape", &[x]));
            return [x.clone(), pass.graph.op("Expand", &[&one, &shape])];
        }
        HeadForm::Linear | HeadForm::Rational { .. } => {
            (pass.graph.columns(x, 0, head.outputs), pass.graph.columns(x, head.outputs, head.features()))
        }
    };
    if let HeadForm::Rational { numerator, denominator, basis } = head.form {
        let [over, under] =
            [numerator, denominator].map(|degree| (0..=degree).map(|_| pass.next()).collect::<Vec<_>>());
        p = polynomial(pass.graph, basis, &over, &p);
        q = polynomial(pass.graph, basis, &under, &q);
    }
    let graph = &mut *pass.graph;
    if head.floor.is_some() {
        q = graph.op("Softplus", &[&q]);
    }
    let raise = graph.number(head.floor.unwrap_or(0.0) + head.anchor);
    q = graph.op("Add", &[&q, &raise]);
    let shape = graph.list(&[1, head.outputs as i64]);
    [p, graph.op("Expand", &[&q, &shape])]
}

/// The pair divided by its length if the head is normalized; pairs of length 0 are unchanged.
fn in_gauge(graph: &mut Graph, gauge: PairNormalization, [p, q]: [Name; 2]) -> [Name; 2] {
    if gauge == PairNormalization::Free {
        return [p, q];
    }
    let [p_square, q_square] = [&p, &q].map(|part| graph.op("Mul", &[part, part]));
    let square = graph.op("Add", &[&p_square, &q_square]);
    let (zero, one) = (graph.number(0.0), graph.number(1.0));
    let is_long = graph.op("Greater", &[&square, &zero]);
    let square = graph.op("Where", &[&is_long, &square, &one]);
    let size = graph.op("Sqrt", &[&square]);
    [p, q].map(|part| graph.op("Div", &[&part, &size]))
}

/// The six fields of strict decoding, [batch, outputs] each.
pub(super) fn decode(graph: &mut Graph, decoding: &Decoding, p: &Name, q: &Name) -> [Name; 6] {
    let [p_finite, q_finite] = [p, q].map(|part| graph.is_finite(part));
    let is_given = graph.op("And", &[&p_finite, &q_finite]);
    let nearness = Nearness::new(graph, decoding.threshold, p, q, [&p_finite, &q_finite]);
    let [infer, train] = decoding.limits();
    let semantic = nearness.below(graph, infer);
    let is_close = nearness.below(graph, train);
    let is_regular = graph.op("Not", &[&semantic]);
    let is_divided = graph.op("And", &[&is_given, &is_regular]);
    let (one, none) = (graph.number(1.0), graph.number(f32::NAN));
    let divisor = graph.op("Where", &[&is_divided, q, &one]);
    let quotient = graph.op("Div", &[p, &divisor]);
    let is_quotient = graph.is_finite(&quotient);
    let is_sound = graph.op("And", &[&is_given, &is_quotient]);
    let fault = graph.op("Not", &[&is_sound]);
    let bottom = graph.op("Or", &[&fault, &semantic]);
    let decoded = graph.op("Where", &[&bottom, &none, &quotient]);
    let is_value = graph.op("Not", &[&bottom]);
    let gap = graph.op("And", &[&is_close, &is_value]);
    let provenance = provenance(graph, &fault, &semantic);
    [decoded, bottom, gap, fault, semantic, provenance]
}

/// fault + 2 · semantic.
fn provenance(graph: &mut Graph, fault: &Name, semantic: &Name) -> Name {
    let [fault, semantic] = [fault, semantic].map(|mask| graph.node("Cast", &[mask], &[Setting::Int("to", 7)]));
    let twice = graph.op("Add", &[&semantic, &semantic]);
    graph.op("Add", &[&fault, &twice])
}

/// The operands that are compared with a limit.
struct Nearness {
    /// |Q|; for an angle, scaled so that products stay normal numbers.
    size: Name,
    /// |P| with the same scale; absent for a bare denominator, whose limit is not multiplied.
    numerator: Option<Name>,
    /// Where Q counts as 0 and is below any limit.
    zero: Name,
    q_finite: Name,
}

impl Nearness {
    fn new(graph: &mut Graph, threshold: Threshold, p: &Name, q: &Name, [p_finite, q_finite]: [&Name; 2]) -> Self {
        let nought = graph.number(0.0);
        let q_finite = q_finite.clone();
        if threshold == Threshold::Denominator {
            let size = graph.op("Abs", &[q]);
            let zero = graph.op("Equal", &[q, &nought]);
            return Self { size, numerator: None, zero, q_finite };
        }
        let (largest, size) = (normal(graph, p, p_finite), normal(graph, q, &q_finite));
        let zero = graph.op("Equal", &[&size, &nought]);
        let zero = graph.op("And", &[&zero, &q_finite]);
        let scale = scale(graph, &largest);
        let [size, largest] = [&size, &largest].map(|part| graph.op("Mul", &[part, &scale]));
        Self { size, numerator: Some(largest), zero, q_finite }
    }

    /// Whether the pair is below a limit. A limit of |Q| / |P| is below 1, so pairs with |Q| > |P| never are.
    fn below(&self, graph: &mut Graph, limit: f32) -> Name {
        let mut limit = graph.number(limit);
        if let Some(largest) = &self.numerator {
            limit = graph.op("Mul", &[&limit, largest]);
        }
        let is_less = graph.op("Less", &[&self.size, &limit]);
        let is_less = graph.op("And", &[&is_less, &self.q_finite]);
        graph.op("Or", &[&self.zero, &is_less])
    }
}

/// |x|; 0 for subnormal numbers, as on devices that flush them, and for numbers that are not finite.
fn normal(graph: &mut Graph, x: &Name, finite: &Name) -> Name {
    let (least, nought) = (graph.number(f32::MIN_POSITIVE), graph.number(0.0));
    let size = graph.op("Abs", &[x]);
    let is_large = graph.op("GreaterOrEqual", &[&size, &least]);
    let is_normal = graph.op("And", &[&is_large, finite]);
    graph.op("Where", &[&is_normal, &size, &nought])
}

/// A power of two that keeps limit · x normal.
fn scale(graph: &mut Graph, x: &Name) -> Name {
    let two = |power: i32| 2_f32.powi(power);
    let [huge, tiny, down, up, one] = [two(60), two(-60), two(-64), two(64), 1.0].map(|value| graph.number(value));
    let (is_huge, is_tiny) = (graph.op("Greater", &[x, &huge]), graph.op("Less", &[x, &tiny]));
    let scale = graph.op("Where", &[&is_tiny, &up, &one]);
    graph.op("Where", &[&is_huge, &down, &scale])
}
