//! Computation: clipping, batches, compression, and what a tape does not record.

use meromorph::autograd::{Var, applied};
use meromorph::ops;
use meromorph::{Error, Result};
use tenflowers_autograd::{
    ClippedGradients, CompressionMethod, GradientTape, TensorOps, TrackedTensor, Values, global_norm,
};

use crate::common::{Gradients, Model, first, gradient};

fn clipped(tape: &GradientTape, loss: Var, params: &[TrackedTensor<'_>]) -> Result<ClippedGradients> {
    use tenflowers_autograd::clip_by_global_norm;

    let grads = tape.gradient(&[loss], &params)?;

    let max_norm = 1.0;
    let clipped_grads = clip_by_global_norm(&grads, max_norm)?;
    Ok(clipped_grads)
}

/// The gradient 2 w of w = (1.5, 2) is (3, 4), of norm 5.
#[test]
fn gradients_are_clipped_to_the_norm() -> Result<()> {
    let tape = GradientTape::new();
    let w = tape.watch([1.5, 2.0]);
    let squares = w.mul(&w)?;
    let clipped = clipped(&tape, ops::sum_to(&squares, &[1].into()), &[w])?;
    let [a, b] = first(&clipped)[..] else { panic!("two numbers") };
    assert!((a - 0.6).abs() < 1e-6 && (b - 0.8).abs() < 1e-6);
    assert_eq!(clipped.norm()?, 5.0);
    Ok(())
}

fn compute_norm(grads: &Gradients) -> f32 {
    global_norm(grads).expect("a gradient")
}

fn compute_std(norms: &[f32], mean: f32) -> f32 {
    (norms.iter().map(|norm| (norm - mean) * (norm - mean)).sum::<f32>() / norms.len() as f32).sqrt()
}

fn adaptive(num_iterations: usize, mut compute_gradients: impl FnMut() -> Result<Gradients>) -> Result<Vec<f32>> {
    use tenflowers_autograd::clip_by_global_norm;

    let mut after = Vec::new();
    let mut norm_history = Vec::new();

    for iteration in 0..num_iterations {
        let grads = compute_gradients()?;

        let norm = compute_norm(&grads);
        norm_history.push(norm);

        let mean = norm_history.iter().sum::<f32>() / norm_history.len() as f32;
        let std = compute_std(&norm_history, mean);
        let threshold = mean + 2.0 * std;

        let clipped = clip_by_global_norm(&grads, threshold)?;
        assert_eq!(norm_history.len(), iteration + 1);
        after.push(compute_norm(&clipped));
    }
    Ok(after)
}

/// Nine norms of 1 and one of 11: the mean is 2, the standard deviation 3, so that the last is clipped to 8.
#[test]
fn a_spike_is_clipped_to_the_mean_and_two_deviations() -> Result<()> {
    let mut norms = [1.0_f32; 10].into_iter().enumerate();
    let norms = adaptive(10, || {
        let (at, one) = norms.next().ok_or_else(|| Error::usage("too many"))?;
        Ok(gradient(&[if at == 9 { 11.0 } else { one }]))
    })?;
    assert!(norms[..9].iter().all(|norm| *norm == 1.0) && (norms[9] - 8.0).abs() < 1e-5, "{norms:?}");
    Ok(())
}

fn collect_batch(dataset: &[Vec<f32>], batch_size: usize) -> Vec<f32> {
    dataset[..batch_size].concat()
}

fn one_by_one(
    tape: &GradientTape,
    model: &Model<'_>,
    params: &[TrackedTensor<'_>],
    dataset: &[Vec<f32>],
) -> Result<Vec<f32>> {
    let mut sum = vec![0.0; 2];
    for sample in dataset {
        let sample = tape.constant([1, 2], sample)?;
        let loss = model.forward(&sample)?;
        let grads = tape.gradient(&[loss], &params)?;
        sum.iter_mut().zip(first(&grads)).for_each(|(sum, one)| *sum += one);
    }
    Ok(sum)
}

fn batched(
    tape: &GradientTape,
    model: &Model<'_>,
    params: &[TrackedTensor<'_>],
    (dataset, batch_size): (&[Vec<f32>], usize),
) -> Result<Gradients> {
    let batch = collect_batch(&dataset, batch_size);
    let batch = tape.constant([batch_size, 2], &batch)?;
    let loss = model.forward(&batch)?;
    let grads = tape.gradient(&[loss], &params)?;
    Ok(grads)
}

/// 2 w Σ x: with w = (1, -1) and the sums (9, 12).
#[test]
fn a_batch_gives_the_sum_over_its_samples() -> Result<()> {
    let tape = GradientTape::new();
    let params = [tape.watch([1.0, -1.0])];
    let (model, dataset) = (Model(params[0]), [vec![1.0, 2.0], vec![3.0, 4.0], vec![5.0, 6.0]]);
    let expected = [18.0, -24.0];
    assert_eq!(one_by_one(&tape, &model, &params, &dataset)?, expected);
    assert_eq!(first(&batched(&tape, &model, &params, (&dataset, 3))?), expected);
    Ok(())
}

fn compressed(gradient: Values) -> Result<meromorph::compress::Message> {
    use tenflowers_autograd::{CompressionConfig, CompressionMethod, GradientCompressor};

    let config =
        CompressionConfig { method: CompressionMethod::TopK { k: 1000 }, error_feedback: true, ..Default::default() };

    let mut compressor = GradientCompressor::with_config(config);

    let compressed = compressor.compress(&gradient, "param_name")?;
    Ok(compressed)
}

#[test]
fn the_largest_thousand_are_sent_and_every_method_has_its_size() -> Result<()> {
    let numbers: Vec<f32> = (1..=20_000).map(|k| k as f32).collect();
    let gradient = gradient(&numbers).remove(0).expect("a gradient");
    let message = compressed(gradient.clone())?;
    let values = message.decompress()?;
    assert_eq!((message.sent(), values[18_999], values[19_000]), (1000, 0.0, 19_001.0));
    assert!(message.saved() > 0.9, "{}", message.saved());

    use tenflowers_autograd::{CompressionConfig, GradientCompressor};
    let saved = |method| -> Result<f64> {
        let mut compressor = GradientCompressor::with_config(CompressionConfig { method, ..Default::default() });
        Ok(compressor.compress(&gradient, "param_name")?.saved())
    };
    assert_eq!(
        saved(CompressionMethod::Sparsification { threshold: 1e-4 })?.signum(),
        saved(CompressionMethod::None)?.signum()
    );
    assert!(
        (saved(CompressionMethod::Quantization { bits: 8 })? - 0.75).abs() < 0.01,
        "a byte of four, and the scales"
    );
    assert!(saved(CompressionMethod::Quantization { bits: 3 }).is_err());
    Ok(())
}

fn all_tracked<'t>(
    tape: &'t GradientTape,
    input: &Var,
    [constant, scalar, bias]: &[Var; 3],
) -> Result<[TrackedTensor<'t>; 2]> {
    let x = tape.watch(input);
    let temp1 = x.add(&constant)?;
    let temp2 = temp1.mul(&scalar)?;
    let y = temp2.sub(&bias)?;
    Ok([x, y])
}

fn only_the_result<'t>(
    tape: &'t GradientTape,
    input: Var,
    [constant, scalar, bias]: &[Var; 3],
) -> Result<TrackedTensor<'t>> {
    let temp = input.add(&constant)?;
    let temp = temp.mul(&scalar)?;
    let y = tape.watch(temp.sub(&bias)?);
    Ok(y)
}

/// (3 + 1) · 2 - 5 = 3, whose slope by 3 is 2.
#[test]
fn what_needs_no_gradient_is_not_recorded() -> Result<()> {
    let tape = GradientTape::new();
    let [input, constant, scalar, bias] = [3.0, 1.0, 2.0, 5.0].map(|x| tape.constant([1], &[x]).expect("a number"));
    let constants = [constant, scalar, bias];
    let [x, y] = all_tracked(&tape, &input, &constants)?;
    assert_eq!((y[0], applied(&[&y]).len(), first(&tape.gradient(&[y], &[x])?)), (3.0, 3, vec![2.0]));
    let y = only_the_result(&tape, input, &constants)?;
    assert_eq!((y[0], applied(&[&y]).len(), first(&tape.gradient(&[y], &[y])?)), (3.0, 0, vec![1.0]));
    Ok(())
}
