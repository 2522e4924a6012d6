//! Heads, rational layers, masked norm and softmax, and their gradient policies.

use meromorph::autograd::Var;
use meromorph::loss::{Loss, PairLoss};
use meromorph::model::Model;
use meromorph::nn::{
    Basis, Decoding, Denominators, Head, HeadForm, Init, Layer, Layout, Linear, PairNormalization, Pass, RationalLayer,
    Residual, Spec, forward, initialise,
};
use meromorph::optim::{Optimizer, Schedule, ScheduleShape};
use meromorph::scm::policy::{Policy, Registry, Scope};
use meromorph::scm::{self, Masked};
use meromorph::tensor::Tensor;
use meromorph::train::{Data, Examples, Flow, Trainer, TrainerConfig};
use meromorph::{Device, ops};
use pollster::block_on;

use super::{column, near, numbers};

/// A head's pairs for some features, with its initial parameters.
fn pairs_of(device: &Device, head: Head, features: &[f32]) -> Vec<f32> {
    let spec = Spec { inputs: head.features(), layers: vec![Layer::Projective(head)] };
    let layout = Layout::of(&spec);
    let flat = device.upload(bytemuck::cast_slice(&initialise(&layout, 3))).unwrap();
    let rows = features.len() / spec.inputs;
    let x = Var::constant(Tensor::from_f32(device, [rows, spec.inputs], features).unwrap());
    numbers(&forward(&spec, &layout.leaves(device, &flat), &x, &Pass::Predict))
}

#[test]
fn heads_compute_their_formulas() {
    let device = Device::cpu(1);
    let features = [0.3, -0.7, 0.9, 1.1, 0.2, -0.4];
    let plain = pairs_of(&device, Head { denominators: Denominators::Shared, ..Head::linear(2) }, &features);
    near(&plain, &[0.3, -0.7, 1.9, 1.9, 1.1, 0.2, 0.6, 0.6], 1e-6);
    let floored = Head { floor: Some(0.25), anchor: 0.0, ..Head::linear(1) };
    let softplus = |x: f64| (1.0 + x.exp()).ln() + 0.25;
    near(&pairs_of(&device, floored, &[0.5, -1.0]), &[0.5, softplus(-1.0)], 1e-5);
    let angle = Head { form: HeadForm::Angular { scale: 2.0 }, ..Head::angular(1) };
    near(&pairs_of(&device, angle, &[0.4]), &[0.8_f64.cos(), 0.8_f64.sin()], 1e-5);
    let unit = pairs_of(&device, Head { gauge: PairNormalization::Unit, ..Head::linear(1) }, &[3.0, 3.0]);
    near(&unit, &[0.6, 0.8], 1e-6);
}

#[test]
fn chebyshev_and_monomial_heads_agree_on_the_same_polynomial() {
    let device = Device::cpu(1);
    let form = |basis| HeadForm::Rational { numerator: 3, denominator: 0, basis };
    let evaluate = |basis, coefficients: [f32; 4]| {
        let head = Head { form: form(basis), ..Head::rational(1) };
        let spec = Spec { inputs: 2, layers: vec![Layer::Projective(head)] };
        let layout = Layout::of(&spec);
        let mut flat = vec![0.0; layout.total];
        for (parameter, value) in layout.parameters.iter().zip(coefficients) {
            flat[parameter.offset] = value;
        }
        let flat = device.upload(bytemuck::cast_slice(&flat)).unwrap();
        let x = Var::constant(Tensor::from_f32(&device, [1, 2], &[0.3, 0.0]).unwrap());
        numbers(&forward(&spec, &layout.leaves(&device, &flat), &x, &Pass::Predict))
    };
    // T_3 = 4 x³ - 3 x; the published values at 0.3 are 1, 0.3, -0.82, -0.792.
    near(&evaluate(Basis::Chebyshev, [0.0, 0.0, 0.0, 1.0]), &[-0.792, 1.0], 1e-6);
    near(&evaluate(Basis::Chebyshev, [0.0, 0.0, 1.0, 0.0]), &[-0.82, 1.0], 1e-6);
    near(&evaluate(Basis::Monomial, [0.0, -3.0, 0.0, 4.0]), &[-0.792, 1.0], 1e-6);
}

