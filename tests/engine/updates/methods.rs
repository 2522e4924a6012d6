//! Optimisers that move tensor by tensor or need no schedule, and what a checkpoint keeps of them.

use super::{KINDS, advanced, data, moved, norm, settings, spec, trainer};
use crate::devices::devices;
use meromorph::nn::Layout;
use meromorph::optim::{Optimizer, Schedule};
use meromorph::train::{Checkpoint, Flow, GradientConfig, StepKind, Trainer};
use meromorph::{Device, Result};
use pollster::block_on;

#[test]
fn lamb_moves_each_tensor_in_proportion_to_its_norm() {
    for device in devices(&[1, 2]) {
        for kind in KINDS {
            let mut config = settings(GradientConfig::default(), kind);
            config.optimizer = Optimizer::parse("lamb").expect("an optimizer").with_weight_decay(0.1);
            config.lr = 0.02;
            // The directions of a first step are those of Adam: the sign of the gradient, and the decay.
            let free = moved(&advanced(&mut trainer(&device, settings(GradientConfig::default(), kind)), 1));
            let both = advanced(&mut trainer(&device, config), 1);
            let step = moved(&both);
            for parameter in &Layout::of(&spec()).parameters {
                let range = parameter.offset..parameter.offset + parameter.shape.len();
                let own: Vec<f64> = both[0][range.clone()].iter().map(|&p| f64::from(p)).collect();
                let g = free[range.clone()].iter().map(|step| -step / 0.5);
                let u: Vec<f64> = g.zip(&own).map(|(g, p)| g / (g.abs() + 1e-8) + 0.1 * p).collect();
                let trust = if norm(&own) > 0.0 { norm(&own) / norm(&u) } else { 1.0 };
                for (got, u) in step[range].iter().zip(&u) {
                    let expected = -0.02 * trust * u;
                    assert!(
                        (got - expected).abs() < 2e-4 * expected.abs() + 1e-6,
                        "{kind:?} {}: {got} {expected}",
                        parameter.name
                    );
                }
            }
        }
    }
}

#[test]
fn training_without_a_schedule_lowers_the_loss() {
    for device in devices(&[1]) {
        let mut config = settings(GradientConfig::default(), StepKind::Fused);
        config.optimizer = Optimizer::parse("schedule-free").expect("an optimizer").with_weight_decay(0.05);
        config.lr = 0.01;
        let mut trainer = trainer(&device, config);
        block_on(trainer.run(&mut |_| Flow::Continue)).expect("a run");
        let losses: Vec<f64> = trainer.history().iter().map(|epoch| epoch.train_loss).collect();
        assert!(losses[1] < losses[0], "{losses:?}");
    }
}

#[test]
fn a_run_of_lamb_goes_on_with_the_same_bits() -> Result<()> {
    let device = Device::cpu(1);
    let mut config = settings(GradientConfig::default(), StepKind::Fused);
    (config.optimizer, config.schedule) = (Optimizer::parse("lamb")?, Schedule::COSINE);
    let mut whole = trainer(&device, config.clone());
    whole.advance(3)?;
    let mut cut = trainer(&device, config);
    cut.advance(2)?;
    let checkpoint = block_on(cut.checkpoint())?;
    let mut resumed = Trainer::resume(&device, data(192), checkpoint)?;
    resumed.advance(1)?;
    assert_eq!(block_on(resumed.parameters())?, block_on(whole.parameters())?);
    Ok(())
}

#[test]
fn a_checkpoint_of_the_first_version_is_read() -> Result<()> {
    let device = Device::cpu(1);
    let mut trainer = trainer(&device, settings(GradientConfig::default(), StepKind::Fused));
    trainer.advance(1)?;
    let checkpoint = block_on(trainer.checkpoint())?;
    let total = checkpoint.parameters.len();
    let old = Checkpoint { moments: checkpoint.moments[..2 * total].to_vec(), ..checkpoint.clone() };
    let (read, _) = Checkpoint::load(&old.save(None)?, "old")?;
    assert_eq!(read, checkpoint);
    Ok(())
}
