//! Mixed precision: half the bytes between the passes, nearly the same loss, and updates that overflow in 16 bits are as if they had never been.

use crate::devices::devices;
use crate::rows::rows;
use meromorph::device::{Launch, Recompute};
use meromorph::loss::Loss;
use meromorph::nn::{Activation, Head, Layer, LayerNorm, MaskedNorm, Residual, Spec};
use meromorph::optim::{Optimizer, Schedule};
use meromorph::train::{
    Checkpoint, Data, Examples, Flow, GradientConfig, Half, LossScaling, MixedPrecision, StepKind, Trainer,
    TrainerConfig,
};
use meromorph::{Device, Result};
use pollster::block_on;

const INPUTS: usize = 4;

fn data(count: usize, target: impl Fn(&[f32]) -> f32) -> Data {
    rows(INPUTS, [count, count / 2], target)
}

/// Targets as pairs, for a projective head.
fn paired(count: usize) -> Data {
    let data = data(count, smooth);
    let pairs = |part: &Examples| Examples { x: part.x.clone(), y: part.y.iter().flat_map(|y| [*y, 1.0]).collect() };
    let (train, validation, test) = (pairs(&data.train), pairs(&data.validation), pairs(&data.test));
    Data { targets: 2, train, validation, test, ..data }
}

fn smooth(x: &[f32]) -> f32 {
    x[0] - x[1] * x[2] + 0.5 * (3.0 * x[3]).sin()
}

fn settings(precision: Option<MixedPrecision>) -> TrainerConfig {
    TrainerConfig {
        schedule: Schedule::CONSTANT,
        batch: 32,
        epochs: 20,
        patience: 0,
        step: Some(StepKind::Recorded),
        precision,
        ..TrainerConfig::default()
    }
}

fn deep(layers: usize, width: usize) -> Spec {
    Spec::mlp(INPUTS, &vec![width; layers], 1, Activation::tanh())
}

fn f16() -> MixedPrecision {
    MixedPrecision::new(Half::F16)
}

fn with_scale(scale: LossScaling) -> MixedPrecision {
    MixedPrecision { scale: Some(scale), ..f16() }
}

#[test]
fn steps_keep_half_the_bytes() {
    let device = Device::dry();
    let bytes = |layers: usize, precision: Option<MixedPrecision>| {
        let config = TrainerConfig { batch: 256, ..settings(precision) };
        let mut trainer = Trainer::new(&device, deep(layers, 256), config, data(256, smooth)).expect("a trainer");
        trainer.prepare().expect("plans");
        trainer.step_summary().transient_bytes
    };
    for format in [Half::F16, Half::Bf16] {
        let half = |layers| bytes(layers, Some(MixedPrecision::new(format)));
        // What more layers add is kept between the passes; results at work are in 32 bits.
        assert_eq!(2 * (half(50) - half(24)), bytes(50, None) - bytes(24, None), "{format:?}");
        for layers in [12, 24, 50] {
            let share = half(layers) as f64 / bytes(layers, None) as f64;
            assert!(share < 0.5 + 3.0 / layers as f64, "{layers} layers in {format:?}: {share:.3}");
        }
    }
}

type Target = fn(&[f32]) -> f32;

#[test]
fn the_loss_is_nearly_that_of_32_bits() {
    let tasks: [(&str, Spec, Loss, Target); 3] = [
        ("regression", deep(3, 24), Loss::mse(), smooth),
        ("classes", Spec::mlp(INPUTS, &[24, 24], 3, Activation::relu()), Loss::cross_entropy(0.1), |x| {
            if x[0] > 0.3 { 0.0 } else { 1.0 + f32::from(u8::from(x[1] * x[2] > 0.0)) }
        }),
        ("blocks", blocks(), Loss::mae(), smooth),
    ];
    for device in devices(&[2]) {
        for (name, spec, loss, target) in &tasks {
            let run = |precision| {
                let config = TrainerConfig { loss: loss.clone(), ..settings(precision) };
                let mut trainer = Trainer::new(&device, spec.clone(), config, data(512, target)).expect("a trainer");
                let outcome = block_on(trainer.run(&mut |_| Flow::Continue)).expect("a run");
                assert_eq!(outcome.epochs, 20, "{name}");
                trainer.history().iter().rev().take(5).map(|epoch| epoch.train_loss).sum::<f64>() / 5.0
            };
            let whole = run(None);
            for format in [Half::F16, Half::Bf16] {
                let half = run(Some(MixedPrecision::new(format)));
                let bound = if format == Half::F16 { 0.01 } else { 0.03 };
                let apart = (half - whole).abs() / whole;
                assert!(apart < bound && half != whole, "{name} in {format:?}: {half} and {whole}");
            }
        }
    }
}