#[test]
fn property_37_a_rational_layer_fits_a_rational_function() {
    let y = |x: f32| (2.0 * x + 1.0) / (x + 1.5);
    let x: Vec<f32> = (0..32).map(|i| -0.5 + i as f32 / 31.0).collect();
    let pairs: Vec<f32> = x.iter().flat_map(|x| [y(*x), 1.0]).collect();
    let layers = vec![Layer::Rational(RationalLayer::new(1, 1)), Layer::Projective(Head::value(1))];
    let spec = Spec { inputs: 1, layers };
    let settings = TrainerConfig {
        loss: Loss::Pairs(PairLoss { decoded: 1.0, ..PairLoss::none() }),
        optimizer: Optimizer::adam(0.0),
        schedule: Schedule { warmup_steps: 0, shape: ScheduleShape::Constant },
        lr: 0.1,
        epochs: 120,
        batch: 32,
        patience: 0,
        ..TrainerConfig::default()
    };
    let data = Data { inputs: 1, targets: 2, train: Examples { x, y: pairs }, ..Data::default() };
    // The published gate starts from P near 0 and Q = 1.
    let mut parameters = vec![0.0; Layout::of(&spec).total];
    parameters[..4].copy_from_slice(&[0.01, -0.01, 1.0, 0.0]);
    let mut trainer = Trainer::with_parameters(&Device::cpu(1), spec, settings, data, &parameters).unwrap();
    block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
    let losses: Vec<f64> = trainer.history().iter().map(|report| report.train_loss).collect();
    let (first, last) = (losses[0], losses[119]);
    assert!(last < 1e-4 && last < 0.1 * first, "{first} to {last}");
}

/// P(x) / Q(x) with its mask, and the gradients of x and of the coefficients under an upstream gradient of 1.
fn layer(x: &[f32], coefficients: &[f32], layer: RationalLayer) -> (Vec<f32>, Vec<u32>, Vec<f32>) {
    let device = Device::cpu(1);
    let x = Var::leaf(Tensor::from_f32(&device, [x.len(), 1], x).unwrap());
    let w = Var::leaf(Tensor::from_f32(&device, [coefficients.len(), 1], coefficients).unwrap());
    let y = scm::rational(&Masked::from(&x), &w, &layer.form(), layer.policy.unwrap_or(Policy::Project));
    let gradients = ops::grad(y.value(), &[&x, &w]).unwrap();
    let gradients = gradients.iter().flatten().flat_map(numbers).collect();
    (numbers(y.value()), block_on(y.mask()).unwrap(), gradients)
}

#[test]
fn property_32_zero_denominators_are_masked_and_other_values_are_correct() {
    let (y, mask, _) = layer(&[-1.0, 0.0, 2.0], &[1.0, 0.0, 1.0], RationalLayer::new(0, 1));
    assert_eq!((y, mask), (vec![-1.0, 0.0, 0.5], vec![0b010]));
    let (y, mask, _) = layer(&[-1.0, 0.0, 2.0], &[3.0, 0.0], RationalLayer::new(0, 0));
    assert_eq!((y, mask), (vec![0.0; 3], vec![0b111]));
}

#[test]
fn bottom_before_a_rational_function_stays_bottom() {
    let device = Device::cpu(1);
    let x = column(&device, &[2.0, 4.0, 5.0]);
    let w = Var::constant(Tensor::from_f32(&device, [3, 1], &[1.0, 0.0, 1.0]).unwrap());
    let masked = Masked::masked_by(&x, &[0b010]).unwrap();
    let y = scm::rational(&masked, &w, &RationalLayer::new(0, 1).form(), Policy::Project);
    // The value under ⊥ is 0, which is itself a pole; 4 would not be.
    let shifted = Var::constant(Tensor::from_f32(&device, [3, 1], &[1.0, 1.0, 1.0]).unwrap());
    let z = scm::rational(&masked, &shifted, &RationalLayer::new(0, 1).form(), Policy::Project);
    near(&numbers(y.value()), &[0.5, 0.0, 0.2], 1e-6);
    near(&numbers(z.value()), &[1.0 / 3.0, 0.0, 1.0 / 6.0], 1e-6);
    assert_eq!([block_on(y.mask()).unwrap(), block_on(z.mask()).unwrap()], [[0b010], [0b010]]);
    let gradient = ops::grad(z.value(), &[&x]).unwrap();
    near(&numbers(gradient[0].as_ref().unwrap()), &[-1.0 / 9.0, 0.0, -1.0 / 36.0], 1e-6);
}

#[test]
fn property_33_gradients_are_always_finite() {
    let policies = [Policy::default(), Policy::Project, Policy::Reject, Policy::Passthrough];
    let x = [1e33, 1.0, 1e-38, f32::MAX, f32::NAN, f32::INFINITY, 0.0, -1e20];
    for policy in policies {
        for coefficients in
            [[0.0, 1.0, 1e-5, 0.0], [1e33, 0.0, 1e-5, 0.0], [1.0, 1.0, 0.0, 1.0], [1e38, -1e38, 1e-6, 1e-30]]
        {
            let (y, _, gradients) =
                layer(&x, &coefficients, RationalLayer { policy: Some(policy), ..RationalLayer::new(1, 1) });
            assert!(
                y.iter().chain(&gradients).all(|value| value.is_finite()),
                "{policy} {coefficients:?} {gradients:?}"
            );
        }
    }
}

