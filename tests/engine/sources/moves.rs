//! Sources that move the parameters themselves, and what is refused of a source.

use super::differences::Differences;
use super::{config, data, line, sum};
use crate::devices::devices;
use meromorph::autograd::Var;
use meromorph::device::Device;
use meromorph::model::{Direction, GradientSource, Network, SourceStep, Sourced, StateBlock};
use meromorph::program::expr::{max, min};
use meromorph::train::{Clip, Flow, GradientConfig, Trainer, TrainerConfig};
use meromorph::{Result, ops};
use pollster::block_on;

/// Moves w by a tenth of its gradient's direction within [-1, 1], and only in every other step.
struct Clamped;

impl GradientSource for Clamped {
    fn name(&self) -> &'static str {
        "clamped"
    }

    fn state(&self) -> Vec<StateBlock> {
        vec![StateBlock { name: "turn".into(), values: vec![0.0] }]
    }

    fn step(&self, step: &SourceStep<'_>) -> Result<Sourced> {
        let values = step.parameters.values().iter();
        let moved = |value: &Var| ops::fused(&[value], |v| max(min(v[0] + 0.4, 1.0), -1.0));
        let weight = sum(&step.batch.weight);
        Ok(Sourced {
            direction: Direction::Parameters {
                values: values.map(moved).collect(),
                is_accepted: Some(step.state[0].clone()),
            },
            loss: ops::fused(&[&weight], |v| 3.0 * v[0]),
            weight,
            state: vec![ops::fused(&[&step.state[0]], |v| 1.0 - v[0])],
        })
    }
}

#[test]
fn a_source_moves_the_parameters_itself_where_it_accepts_the_step() -> Result<()> {
    for device in devices(&[1]) {
        let mut trainer = Trainer::new(&device, line().with_source(Clamped), config(), data())?;
        let at = |trainer: &Trainer| block_on(trainer.parameters()).map(|flat| [flat[0], flat[1], flat[64]]);
        let mut seen = Vec::new();
        for _ in 0..5 {
            trainer.advance(1)?;
            seen.push(at(&trainer)?);
        }
        let (first, second, third) = ([0.1, 0.2, 0.0], [0.5, 0.6, 0.4], [0.9, 1.0, 0.8]);
        assert_eq!(seen, [first, second, second, third, third], "{}", device.info().device);
        // The loss of a step is its mean over the rows.
        let mut trainer = Trainer::new(&device, line().with_source(Clamped), config(), data())?;
        block_on(trainer.epoch(&mut |_| Flow::Continue))?;
        assert_eq!(trainer.history()[0].train_loss, 3.0);
    }
    let refused = |settings: TrainerConfig, network: Network| {
        Trainer::new(&Device::cpu(1), network, settings, data()).map(drop).unwrap_err().to_string()
    };
    let gradients = GradientConfig { clip: Some(Clip::Norm { most: 1.0 }), ..GradientConfig::default() };
    assert_eq!(
        refused(TrainerConfig { gradients, ..config() }, line().with_source(Clamped)),
        "train: got a limit of gradients, or one that watches or leaves out, which a source with its own update has no use for"
    );
    let gradients = GradientConfig { sharpness: Some(0.1), ..GradientConfig::default() };
    assert_eq!(
        refused(TrainerConfig { gradients, ..config() }, line().with_source(Differences)),
        "train: source \"differences\": got sharpness, which records a step twice: expected a source without state"
    );
    assert_eq!(
        refused(config(), line().with_source(Wrong)),
        "train: source \"wrong\": the gradient of \"w\": got [1], expected [2, 1]"
    );
    Ok(())
}

/// A gradient of another shape.
struct Wrong;

impl GradientSource for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }

    fn step(&self, step: &SourceStep<'_>) -> Result<Sourced> {
        let weight = sum(&step.batch.weight);
        let gradients = vec![weight.clone(), weight.clone()];
        Ok(Sourced { direction: Direction::Gradients(gradients), loss: weight.clone(), weight, state: Vec::new() })
    }
}
