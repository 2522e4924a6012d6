//! Steps allocate nothing, and the state of a factored matrix is small.

use super::{data, everywhere, settings, trainer};
use crate::noise::noise;
use meromorph::nn::{Activation, Spec};
use meromorph::train::{Data, Examples, StepKind, Trainer};
use meromorph::{Device, Result};
use pollster::block_on;

#[test]
fn no_step_allocates_or_binds_anything() {
    everywhere(&[1], |device, config, place| {
        let mut trainer = trainer(device, config, data(192));
        trainer.advance(3).expect("an epoch");
        let before = device.counters();
        trainer.advance(2).expect("steps");
        let after = device.counters();
        assert_eq!(after.live_bytes, before.live_bytes, "{place}");
        assert_eq!(after.bind_groups, before.bind_groups, "{place}");
        assert_eq!(after.readbacks, before.readbacks, "{place}");
    });
}

#[test]
fn the_state_of_a_factored_matrix_is_its_rows_and_columns() -> Result<()> {
    let spec = Spec::mlp(128, &[256], 64, Activation::tanh());
    let x = noise(16 * 128, 1);
    let data = Data { inputs: 128, targets: 64, train: Examples { x, y: noise(16 * 64, 2) }, ..Data::default() };
    let trainer = Trainer::new(&Device::cpu(1), spec, settings("adafactor", StepKind::Recorded), data)?;
    let moments = block_on(trainer.checkpoint())?.moments.len();
    // Rows and columns of both weights, two biases, and what updates remember.
    assert_eq!(moments, (256 + 128) + 256 + (64 + 256) + 64 + 64);
    Ok(())
}