/// Norms and residual layers.
fn blocks() -> Spec {
    let mut spec = deep(3, 24);
    let inner = vec![Layer::LayerNorm(LayerNorm { epsilon: 1e-5 }), spec.layers[2].clone(), spec.layers[3].clone()];
    spec.layers.splice(2..4, [Layer::Residual(Residual { layers: inner })]);
    spec
}

/// One step is an epoch, over rows in the same order, so that runs can be compared however many updates were left out.
fn whole_batches(device: &Device, precision: MixedPrecision, optimizer: Optimizer) -> Trainer {
    let config = TrainerConfig { batch: 256, optimizer, epochs: 60, ..settings(Some(precision)) };
    let mut trainer = Trainer::new(device, deep(3, 24), config, data(256, smooth)).expect("a trainer");
    trainer.shuffle_with(|_| (0..256).collect());
    trainer
}

/// The parameters after a number of steps, and the scale of the loss.
fn after(trainer: &mut Trainer, steps: usize) -> (Vec<u32>, Option<f64>) {
    for _ in 0..steps {
        block_on(trainer.epoch(&mut |_| Flow::Continue)).expect("an epoch");
    }
    let bits = block_on(trainer.parameters()).expect("parameters").iter().map(|value| value.to_bits()).collect();
    (bits, trainer.history().last().and_then(|epoch| epoch.gradients?.loss_scale))
}

#[test]
fn an_update_that_overflows_is_left_out_as_if_it_had_never_been() {
    for device in devices(&[1, 2]) {
        // The first scale at which nothing overflows, and so the twice as large one does.
        let found = after(
            &mut whole_batches(
                &device,
                with_scale(LossScaling { initial: 2f64.powi(32), ..LossScaling::default() }),
                Optimizer::adamw(1e-2),
            ),
            40,
        )
        .1;
        let fits = found.expect("a scale");
        assert!(fits < 2f64.powi(30), "{fits}");
        let start = |initial| {
            whole_batches(
                &device,
                with_scale(LossScaling { initial, ..LossScaling::default() }),
                Optimizer::adamw(1e-2),
            )
        };
        let untouched = after(&mut start(fits), 0).0;
        let once = after(&mut start(2.0 * fits), 1);
        assert_eq!(once, (untouched, Some(fits)), "{}: an overflow changes nothing but the scale", device.info().name);
        assert_eq!(after(&mut start(2.0 * fits), 6).0, after(&mut start(fits), 5).0, "{}", device.info().name);
    }
}

#[test]
fn the_scale_grows_after_clean_updates_and_stays_within_its_limits() {
    for device in devices(&[1]) {
        let scale = LossScaling { initial: 16.0, growth: 4.0, interval: 3, most: 200.0, ..LossScaling::default() };
        let mut trainer = whole_batches(&device, with_scale(scale), Optimizer::sgd(0.0).expect("a share"));
        let scales: Vec<f64> = (0..10).filter_map(|_| after(&mut trainer, 1).1).collect();
        assert_eq!(scales, [16.0, 16.0, 64.0, 64.0, 64.0, 200.0, 200.0, 200.0, 200.0, 200.0]);
        let least = 2f64.powi(29);
        let scale = LossScaling { initial: 2f64.powi(32), backoff: 0.25, least, ..LossScaling::default() };
        let mut trainer = whole_batches(&device, with_scale(scale), Optimizer::sgd(0.0).expect("a share"));
        assert_eq!(after(&mut trainer, 1).1, Some(2f64.powi(30)));
        // Not even the smallest scale fits.
        let outcome = block_on(trainer.epoch(&mut |_| Flow::Continue)).expect("an epoch");
        assert_eq!(outcome.map(|outcome| outcome.stop), Some(meromorph::train::Stop::Diverged));
    }
}

