//! Together with all that updates know: updates that are left out, accumulated and resumed ones, limits, groups, 16 bits.

use super::{advanced, data, everywhere, spec, trainer, worst};
use meromorph::nn::Layout;
use meromorph::optim::Schedule;
use meromorph::train::{
    Checkpoint, Clip, Flow, GradientConfig, Half, MixedPrecision, ParameterGroup, StepKind, Trainer, TrainerConfig,
};
use pollster::block_on;

#[test]
fn an_update_that_is_not_finite_is_left_out_as_if_it_had_never_been() {
    everywhere(&[1, 2], |device, mut config, place| {
        config.gradients.skips_overflow = true;
        config.schedule = Schedule::CONSTANT;
        let mut bad = data(192);
        bad.train.y[64..128].fill(3e38);
        let mut never = data(192);
        never.train.x.drain(64 * 3..128 * 3);
        never.train.y.drain(64..128);
        let [got, expected] =
            [(bad.clone(), 3), (never, 2)].map(|(data, steps)| advanced(device, &config, data, steps));
        assert_eq!(got, expected, "{place}");
        let mut whole = trainer(device, config, bad);
        block_on(whole.run(&mut |_| Flow::Continue)).expect("a run");
        let report = whole.history()[1].gradients.expect("a report");
        assert_eq!((report.updates, report.skipped), (2, 1), "{place}");
    });
}

#[test]
fn accumulated_steps_are_one_update_of_all_their_rows() {
    everywhere(&[1], |device, config, place| {
        let parts = TrainerConfig { accumulate: 3, ..config.clone() };
        let whole = TrainerConfig { batch: 192, ..config };
        let mut trainer = trainer(device, parts.clone(), data(192));
        let before = block_on(trainer.parameters()).expect("parameters");
        trainer.advance(2).expect("steps");
        assert_eq!(block_on(trainer.parameters()).expect("parameters"), before, "{place}: no update yet");
        let [got, expected] =
            [(parts, 3), (whole, 1)].map(|(config, steps)| advanced(device, &config, data(192), steps));
        assert!(worst(&got, &before) > 1e-3, "{place}");
        assert!(worst(&got, &expected) < 2e-5, "{place}: {:e}", worst(&got, &expected));
    });
}

#[test]
fn a_resumed_run_goes_on_with_the_same_bits() {
    everywhere(&[1], |device, mut config, place| {
        (config.accumulate, config.gradients.clip) = (2, Some(Clip::Norm { most: 0.1 }));
        config.gradients.skips_overflow = true;
        let start = || Trainer::new(device, spec(), config.clone(), data(320)).expect("a trainer");
        let mut whole = start();
        whole.advance(5).expect("an epoch");
        let expected = block_on(whole.parameters()).expect("parameters");
        for steps in [1, 2] {
            let mut cut = start();
            cut.advance(steps).expect("steps");
            let bytes = block_on(cut.checkpoint()).and_then(|checkpoint| checkpoint.save(None)).expect("a file");
            let (checkpoint, _) = Checkpoint::load(&bytes, "file").expect("a checkpoint");
            let mut resumed = Trainer::resume(device, data(320), checkpoint).expect("a trainer");
            resumed.advance(5 - steps).expect("steps");
            let got = block_on(resumed.parameters()).expect("parameters");
            assert!(got == expected, "{place}, cut after {steps} steps: {:e}", worst(&got, &expected));
        }
    });
}

#[test]
fn limits_groups_and_a_look_ahead_reach_every_parameter() {
    everywhere(&[2], |device, config, place| {
        let free = advanced(device, &config, data(192), 4);
        let changed = |change: &dyn Fn(&mut GradientConfig)| {
            let mut config = config.clone();
            change(&mut config.gradients);
            advanced(device, &config, data(192), 4)
        };
        // A limit that is never reached takes the launches of one that is.
        let most = 1e6;
        for clip in [Clip::Norm { most }, Clip::Tensor { most }] {
            let limited = changed(&|gradients| gradients.clip = Some(clip));
            assert!(worst(&limited, &free) < 2e-5, "{place} {clip:?}: {:e}", worst(&limited, &free));
        }
        assert_ne!(changed(&|gradients| gradients.clip_value = Some(1e-3)), free, "{place}");
        assert_ne!(changed(&|gradients| gradients.sharpness = Some(0.05)), free, "{place}");
        let before = advanced(device, &config, data(192), 0);
        let group = ParameterGroup { rate: 0.1, is_frozen: false, ..ParameterGroup::frozen(&["layers.2"]) };
        let groups = vec![ParameterGroup::frozen(&["layers.0.weight", "layers.4.bias"]), group];
        let grouped = changed(&|gradients| gradients.groups.clone_from(&groups));
        for parameter in &Layout::of(&spec()).parameters {
            let own = |flat: &[f32]| flat[parameter.offset..parameter.offset + parameter.shape.len()].to_vec();
            let is_frozen = ["layers.0.weight", "layers.4.bias"].contains(&parameter.name.as_str());
            assert_eq!(own(&grouped) == own(&before), is_frozen, "{place} {}", parameter.name);
            if parameter.name.starts_with("layers.2") {
                let ratio = worst(&own(&grouped), &own(&before)) / worst(&own(&free), &own(&before));
                assert!((0.02..0.3).contains(&ratio), "{place} {}: {ratio}", parameter.name);
            }
        }
    });
}

/// The loss is scaled, and its scale moves as with other optimisers; the launches of the update stay in f32.
#[test]
fn mixed_precision_trains_as_well() {
    everywhere(&[1], |device, mut config, place| {
        if config.step == Some(StepKind::Fused) {
            return;
        }
        config.epochs = 8;
        let last = |config: &TrainerConfig| {
            let mut trainer = trainer(device, config.clone(), data(512));
            block_on(trainer.run(&mut |_| Flow::Continue)).expect("a run");
            trainer.history()[7].train_loss
        };
        let whole = last(&config);
        config.precision = Some(MixedPrecision::new(Half::F16));
        let half = last(&config);
        assert!((half - whole).abs() < 0.05 * whole, "{place}: {half} {whole}");
    });
}
