//! Second order, selective recomputation, batches that grow and shrink.

use std::cell::Cell;
use std::collections::HashMap;

use meromorph::autograd::Var;
use meromorph::device::{Device, Passes, Recompute};
use meromorph::program::expr::{exp, tanh};
use meromorph::tensor::Tensor;
use meromorph::{Result, ops};
use tenflowers_autograd::{BatchSearch, GradientTape, TrackedTensor};

/// Σ (x³ - 3 x), with minima at 1: the gradient is 3 x² - 3, the Hessian's diagonal 6 x.
struct Cubes;

impl Cubes {
    fn forward<'t>(&self, x: &TrackedTensor<'t>) -> Result<TrackedTensor<'t>> {
        let each = ops::fused(&[x], |v| v[0] * v[0] * v[0] - 3.0 * v[0]);
        Ok(x.with(ops::sum(&each, 0..1)))
    }
}

fn newton(mut params: Vec<f32>, model: &Cubes, num_params: usize, learning_rate: f32) -> Result<Vec<f32>> {
    use tenflowers_autograd::{compute_hessian_diagonal, hessian_vector_product};

    let tape = GradientTape::new();
    let x = tape.watch(params.clone());
    let loss = model.forward(&x)?;

    let grad = tape.gradient(&[loss], &[x])?[0].clone().unwrap();

    let hess_diag = compute_hessian_diagonal(&tape, &loss, &x)?;

    for i in 0..num_params {
        params[i] -= learning_rate * grad[i] / (hess_diag[i] + 1e-8);
    }

    let along = hessian_vector_product(&tape, &loss, &x, &grad)?;
    assert_eq!(along[0], hess_diag[0] * grad[0], "the Hessian is diagonal");
    Ok(params)
}

/// From 2: 2 - 9 / 12 = 1.25; from 1: 1 - 0 / 6 = 1.
#[test]
fn a_newton_step_uses_the_exact_diagonal() -> Result<()> {
    assert_eq!(newton(vec![2.0, 1.0], &Cubes, 2, 1.0)?, [1.25, 1.0]);
    Ok(())
}

struct CheapOp {
    cost: usize,
}

impl CheapOp {
    fn is_cheap(&self) -> bool {
        self.cost < 100
    }
}

fn activation_of(
    op: &CheapOp,
    op_id: u32,
    inputs: f32,
    stored_activations: &HashMap<u32, f32>,
    recompute_activation: impl Fn(&f32) -> f32,
) -> Option<f32> {
    let stored;
    let recomputed;
    let activation;
    if op.is_cheap() {
        recomputed = recompute_activation(&inputs);
        activation = Some(&recomputed);
    } else {
        stored = stored_activations;
        activation = stored.get(&op_id);
    }
    activation.copied()
}

/// What the guide does by hand is a policy of the engine: a launch below 1,000 operations is made again, one above is kept.
#[test]
fn cheap_results_are_computed_again_and_others_kept() -> Result<()> {
    let stored = HashMap::from([(7, 0.5)]);
    let [cheap, dear] = [99, 100].map(|cost| activation_of(&CheapOp { cost }, 7, 2.0, &stored, |x| x * x));
    assert_eq!((cheap, dear), (Some(4.0), Some(0.5)));

    let device = Device::cpu(1);
    let x = Var::leaf(Tensor::from_f32(&device, [64], &[0.5; 64])?);
    let w = Var::leaf(Tensor::from_f32(&device, [64, 64], &[0.01; 4096])?);
    let work = || {
        let y = ops::fused(&[&x], |v| exp(tanh(v[0])));
        let z = ops::matmul(&ops::reshape(&y, [1, 64]), &w);
        let loss = ops::sum(&ops::mul(&z, &z), 0..2);
        device.turn();
        ops::grad(&loss, &[&x, &w])
    };
    let recomputed = |recompute| -> Result<usize> {
        let (plan, _kept) = device.capture_with(&Passes { recompute, ..Passes::default() }, work)?;
        Ok(plan.summary().recomputed.0)
    };
    assert_eq!(recomputed(Recompute::Nothing)?, 0);
    assert!(recomputed(Recompute::Cheap(1000))? > 0);
    Ok(())
}

/// A step of so many rows of 65,536 numbers, 256 KiB each, which stay until the next.
struct Step {
    device: Device,
    held: Cell<Option<Tensor>>,
}

impl Step {
    fn train_batch(&self, batch_size: usize) -> Result<f32> {
        self.held.take();
        let batch = Tensor::from_f32(&self.device, [batch_size, 1 << 16], &vec![1.0; batch_size << 16])?;
        let first = pollster::block_on(batch.to_f32())?[0];
        self.held.set(Some(batch));
        Ok(first)
    }
}

fn adjusted(train_batch: impl Fn(usize) -> Result<f32>, max_memory_mb: f64) -> Result<Vec<usize>> {
    use tenflowers_autograd::GradientMemoryProfiler;

    let mut profiler = GradientMemoryProfiler::new();
    let mut batch_size = 32;
    let mut sizes = Vec::new();

    for _ in 0..8 {
        profiler.start_profiling();

        let result = train_batch(batch_size);

        let memory_used = profiler.get_current_usage_mb();

        if memory_used < max_memory_mb * 0.8 {
            batch_size = (batch_size as f32 * 1.2) as usize;
        } else if memory_used > max_memory_mb * 0.95 {
            batch_size = (batch_size as f32 * 0.8) as usize;
        }

        sizes.push(batch_size);
        result?;
    }
    Ok(sizes)
}

/// A budget of 16 MiB holds 64 rows: the guide's loop rests between 80 and 95 % of it; 32, 38, 45 and 54 rows take 8, 9.5, 11.25 and 13.5 MiB.
#[test]
fn a_batch_grows_to_the_budget() -> Result<()> {
    let step = Step { device: Device::cpu(1), held: Cell::default() };
    let _tape = GradientTape::on(&step.device);
    assert_eq!(adjusted(|rows| step.train_batch(rows), 16.0)?, [38, 45, 54, 54, 54, 54, 54, 54]);
    step.held.take();
    let found = BatchSearch::within_mb(16.0).run_on(&step.device, |rows| step.train_batch(rows).map(drop))?;
    assert_eq!(found.rows, 64, "the search finds the last row that fits");
    Ok(())
}
