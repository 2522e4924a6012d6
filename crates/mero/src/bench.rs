//! `mero bench`: the speed of a trained model, or of a training step, a matrix product, masked arithmetic and reading a table, as medians over windows after a warm-up.

mod claims;
mod contrast;
mod equilibrium;
mod geometry;
mod library;
mod matmul;
mod measuring;
mod mlp;
mod model;
mod predict;
mod read;
mod scm;
mod seed;

use clap::Subcommand;

use crate::{Answer, Failure};

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(flatten)]
    model: model::Args,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Subcommand)]
enum What {
    /// A training step of a perceptron with 5 inputs and 1 output
    Mlp(mlp::Args),
    /// Predictions of a perceptron with 5 inputs and 1 output: of many rows in one call, and of one row
    Predict(predict::Args),
    /// c = a · b of square matrices, compared with a direct call of the gemm library
    Matmul(matmul::Args),
    /// Masked arithmetic compared with a copy and a plain division: 1 in 100 numbers is ⊥, 1 in 100 divisors is 0
    Scm(scm::Args),
    /// Ways to split a batch of the fused training step on a GPU
    Geometry(geometry::Args),
    /// What is said of training: memory, precision, limits, compression. Takes some minutes
    Claims(claims::Args),
    /// Equilibrium propagation against a feed-forward network of the same sizes by backpropagation: accuracy and time
    Equilibrium(equilibrium::Args),
    /// What the guide to Trainer2 promises of a contrastive window, each as two forms by turns. Takes some minutes
    Contrast(contrast::Args),
    /// Reading a table from the bytes of its file
    Read(read::Args),
    /// Training on 1,000, 5,000 and 10,000 rows of a noisy linear function of 5 inputs: time, memory and quality
    Seed(seed::Args),
}

/// More steps, or windows of them, than anyone can wait for.
const MOST_WINDOWS: usize = 1_000_000;

pub(super) fn run(args: &Args) -> Answer {
    let Some(what) = &args.what else {
        let Some(path) = &args.model.model else {
            return Err(Failure::usage("got no model, expected a model file, or one of the forms that --help lists"));
        };
        return model::run(&args.model, path);
    };
    let sizes = match what {
        What::Mlp(mlp) => [1, mlp.steps, mlp.common.windows],
        What::Predict(predict) => [predict.rows, 1, predict.common.windows],
        What::Matmul(matmul) => [matmul.size, 1, matmul.common.windows],
        What::Scm(scm) => [scm.n, 1, scm.common.windows],
        What::Read(read) => [1, 1, read.windows],
        What::Claims(_) | What::Contrast(_) | What::Equilibrium(_) | What::Geometry(_) | What::Seed(_) => [1; 3],
    };
    if sizes.contains(&0) {
        return Err(Failure::usage("steps, rows, size, n and windows must be at least 1"));
    }
    for (name, count) in [("steps", sizes[1]), ("windows", sizes[2])] {
        if count > MOST_WINDOWS {
            return Err(Failure::usage(format!("{name}: got {count}, expected at most {MOST_WINDOWS}")));
        }
    }
    match what {
        What::Mlp(args) => mlp::run(args),
        What::Predict(args) => predict::run(args),
        What::Matmul(args) => matmul::run(args),
        What::Scm(args) => scm::run(args),
        What::Read(args) => read::run(args),
        What::Claims(args) => claims::run(args),
        What::Contrast(args) => contrast::run(args),
        What::Equilibrium(args) => equilibrium::run(args),
        What::Geometry(args) => geometry::run(args),
        What::Seed(args) => seed::run(args),
    }
}
