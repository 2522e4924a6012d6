//! An optimiser of your own in the fused step: a formula of gradient, parameter and moments. Here the sign of the mean gradient, with the momentum of Nesterov.
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::optim::{Method, Motion};
use meromorph::prelude::*;
use meromorph::program::constants::Constant;
use meromorph::program::expr::sign;
use meromorph::train::StepKind;
use pollster::block_on;

/// m ← d m + (1 - d) g; p ← (1 - lr wd) p - lr sign(d m + (1 - d) g).
static SIGNS: Method = Method {
    name: "signs",
    doc: "The sign of a mean of gradients",
    constants: &[
        Constant::share("decay", 0.9, "Decay of the mean gradient"),
        Constant::at_least_zero("weight_decay", 0.0, "Weight decay"),
    ],
    rates: |constants, lr, _step| [lr, 1.0 - lr * constants.get("weight_decay"), 0.0, 0.0],
    update: |state, constants| {
        let mean = |m: Expr| constants.get("decay") * m + (1.0 - constants.get("decay")) * state.g;
        let m = mean(state.m);
        [state.p * state.rates[1] - state.rates[0] * sign(mean(m)), m, state.v, state.a]
    },
    by_hand: None,
    motion: Motion::ByValue,
    usual_rate: 1e-3,
    has_own_decay: false,
    // The same in f64, for tests that compare both.
    oracle: |state, constants| {
        let mean = |m: f64| constants.get("decay") * m + (1.0 - constants.get("decay")) * state.g;
        let m = mean(state.m);
        [state.p * state.rates[1] - state.rates[0] * mean(m).signum(), m, state.v, state.a]
    },
};

fn main() -> Result<()> {
    let x: Vec<f32> = (0..512).map(|i| i as f32 / 128.0 - 2.0).collect();
    let y = x.iter().map(|x| (2.0 * x).sin()).collect();
    let data = Data { inputs: 1, targets: 1, train: Examples { x, y }, ..Data::default() };
    let optimizer = Optimizer::new(&SIGNS).with("decay", 0.95)?;
    let settings =
        TrainerConfig { optimizer, epochs: 300, batch: 64, lr: 2e-3, patience: 0, ..TrainerConfig::default() };
    let mut trainer = Trainer::new(&Device::cpu(1), Spec::mlp(1, &[32, 32], 1, Activation::silu()), settings, data)?;
    block_on(trainer.run(&mut |_| Flow::Continue))?;
    assert_eq!(trainer.step_kind(), StepKind::Fused);
    let got = block_on(trainer.predict(&[0.5, -1.0]))?;
    println!(
        "sin 1 = {:.3}, sin -2 = {:.3}; {} launches per step",
        got[0],
        got[1],
        trainer.step_summary().launches.len()
    );
    assert!((got[0] - 1.0_f32.sin()).abs() < 0.05 && (got[1] + 2.0_f32.sin()).abs() < 0.05);

    // No file knows the method: a checkpoint is refused rather than written in vain.
    let refused = block_on(trainer.checkpoint()).map(drop).unwrap_err();
    println!("{refused}");
    Ok(())
}
