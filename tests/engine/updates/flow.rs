//! What gradients say of a model: faults that are planted in a layer are found there, and a sound model has none. Frozen layers cost nothing.

use meromorph::Device;
use meromorph::loss::Loss;
use meromorph::nn::{Activation, Layout, Spec};
use meromorph::optim::Optimizer;
use meromorph::train::{Data, GradientConfig, GradientIssue, ParameterGroup, Stage, StepKind, Trainer, TrainerConfig};
use pollster::block_on;

use super::{data, settings};
use crate::devices::devices;

/// Four linear layers with an activation between them.
fn spec(activation: Activation) -> Spec {
    Spec::mlp(3, &[16, 16, 16], 1, activation)
}

/// After one step from weights in which `plant` has changed a tensor.
fn planted(device: &Device, activation: Activation, data: Data, tensor: &str, plant: fn(&mut f32)) -> Trainer {
    // The gradient of the mean absolute error does not depend on the size of the error.
    let gradients = GradientConfig { watches: true, skips_overflow: true, ..GradientConfig::default() };
    let settings = TrainerConfig { loss: Loss::mae(), ..settings(gradients, StepKind::Recorded) };
    let spec = spec(activation);
    let trainer = Trainer::new(device, spec.clone(), settings.clone(), data.clone()).expect("a trainer");
    let mut parameters = block_on(trainer.parameters()).expect("parameters");
    let layout = Layout::of(&spec);
    let found = layout.parameters.iter().find(|parameter| parameter.name == tensor).expect("a tensor of the model");
    parameters[found.offset..found.offset + found.shape.len()].iter_mut().for_each(plant);
    let mut trainer = Trainer::with_parameters(device, spec, settings, data, &parameters).expect("a trainer");
    trainer.advance(1).expect("a step");
    trainer
}

/// The tensors with an issue.
fn issues(trainer: &Trainer) -> Vec<(String, GradientIssue)> {
    let flow = block_on(trainer.gradient_flow()).expect("norms are watched");
    flow.into_iter().filter_map(|one| Some((one.name, one.issue?))).collect()
}

#[test]
fn faults_that_are_planted_in_a_layer_are_found_there() {
    let before = |layer: usize, issue| -> Vec<(String, GradientIssue)> {
        let names = (0..layer).step_by(2).flat_map(|at| ["weight", "bias"].map(|part| format!("layers.{at}.{part}")));
        names.map(|name| (name, issue)).collect()
    };
    for device in devices(&[1]) {
        let sound = planted(&device, Activation::tanh(), data(192), "layers.0.weight", |_| ());
        assert_eq!(issues(&sound), []);
        assert_eq!(block_on(sound.first_not_finite()).expect("reads"), None);
        // What a layer does to its input's gradient is seen in the layers before it.
        let vanishing = planted(&device, Activation::tanh(), data(192), "layers.4.weight", |w| *w *= 1e-8);
        assert_eq!(issues(&vanishing), before(4, GradientIssue::Vanishing));
        let exploding = planted(&device, Activation::relu(), data(192), "layers.4.weight", |w| *w *= 1e5);
        let mut expected = before(4, GradientIssue::Exploding);
        // Its values are large as well, and so is the gradient of the weights that multiply them.
        expected.push(("layers.6.weight".to_owned(), GradientIssue::Exploding));
        let found: Vec<_> = issues(&exploding).into_iter().filter(|(_, issue)| *issue == expected[0].1).collect();
        assert_eq!(found, expected);
        // No unit of layer 2 is active, so that layer 4 sees zeros.
        let dead = planted(&device, Activation::relu(), data(192), "layers.2.bias", |b| *b = -100.0);
        let mut expected = before(4, GradientIssue::Dead);
        expected.push(("layers.4.weight".to_owned(), GradientIssue::Dead));
        assert_eq!(issues(&dead), expected);
    }
}

#[test]
fn the_source_of_numbers_that_are_not_finite_is_named() {
    let source = |trainer: &Trainer| block_on(trainer.first_not_finite()).expect("reads").expect("there are some");
    for device in devices(&[1]) {
        let overflow = planted(&device, Activation::relu(), data(192), "layers.2.weight", |w| *w = w.signum() * 3e38);
        let found = source(&overflow);
        assert_eq!((found.stage, &*found.name), (Stage::Values, "layers.2"), "{found}");
        assert!(found.to_string().starts_with("layers.2: it is the first layer with values that are not finite, "));
        let spoilt = planted(&device, Activation::tanh(), data(192), "layers.4.bias", |b| *b = f32::NAN);
        let found = source(&spoilt);
        assert_eq!((found.stage, &*found.name, found.share), (Stage::Parameters, "layers.4.bias", 1.0));
        // Finite values whose gradient is not: the product of two large factors.
        let steep = planted(&device, Activation::tanh(), data(192), "layers.6.weight", |w| *w = w.signum() * 3e37);
        let found = source(&steep);
        assert_eq!((found.stage, &*found.name), (Stage::Gradients, "layers.4.bias"), "{found}");
    }
}

#[test]
fn frozen_layers_cost_no_launches() {
    let device = Device::cpu(1);
    let launches = |frozen: &[&str]| {
        let groups = vec![ParameterGroup::frozen(frozen)];
        let gradients = GradientConfig { groups, ..GradientConfig::default() };
        let settings = TrainerConfig { optimizer: Optimizer::adamw(0.0), ..settings(gradients, StepKind::Recorded) };
        let mut trainer = Trainer::new(&device, spec(Activation::tanh()), settings, data(192)).expect("a trainer");
        let before = block_on(trainer.parameters()).expect("parameters");
        trainer.advance(2).expect("steps");
        let after = block_on(trainer.parameters()).expect("parameters");
        assert!(after.iter().all(|value| value.is_finite()) && before != after);
        trainer.step_summary().launches.len()
    };
    let [none, first, two] = [&[][..], &["layers.0"], &["layers.0", "layers.2"]].map(launches);
    assert!(two < first && first < none, "{none} {first} {two}");
}