#[test]
fn a_pole_inside_the_model_makes_only_its_row_bottom() {
    let device = Device::cpu(1);
    let linear = Layer::Linear(Linear { outputs: 2, bias: true, init: Init::Linear });
    let layers =
        vec![linear.clone(), Layer::Rational(RationalLayer::new(0, 1)), linear, Layer::Projective(Head::value(2))];
    let spec = Spec { inputs: 1, layers };
    assert_eq!((spec.outputs().unwrap(), spec.values().unwrap()), (4, 2));
    let layout = Layout::of(&spec);
    let mut flat = vec![0.0; layout.total];
    // Features x and 2, then 1 / features, then their sum and difference.
    let values: [&[f32]; 5] = [&[1.0, 0.0], &[0.0, 2.0], &[1.0, 0.0, 1.0], &[1.0, 1.0, 1.0, -1.0], &[0.0, 0.0]];
    for (parameter, values) in layout.parameters.iter().zip(values) {
        flat[parameter.offset..parameter.offset + values.len()].copy_from_slice(values);
    }
    let flat = device.upload(bytemuck::cast_slice(&flat)).unwrap();
    let leaves = layout.leaves(&device, &flat);
    let x = Var::constant(Tensor::from_f32(&device, [2, 1], &[4.0, 0.0]).unwrap());
    let z = forward(&spec, &leaves, &x, &Pass::Predict);
    near(&numbers(&z), &[0.75, -0.25, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0], 1e-6);
    let gradients = ops::grad(&z, &leaves.iter().collect::<Vec<_>>()).unwrap();
    for gradient in gradients.iter().flatten() {
        assert!(numbers(gradient).iter().all(|g| g.is_finite()));
    }
    // The row without a pole alone gives the same gradients for the coefficients.
    let alone = Var::constant(Tensor::from_f32(&device, [1, 1], &[4.0]).unwrap());
    let z = forward(&spec, &leaves, &alone, &Pass::Predict);
    let only = ops::grad(&z, &leaves.iter().collect::<Vec<_>>()).unwrap();
    let coefficients = |all: &[Option<Var>]| numbers(all[2].as_ref().unwrap());
    assert_eq!(coefficients(&gradients)[..1], coefficients(&only)[..1]);
}

