//! Wrong settings are errors.

use super::{clip, data, settings, spec};
use meromorph::Device;
use meromorph::optim::Optimizer;
use meromorph::train::{Clip, GradientConfig, ParameterGroup, StepKind, Trainer, TrainerConfig};

#[test]
fn wrong_settings_are_errors() {
    let refused = |gradients: GradientConfig, change: fn(&mut TrainerConfig)| {
        let mut config = settings(gradients, StepKind::Fused);
        change(&mut config);
        Trainer::new(&Device::cpu(1), spec(), config, data(64)).map(|_| ()).expect_err("wrong").to_string()
    };
    let none = GradientConfig::default;
    let keep = |_: &mut TrainerConfig| {};
    let cases = [
        (refused(clip(Clip::Norm { most: 0.0 }), keep), "train: clip: got 0, expected a finite number above 0"),
        (
            refused(GradientConfig { clip_value: Some(-1.0), ..none() }, keep),
            "train: clip_value: got -1, expected a finite number above 0",
        ),
        (
            refused(GradientConfig { mean_decay: Some(1.0), ..none() }, keep),
            "train: mean_decay: got 1, expected a number from 0 to below 1",
        ),
        (
            refused(GradientConfig { sharpness: Some(0.1), ..none() }, |config| config.accumulate = 2),
            "train: sharpness: got 2 steps for an update (accumulate), expected 1",
        ),
        (
            refused(GradientConfig { groups: vec![ParameterGroup::frozen(&["layer.0"])], ..none() }, keep),
            "train: \"layer.0\" names no parameter: expected one of \"layers.0.weight\", \"layers.0.bias\", \"layers.2.weight\", \"layers.2.bias\", \"layers.4.weight\", \"layers.4.bias\", or a part of it such as \"layers.0\" or \"bias\"",
        ),
        (
            refused(GradientConfig { groups: vec![ParameterGroup::frozen(&["weight", "bias"])], ..none() }, keep),
            "train: every parameter is frozen: expected at least one to train",
        ),
        (
            refused(GradientConfig { mean_decay: Some(0.9), ..none() }, |config| {
                config.optimizer = Optimizer::parse("lamb").expect("an optimizer");
            }),
            "train: mean_decay: the optimizer lamb keeps no mean of the weights",
        ),
        (
            refused(
                GradientConfig {
                    groups: vec![ParameterGroup::frozen(&["layers.0"])],
                    ..clip(Clip::Norm { most: 1.0 })
                },
                keep,
            ),
            "train: freeze: the fused step takes norms over frozen parameters as well: expected the recorded step",
        ),
        (
            refused(GradientConfig { mean_decay: Some(0.9), ..none() }, |config| {
                config.optimizer = Optimizer::parse("schedule-free").expect("an optimizer");
            }),
            "train: mean_decay: the optimizer schedule-free keeps a mean of its own",
        ),
    ];
    for (got, expected) in cases {
        assert_eq!(got, expected);
    }
}
