//! Groups of parameters: frozen ones, rates and decay of their own.

use super::{KINDS, advanced, data, moved, settings, spec, trainer};
use crate::devices::devices;
use meromorph::nn::Layout;
use meromorph::train::{GradientConfig, ParameterGroup, Trainer};

#[test]
fn frozen_parameters_keep_their_bits_and_the_others_train() {
    for device in devices(&[2]) {
        for kind in KINDS {
            let groups = vec![ParameterGroup::frozen(&["layers.0", "layers.2.bias"])];
            let frozen = GradientConfig { groups, ..GradientConfig::default() };
            let both = advanced(&mut trainer(&device, settings(frozen, kind)), 5);
            for parameter in &Layout::of(&spec()).parameters {
                let range = parameter.offset..parameter.offset + parameter.shape.len();
                let is_same = both[0][range.clone()] == both[1][range];
                let is_frozen = parameter.name.starts_with("layers.0") || parameter.name == "layers.2.bias";
                assert_eq!(is_same, is_frozen, "{kind:?} {}", parameter.name);
            }
        }
    }
}

#[test]
fn groups_have_rates_of_their_own_and_vectors_may_not_decay() {
    for device in devices(&[2]) {
        for kind in KINDS {
            let free = moved(&advanced(&mut trainer(&device, settings(GradientConfig::default(), kind)), 1));
            let groups = vec![ParameterGroup {
                parameters: vec!["layers.2.weight".into()],
                rate: 0.25,
                ..ParameterGroup::frozen(&[])
            }];
            let groups = groups.into_iter().map(|group| ParameterGroup { is_frozen: false, ..group }).collect();
            let grouped = GradientConfig { groups, decays_vectors: false, ..GradientConfig::default() };
            let mut config = settings(grouped, kind);
            config.optimizer = config.optimizer.with_weight_decay(0.1);
            let both = advanced(&mut trainer(&device, config), 1);
            let step = moved(&both);
            for parameter in &Layout::of(&spec()).parameters {
                let rate = if parameter.name == "layers.2.weight" { 0.25 } else { 1.0 };
                let decay = if parameter.shape.rank() < 2 { 0.0 } else { 0.1 };
                for at in parameter.offset..parameter.offset + parameter.shape.len() {
                    let expected = rate * (free[at] - 0.5 * decay * f64::from(both[0][at]));
                    assert!((step[at] - expected).abs() < 1e-6, "{kind:?} {}: {} {expected}", parameter.name, step[at]);
                }
            }
        }
    }
}

#[test]
fn the_decay_of_a_group_holds_for_vectors_that_would_not_decay() {
    // At a rate of 1/2, a parameter of 1/2 with decay d moves by d / 4 towards 0.
    let layout = Layout::of(&spec());
    let mut parameters = vec![0.0; layout.total];
    layout.parameters.iter().for_each(|one| parameters[one.offset..one.offset + one.shape.len()].fill(0.5));
    let group = |weight_decay| ParameterGroup {
        parameters: vec!["layers.0.bias".into()],
        rate: 1.0,
        weight_decay: Some(weight_decay),
        is_frozen: false,
    };
    for device in devices(&[2]) {
        for kind in KINDS {
            let step = |decay: f32, groups| {
                let gradients = GradientConfig { groups, decays_vectors: false, ..GradientConfig::default() };
                let mut config = settings(gradients, kind);
                config.optimizer = config.optimizer.with_weight_decay(decay);
                let trainer = Trainer::with_parameters(&device, spec(), config, data(192), &parameters);
                moved(&advanced(&mut trainer.expect("a trainer"), 1))
            };
            let (free, decayed) = (step(0.0, Vec::new()), step(0.2, vec![group(0.1)]));
            for parameter in &layout.parameters {
                let expected = match parameter.name.as_str() {
                    "layers.0.bias" => -0.025,
                    name if name.ends_with("weight") => -0.05,
                    _ => 0.0,
                };
                for at in parameter.offset..parameter.offset + parameter.shape.len() {
                    let got = decayed[at] - free[at];
                    assert!(
                        (got - expected).abs() < 1e-6,
                        "{kind:?} {}: got {got}, expected {expected}",
                        parameter.name
                    );
                }
            }
        }
    }
}
