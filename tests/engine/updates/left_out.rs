//! Updates that are not finite are left out, and a run remembers them.

use super::{KINDS, data, settings, spec};
use crate::devices::devices;
use meromorph::optim::{Optimizer, Schedule};
use meromorph::train::{Checkpoint, Data, Flow, GradientConfig, StepKind, Stop, Trainer, TrainerConfig};
use meromorph::{Device, Result};
use pollster::block_on;

/// Rows whose loss is not finite in the second batch.
fn with_a_bad_batch() -> Data {
    let mut data = data(192);
    data.train.y[64..128].fill(3e38);
    data
}

#[test]
fn an_update_that_is_not_finite_is_left_out_as_if_it_had_never_been() {
    for device in devices(&[1, 2]) {
        for kind in KINDS {
            let gradients = GradientConfig { skips_overflow: true, ..GradientConfig::default() };
            let mut config = settings(gradients, kind);
            config.optimizer = Optimizer::adamw(1e-2);
            config.lr = 1e-2;
            let run = |data: Data, rows: u32, steps| {
                let mut trainer = Trainer::new(&device, spec(), config.clone(), data).expect("a trainer");
                trainer.shuffle_with(move |_| (0..rows).collect());
                trainer.advance(steps).expect("an epoch");
                block_on(trainer.parameters()).expect("parameters")
            };
            let mut never = data(192);
            never.train.x.drain(64 * 3..128 * 3);
            never.train.y.drain(64..128);
            let (got, expected) = (run(with_a_bad_batch(), 192, 3), run(never, 128, 2));
            assert_eq!(got, expected, "{kind:?} on {}", device.info().device);
            let mut whole = Trainer::new(&device, spec(), config.clone(), with_a_bad_batch()).expect("a trainer");
            whole.shuffle_with(|_| (0..192).collect());
            let outcome = block_on(whole.run(&mut |_| Flow::Continue)).expect("a run");
            assert_eq!(outcome.stop, Stop::Epochs);
            let report = whole.history()[1].gradients.expect("a report");
            assert_eq!((report.updates, report.skipped), (2, 1), "{kind:?} on {}", device.info().device);
        }
    }
}

#[test]
fn a_resumed_run_remembers_the_updates_that_were_left_out() -> Result<()> {
    // Of three steps the second is left out: an epoch has updates 0 and 1, the next 2 and 3, the last 4 and 5. The rate rises over six of them.
    let device = Device::cpu(1);
    let epoch = |trainer: &mut Trainer| block_on(trainer.epoch(&mut |_| Flow::Continue)).map(drop);
    for kind in KINDS {
        let gradients = GradientConfig { skips_overflow: true, ..GradientConfig::default() };
        let schedule = Schedule { warmup_steps: 6, ..Schedule::CONSTANT };
        let config = TrainerConfig { schedule, lr: 0.06, epochs: 3, ..settings(gradients, kind) };
        let mut first = Trainer::new(&device, spec(), config, with_a_bad_batch())?;
        first.shuffle_with(|_| (0..192).collect());
        epoch(&mut first)?;
        let (checkpoint, _) = Checkpoint::load(&block_on(first.checkpoint())?.save(None)?, "left_out.ckpt")?;
        assert_eq!(checkpoint.progress.standings[0].skipped, 1);
        let mut second = Trainer::resume(&device, with_a_bad_batch(), checkpoint)?;
        second.shuffle_with(|_| (0..192).collect());
        for trainer in [&mut first, &mut second] {
            (1..3).try_for_each(|_| epoch(trainer))?;
        }
        let rates: Vec<f64> = second.history().iter().map(|epoch| epoch.lr).collect();
        let is_near = rates.iter().zip([0.02, 0.04, 0.06]).all(|(rate, expected)| (rate - expected).abs() < 1e-12);
        assert!(is_near && rates.len() == 3, "{kind:?}: {rates:?}");
        assert_eq!(block_on(second.parameters())?, block_on(first.parameters())?, "{kind:?}");
    }
    Ok(())
}

#[test]
fn without_that_setting_it_ends_the_run() {
    let config = settings(GradientConfig::default(), StepKind::Fused);
    let mut trainer = Trainer::new(&Device::cpu(1), spec(), config, with_a_bad_batch()).expect("a trainer");
    assert_eq!(block_on(trainer.run(&mut |_| Flow::Continue)).expect("a run").stop, Stop::Diverged);
}
