//! Random graphs, run by the engine's ops and by the reference.

use meromorph::autograd::Var;
use meromorph::internal::math::splitmix::{STEP, mixed};
use meromorph::nn::Activation;
use meromorph::ops;
use meromorph::program::expr;
use meromorph::tensor::Tensor;

use super::dual::{Dual, Matrix, activation};

/// Rows and columns of every node.
pub(crate) const ROWS: usize = 3;
pub(crate) const COLUMNS: usize = 4;

pub(crate) const SMOOTH: [&str; 7] = ["elu", "gelu", "mish", "sigmoid", "silu", "softplus", "tanh"];

/// Numbers from a counter.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(STEP);
        (mixed(self.0) % count as u64) as usize
    }

    /// Uniform in [-1, 1].
    pub(crate) fn number(&mut self) -> f32 {
        self.below(2001) as f32 / 1000.0 - 1.0
    }

    pub(crate) fn numbers(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.number()).collect()
    }

    pub(crate) fn like(&mut self, values: &[Vec<f32>]) -> Vec<Vec<f32>> {
        values.iter().map(|values| self.numbers(values.len())).collect()
    }
}

/// One node: a kind and the nodes that it reads, [ROWS, COLUMNS] each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    kind: Kind,
    a: usize,
    b: usize,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Add,
    Mul,
    Div,
    Hypot,
    Sin,
    Exp,
    Erf,
    Atan,
    Log,
    Matmul,
    Gram,
    Layer(&'static str),
    Softmax,
    LogSoftmax,
    LogSumExp,
    LayerNorm,
    SumRows,
    CentreColumns,
    TakeRows,
    Transpose,
    PickRow,
}

const OTHERS: [Kind; 20] = [
    Kind::Add,
    Kind::Mul,
    Kind::Div,
    Kind::Hypot,
    Kind::Sin,
    Kind::Exp,
    Kind::Erf,
    Kind::Atan,
    Kind::Log,
    Kind::Matmul,
    Kind::Gram,
    Kind::Softmax,
    Kind::LogSoftmax,
    Kind::LogSumExp,
    Kind::LayerNorm,
    Kind::SumRows,
    Kind::CentreColumns,
    Kind::TakeRows,
    Kind::Transpose,
    Kind::PickRow,
];

/// A graph of eight nodes over x [3, 4], W [4, 4] and b [4]; graph k has activation k and kinds k, k + 1, … among others, so twenty cover all.
pub(crate) fn graph(number: usize) -> Vec<Step> {
    let mut random = Random(number as u64);
    let mut steps = Vec::new();
    for at in 0..8 {
        let kind = match at {
            0 => Kind::Layer(SMOOTH[number % SMOOTH.len()]),
            1 => OTHERS[number % OTHERS.len()],
            5 => Kind::Layer(SMOOTH[random.below(SMOOTH.len())]),
            _ => OTHERS[random.below(OTHERS.len())],
        };
        // The first operand is the latest node, so that the last node depends on all.
        steps.push(Step { kind, a: at, b: random.below(at + 1) });
    }
    steps
}

/// Initial values of x, W and b.
pub(crate) fn inputs(number: usize) -> Vec<Vec<f32>> {
    let mut random = Random(1000 + number as u64);
    [ROWS * COLUMNS, COLUMNS * COLUMNS, COLUMNS].map(|count| random.numbers(count)).to_vec()
}

/// Each element's share of the loss: w y + y² / 2.
fn weight(at: usize) -> f32 {
    [0.5, -1.25, 0.75, 1.5, -0.25][at % 5]
}

fn table(like: &Var, index: &[u32]) -> Tensor {
    Tensor::from_u32(like.value().device(), [index.len()], index).expect("uploads")
}

/// The last node by the engine.
pub(crate) fn output(steps: &[Step], inputs: &[Var]) -> Var {
    let [x, weight, bias] = inputs else { unreachable!("three inputs") };
    let shape = [ROWS, COLUMNS];
    let mut nodes = vec![x.clone()];
    for step in steps {
        let (a, b) = (&nodes[step.a], &nodes[step.b]);
        let one = |f: fn(expr::Expr) -> expr::Expr| ops::fused(&[a], |v| f(v[0]));
        nodes.push(match step.kind {
            Kind::Add => ops::add(a, b),
            Kind::Mul => ops::mul(a, b),
            Kind::Div => ops::div(a, &ops::fused(&[b], |v| 1.0 + v[0] * v[0])),
            Kind::Hypot => ops::hypot(a, &ops::fused(&[b], |v| 1.0 + v[0] * v[0])),
            Kind::Sin => ops::sin(a),
            Kind::Exp => ops::exp(&ops::cos(a)),
            Kind::Erf => ops::erf(a),
            Kind::Atan => ops::atan(a),
            Kind::Log => one(|a| expr::log1p(a * a)),
            Kind::Matmul => &ops::matmul(a, weight) * 0.5,
            Kind::Gram => &ops::product(&ops::product(a, b, false, true), b, true, false) * 0.25,
            Kind::Layer(name) => {
                let function = Activation::parse(name).expect("a built-in");
                ops::layer(a, weight, Some(bias), Some(function.curve()))
            }
            Kind::Softmax => ops::softmax(a),
            Kind::LogSoftmax => ops::log_softmax(a),
            Kind::LogSumExp => ops::mul(a, &ops::logsumexp(b)),
            Kind::LayerNorm => ops::layer_norm(a, 0.1),
            Kind::SumRows => ops::fused(&[a, &ops::sum(b, 1..2)], |v| v[0] + 0.25 * v[1]),
            Kind::CentreColumns => ops::sub(a, &ops::mean(a, 0..1)),
            Kind::TakeRows => ops::take_rows(a, &table(a, &[2, 0, 2])),
            Kind::Transpose => ops::reshape(&ops::transpose(a), shape),
            Kind::PickRow => {
                let picked = ops::reshape(&ops::pick(b, &table(b, &[3, 1, 0])), [ROWS, 1]);
                ops::add(a, &picked)
            }
        });
    }
    nodes.swap_remove(steps.len())
}

