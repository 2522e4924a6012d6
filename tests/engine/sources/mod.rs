//! Sources of gradients other than the model's own ops, hooks between gradient and update, and what closures see.

mod closures;
mod differences;
mod hooks;
mod moves;

use crate::noise::noise;
use meromorph::autograd::Var;
use meromorph::model::{Initial, Network};
use meromorph::ops;
use meromorph::optim::Optimizer;
use meromorph::train::{Data, Examples, TrainerConfig};

/// y = 2 a - b + 1/2, in 50 rows: batches of 16 leave a last one of 2.
fn examples(rows: std::ops::Range<usize>) -> Examples {
    let x: Vec<f32> = noise(100, 5)[2 * rows.start..2 * rows.end].to_vec();
    let y = x.chunks_exact(2).map(|x| 2.0 * x[0] - x[1] + 0.5).collect();
    Examples { x, y }
}

fn data() -> Data {
    Data { inputs: 2, targets: 1, train: examples(0..50), ..Data::default() }
}

fn config() -> TrainerConfig {
    TrainerConfig {
        epochs: 6,
        batch: 16,
        patience: 0,
        lr: 0.05,
        optimizer: Optimizer::adamw(0.0),
        ..TrainerConfig::default()
    }
}

fn line() -> Network {
    let parameters = [("w", Initial::values([2, 1], [0.1, 0.2])), ("b", Initial::zeros([1]))];
    Network::function(2, parameters, |p, x| ops::add(&ops::matmul(x, &p["w"]), &p["b"]))
}

fn sum(x: &Var) -> Var {
    ops::reshape(&ops::sum(x, 0..x.shape().rank()), [1])
}
