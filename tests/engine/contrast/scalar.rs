//! The scalar rule against the reference, step by step, and how it loses the control task that the contrastive rule keeps.

use super::oracle::tasks::Task;
use super::oracle::{self, Geometry};
use super::rule::{apart, geometry, narrow};
use crate::devices::devices;
use meromorph::Result;
use meromorph::contrast::{Curvature, Planes, Rotors, ScalarRule, Velocity};
use meromorph::device::Device;
use meromorph::train::{Data, Examples, Keep, Trainer, TrainerConfig};
use pollster::block_on;

pub(super) fn rule() -> Result<ScalarRule> {
    Ok(ScalarRule::new(Rotors::ring(8, 8)?))
}

pub(super) fn trainer(device: &Device, task: &Task, windows: usize, rule: ScalarRule) -> Result<Trainer> {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for window in 0..windows {
        let rows = task.rows(window);
        x.extend(narrow(&rows.batch.queries));
        y.extend(narrow(&rows.centres));
    }
    let count = (x.len() / 8) as u32;
    let data = Data { inputs: 8, targets: 8, train: Examples { x, y }, ..Data::default() };
    let config = TrainerConfig { epochs: 1, batch: 32, patience: 0, keep: Keep::Last, ..TrainerConfig::default() };
    let mut trainer = Trainer::new(device, rule.network()?, config, data)?;
    trainer.shuffle_with(move |_| (0..count).collect());
    Ok(trainer)
}

#[test]
fn steps_are_those_of_the_reference() -> Result<()> {
    use oracle::Velocity as Expected;
    let kinds = [
        (Velocity::Position, Expected::Position),
        (Velocity::NudgedPosition, Expected::NudgedPosition),
        (Velocity::Displacement, Expected::Displacement),
    ];
    let task = Task::rotation(3, 40);
    let curvature = [1.0, 0.75, 1.5];
    for device in devices(&[1]) {
        for (velocity, expected) in kinds {
            let rule = ScalarRule {
                velocity,
                rate: 0.5,
                steps: curvature.len(),
                curvature: Curvature::Each(narrow(&curvature)),
                keys: narrow(&task.energy.retrieval.keys),
                ..rule()?
            };
            let reference = oracle::ScalarRule { velocity: expected, rate: 0.5, nudge_scale: 0.1 };
            let mut trainer = trainer(&device, &task, 25, rule)?;
            let mut at = task.geometry();
            for window in 0..25 {
                let rows = task.rows(window);
                let [free, nudged] =
                    reference.train(&task.energy.retrieval, &mut at, &rows.batch.queries, &rows.centres, &curvature);
                trainer.advance(1)?;
                let figures = &block_on(trainer.source_blocks())?[0].values;
                let costs = [free.lior, nudged.lior, nudged.lior - free.lior];
                let wrong =
                    figures.iter().zip(costs).any(|(got, cost)| (f64::from(*got) - cost).abs() > 1e-5 * free.lior);
                let got = geometry(&trainer)?;
                let name = &device.info().device;
                assert!(!wrong, "{name}, {velocity:?}, window {window}: {figures:?}, expected {costs:?}");
                assert!(apart(&got, &at) < 1e-4, "{name}, {velocity:?}, window {window}: {got:?}, expected {at:?}");
                at = got;
            }
            let Geometry { metric, theta } = geometry(&trainer)?;
            let moved = metric.iter().any(|g| *g != 1.0) && theta.iter().any(|angle| *angle != 0.0);
            assert_eq!(moved, velocity != Velocity::Position, "a nudge does not move a position");
        }
    }
    Ok(())
}

/// Costs fall, and so do the weights of the coordinates that tell the classes apart: to their bound.
#[test]
fn costs_fall_while_the_control_is_lost() -> Result<()> {
    let task = Task::control(1, 64);
    let rule = ScalarRule { rate: 0.1, steps: 2, ..rule()? };
    let mut trainer = trainer(&Device::cpu(1), &task, 400, rule)?;
    let cost = |trainer: &Trainer| block_on(trainer.source_blocks()).map(|blocks| blocks[0].values[0]);
    trainer.advance(1)?;
    let before = cost(&trainer)?;
    trainer.advance(399)?;
    let metric = geometry(&trainer)?.metric;
    assert!(cost(&trainer)? < 0.5 * before);
    assert!(metric[..3].iter().all(|g| (g - 0.01).abs() < 1e-4), "{metric:?}");
    Ok(())
}

/// The planes of eight coordinates: layers 0 and 1 of the ring, all layers of the butterfly.
#[test]
fn angles_turn_the_planes_of_their_layer() -> Result<()> {
    let ring = Rotors::ring(8, 8)?;
    let planes: Vec<(usize, usize)> = (0..8).map(|angle| ring.plane(angle)).collect();
    assert_eq!(planes, [(0, 1), (2, 3), (4, 5), (6, 7), (1, 2), (3, 4), (5, 6), (7, 0)]);
    let butterfly = Rotors::butterfly(8)?;
    assert_eq!((butterfly.planes, butterfly.angles), (Planes::Butterfly, 12));
    let planes: Vec<(usize, usize)> = (0..12).map(|angle| butterfly.plane(angle)).collect();
    let expected =
        [[(0, 1), (2, 3), (4, 5), (6, 7)], [(0, 2), (1, 3), (4, 6), (5, 7)], [(0, 4), (1, 5), (2, 6), (3, 7)]];
    assert_eq!(planes, expected.concat());
    Ok(())
}

#[test]
fn what_the_rule_does_not_take_is_an_error() -> Result<()> {
    let network = |rule: ScalarRule| rule.network().map(drop).expect_err("it does not fit").to_string();
    let empty = network(ScalarRule { steps: 0, ..rule()? });
    assert!(empty.contains("got a window of 0 steps, expected at least 1"), "{empty}");
    let without = network(ScalarRule { velocity: Velocity::Displacement, ..rule()? });
    assert!(without.contains("got 0 numbers of keys, expected rows of 8"), "{without}");
    Ok(())
}