/// The loss by the engine.
pub(crate) fn loss(steps: &[Step], inputs: &[Var]) -> Var {
    let y = output(steps, inputs);
    let weights: Vec<f32> = (0..ROWS * COLUMNS).map(weight).collect();
    let weights = Var::constant(Tensor::from_f32(y.value().device(), y.shape(), &weights).expect("uploads"));
    ops::sum(&ops::fused(&[&y, &weights], |v| v[0] * (v[1] + 0.5 * v[0])), 0..2)
}

/// The last node by the reference.
pub(crate) fn reference_output(steps: &[Step], inputs: &[Vec<Dual>]) -> Matrix {
    let weight = Matrix { columns: COLUMNS, data: inputs[1].clone() };
    let bias = Matrix { columns: COLUMNS, data: inputs[2].clone() };
    let mut nodes = vec![Matrix { columns: COLUMNS, data: inputs[0].clone() }];
    let one = Dual::constant(1.0);
    for step in steps {
        let (a, b) = (&nodes[step.a], &nodes[step.b]);
        nodes.push(match step.kind {
            Kind::Add => a.zip(b, |a, b| a + b),
            Kind::Mul => a.zip(b, |a, b| a * b),
            Kind::Div => a.zip(b, |a, b| a * (one + b * b).recip()),
            Kind::Hypot => a.zip(b, |a, b| (a * a + (one + b * b) * (one + b * b)).sqrt()),
            Kind::Sin => a.map(Dual::sin),
            Kind::Exp => a.map(|a| a.cos().exp()),
            Kind::Erf => a.map(Dual::erf),
            Kind::Atan => a.map(Dual::atan),
            Kind::Log => a.map(|a| (one + a * a).ln()),
            Kind::Matmul => a.product(&weight).map(|a| a.scale(0.5)),
            Kind::Gram => a.product(&b.transposed()).transposed().product(b).map(|a| a.scale(0.25)),
            Kind::Layer(name) => a.dense(&weight, &bias).map(|z| activation(name, z)),
            Kind::Softmax => a.map_rows(|row| row.iter().map(|x| x.exp() * total(row).recip()).collect()),
            Kind::LogSoftmax => a.map_rows(|row| row.iter().map(|x| *x - total(row).ln()).collect()),
            Kind::LogSumExp => Matrix::build(ROWS, COLUMNS, |r, c| a.at(r, c) * total(b.row(r)).ln()),
            Kind::LayerNorm => a.map_rows(normal),
            Kind::SumRows => {
                Matrix::build(ROWS, COLUMNS, |r, c| a.at(r, c) + b.row(r).iter().copied().sum::<Dual>().scale(0.25))
            }
            Kind::CentreColumns => {
                let mean = |c| (0..ROWS).map(|r| a.at(r, c)).sum::<Dual>().scale(1.0 / ROWS as f64);
                Matrix::build(ROWS, COLUMNS, |r, c| a.at(r, c) - mean(c))
            }
            Kind::TakeRows => Matrix::build(ROWS, COLUMNS, |r, c| a.at([2, 0, 2][r], c)),
            Kind::Transpose => Matrix { columns: COLUMNS, data: a.transposed().data },
            Kind::PickRow => Matrix::build(ROWS, COLUMNS, |r, c| a.at(r, c) + b.at(r, [3, 1, 0][r])),
        });
    }
    nodes.swap_remove(steps.len())
}

/// The loss by the reference.
pub(crate) fn reference_loss(steps: &[Step], inputs: &[Vec<Dual>]) -> Dual {
    let y = reference_output(steps, inputs);
    let share = |(at, y): (usize, &Dual)| y.scale(f64::from(weight(at))) + (*y * *y).scale(0.5);
    y.data.iter().enumerate().map(share).sum()
}

fn total(row: &[Dual]) -> Dual {
    row.iter().map(|x| x.exp()).sum()
}

/// (x - mean) / √(variance + 0.1).
fn normal(row: &[Dual]) -> Vec<Dual> {
    let mean = |values: &[Dual]| values.iter().copied().sum::<Dual>().scale(1.0 / values.len() as f64);
    let centre = mean(row);
    let centred: Vec<Dual> = row.iter().map(|x| *x - centre).collect();
    let squares: Vec<Dual> = centred.iter().map(|x| *x * *x).collect();
    let scale = (mean(&squares) + Dual::constant(0.1)).sqrt().recip();
    centred.iter().map(|x| *x * scale).collect()
}
