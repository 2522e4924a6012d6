//! NaN and infinities stay what they are; outside its domain an op is NaN. The table of docs/SPECIAL_VALUES.md.

use super::{is_same, leaf, read};
use crate::devices::devices;
use meromorph::Device;
use meromorph::prelude::Expr;
use meromorph::program::op::OPS;
use meromorph::tensor::DType;
use meromorph::{loss::Loss, model::Model, nn, ops};
use pollster::block_on;

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;
const PI: f32 = std::f32::consts::PI;

/// An op, its arguments and its value.
type Row = (&'static str, &'static [f32], f32);

const TABLE: &[Row] = &[
    ("pow", &[-4.0, 1.5], NAN),
    ("pow", &[-4.0, 0.5], NAN),
    ("pow", &[-2.0, 1e-3], NAN),
    ("pow", &[-4.0, 2.0], 16.0),
    ("pow", &[-4.0, 3.0], -64.0),
    ("pow", &[-2.0, -1.0], -0.5),
    ("pow", &[4.0, 1.5], 8.0),
    ("pow", &[0.0, 0.0], 1.0),
    ("pow", &[NAN, 0.0], 1.0),
    ("pow", &[1.0, NAN], 1.0),
    ("pow", &[NAN, 2.0], NAN),
    ("pow", &[2.0, NAN], NAN),
    ("pow", &[0.0, 0.5], 0.0),
    ("pow", &[0.0, -1.0], INF),
    ("pow", &[-0.0, -1.0], -INF),
    ("pow", &[-0.0, -2.0], INF),
    ("pow", &[INF, 0.5], INF),
    ("pow", &[INF, -1.0], 0.0),
    ("pow", &[-INF, 3.0], -INF),
    ("pow", &[-INF, 2.0], INF),
    ("pow", &[2.0, INF], INF),
    ("pow", &[0.5, INF], 0.0),
    ("pow", &[-1.0, INF], 1.0),
    ("pow", &[2.0, -INF], 0.0),
    ("pow", &[2.0, 200.0], INF),
    ("pow", &[2.0, -200.0], 0.0),
    ("pow", &[1.0000001, 1e30], INF),
    ("pow", &[10.0, 30.0], 1e30),
    ("hypot", &[-3.0, NAN], NAN),
    ("hypot", &[NAN, -INF], INF),
    ("hypot", &[INF, 2.0], INF),
    ("hypot", &[3.0, -4.0], 5.0),
    ("hypot", &[3e37, 4e37], 5e37),
    ("hypot", &[1.5e38, 2e38], 2.5e38),
    ("atan2", &[-3.0, NAN], NAN),
    ("atan2", &[NAN, INF], NAN),
    ("atan2", &[INF, INF], PI / 4.0),
    ("atan2", &[INF, -INF], 0.75 * PI),
    ("atan2", &[-INF, 2.0], -PI / 2.0),
    ("atan2", &[2.0, INF], 0.0),
    ("atan2", &[2.0, -INF], PI),
    ("atan2", &[1e38, 1e38], PI / 4.0),
    ("sin", &[INF], NAN),
    ("sin", &[NAN], NAN),
    ("cos", &[-INF], NAN),
    ("cos", &[NAN], NAN),
    ("tan", &[INF], NAN),
    ("asin", &[2.0], NAN),
    ("acos", &[-2.0], NAN),
    ("atan", &[INF], PI / 2.0),
    ("atan", &[NAN], NAN),
    ("sqrt", &[-1.0], NAN),
    ("sqrt", &[INF], INF),
    ("sqrt", &[NAN], NAN),
    ("rsqrt", &[-1.0], NAN),
    ("rsqrt", &[0.0], INF),
    ("rsqrt", &[INF], 0.0),
    ("exp", &[INF], INF),
    ("exp", &[-INF], 0.0),
    ("exp", &[NAN], NAN),
    ("exp2", &[INF], INF),
    ("exp2", &[-INF], 0.0),
    ("exp2", &[NAN], NAN),
    ("expm1", &[INF], INF),
    ("expm1", &[-INF], -1.0),
    ("expm1", &[NAN], NAN),
    ("ln", &[-1.0], NAN),
    ("ln", &[0.0], -INF),
    ("ln", &[INF], INF),
    ("ln", &[NAN], NAN),
    ("log2", &[-1.0], NAN),
    ("log2", &[0.0], -INF),
    ("log2", &[INF], INF),
    ("log2", &[NAN], NAN),
    ("log1p", &[-1.0], -INF),
    ("log1p", &[-2.0], NAN),
    ("log1p", &[INF], INF),
    ("log1p", &[NAN], NAN),
    ("sinh", &[INF], INF),
    ("sinh", &[-INF], -INF),
    ("sinh", &[NAN], NAN),
    ("cosh", &[-INF], INF),
    ("cosh", &[NAN], NAN),
    ("tanh", &[INF], 1.0),
    ("tanh", &[-INF], -1.0),
    ("tanh", &[NAN], NAN),
    ("sigmoid", &[-INF], 0.0),
    ("sigmoid", &[INF], 1.0),
    ("sigmoid", &[NAN], NAN),
    ("softplus", &[-INF], 0.0),
    ("softplus", &[INF], INF),
    ("softplus", &[NAN], NAN),
    ("relu", &[NAN], NAN),
    ("relu", &[-INF], 0.0),
    ("relu", &[INF], INF),
    ("relu", &[-2.5], 0.0),
    ("relu", &[2.5], 2.5),
    ("erf", &[INF], 1.0),
    ("erf", &[-INF], -1.0),
    ("erf", &[NAN], NAN),
    ("erfc", &[-INF], 2.0),
    ("erfc", &[INF], 0.0),
    ("erfc", &[NAN], NAN),
    ("floor", &[INF], INF),
    ("floor", &[NAN], NAN),
    ("ceil", &[-INF], -INF),
    ("ceil", &[NAN], NAN),
    ("round", &[INF], INF),
    ("round", &[NAN], NAN),
    ("abs", &[-INF], INF),
    ("abs", &[NAN], NAN),
    ("sign", &[NAN], 0.0),
    ("sign", &[-INF], -1.0),
    ("recip", &[0.0], INF),
    ("recip", &[-0.0], -INF),
    ("recip", &[INF], 0.0),
    ("div", &[0.0, 0.0], NAN),
    ("div", &[-1.0, 0.0], -INF),
    ("mul", &[INF, 0.0], NAN),
    ("sub", &[INF, INF], NAN),
    ("min", &[NAN, 1.0], NAN),
    ("max", &[1.0, NAN], NAN),
    ("clamp", &[NAN, -1.0, 1.0], NAN),
    ("clamp", &[INF, -1.0, 1.0], 1.0),
    ("select", &[NAN, 1.0, 2.0], 1.0),
    ("select", &[0.0, 1.0, 2.0], 2.0),
    ("select", &[1.0, 1.0, NAN], 1.0),
    ("lt", &[NAN, 1.0], 0.0),
    ("le", &[NAN, NAN], 0.0),
    ("gt", &[NAN, 1.0], 0.0),
    ("ge", &[1.0, NAN], 0.0),
    ("eq", &[NAN, NAN], 0.0),
    ("ne", &[NAN, NAN], 1.0),
    ("ne", &[INF, INF], 0.0),
    ("not", &[NAN], 0.0),
    ("and", &[NAN, 1.0], 1.0),
    ("and", &[NAN, 0.0], 0.0),
    ("or", &[0.0, NAN], 1.0),
    ("gamma", &[NAN], NAN),
    ("lgamma", &[NAN], NAN),
    ("j0", &[NAN], NAN),
    ("j1", &[NAN], NAN),
    ("sinc", &[NAN], NAN),
];

