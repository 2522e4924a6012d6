//! Results that are dropped in the forward pass and computed again in the backward pass: the same bits, less memory, and as much as was predicted.

use crate::devices::devices;
use crate::noise::noise;
use crate::rows::rows;
use meromorph::autograd::Var;
use meromorph::device::{Cost, Label, Passes, Recompute};
use meromorph::nn::{Activation, ActivationLayer, Dropout, Layer, LayerNorm, Linear, MaskedNorm, Residual, Spec};
use meromorph::optim::{Optimizer, Schedule};
use meromorph::tensor::Tensor;
use meromorph::train::{Data, Flow, GradientConfig, StepKind, Trainer, TrainerConfig};
use meromorph::{Device, Result, ops};
use pollster::block_on;

fn data(count: usize, inputs: usize) -> Data {
    rows(inputs, [count, 8], |x| x[0] - x[1] * x[2])
}

fn settings(recompute: Recompute, batch: usize) -> TrainerConfig {
    TrainerConfig {
        schedule: Schedule::CONSTANT,
        batch,
        patience: 0,
        step: Some(StepKind::Recorded),
        recompute,
        ..TrainerConfig::default()
    }
}

/// Layers of everything that saves something for the backward pass.
fn varied() -> Spec {
    let mut spec = Spec::mlp(6, &[24, 24, 24, 24, 24, 24], 1, Activation::silu());
    let block = vec![Layer::LayerNorm(LayerNorm { epsilon: 1e-5 }), spec.layers[2].clone(), spec.layers[3].clone()];
    let norm = Layer::MaskedNorm(MaskedNorm { epsilon: 1e-5, policy: None });
    spec.layers
        .splice(2..4, [Layer::Residual(Residual { layers: block }), norm, Layer::Dropout(Dropout { rate: 0.2 })]);
    spec
}

#[test]
fn gradients_have_the_same_bits_whatever_is_computed_again() {
    for device in devices(&[1, 2]) {
        let after = |recompute, gradients: GradientConfig| {
            let optimizer = Optimizer::adamw(1.0);
            let config = TrainerConfig { gradients, optimizer, ..settings(recompute, 32) };
            let mut trainer = Trainer::new(&device, varied(), config, data(96, 6)).expect("a trainer");
            trainer.advance(5).expect("steps");
            block_on(trainer.parameters()).expect("parameters")
        };
        for gradients in
            [GradientConfig::default(), GradientConfig { sharpness: Some(0.05), ..GradientConfig::default() }]
        {
            let expected = after(Recompute::Nothing, gradients.clone());
            let all = [
                Recompute::Every(2),
                Recompute::Every(3),
                Recompute::Root,
                Recompute::Cheap(u64::MAX),
                Recompute::Every(50),
            ];
            for recompute in all {
                assert_eq!(after(recompute, gradients.clone()), expected, "{recompute:?} on {}", device.info().device);
            }
        }
    }
}

/// Bytes of intermediate results of a step, what is computed again, and the step's operations.
fn planned(device: &Device, layers: usize, recompute: Recompute) -> Result<(u64, usize, f64)> {
    let hidden = vec![256; layers];
    let spec = Spec::mlp(8, &hidden, 1, Activation::silu());
    let trainer = Trainer::new(device, spec, settings(recompute, 1024), data(1024, 8))?;
    let summary = trainer.step_summary();
    let (again, cost) = summary.recomputed;
    Ok((summary.transient_bytes, again, cost.flops as f64 / (summary.cost.flops - cost.flops) as f64))
}

#[test]
fn deep_models_need_less_memory_for_a_third_more_operations() -> Result<()> {
    let device = Device::dry();
    for (layers, least) in [(12, 0.50), (24, 0.60), (50, 0.65), (100, 0.70)] {
        let (whole, none, _) = planned(&device, layers, Recompute::Nothing)?;
        let (blocks, again, more) = planned(&device, layers, Recompute::Every(3))?;
        let saved = 1.0 - blocks as f64 / whole as f64;
        assert_eq!(none, 0);
        assert!(saved >= least, "{layers} layers: {saved:.3} of {whole} bytes saved, expected {least}");
        // A forward pass is a third of a step's operations, and a little more with its slopes.
        assert!(again <= layers && more < 0.34, "{layers} layers: {again} launches, {more:.3} of the operations");
    }
    let (whole, ..) = planned(&device, 100, Recompute::Nothing)?;
    let (root, _, more) = planned(&device, 100, Recompute::Root)?;
    let saved = 1.0 - root as f64 / whole as f64;
    assert!(saved >= 0.80 && more < 0.34, "the root of 100 layers: {saved:.3} saved, {more:.3} more");
    Ok(())
}

