//! Memory: checkpointing, in place, accumulation, mixed precision.

use meromorph::autograd::Var;
use meromorph::device::{Device, Recompute};
use meromorph::nn::{Activation, Spec};
use meromorph::train::{Data, Examples, StepKind, Trainer, TrainerConfig};
use meromorph::{Result, ops};
use tenflowers_autograd::{ActivationCheckpointPolicy, AsVar, GradientTape, InPlace, TensorOps, TrackedTensor, Values};

use crate::common::{Gradients, Model, Optimizer, first};

fn block() -> ActivationCheckpointPolicy {
    use tenflowers_autograd::{ActivationCheckpointPolicy, CheckpointStrategy};

    let policy = ActivationCheckpointPolicy::default().with_strategy(CheckpointStrategy::Block).with_interval(3);
    policy
}

fn selective() -> ActivationCheckpointPolicy {
    use tenflowers_autograd::CheckpointStrategy;

    let policy = ActivationCheckpointPolicy::default()
        .with_strategy(CheckpointStrategy::Selective)
        .with_min_computation_threshold(1000);
    policy
}

fn auto() -> ActivationCheckpointPolicy {
    use tenflowers_autograd::CheckpointStrategy;

    let policy =
        ActivationCheckpointPolicy::default().with_strategy(CheckpointStrategy::Auto).with_memory_budget_mb(4096);
    policy
}

/// Bytes of the intermediate results of a step of 24 layers.
fn bytes(policy: ActivationCheckpointPolicy) -> Result<u64> {
    let train = Examples { x: vec![0.5; 512], y: vec![0.25; 512] };
    let data = Data { inputs: 1, targets: 1, train, ..Data::default() };
    let settings =
        TrainerConfig { recompute: policy.recompute()?, step: Some(StepKind::Recorded), ..TrainerConfig::default() };
    let mut trainer = Trainer::new(&Device::dry(), Spec::mlp(1, &[64; 24], 1, Activation::tanh()), settings, data)?;
    trainer.prepare()?;
    Ok(trainer.step_summary().transient_bytes)
}

#[test]
fn policies_take_less_memory_where_they_say_so() -> Result<()> {
    assert_eq!(
        [block().recompute()?, selective().recompute()?, auto().recompute()?],
        [Recompute::Every(3), Recompute::Cheap(1000), Recompute::Within(4096 << 20)]
    );
    let all = bytes(ActivationCheckpointPolicy::default())?;
    assert!(bytes(block())? < all / 2, "every third layer is kept");
    assert_eq!(bytes(auto())?, all, "all fits into the budget");
    Ok(())
}

fn new_tensors(mut gradient: Values, decay: Var) -> Result<Values> {
    for _ in 0..1000 {
        gradient = gradient.mul(&decay)?;
    }
    Ok(gradient)
}

fn in_place(mut gradient: Values, decay: Var) -> Result<Values> {
    for _ in 0..1000 {
        gradient.mul_inplace(&decay)?;
    }
    Ok(gradient)
}

/// 0.999^1000 = 0.367695, up to the rounding of a thousand products.
#[test]
fn a_thousand_products_in_place_take_no_memory() -> Result<()> {
    let device = Device::cpu(1);
    let tape = GradientTape::on(&device);
    let decay = tape.constant([1], &[0.999])?;
    let ones = || tape.constant([1 << 16], &vec![1.0; 1 << 16]).map(Values::from);
    let gradient = ones()?;
    let before = device.counters();
    let gradient = in_place(gradient, decay.clone())?;
    let after = device.counters();
    assert_eq!((after.live_bytes, after.peak_bytes), (before.live_bytes, before.peak_bytes));
    let apart = new_tensors(ones()?, decay)?;
    assert!((gradient[7] - 0.367_695).abs() < 1e-5, "{}", gradient[7]);
    assert_eq!(gradient.to_vec()?, apart.to_vec()?);
    Ok(())
}

fn accumulated(model: &Model<'_>, params: &[TrackedTensor<'_>], micro_batches: [Var; 4]) -> Result<Gradients> {
    use tenflowers_autograd::GradientAccumulator;

    let mut accumulator = GradientAccumulator::new();
    let accumulation_steps = 4;

    for step in 0..accumulation_steps {
        let micro_batch = &micro_batches[step];
        let tape = GradientTape::new();

        let loss = model.forward(&micro_batch)?;
        let grads = tape.gradient(&[loss], &params)?;

        accumulator.accumulate(&grads)?;
    }

    let final_grads = accumulator.get_averaged_gradients()?;
    Ok(final_grads)
}

/// The gradients 2 w x for x = 1, 2, 3, 6 have the mean 6 w.
#[test]
fn accumulated_gradients_are_their_mean() -> Result<()> {
    let tape = GradientTape::new();
    let params = [tape.watch([1.0, -2.0])];
    let [a, b, c, d] = [1.0, 2.0, 3.0, 6.0].map(|x| tape.constant([1], &[x]));
    let mean = accumulated(&Model(params[0]), &params, [a?, b?, c?, d?])?;
    assert_eq!(first(&mean), [6.0, -12.0]);
    Ok(())
}

fn scaled_step(
    tape: &GradientTape,
    loss: impl AsVar,
    params: Vec<TrackedTensor<'_>>,
    optimizer: &mut Optimizer,
) -> Result<(bool, f64)> {
    use tenflowers_autograd::DType;
    use tenflowers_autograd::{AMPConfig, AMPPolicy};

    let amp_config =
        AMPConfig { enabled: true, initial_scale: 65536.0, target_dtype: DType::Float16, ..Default::default() };

    let mut amp_policy = AMPPolicy::new(amp_config);

    let scaled_loss = amp_policy.scale_loss(&loss)?;
    let mut grads = tape.gradient(&[scaled_loss], &params)?;
    let should_step = amp_policy.unscale_and_check(&mut grads)?;

    if should_step {
        optimizer.step(&grads)?;
        amp_policy.update_scale(false);
    }
    Ok((should_step, amp_policy.scale()))
}

/// The gradient of Σ w² is 2 w; 65,536 times 1e34 is no number in f32.
#[test]
fn a_scaled_step_is_made_or_left_out() -> Result<()> {
    let tape = GradientTape::new();
    for (weights, expected) in [([1.0, 3.0], (true, 65536.0)), ([1e34, 0.0], (false, 32768.0))] {
        let w = tape.watch(weights);
        let squares = w.mul(&w)?;
        let loss = ops::sum_to(&squares, &[1].into());
        let mut optimizer = Optimizer { weights: weights.to_vec(), rate: 0.25 };
        assert_eq!(scaled_step(&tape, &loss, vec![w], &mut optimizer)?, expected);
        assert_eq!(optimizer.weights, if expected.0 { [0.5, 1.5] } else { weights });
    }
    Ok(())
}