#[test]
fn a_scale_that_is_a_power_of_two_changes_no_bit_in_bf16() {
    for device in devices(&[1]) {
        let bits = |scale: Option<LossScaling>| {
            let precision = MixedPrecision { scale, ..MixedPrecision::new(Half::Bf16) };
            after(&mut whole_batches(&device, precision, Optimizer::adamw(1e-2)), 4).0
        };
        assert_eq!(
            bits(Some(LossScaling { initial: 1024.0, ..LossScaling::default() })),
            bits(Some(LossScaling { initial: 256.0, ..LossScaling::default() }))
        );
    }
}

#[test]
fn gradients_too_small_for_16_bits_need_the_scale() {
    // Targets so near to each other that gradients are below the smallest f16, 6e-8.
    let tiny = |x: &[f32]| 1e-6 * smooth(x);
    let device = Device::cpu(1);
    let moved = |scale: Option<LossScaling>| {
        let precision = MixedPrecision { scale, ..f16() };
        let config = TrainerConfig {
            batch: 256,
            lr: 1e5,
            optimizer: Optimizer::sgd(0.0).expect("a share"),
            ..settings(Some(precision))
        };
        let mut spec = deep(2, 16);
        // Small weights on top make the gradients below small.
        let data = data(256, tiny);
        spec.layers.truncate(5);
        let mut trainer =
            Trainer::with_parameters(&device, spec.clone(), config, data, &small(&spec)).expect("a trainer");
        let before = block_on(trainer.parameters()).expect("parameters");
        trainer.advance(1).expect("a step");
        let after = block_on(trainer.parameters()).expect("parameters");
        before[..INPUTS * 16].iter().zip(&after).filter(|(a, b)| a != b).count()
    };
    let (without, with) = (moved(None), moved(Some(LossScaling { initial: 2f64.powi(24), ..LossScaling::default() })));
    assert!(with > 2 * without.max(1), "{without} weights of the first layer moved without a scale, {with} with one");
}

/// Weights of which those of the last layer are tiny.
fn small(spec: &Spec) -> Vec<f32> {
    let layout = meromorph::nn::Layout::of(spec);
    let mut flat = meromorph::nn::initialise(&layout, 1);
    let last = layout.parameters.len() - 2;
    let first = layout.parameters[last].offset;
    flat[first..].iter_mut().for_each(|value| *value *= 1e-6);
    flat
}

#[test]
fn it_goes_with_recomputation_accumulation_and_limits() {
    for device in devices(&[1]) {
        let bits = |recompute| {
            let gradients =
                GradientConfig { clip: Some(meromorph::train::Clip::Norm { most: 0.1 }), ..GradientConfig::default() };
            let config = TrainerConfig { recompute, accumulate: 2, gradients, ..settings(Some(f16())) };
            let mut trainer = Trainer::new(&device, deep(6, 32), config, data(256, smooth)).expect("a trainer");
            trainer.advance(6).expect("steps");
            block_on(trainer.parameters()).expect("parameters")
        };
        let wanted = bits(Recompute::Nothing);
        for recompute in [Recompute::Every(2), Recompute::Root] {
            assert_eq!(bits(recompute), wanted, "{}: {recompute:?}", device.info().name);
        }
    }
}

/// The launches of a step that move fewer bytes in bf16 than in f32, and how many fewer.
fn narrowed(spec: &Spec, config: &TrainerConfig, names: &[&str], data: &Data) -> Vec<(Launch, u64)> {
    let keep_f32 = names.iter().map(|name| (*name).to_owned()).collect();
    let launches = |precision| {
        let config = TrainerConfig { batch: 256, precision, ..config.clone() };
        let mut trainer = Trainer::new(&Device::dry(), spec.clone(), config, data.clone()).expect("a trainer");
        trainer.prepare().expect("plans");
        let mut launches = trainer.step_summary().launches.clone();
        // What no kernel converts itself; bf16 needs no launch for a scale.
        launches.retain(|launch| launch.kernel != "cast");
        launches
    };
    let whole = launches(None);
    let half = launches(Some(MixedPrecision { keep_f32, ..MixedPrecision::new(Half::Bf16) }));
    assert_eq!(whole.len(), half.len());
    let saved = whole.into_iter().zip(half).map(|(whole, half)| {
        let bytes = whole.cost.bytes - half.cost.bytes;
        (half, bytes)
    });
    saved.filter(|(_, bytes)| *bytes > 0).collect()
}