#[test]
fn the_bytes_that_are_predicted_are_those_that_are_allocated() -> Result<()> {
    for recompute in [Recompute::Nothing, Recompute::Every(3), Recompute::Root] {
        let device = Device::dry();
        let spec = Spec::mlp(8, &[64; 12], 1, Activation::silu());
        let before = device.counters().live_bytes;
        let trainer = Trainer::new(&device, spec.clone(), settings(recompute, 128), data(128, 8))?;
        let with = device.counters().live_bytes - before;
        let predicted = trainer.step_summary().transient_bytes;
        drop(trainer);
        let again = Trainer::new(&device, spec, settings(Recompute::Nothing, 128), data(128, 8))?;
        let without = device.counters().live_bytes - before;
        let apart = with as i64 - without as i64;
        assert_eq!(apart, predicted as i64 - again.step_summary().transient_bytes as i64, "{recompute:?}");
    }
    Ok(())
}

#[test]
fn a_budget_is_kept_or_refused_before_anything_runs() -> Result<()> {
    let device = Device::dry();
    let (whole, ..) = planned(&device, 24, Recompute::Nothing)?;
    for share in [1.0, 0.8, 0.6, 0.4] {
        let most = (share * whole as f64) as u64;
        let (bytes, again, _) = planned(&device, 24, Recompute::Within(most))?;
        assert!(bytes <= most, "{bytes} of {most} bytes");
        assert_eq!(again == 0, share == 1.0, "{share}: {again} launches again");
    }
    let error = planned(&device, 24, Recompute::Within(1024)).expect_err("too little").to_string();
    let start = "train: memory_budget: got 0.0009765625 MiB for the intermediate results of a step, expected at least ";
    let least: u64 = error
        .strip_prefix(start)
        .and_then(|rest| rest.strip_suffix(" MiB for one row"))
        .and_then(|mib| mib.parse().ok())
        .unwrap_or_else(|| panic!("{error}"));
    let (bytes, ..) = planned(&device, 24, Recompute::Within(least << 20))?;
    assert!(bytes <= least << 20, "the least budget that is named is enough");
    Ok(())
}

#[test]
fn fewer_rows_in_a_step_and_more_steps_in_an_update_train_the_same() -> Result<()> {
    for device in devices(&[1]) {
        let spec = Spec::mlp(6, &[64; 6], 1, Activation::silu());
        let run = |recompute| {
            let config = TrainerConfig { epochs: 4, ..settings(recompute, 128) };
            let mut trainer = Trainer::new(&device, spec.clone(), config, data(512, 6))?;
            let shape = (trainer.settings().batch, trainer.settings().accumulate);
            let bytes = trainer.step_summary().transient_bytes;
            block_on(trainer.run(&mut |_| Flow::Continue))?;
            let last = trainer.history().last().and_then(|epoch| epoch.val_loss).expect("an epoch");
            Ok::<_, meromorph::Error>((shape, bytes, last))
        };
        let (shape, whole, expected) = run(Recompute::Nothing)?;
        assert_eq!(shape, (128, 1));
        let ((batch, accumulate), bytes, got) = run(Recompute::Within(whole / 8))?;
        assert!(
            batch < 128 && batch * accumulate == 128 && bytes <= whole / 8,
            "{batch} x {accumulate}, {bytes} bytes"
        );
        assert!(
            (got - expected).abs() <= 1e-6 * expected,
            "{} on {}",
            (got - expected) / expected,
            device.info().device
        );
    }
    Ok(())
}

