//! Both kinds of step and all devices agree, and what is trained learns.

use super::{KINDS, NAMES, advanced, data, everywhere, settings, trainer, worst};
use crate::devices::devices;
use meromorph::model::{Initial, Network};
use meromorph::train::{Flow, StepKind, Trainer, TrainerConfig};
use meromorph::{Device, Result, ops};
use pollster::block_on;

#[test]
fn both_kinds_of_step_and_all_devices_agree() {
    for name in NAMES {
        let mut all = Vec::new();
        for device in devices(&[1, 2]) {
            all.extend(KINDS.map(|kind| advanced(&device, &settings(name, kind), data(192), 3)));
        }
        for one in &all[1..] {
            assert!(worst(one, &all[0]) < 1e-4, "{name}: {:e}", worst(one, &all[0]));
        }
    }
}

#[test]
fn a_regression_is_learned() {
    everywhere(&[2], |device, config, place| {
        let config = TrainerConfig { epochs: 60, lr: 0.03, ..config };
        let mut trainer = trainer(device, config, data(512));
        block_on(trainer.run(&mut |_| Flow::Continue)).expect("a run");
        let losses: Vec<f64> = trainer.history().iter().filter_map(|epoch| epoch.val_loss).collect();
        let [first, last] = [losses[0], losses[losses.len() - 1]];
        assert!(last < 0.006, "{place}: {first} {last}");
    });
}

#[test]
fn a_function_of_parameters_trains() -> Result<()> {
    for name in NAMES {
        let parameters = [
            ("first", Initial::normal([3, 8], 0.5)),
            ("gain", Initial::constant([8], 1.0)),
            ("last", Initial::normal([8, 1], 0.5)),
        ];
        let network = Network::function(3, parameters, |p, x| {
            ops::matmul(&ops::mul(&ops::tanh(&ops::matmul(x, &p["first"])), &p["gain"]), &p["last"])
        });
        let config = TrainerConfig { epochs: 20, step: None, ..settings(name, StepKind::Recorded) };
        let mut trainer = Trainer::new(&Device::cpu(1), network, config, data(192))?;
        block_on(trainer.run(&mut |_| Flow::Continue))?;
        let losses: Vec<f64> = trainer.history().iter().map(|epoch| epoch.train_loss).collect();
        assert!(losses[19] < 0.5 * losses[0], "{name}: {losses:?}");
    }
    Ok(())
}