/// The value of an op on a device.
fn value(device: &Device, name: &str, arguments: &[f32]) -> f32 {
    let op = OPS.iter().find(|op| op.name == name).expect("an op");
    let inputs: Vec<_> = arguments.iter().map(|&x| leaf(device, &[1], &[x])).collect();
    read(&ops::fused(&inputs.iter().collect::<Vec<_>>(), |v| Expr::op(op, v)))[0]
}

#[test]
fn nan_and_infinities_stay_what_they_are_on_every_device() {
    let mut failures = Vec::new();
    for device in devices(&[1, 2]) {
        for &(name, arguments, expected) in TABLE {
            let got = value(&device, name, arguments);
            if !is_same(got, expected) {
                failures.push(format!("{}: {name}{arguments:?} = {got}, expected {expected}", device.info().device));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The linear model over x^1.5 is NaN for a negative x, on every device and in both paths.
#[test]
fn a_model_of_a_broken_power_diverges_on_every_device() {
    let function = nn::Activation::parse("x^1.5").expect("an activation");
    let linear = nn::Layer::Linear(nn::Linear { outputs: 1, bias: false, init: nn::Init::One });
    let spec = nn::Spec { inputs: 1, layers: vec![nn::Layer::Activation(nn::ActivationLayer { function }), linear] };
    let model = Model::new(spec, Loss::mse(), vec![1.0; 64], None);
    for device in devices(&[1]) {
        let outputs = block_on(model.outputs(&device, &[4.0, -4.0, -2.0])).expect("outputs");
        let is_right = is_same(outputs[0], 8.0) && outputs[1].is_nan() && outputs[2].is_nan();
        assert!(is_right, "{}: {outputs:?}", device.info().device);
    }
}

#[test]
fn casts_keep_nan_and_infinities_and_clamp_numbers() {
    for device in devices(&[1]) {
        let name = device.info().device;
        let x = leaf(&device, &[6], &[NAN, INF, -INF, 70_000.0, -70_000.0, 0.5]);
        let there_and_back = read(&ops::cast(&ops::cast(&x, DType::F16), DType::F32));
        let expected = [NAN, INF, -INF, 65_504.0, -65_504.0, 0.5];
        assert!(there_and_back.iter().zip(expected).all(|(&a, b)| is_same(a, b)), "{name}: {there_and_back:?}");
        let x = leaf(&device, &[6], &[-1.5, 3e9, 5e9, NAN, INF, -INF]);
        let words = block_on(ops::cast(&x, DType::U32).value().to_u32()).expect("words");
        assert_eq!(words, [0, 3_000_000_000, u32::MAX, 0, u32::MAX, 0], "{name}");
    }
}

/// d²/da db of a^b at b = 0 is 1 / a, from either side; at a = 0 both terms are 0.
#[test]
fn both_mixed_terms_of_a_power_are_equal_at_exponent_0() {
    for device in devices(&[1]) {
        for (a, b, mixed) in [(2.0, 0.0, 0.5), (3.0, 0.0, 1.0 / 3.0), (0.0, 0.0, 0.0), (2.0, 1.0, 1.0 + 2.0_f32.ln())] {
            let [x, y] = [a, b].map(|value| leaf(&device, &[1], &[value]));
            let z = ops::pow(&x, &y);
            let slopes = ops::grad(&z, &[&x, &y]).expect("gradients");
            let [by_x, by_y] = [0, 1].map(|at: usize| slopes[at].clone().expect("a gradient"));
            let terms = [super::gradient(&by_x, &y)[0], super::gradient(&by_y, &x)[0]];
            let is_right = terms.iter().all(|&term| is_same(term, mixed) || (term - mixed).abs() < 1e-5);
            assert!(is_right, "{}: a = {a}, b = {b}: {terms:?}, expected {mixed}", device.info().device);
            let own = super::gradient(&by_x, &x)[0];
            assert_eq!(own, 0.0, "b (b - 1) a^(b - 2) at a = {a}, b = {b}");
        }
    }
}
