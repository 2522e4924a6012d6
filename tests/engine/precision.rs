//! Precision of predictions: optional f16 on a GPU, and NaN propagates always.

use crate::devices::devices;
use crate::noise::noise;
use meromorph::Device;
use meromorph::loss::Loss;
use meromorph::model::Model;
use meromorph::nn::{Activation, Head, Layout, Spec, activation, initialise};
use meromorph::train::Precision;
use pollster::block_on;

#[test]
fn half_precision_predicts_nearly_the_same() {
    for device in devices(&[1]) {
        let spec = Spec::mlp(5, &[64, 64, 64], 1, Activation::silu());
        let parameters = initialise(&Layout::of(&spec), 3);
        let model = Model::new(spec, Loss::mse(), parameters, None);
        let x = noise(5 * 999, 7);
        let whole = block_on(model.outputs(&device, &x)).unwrap();
        let half = block_on(model.outputs_in(&device, &x, Precision::F16)).unwrap();
        let apart = whole.iter().zip(&half).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        // The CPU has only f32; a difference on a GPU shows that its activations were f16.
        let is_right = if device.info().device == "cpu" { apart == 0.0 } else { apart > 0.0 && apart < 4e-3 };
        assert!(is_right, "{}: {apart}", device.info().name);
    }
}

#[test]
fn half_precision_is_for_plain_perceptrons() {
    let refused = |spec: Spec| {
        let parameters = vec![0.0; Layout::of(&spec).total];
        let model = Model::new(spec, Loss::mse(), parameters, None);
        block_on(model.outputs_in(&Device::cpu(1), &[0.0; 5], Precision::F16)).unwrap_err().to_string()
    };
    let expected = "precision: f16 is for plain perceptrons of up to 16 layers, on this device 1024 wide; this model predicts in f32";
    assert_eq!(refused(Spec::projective(5, &[8], Head::rational(1), Activation::tanh())), expected);
    assert_eq!(refused(Spec::mlp(5, &[1025], 1, Activation::tanh())), expected);
}

/// 1 - 8 - 8 - 1 by relu; the first layer's outputs are up to 1e5, the last one's within 1.
fn steep() -> Model {
    let spec = Spec::mlp(1, &[8, 8], 1, Activation::relu());
    let layout = Layout::of(&spec);
    let mut parameters = vec![0.0; layout.total];
    for (parameter, weight) in
        layout.parameters.iter().filter(|known| known.name.ends_with("weight")).zip([1e5, 1e-3, -1e-4])
    {
        parameters[parameter.offset..][..parameter.shape.len()].fill(weight);
    }
    Model::new(spec, Loss::mse(), parameters, None)
}

#[test]
fn values_beyond_half_precision_are_an_error() {
    for device in devices(&[1]) {
        let name = &device.info().name;
        let half = |x: &[f32]| block_on(steep().outputs_in(&device, x, Precision::F16));
        assert!(half(&[0.6, 0.2]).is_ok(), "{name}");
        let beyond = half(&[0.6, -0.3, 0.7]).map_err(|error| error.to_string());
        let expected = "precision: a row goes beyond 65504, where f16 ends; predict in f32";
        assert_eq!(beyond.err().as_deref(), (device.info().device != "cpu").then_some(expected), "{name}");
        assert!(block_on(steep().outputs(&device, &[0.7])).unwrap()[0].is_finite(), "{name}");
    }
}

#[test]
fn no_activation_turns_nan_into_a_number() {
    for device in devices(&[1]) {
        // The widest model uses recorded operations.
        for (activation, width) in activation::ALL
            .iter()
            .map(|built_in| Activation::of_built_in(built_in))
            .flat_map(|function| [(function.clone(), 8), (function, 129)])
        {
            let spec = Spec::mlp(1, &[width, width], 1, activation.clone());
            let parameters = vec![0.1; Layout::of(&spec).total];
            let x = [0.5, f32::NAN, -0.5];
            let z = block_on(Model::new(spec, Loss::mse(), parameters, None).outputs(&device, &x)).unwrap();
            let is_lost: Vec<bool> = z.iter().map(|z| z.is_nan()).collect();
            assert_eq!(is_lost, [false, true, false], "{}: {activation:?} {width} wide", device.info().name);
        }
    }
}
