//! What is refused: the program's own optimiser in a file, settings that do not go together.

use super::{NAMES, data, optimizer, settings, spec, trainer};
use meromorph::Device;
use meromorph::nn::{Activation, Spec};
use meromorph::optim::{Method, Motion, Optimizer};
use meromorph::program::constants::Constant;
use meromorph::run::TrainOptions;
use meromorph::train::{StepKind, Trainer, TrainerConfig};
use pollster::block_on;

/// Gradient descent as a program would define it.
static OWN: Method = Method {
    name: "own",
    doc: "p - lr g",
    constants: &[Constant::at_least_zero("weight_decay", 0.0, "Weight decay")],
    rates: |_, lr, _| [lr, 0.0, 0.0, 0.0],
    update: |state, _| [state.p - state.rates[0] * state.g, state.m, state.v, state.a],
    by_hand: None,
    motion: Motion::ByValue,
    usual_rate: 1e-2,
    has_own_decay: false,
    oracle: |state, _| [state.p - state.rates[0] * state.g, state.m, state.v, state.a],
};

#[test]
fn an_own_optimizer_trains_and_is_not_written_in_vain() {
    let config = TrainerConfig { optimizer: Optimizer::new(&OWN), ..settings("adafactor", StepKind::Fused) };
    let trainer = trainer(&Device::cpu(1), config, data(64));
    let why = "optimizer \"own\" is the program's own, which no file holds: expected one of the engine's";
    let said = block_on(trainer.checkpoint()).map(drop).expect_err("no file").to_string();
    assert_eq!(said, format!("checkpoint: {why}"));
    let options = TrainOptions { optimizer: Some(Optimizer::new(&OWN)), ..TrainOptions::default() };
    assert_eq!(options.check().expect_err("no file").to_string(), format!("train: {why}"));
}

#[test]
fn what_does_not_go_together_is_an_error() {
    let refused = |name: &str, model: Spec, change: fn(&mut TrainerConfig)| {
        let mut config = settings(name, StepKind::Recorded);
        change(&mut config);
        Trainer::new(&Device::cpu(1), model, config, data(64)).map(|_| ()).expect_err("wrong").to_string()
    };
    for name in NAMES {
        assert_eq!(
            refused(name, spec(), |config| config.gradients.mean_decay = Some(0.9)),
            format!("train: mean_decay: the optimizer {name} keeps no mean of the weights")
        );
    }
    assert_eq!(
        refused("muon", Spec::mlp(3, &[], 1, Activation::tanh()), |_| {}),
        "train: muon: got a model without hidden weight matrices (\"layers.0.weight\", \"layers.0.bias\"), expected at least one of two rows and two columns before the output layer's; use adamw"
    );
    assert_eq!(
        optimizer("muon", &[]).with("newton_schulz_steps", 2.5).unwrap_err().to_string(),
        "newton_schulz_steps: got 2.5, expected a whole number from 1 to 99"
    );
}