#[test]
fn a_budget_keeps_the_rows_of_an_update_that_has_several_steps() -> Result<()> {
    // Two steps of 128 rows make an update of 256, and so do more steps of fewer rows.
    let device = Device::dry();
    let planned = |recompute| {
        let config = TrainerConfig { accumulate: 2, ..settings(recompute, 128) };
        let trainer = Trainer::new(&device, Spec::mlp(6, &[64; 6], 1, Activation::silu()), config, data(512, 6))?;
        let TrainerConfig { batch, accumulate, .. } = *trainer.settings();
        Ok::<_, meromorph::Error>((batch, accumulate, trainer.step_summary().transient_bytes))
    };
    let (batch, accumulate, whole) = planned(Recompute::Nothing)?;
    assert_eq!((batch, accumulate), (128, 2));
    let (batch, accumulate, _) = planned(Recompute::Within(whole))?;
    assert_eq!((batch, accumulate), (128, 2), "enough for the whole batch");
    let (batch, accumulate, bytes) = planned(Recompute::Within(whole / 8))?;
    assert!(batch < 128 && bytes <= whole / 8, "{batch} rows, {bytes} of {whole} bytes");
    assert_eq!(batch * accumulate, 256, "{batch} x {accumulate}");
    Ok(())
}

#[test]
fn the_fused_step_is_not_meant() {
    let config = TrainerConfig { step: Some(StepKind::Fused), ..settings(Recompute::Root, 32) };
    let spec = Spec::mlp(6, &[8], 1, Activation::silu());
    let error = Trainer::new(&Device::cpu(1), spec, config, data(64, 6)).err().expect("wrong").to_string();
    assert_eq!(
        error,
        "train: recompute: the fused step keeps no results between its passes: expected the recorded step"
    );
}

#[test]
fn names_choose_what_is_computed_again() {
    for device in devices(&[1]) {
        let run = |names: &[&str]| {
            let recompute_layers = names.iter().map(|name| (*name).to_owned()).collect();
            let config = TrainerConfig { recompute_layers, ..settings(Recompute::Nothing, 32) };
            let mut trainer = Trainer::new(&device, varied(), config, data(96, 6))?;
            trainer.advance(5)?;
            let again = trainer.step_summary().recomputed.0;
            Ok::<_, meromorph::Error>((block_on(trainer.parameters())?, again))
        };
        let (expected, none) = run(&[]).expect("a run");
        assert_eq!(none, 0);
        let mut counts = Vec::new();
        for names in
            [&["layers.0"][..], &["layers.0", "layers.5"], &["linear"], &["masked_norm"], &["layer_norm", "map"]]
        {
            let (bits, again) = run(names).expect("a run");
            assert_eq!(bits, expected, "{}: {names:?}", device.info().name);
            counts.push(again);
        }
        assert!(counts[0] >= 1 && counts[1] > counts[0] && counts[2] > counts[1] && counts[3..].iter().all(|n| *n > 0));
        let said = run(&["layers.99"]).unwrap_err().to_string();
        assert!(
            said.starts_with("train: recompute_layers: got \"layers.99\", expected one of \"activation\""),
            "{said}"
        );
    }
}

#[test]
fn a_run_with_a_budget_goes_on_with_the_steps_it_began_with() -> Result<()> {
    let device = Device::cpu(1);
    let mut config = TrainerConfig { epochs: 4, ..settings(Recompute::Within(64 << 10), 64) };
    config.schedule = Schedule::CONSTANT;
    let spec = || Spec::mlp(6, &[64, 64, 64], 1, Activation::tanh());
    let run = |trainer: &mut Trainer| block_on(trainer.epoch(&mut |_| Flow::Continue)).map(drop);
    let mut whole = Trainer::new(&device, spec(), config.clone(), data(96, 6))?;
    let batch = whole.settings().batch;
    assert!(batch < 64, "{batch}");
    let mut first = Trainer::new(&device, spec(), config, data(96, 6))?;
    (0..4).try_for_each(|_| run(&mut whole))?;
    (0..2).try_for_each(|_| run(&mut first))?;
    let (checkpoint, _) =
        meromorph::train::Checkpoint::load(&block_on(first.checkpoint())?.save(None)?, "budget.ckpt")?;
    let mut second = Trainer::resume(&device, data(96, 6), checkpoint)?;
    assert_eq!(second.settings().batch, batch);
    (0..2).try_for_each(|_| run(&mut second))?;
    assert_eq!(block_on(second.parameters())?, block_on(whole.parameters())?);
    Ok(())
}