#[test]
fn names_choose_what_stays_in_32_bits() {
    let labels = |spec: &Spec, names: &[&str]| -> Vec<String> {
        let narrowed = narrowed(spec, &settings(None), names, &data(256, smooth));
        narrowed.into_iter().map(|(launch, _)| launch.label.to_string()).collect()
    };
    let of = |names: &[&str]| labels(&deep(4, 32), names);
    let all = of(&[]);
    assert!(all.iter().any(|label| label == "layers.2 layer"), "{all:?}");
    // An activation after a linear layer is a part of its launch, by its place and by its kind.
    for name in ["layers.2", "layers.3"] {
        let kept = of(&[name]);
        assert!(kept.len() < all.len() && !kept.is_empty(), "{name}: {kept:?}");
    }
    for name in ["linear", "activation", "layer"] {
        assert_eq!(of(&[name]), Vec::<String>::new(), "{name}");
    }
    // A layer's name stands for the layers inside it.
    let inside = |names: &[&str]| {
        labels(&blocks(), names).into_iter().filter(|label| label.starts_with("layers.2.layers")).count()
    };
    assert!(inside(&[]) > inside(&["layers.2"]) && inside(&["residual"]) == inside(&["layers.2"]));
}

#[test]
fn cheap_launches_are_judged_without_their_packing() {
    let device = Device::dry();
    let again = |precision: Option<MixedPrecision>| {
        let config = TrainerConfig { recompute: Recompute::Cheap(100_000), batch: 256, ..settings(precision) };
        let mut trainer = Trainer::new(&device, deep(6, 64), config, data(256, smooth)).expect("a trainer");
        trainer.prepare().expect("plans");
        trainer.step_summary().recomputed.1.flops
    };
    // Products of 256 rows and 64 units have two million operations.
    assert!(again(None) < 200_000 && again(Some(f16())) < 400_000, "{} and {}", again(None), again(Some(f16())));
}

#[test]
fn epochs_without_an_update_do_not_count_for_patience() -> Result<()> {
    let device = Device::cpu(1);
    let scale = LossScaling { initial: 2f64.powi(32), ..LossScaling::default() };
    let config = TrainerConfig { batch: 256, epochs: 60, patience: 3, ..settings(Some(with_scale(scale))) };
    let mut trainer = Trainer::new(&device, deep(3, 24), config, data(256, smooth))?;
    block_on(trainer.run(&mut |_| Flow::Continue))?;
    let updates: u64 = trainer.history().iter().filter_map(|epoch| epoch.gradients).map(|one| one.updates).sum();
    assert!(trainer.history().len() > 10 && updates > 5, "{} epochs, {updates} updates", trainer.history().len());
    Ok(())
}

#[test]
fn a_run_goes_on_with_the_same_bits() -> Result<()> {
    let device = Device::cpu(1);
    let scale = LossScaling { interval: 3, ..LossScaling::default() };
    let start = || whole_batches(&device, with_scale(scale), Optimizer::adamw(1e-2));
    let wanted = after(&mut start(), 9);
    let mut first = start();
    after(&mut first, 4);
    let bytes = block_on(first.checkpoint())?.save(None)?;
    let (checkpoint, _) = Checkpoint::load(&bytes, "half.ckpt")?;
    let mut second = Trainer::resume(&device, data(256, smooth), checkpoint)?;
    second.shuffle_with(|_| (0..256).collect());
    assert_eq!(after(&mut second, 5), wanted);
    Ok(())
}

#[test]
fn gradients_are_reported_without_the_scale() {
    let device = Device::cpu(1);
    let flow = |precision| {
        let gradients = GradientConfig { watches: true, ..GradientConfig::default() };
        let config = TrainerConfig { gradients, ..settings(precision) };
        let mut trainer = Trainer::new(&device, deep(3, 24), config, data(256, smooth)).expect("a trainer");
        trainer.advance(3).expect("steps");
        block_on(trainer.gradient_flow()).expect("gradients")
    };
    for (half, whole) in flow(Some(f16())).iter().zip(&flow(None)) {
        assert!((half.rms / whole.rms - 1.0).abs() < 0.02 && half.issue.is_none(), "{half:?} and {whole:?}");
    }
}