#[test]
fn a_profile_shows_after_which_layer_rows_are_bottom() {
    let linear = Layer::Linear(Linear { outputs: 2, bias: true, init: Init::Linear });
    let decoding = Decoding::raw(0.25, Some(0.75));
    let head = Head { anchor: 0.0, decoding, ..Head::linear(1) };
    let layers = vec![linear, Layer::Rational(RationalLayer::new(0, 1)), Layer::Projective(head)];
    let spec = Spec { inputs: 1, layers };
    let layout = Layout::of(&spec);
    let mut parameters = vec![0.0; layout.total];
    // Features x and 2 x + 4, then 1 over each: poles at 0 and -2, the second one the head's denominator.
    let values: [&[f32]; 3] = [&[1.0, 2.0], &[0.0, 4.0], &[1.0, 0.0, 1.0]];
    for (parameter, values) in layout.parameters.iter().zip(values) {
        parameters[parameter.offset..][..values.len()].copy_from_slice(values);
    }
    let model = Model::new(spec, Loss::Pairs(PairLoss::default()), parameters, None);
    // 1 / (2 x + 4) is 1/12 beyond the head's threshold, 1/2 near it, 1 at -1.5.
    let x = [0.0, -2.0, 4.0, -1.0, -1.5].repeat(2000);
    let profile = block_on(model.bottom_shares(&Device::cpu(1), &x)).unwrap();
    let seen: Vec<_> = profile.iter().map(|row| (&row.layer[..], row.kind, row.bottom, row.gap)).collect();
    let expected = [
        ("layers.0", "linear", 0.0, None),
        ("layers.1", "rational", 0.4, None),
        ("layers.2", "projective", 0.6, Some(0.2)),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn poles_inside_a_model_that_cannot_predict_bottom_are_an_error() {
    let layers = vec![
        Layer::Rational(RationalLayer::new(3, 2)),
        Layer::Linear(Linear { outputs: 1, bias: true, init: Init::Linear }),
    ];
    let error = Spec { inputs: 2, layers }.outputs().unwrap_err().to_string();
    assert_eq!(
        error,
        "model: layers.0: a rational layer has poles; end the model in a projective head, which can predict ⊥, or make the layer safe"
    );
    let safe = vec![
        Layer::Rational(RationalLayer::safe(3, 2)),
        Layer::Linear(Linear { outputs: 1, bias: true, init: Init::Linear }),
    ];
    assert_eq!(Spec { inputs: 2, layers: safe }.outputs().unwrap(), 1);
}

#[test]
fn property_34_norm_ignores_bottom() {
    let device = Device::cpu(1);
    let x = [1.0, 7.0, 2.0, 3.0, f32::NAN, 2.0];
    let made = scm::norm(&Masked::from_f32(&device, [2, 3], &x).unwrap(), 0.0, Policy::Project);
    // Columns [1, 3], [7, ⊥] and [2, 2]: only the first has a variance above 0.
    near(&numbers(made.value()), &[-1.0, 0.0, 0.0, 1.0, 0.0, 0.0], 1e-6);
    assert_eq!(block_on(made.mask()).unwrap(), [0b11_0110]);
}

#[test]
fn property_35_softmax_of_a_row_with_bottom_is_1_at_its_largest_number() {
    let device = Device::cpu(1);
    let x = [0.0, f32::INFINITY, 2.0, 1.0, 1.0, 1.0, f32::NAN, f32::NAN, f32::NAN];
    let (made, rows) = scm::softmax(&Masked::from_f32(&device, [3, 3], &x).unwrap(), Policy::default());
    near(&numbers(&made), &[0.0, 0.0, 1.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0, 0.0, 0.0], 1e-6);
    assert_eq!(numbers(&rows), [1.0, 0.0, 1.0]);
}

#[test]
fn property_14_policies_change_a_layers_gradient() {
    let device = Device::cpu(1);
    let x = column(&device, &[1.0, 2.0, 3.0]);
    let masked = Masked::masked_by(&x, &[0b010]).unwrap();
    let slope = Var::constant(Tensor::from_f32(&device, [3, 1], &[5.0, 5.0, -0.5]).unwrap());
    let gradient = |policy: Policy| {
        let made = scm::with_gradient_policy(&masked, policy);
        let loss = ops::mul(made.value(), &slope);
        numbers(ops::grad(&loss, &[&x]).unwrap()[0].as_ref().unwrap())
    };
    assert_eq!(gradient(Policy::default()), [1.0, 0.0, -0.5]);
    assert_eq!(gradient(Policy::Clamp { low: -0.1, high: 2.0 }), [2.0, 0.0, -0.1]);
    assert_eq!(gradient(Policy::Project), [5.0, 0.0, -0.5]);
    assert_eq!(gradient(Policy::Reject), [0.0, 0.0, 0.0]);
}

#[test]
fn property_14_a_layer_reads_its_policy_in_the_forward_pass() {
    let device = Device::cpu(1);
    let gradient = |own: Option<Policy>, policies: &Registry, scope: Option<Policy>| {
        // 4 / x, whose slope at 1 is -4.
        let layer = RationalLayer { policy: own, ..RationalLayer::new(0, 1) };
        let layers =
            vec![Layer::Residual(Residual { layers: vec![Layer::Rational(layer)] }), Layer::Projective(Head::value(1))];
        let spec = Spec { inputs: 1, layers };
        let x = column(&device, &[1.0]);
        let w = Var::leaf(Tensor::from_f32(&device, [3, 1], &[4.0, 0.0, 1.0]).unwrap());
        let control = Tensor::from_u32(&device, [4], &[0; 4]).unwrap();
        let mode = Pass::Train { seed: 0, control, policies: policies.clone(), present: column(&device, &[1.0]) };
        let in_force = scope.map(Scope::new);
        let z = forward(&spec, std::slice::from_ref(&w), &x, &mode);
        drop(in_force);
        let slope = Var::constant(Tensor::from_f32(&device, [1, 2], &[5.0, 0.0]).unwrap());
        numbers(ops::grad(&ops::mul(&z, &slope), &[&x]).unwrap()[0].as_ref().unwrap())[0]
    };
    // Of x + 4 / x under a gradient of 5: the first part passes, the policy applies to the second before it is multiplied by -4.
    let (plain, clamp, reject) = (5.0 - 20.0, 5.0 - 4.0, 5.0);
    let mut policies = Registry::default();
    assert_eq!(gradient(None, &policies, None), plain, "rational layers project");
    policies.register("scm_rational", Policy::default()).unwrap();
    assert_eq!(gradient(None, &policies, None), clamp, "by kind");
    policies.register("layers.0.layers.0", Policy::Reject).unwrap();
    assert_eq!(gradient(None, &policies, None), reject, "by place");
    assert_eq!(gradient(None, &policies, Some(Policy::default())), clamp, "the scope comes first");
    assert_eq!(
        gradient(Some(Policy::Project), &policies, Some(Policy::default())),
        plain,
        "and before it the layer's own"
    );
}