#[test]
fn wrong_settings_are_named_before_a_budget_is_looked_at() {
    let config = settings(Recompute::Within(64 << 10), 0);
    let trainer = Trainer::new(&Device::cpu(1), Spec::mlp(6, &[8], 1, Activation::tanh()), config, data(96, 6));
    assert_eq!(trainer.map(drop).unwrap_err().to_string(), "train: batch is 0; a step needs at least 1 row");
}

type Choose = fn(&Label, Cost) -> bool;

#[test]
fn a_function_of_label_and_cost_chooses_what_is_computed_again() -> Result<()> {
    let device = Device::cpu(1);
    let w = Var::leaf(Tensor::from_f32(&device, [64, 64], &noise(64 * 64, 1))?);
    let x = Var::constant(Tensor::from_f32(&device, [128, 64], &noise(128 * 64, 2))?);
    let gradient = |passes: &Passes| -> Result<(Vec<f32>, usize)> {
        let (plan, gradient) = device.capture_with(passes, || {
            let part = |name: &str, x: &Var| {
                device.labelled(Label::part(name), || ops::layer(x, &w, None, Some(Activation::tanh().curve())))
            };
            let y = part("second", &part("first", &x));
            // Only the value: its history would hold what could be dropped.
            Ok(ops::grad(&ops::sum(&ops::mul(&y, &y), 0..2), &[&w])?.remove(0).expect("a gradient").value().clone())
        })?;
        plan.run(1)?;
        Ok((block_on(gradient.to_f32())?, plan.summary().recomputed.0))
    };
    let (expected, _) = gradient(&Passes::default())?;
    let drops =
        |choice: fn(&Label, Cost) -> bool| Passes { drops: Some(std::rc::Rc::new(choice)), ..Passes::default() };
    let choices: [(Choose, usize); 3] = [
        (|label, _| &*label.layer == "first", 1),
        (|label, cost| !label.is_backward && cost.flops > 1000, 2),
        (|_, cost| cost.flops > u64::MAX / 2, 0),
    ];
    for (at, (choice, count)) in choices.into_iter().enumerate() {
        let (bits, again) = gradient(&drops(choice))?;
        assert!(bits == expected && again == count, "choice {at}: {again} launches");
    }
    Ok(())
}

/// Blocks of layer norm, linear layer and tanh around a residual connection, cut between the blocks: what is kept is one result of each.
#[test]
fn residual_networks_need_less_than_half_the_memory() -> Result<()> {
    let device = Device::dry();
    let linear = |outputs| Layer::Linear(Linear { outputs, bias: true, init: meromorph::nn::Init::Linear });
    let tanh = Layer::Activation(ActivationLayer { function: Activation::tanh() });
    let block =
        Layer::Residual(Residual { layers: vec![Layer::LayerNorm(LayerNorm { epsilon: 1e-5 }), linear(64), tanh] });
    let layers: Vec<Layer> =
        [linear(64)].into_iter().chain(std::iter::repeat_n(block, 24)).chain([linear(1)]).collect();
    let planned = |recompute| {
        let spec = Spec { inputs: 3, layers: layers.clone() };
        let trainer = Trainer::new(&device, spec, settings(recompute, 1000), data(2000, 3))?;
        let summary = trainer.step_summary();
        let (again, cost) = summary.recomputed;
        Ok::<_, meromorph::Error>((
            summary.transient_bytes as f64,
            again,
            cost.flops as f64 / summary.cost.flops as f64,
        ))
    };
    let (whole, ..) = planned(Recompute::Nothing)?;
    for (recompute, most) in [(2, 0.5), (3, 0.5), (6, 0.5), (12, 0.7)].map(|(n, most)| (Recompute::Every(n), most)) {
        let (bytes, again, more) = planned(recompute)?;
        assert!(bytes <= most * whole, "{recompute:?}: {:.3} of the memory", bytes / whole);
        assert!(again <= 24 * 4 && more < 0.34, "{recompute:?}: {again} launches again, {more:.3} of the operations");
    }
    let (bytes, ..) = planned(Recompute::Root)?;
    assert!(bytes <= 0.5 * whole, "the root: {:.3} of the memory", bytes / whole);
    Ok(())
}