#[test]
fn poles_stay_in_32_bits() {
    let spec = Spec::projective(INPUTS, &[64, 64], Head::rational(1), Activation::tanh());
    let config = TrainerConfig { loss: Loss::Pairs(meromorph::loss::PairLoss::default()), ..settings(None) };
    let narrowed = narrowed(&spec, &config, &[], &paired(256));
    let saved = |layer: &str, is_backward| -> u64 {
        let is_it = |launch: &Launch| &*launch.label.layer == layer && launch.label.is_backward == is_backward;
        narrowed.iter().filter(|(launch, _)| is_it(launch)).map(|(_, bytes)| bytes).sum()
    };
    let values = 2 * 256 * 64;
    // Values and slopes; what the head reads stays.
    assert_eq!(["layers.0", "layers.2", "layers.4"].map(|layer| saved(layer, false)), [2 * values, 3 * values, values]);
    assert_eq!([saved("layers.5", false), saved("layers.5", true)], [0; 2]);
}

#[test]
fn wrong_settings_are_errors() {
    let device = Device::cpu(1);
    let said = |config: TrainerConfig, spec: Spec| {
        let trainer = Trainer::new(&device, spec, config, data(64, smooth));
        trainer.and_then(|mut trainer| trainer.prepare()).map(drop).unwrap_err().to_string()
    };
    let of = |precision: MixedPrecision| said(settings(Some(precision)), deep(2, 8));
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let both = MixedPrecision { keep_f32: names(&["layers.2"]), keep_half: names(&["linear", "layers.2"]), ..f16() };
    assert_eq!(
        of(both),
        "train: keep_half: got \"layers.2\", which keep_f32 names as well, expected it in one of them"
    );
    assert_eq!(
        of(MixedPrecision { keep_f32: names(&["layer.2"]), ..f16() }),
        "train: keep_f32: got \"layer.2\", expected one of \"activation\", \"layer\", \"layer_norm\", \"layers.0\", \"layers.1\", \"layers.2\", \"layers.3\", \"layers.4\", \"linear\", \"map\", \"masked\", …, \"rational\"; did you mean \"layers.2\"?"
    );
    assert_eq!(
        of(MixedPrecision { is_strict: true, ..f16() }),
        "train: strict: got precision f16 on cpu, which has no type for it: expected f32, or no strict, which packs two numbers in a word"
    );
    assert_eq!(
        of(with_scale(LossScaling { interval: 0, ..LossScaling::default() })),
        "train: scale_interval: got 0, expected at least 1 update"
    );
    assert_eq!(
        of(with_scale(LossScaling { initial: -1.0, ..LossScaling::default() })),
        "train: loss_scale: got -1, expected a finite number above 0"
    );
    let rational = || {
        let mut spec = Spec::projective(INPUTS, &[8, 8], Head::rational(1), Activation::tanh());
        let norm = Layer::MaskedNorm(MaskedNorm { epsilon: 1e-5, policy: None });
        spec.layers.splice(1..2, [norm]);
        spec
    };
    for name in ["projective", "masked_norm", "layers.1"] {
        let precision = Some(MixedPrecision { keep_half: names(&[name]), ..f16() });
        let config = TrainerConfig { loss: Loss::Pairs(meromorph::loss::PairLoss::default()), ..settings(precision) };
        let trainer = Trainer::new(&device, rational(), config, paired(64));
        assert_eq!(
            trainer.map(drop).unwrap_err().to_string(),
            format!("train: keep_half: got \"{name}\", whose poles need f32: expected layers without poles")
        );
    }
    assert_eq!(
        of(with_scale(LossScaling { most: f64::INFINITY, ..LossScaling::default() })),
        "train: the largest loss scale: got inf, expected a finite number above 0"
    );
    assert_eq!(
        said(TrainerConfig { step: Some(StepKind::Fused), ..settings(Some(f16())) }, deep(2, 8)),
        "train: precision: got f16, but the fused step keeps nothing between its passes: expected the recorded step"
    );
    assert_eq!(
        said(
            TrainerConfig { optimizer: Optimizer::parse("lamb").expect("a name"), ..settings(Some(f16())) },
            deep(2, 8)
        ),
        "train: precision: got f16 with the optimizer lamb, which cannot leave out an update; expected bf16, f32 or another optimizer"
    );
}
