//! Models that may divide by zero: losses of pairs against closed formulas and published values, strict decoding, training and its refusals.
//! The numbers in the names are those of the properties that ZeroProofML 0.6's own tests check.

use meromorph::autograd::Var;
use meromorph::io::{Choice, Header, read_table};
use meromorph::kernels::mlp::PairLoss;
use meromorph::loss::{Loss, pairs};
use meromorph::nn::{
    Activation, Basis, Decoding, Denominators, Form, Gauge, Head, Init, Layer, Layout, Mode, RationalLayer, Spec,
    forward, initialise,
};
use meromorph::optim::{Optimizer, Schedule, Shape};
use meromorph::scm::{self, Masked, policy::Policy};
use meromorph::tensor::Tensor;
use meromorph::train::{
    CoverageGoal, Data, Examples, Flow, Model, Prediction, Recipe, Settings, Stop, Storage, Trainer,
};
use meromorph::{Device, ops};
use pollster::block_on;

/// A column of numbers, tracked.
fn column(device: &Device, values: &[f32]) -> Var {
    Var::leaf(Tensor::from_f32(device, [values.len(), 1], values).unwrap())
}

fn numbers(var: &Var) -> Vec<f32> {
    block_on(var.value().to_f32()).unwrap()
}

fn near(got: &[f32], wanted: &[f64], relative: f64) {
    assert_eq!(got.len(), wanted.len());
    for (got, wanted) in got.iter().zip(wanted) {
        let error = (f64::from(*got) - wanted).abs();
        assert!(error <= relative * wanted.abs().max(1e-9), "{got} for {wanted}");
    }
}

/// P, Q, Yn and Yd of some rows, all of which count.
struct Rows([Var; 5]);

impl Rows {
    fn new(p: &[f32], q: &[f32], yn: &[f32], yd: &[f32]) -> Self {
        let device = Device::cpu(1);
        let ones = vec![1.0; p.len()];
        Self([p, q, yn, yd, &ones].map(|values| column(&device, values)))
    }

    fn pairs(&self) -> pairs::Pairs<'_> {
        let [p, q, yn, yd, rows] = &self.0;
        pairs::Pairs { p, q, yn, yd, rows }
    }

    fn tau(&self, tau: f32) -> Var {
        ops::constant(&self.0[0], tau)
    }

    /// Gradients of a loss with respect to P and Q.
    fn gradients(&self, loss: &Var) -> [Vec<f32>; 2] {
        let [p, q, ..] = &self.0;
        let found = ops::grad(loss, &[p, q]).unwrap();
        [0, 1].map(|at| numbers(found[at].as_ref().unwrap()))
    }
}

/// The example that the original's golden values are for.
fn golden() -> Rows {
    Rows::new(&[0.7, -0.2], &[0.3, 0.8], &[0.1, -0.5], &[1.2, -1.1])
}

#[test]
fn property_42_the_implicit_loss_is_its_formula() {
    let rows = golden();
    let loss = pairs::implicit(&rows.pairs(), 1e-9, false);
    near(&numbers(&loss), &[2.684_061_485_717_456], 1e-5);
    let [dp, dq] = rows.gradients(&loss);
    near(&dp, &[6.972_888_660_814_137, -0.838_216_719_150_353], 1e-5);
    near(&dq, &[-16.270_073_421_005_804, -0.209_554_179_006_647_36], 1e-5);
    let detached = pairs::implicit(&rows.pairs(), 1e-9, true);
    let [dp, dq] = rows.gradients(&detached);
    near(&dp, &[7.226_765_745_525_905, -0.869_454_358_911_965_2], 1e-5);
    near(&dq, &[-0.602_230_478_793_825_5, 0.395_206_526_778_166], 1e-5);
}

#[test]
fn property_42_the_implicit_loss_is_finite_at_nothing_and_blind_to_scale() {
    let nothing = Rows::new(&[0.0], &[0.0], &[0.0], &[0.0]);
    let loss = pairs::implicit(&nothing.pairs(), 1e-9, false);
    assert_eq!(numbers(&loss), [0.0]);
    assert_eq!(nothing.gradients(&loss), [[0.0], [0.0]]);
    let scaled = Rows::new(&[7.0, -2.0], &[3.0, 8.0], &[0.1, -0.5], &[1.2, -1.1]);
    near(&numbers(&pairs::implicit(&scaled.pairs(), 1e-9, false)), &[2.684_061_485_717_456], 1e-5);
}

#[test]
fn property_43_the_sign_loss_sees_orientation() {
    let rows = Rows::new(&[0.25, -0.4], &[0.9, 0.2], &[-0.15, 0.6], &[1.1, -0.7]);
    near(&numbers(&pairs::sign(&rows.pairs(), 1e-9, f32::MAX)), &[1.001_557_490_520_928], 1e-5);
    let flipped = Rows::new(&[-0.25, 0.4], &[-0.9, -0.2], &[0.15, -0.6], &[-1.1, 0.7]);
    near(&numbers(&pairs::sign(&flipped.pairs(), 1e-9, f32::MAX)), &[1.001_557_490_520_928], 1e-5);
    let same = Rows::new(&[1.0], &[0.0], &[1.0], &[0.0]);
    assert!(numbers(&pairs::sign(&same.pairs(), 1e-9, 1e-3))[0] < 1e-4);
    let opposite = Rows::new(&[1.0], &[0.0], &[-1.0], &[0.0]);
    near(&numbers(&pairs::sign(&opposite.pairs(), 1e-9, 1e-3)), &[1.999_999_999], 1e-6);
    // Finite targets count only where that is asked for.
    assert_eq!(numbers(&pairs::sign(&rows.pairs(), 1e-9, 1e-3)), [0.0]);
    let huge = Rows::new(&[1e30], &[1e30], &[1.0], &[1.0]);
    let loss = pairs::sign(&huge.pairs(), 1e-9, f32::MAX);
    assert!(numbers(&loss)[0].abs() < 1e-6 && huge.gradients(&loss).concat().iter().all(|g| g.is_finite()));
}

#[test]
fn property_44_the_margin_keeps_to_finite_targets() {
    let rows = Rows::new(&[1.0, 1.0], &[1e-5, 1e-3], &[1.0, 1.0], &[1.0, 0.0]);
    near(&numbers(&pairs::margin(&rows.pairs(), &rows.tau(1e-4))), &[4.05e-9], 1e-5);
}

#[test]
fn separation_has_means_of_its_own() {
    let rows = Rows::new(&[1.0; 4], &[0.005, 0.03, 0.04, 0.2], &[1.0; 4], &[0.0, 0.0, 1.0, 1.0]);
    let [bottom, finite] = pairs::separation(&rows.pairs(), 1e-2, 5e-2);
    near(&[numbers(&bottom), numbers(&finite)].concat(), &[2.0e-4, 5.0e-5], 1e-5);
}

#[test]
fn property_45_coverage_is_wired_into_gradients() {
    let rows = Rows::new(&[1.0; 4], &[0.005, 0.03, 0.04, 0.2], &[1.0; 4], &[1.0; 4]);
    let loss = PairLoss { coverage: 1.0, tau: [0.025; 2], ..PairLoss::none() };
    let total = pairs::total(&loss, &rows.pairs(), &rows.tau(0.025));
    near(&numbers(&total), &[0.096_218_347_246_087_73], 1e-4);
    let dq = ops::grad(&total, &[&rows.0[1]]).unwrap();
    let dq = numbers(dq[0].as_ref().unwrap());
    assert!(dq[..3].iter().all(|dq| *dq < 0.0), "larger denominators cover more: {dq:?}");
}

#[test]
fn property_46_the_total_is_the_weighted_sum() {
    let rows = Rows::new(&[0.7, -0.2, 0.5], &[0.3, 0.8, 0.01], &[0.1, -0.5, 1.0], &[1.0, 1.0, 0.0]);
    let loss = PairLoss {
        implicit: 0.5,
        chordal: 0.25,
        decoded: 0.75,
        margin: 2.0,
        sign: 1.5,
        bottom: 3.0,
        finite: 4.0,
        coverage: 0.5,
        tau: [0.1; 2],
        ..PairLoss::none()
    };
    let (given, tau) = (rows.pairs(), rows.tau(0.1));
    let [bottom, finite] = pairs::separation(&given, loss.tau_bottom, loss.tau_finite);
    let missing = numbers(&pairs::missing_coverage(&given, &tau, loss.temperature, loss.target_coverage))[0];
    let terms = [
        (0.5, pairs::implicit(&given, 1e-9, false)),
        (0.25, pairs::chordal(&given, 1e-9)),
        (0.75, pairs::decoded(&given, &tau)),
        (2.0, pairs::margin(&given, &tau)),
        (1.5, pairs::sign(&given, 1e-9, 1e-3)),
        (3.0, bottom),
        (4.0, finite),
    ];
    let sum: f32 = terms.iter().map(|(weight, term)| weight * numbers(term)[0]).sum::<f32>() + 0.5 * missing * missing;
    near(&numbers(&pairs::total(&loss, &given, &tau)), &[f64::from(sum)], 1e-5);
}

#[test]
fn property_47_scale_collapse_fools_the_implicit_loss_but_not_the_decoded_error() {
    let (p, q, y) = ([0.7, -0.2], [0.3, 0.8], [1.5, -0.9]);
    let shrunk = |values: [f32; 2]| values.map(|value| value * 1e-8);
    let whole = Rows::new(&p, &q, &y, &[1.0; 2]);
    let small = Rows::new(&shrunk(p), &shrunk(q), &y, &[1.0; 2]);
    let implicit = |rows: &Rows| numbers(&pairs::implicit(&rows.pairs(), 1e-9, false))[0];
    let decoded = |rows: &Rows| numbers(&pairs::decoded(&rows.pairs(), &rows.tau(1e-4)))[0];
    assert!(implicit(&small) < implicit(&whole) && decoded(&small) > decoded(&whole));
    assert!(decoded(&small) + 0.1 * implicit(&small) > decoded(&whole) + 0.1 * implicit(&whole));
}

/// A head's pairs for some features, with its first parameters.
fn pairs_of(device: &Device, head: Head, features: &[f32]) -> Vec<f32> {
    let spec = Spec { inputs: head.features(), layers: vec![Layer::Projective(head)] };
    let layout = Layout::of(&spec);
    let flat = device.upload(bytemuck::cast_slice(&initialise(&layout, 3))).unwrap();
    let rows = features.len() / spec.inputs;
    let x = Var::constant(Tensor::from_f32(device, [rows, spec.inputs], features).unwrap());
    numbers(&forward(&spec, &layout.leaves(device, &flat), &x, &Mode::Predict))
}

#[test]
fn heads_make_the_pairs_of_their_formulas() {
    let device = Device::cpu(1);
    let features = [0.3, -0.7, 0.9, 1.1, 0.2, -0.4];
    let plain = pairs_of(&device, Head { denominators: Denominators::Shared, ..Head::linear(2) }, &features);
    near(&plain, &[0.3, -0.7, 1.9, 1.9, 1.1, 0.2, 0.6, 0.6], 1e-6);
    let floored = Head { floor: Some(0.25), anchor: 0.0, ..Head::linear(1) };
    let softplus = |x: f64| (1.0 + x.exp()).ln() + 0.25;
    near(&pairs_of(&device, floored, &[0.5, -1.0]), &[0.5, softplus(-1.0)], 1e-5);
    let angle = Head { form: Form::Angular { scale: 2.0 }, ..Head::angular(1) };
    near(&pairs_of(&device, angle, &[0.4]), &[0.8_f64.cos(), 0.8_f64.sin()], 1e-5);
    let unit = pairs_of(&device, Head { gauge: Gauge::Unit, ..Head::linear(1) }, &[3.0, 3.0]);
    near(&unit, &[0.6, 0.8], 1e-6);
}

#[test]
fn chebyshev_and_monomial_heads_agree_on_the_same_polynomial() {
    let device = Device::cpu(1);
    let form = |basis| Form::Rational { numerator: 3, denominator: 0, basis };
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
        numbers(&forward(&spec, &layout.leaves(&device, &flat), &x, &Mode::Predict))
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
    let settings = Settings {
        loss: Loss::Pairs(PairLoss { decoded: 1.0, ..PairLoss::none() }),
        optimizer: Optimizer::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0 },
        schedule: Schedule { warmup_steps: 0, shape: Shape::Constant },
        lr: 0.1,
        epochs: 120,
        batch: 32,
        patience: 0,
        ..Settings::default()
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
    let y = scm::rational(&Masked::from(&x), &w, &layer.form(), layer.policy);
    let gradients = ops::grad(y.value(), &[&x, &w]).unwrap();
    let gradients = gradients.iter().flatten().flat_map(numbers).collect();
    (numbers(y.value()), block_on(y.mask()).unwrap(), gradients)
}

#[test]
fn property_32_zero_denominators_mask_and_the_rest_is_right() {
    let (y, mask, _) = layer(&[-1.0, 0.0, 2.0], &[1.0, 0.0, 1.0], RationalLayer::new(0, 1));
    assert_eq!((y, mask), (vec![-1.0, 0.0, 0.5], vec![0b010]));
    let (y, mask, _) = layer(&[-1.0, 0.0, 2.0], &[3.0, 0.0], RationalLayer::new(0, 0));
    assert_eq!((y, mask), (vec![0.0; 3], vec![0b111]));
}

#[test]
fn property_33_no_gradient_is_ever_not_finite() {
    let policies = [Policy::default(), Policy::Project, Policy::Reject, Policy::Passthrough];
    let x = [1e33, 1.0, 1e-38, f32::MAX, f32::NAN, f32::INFINITY, 0.0, -1e20];
    for policy in policies {
        for coefficients in
            [[0.0, 1.0, 1e-5, 0.0], [1e33, 0.0, 1e-5, 0.0], [1.0, 1.0, 0.0, 1.0], [1e38, -1e38, 1e-6, 1e-30]]
        {
            let (y, _, gradients) = layer(&x, &coefficients, RationalLayer { policy, ..RationalLayer::new(1, 1) });
            assert!(
                y.iter().chain(&gradients).all(|value| value.is_finite()),
                "{policy} {coefficients:?} {gradients:?}"
            );
        }
    }
}

#[test]
fn property_50_validation_does_not_depend_on_the_batch() {
    let watched = [4, 7, 32].map(|batch| {
        let (spec, settings, data) = small(Head::rational(1), &[2.0, 1.0, -1.0, 1.0, 1.0, 0.0, 0.5, 1.0].repeat(8));
        let settings = Settings { batch, epochs: 1, lr: 1e-12, ..settings };
        let mut trainer = Trainer::new(&Device::cpu(1), spec, settings, data).unwrap();
        block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
        let report = &trainer.history()[0];
        (report.val_loss.unwrap(), report.pairs.unwrap().coverage)
    });
    for (loss, coverage) in watched {
        assert!((loss - watched[0].0).abs() < 1e-6 && (coverage - watched[0].1).abs() < 1e-6, "{watched:?}");
    }
}

#[test]
fn property_21_training_sees_pairs_and_prediction_decodes_them() {
    let device = Device::cpu(1);
    let (spec, settings, data) = small(Head::linear(1), &[2.0, 1.0].repeat(8));
    let x = data.train.x.clone();
    let trainer = Trainer::new(&device, spec.clone(), settings.clone(), data).unwrap();
    let pairs = block_on(trainer.predict(&x)).unwrap();
    let parameters = block_on(trainer.parameters()).unwrap();
    let model = Model { spec, loss: settings.loss, parameters, preparation: None, storage: Storage::default() };
    let decoded = block_on(model.decoded(&device, &x)).unwrap();
    assert_eq!((pairs.len(), decoded.value.len()), (16, 8));
    for (pair, value) in pairs.chunks(2).zip(&decoded.value) {
        assert_eq!(pair[0] / pair[1], *value);
    }
}

#[test]
fn a_pole_inside_the_model_is_bottom_at_its_end_and_leaves_other_rows_alone() {
    let device = Device::cpu(1);
    let linear = Layer::Linear { outputs: 2, bias: true, init: Init::Linear };
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
    let z = forward(&spec, &leaves, &x, &Mode::Predict);
    near(&numbers(&z), &[0.75, -0.25, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0], 1e-6);
    let gradients = ops::grad(&z, &leaves.iter().collect::<Vec<_>>()).unwrap();
    for gradient in gradients.iter().flatten() {
        assert!(numbers(gradient).iter().all(|g| g.is_finite()));
    }
    // The row without a pole alone gives the same gradients for the coefficients.
    let alone = Var::constant(Tensor::from_f32(&device, [1, 1], &[4.0]).unwrap());
    let z = forward(&spec, &leaves, &alone, &Mode::Predict);
    let only = ops::grad(&z, &leaves.iter().collect::<Vec<_>>()).unwrap();
    let coefficients = |all: &[Option<Var>]| numbers(all[2].as_ref().unwrap());
    assert_eq!(coefficients(&gradients)[..1], coefficients(&only)[..1]);
}

#[test]
fn poles_inside_a_model_that_cannot_say_bottom_are_refused() {
    let layers =
        vec![Layer::Rational(RationalLayer::new(3, 2)), Layer::Linear { outputs: 1, bias: true, init: Init::Linear }];
    let error = Spec { inputs: 2, layers }.outputs().unwrap_err().to_string();
    assert_eq!(
        error,
        "model: layers.0: a rational layer has poles; end the model in a projective head, which can say ⊥, or make the layer safe"
    );
    let safe =
        vec![Layer::Rational(RationalLayer::safe(3, 2)), Layer::Linear { outputs: 1, bias: true, init: Init::Linear }];
    assert_eq!(Spec { inputs: 2, layers: safe }.outputs().unwrap(), 1);
}

#[test]
fn property_34_norm_leaves_bottom_out() {
    let device = Device::cpu(1);
    let x = [1.0, 7.0, 2.0, 3.0, f32::NAN, 2.0];
    let made = scm::norm(&Masked::from_f32(&device, [2, 3], &x).unwrap(), 0.0, Policy::Project);
    // Columns [1, 3], [7, ⊥] and [2, 2]: only the first has a spread.
    near(&numbers(made.value()), &[-1.0, 0.0, 0.0, 1.0, 0.0, 0.0], 1e-6);
    assert_eq!(block_on(made.mask()).unwrap(), [0b11_0110]);
}

#[test]
fn property_35_softmax_is_sure_of_the_best_of_what_is_left() {
    let device = Device::cpu(1);
    let x = [0.0, f32::INFINITY, 2.0, 1.0, 1.0, 1.0, f32::NAN, f32::NAN, f32::NAN];
    let (made, rows) = scm::softmax(&Masked::from_f32(&device, [3, 3], &x).unwrap(), Policy::default());
    near(&numbers(&made), &[0.0, 0.0, 1.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0, 0.0, 0.0], 1e-6);
    assert_eq!(numbers(&rows), [1.0, 0.0, 1.0]);
}

#[test]
fn property_14_policies_govern_a_layers_gradient() {
    let device = Device::cpu(1);
    let x = column(&device, &[1.0, 2.0, 3.0]);
    let masked = Masked::masked_by(&x, &[0b010]).unwrap();
    let slope = Var::constant(Tensor::from_f32(&device, [3, 1], &[5.0, 5.0, -0.5]).unwrap());
    let gradient = |policy: Policy| {
        let made = scm::governed(&masked, policy);
        let loss = ops::mul(made.value(), &slope);
        numbers(ops::grad(&loss, &[&x]).unwrap()[0].as_ref().unwrap())
    };
    assert_eq!(gradient(Policy::default()), [1.0, 0.0, -0.5]);
    assert_eq!(gradient(Policy::Clamp { low: -0.1, high: 2.0 }), [2.0, 0.0, -0.1]);
    assert_eq!(gradient(Policy::Project), [5.0, 0.0, -0.5]);
    assert_eq!(gradient(Policy::Reject), [0.0, 0.0, 0.0]);
}

/// tan on [-2, 2], or with its poles cut out and marked.
fn tangent(rows: usize, marks_poles: bool) -> String {
    let mut text = String::from("x,y\n");
    for i in 0..rows {
        let x = -2.0 + 4.0 * (i as f64 + 0.5) / rows as f64;
        let y = x.tan();
        let cell = if marks_poles && y.abs() > 20.0 {
            if y > 0.0 { "inf".into() } else { "-inf".into() }
        } else {
            y.to_string()
        };
        text += &format!("{x},{cell}\n");
    }
    text
}

fn recipe(head: Option<Head>) -> Recipe {
    let choice = Choice { target: "y".into(), has_poles: head.is_some(), ..Choice::default() };
    Recipe {
        choice,
        head,
        hidden: Some(vec![32, 32]),
        epochs: Some(150),
        lr: Some(3e-3),
        weight_decay: Some(1e-6),
        ..Recipe::default()
    }
}

#[test]
fn a_head_with_poles_learns_what_a_plain_one_cannot() {
    let table = read_table(tangent(2000, false).as_bytes(), "tan.csv", Header::Yes).unwrap();
    let device = Device::cpu(2);
    let errors = [Some(Head::linear(1)), None].map(|head| {
        let run = recipe(head).prepare(&table).unwrap();
        let scale = run.preparation.target.scale();
        let mut trainer = Trainer::new(&device, run.spec.clone(), run.settings.clone(), run.data).unwrap();
        block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
        // Relative error on rows with poles between them.
        let x: Vec<f32> = (0..200).map(|i| -1.9 + 0.019 * i as f32).collect();
        let model = Model {
            spec: run.spec,
            loss: run.settings.loss,
            parameters: block_on(trainer.parameters()).unwrap(),
            preparation: Some(run.preparation),
            storage: Storage::F32,
        };
        let loaded = Model::load(&model.save().unwrap(), "tan").unwrap();
        assert_eq!(loaded, model);
        let text: String = x.iter().fold("x\n".into(), |text, x| format!("{text}{x}\n"));
        let table = read_table(text.as_bytes(), "x.csv", Header::Yes).unwrap();
        let mut errors: Vec<f64> = block_on(model.predict(&device, &table))
            .unwrap()
            .iter()
            .zip(&x)
            .map(|(prediction, x)| {
                let y = f64::from(*x).tan();
                match prediction {
                    Prediction::Number(value) | Prediction::Decoded { value: Some(value), .. } => {
                        (value - y).abs() / (1.0 + y.abs())
                    }
                    _ => 0.0,
                }
            })
            .collect();
        errors.sort_by(f64::total_cmp);
        (errors[180], scale)
    });
    let [(with_poles, _), (plain, _)] = errors;
    assert!(with_poles < 0.05 && plain > 4.0 * with_poles, "with poles {with_poles}, without {plain}");
}

#[test]
fn poles_that_are_marked_are_found() {
    let table = read_table(tangent(3000, true).as_bytes(), "tan.csv", Header::Yes).unwrap();
    let device = Device::cpu(2);
    let run = recipe(Some(Head::rational(1))).prepare(&table).unwrap();
    let mut trainer = Trainer::new(&device, run.spec, run.settings, run.data).unwrap();
    block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
    let (_, test) = block_on(trainer.metrics(run.preparation.target.scale())).unwrap();
    let (coverage, refused, found) = (test.coverage.unwrap(), test.refused.unwrap(), test.found.unwrap());
    assert!(coverage > 0.9 && refused < 0.05 && found > 0.7, "{coverage} {refused} {found}");
}

/// Settings and rows of a small run of pairs.
fn small(head: Head, y: &[f32]) -> (Spec, Settings, Data) {
    let spec = Spec::projective(1, &[8], head, Activation::Silu);
    let settings =
        Settings { loss: Loss::Pairs(PairLoss::default()), epochs: 8, batch: 4, patience: 0, ..Settings::default() };
    let rows = y.len() / 2;
    let x: Vec<f32> = (0..rows).map(|i| i as f32 / rows as f32).collect();
    let examples = Examples { x, y: y.to_vec() };
    (spec, settings, Data { inputs: 1, targets: 2, train: examples.clone(), validation: examples, ..Data::default() })
}

#[test]
fn property_48_too_little_coverage_ends_a_run() {
    let head = Head { decoding: Decoding::raw(10.0, None), ..Head::linear(1) };
    let (spec, settings, data) = small(head, &[1.0, 1.0].repeat(8));
    let settings = Settings { coverage: Some(CoverageGoal { least: 0.95, patience: 3 }), ..settings };
    let mut trainer = Trainer::new(&Device::cpu(1), spec, settings, data).unwrap();
    let outcome = block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
    assert_eq!((outcome.stop, outcome.epochs), (Stop::Coverage, 3));
    assert!(trainer.history().iter().all(|report| report.pairs.unwrap().coverage == 0.0));
}

#[test]
fn property_51_bottom_targets_need_a_head_that_can_say_so() {
    let head = Head { floor: Some(0.01), anchor: 0.0, decoding: Decoding::raw(1e-4, None), ..Head::linear(1) };
    let (spec, settings, data) = small(head, &[[1.0, 1.0], [1.0, 0.0]].concat());
    let start = |settings: &Settings| Trainer::new(&Device::cpu(1), spec.clone(), settings.clone(), data.clone());
    let wanted =
        "train: 1 training rows are ⊥, but the model's denominators stay above 0.01, so that |Q| < 0.0001 never holds";
    assert_eq!(start(&settings).err().unwrap().to_string(), wanted);
    assert!(start(&Settings { allows_unreachable: true, ..settings }).is_ok());
}

#[test]
fn thresholds_are_drawn_on_the_device_step_by_step() {
    let (spec, settings, data) = small(Head::linear(1), &[2.0, 1.0].repeat(8));
    let run = |tau: [f32; 2]| {
        let loss = Loss::Pairs(PairLoss { margin: 1.0, chordal: 0.0, sign: 0.0, tau, ..PairLoss::none() });
        let settings = Settings { loss, lr: 1e-9, ..settings.clone() };
        let mut trainer = Trainer::new(&Device::cpu(1), spec.clone(), settings, data.clone()).unwrap();
        trainer.advance(2).unwrap();
        block_on(trainer.batch_losses()).unwrap()
    };
    let (low, high, between) = (run([2.0; 2]), run([3.0; 2]), run([2.0, 3.0]));
    for step in 0..2 {
        assert!(low[step] < between[step] && between[step] < high[step], "{low:?} {between:?} {high:?}");
    }
    assert_ne!(between[0], between[1]);
    assert_eq!(between, run([2.0, 3.0]), "the same draws from the same seed");
}

#[test]
fn property_29_thresholds_that_decide_nothing_are_refused() {
    let said = |decoding: Decoding| decoding.check().unwrap_err().to_string();
    let angle = Decoding::default();
    assert_eq!(said(Decoding { tau_infer: 0.0, ..angle }), "tau_infer is 0, wanted a finite number above 0");
    assert_eq!(said(Decoding { tau_infer: f32::NAN, ..angle }), "tau_infer is NaN, wanted a finite number above 0");
    assert_eq!(
        said(Decoding { tau_infer: f32::INFINITY, ..angle }),
        "tau_infer is inf, wanted a finite number above 0"
    );
    let tiny = said(Decoding::raw(1e-40, None));
    assert_eq!(tiny, "tau_infer is 1e-40, which some devices round to 0; the least is 1.1754944e-38");
    let below = said(Decoding { tau_train: Some(1e-4), ..angle });
    assert_eq!(below, "tau_train is 0.0001, wanted at least tau_infer, which is 0.001");
    let wide = said(Decoding { tau_infer: 0.7, ..angle });
    assert_eq!(wide, "tau is above 0.5, which refuses most values; it is the sine of an angle");
}

#[test]
fn what_does_not_fit_is_refused() {
    let table = read_table("x,y\n1,a\n2,b\n3,a\n4,b\n5,a\n6,b\n7,a\n8,b\n".as_bytes(), "t.csv", Header::Yes).unwrap();
    let error = recipe(Some(Head::rational(1))).prepare(&table).err().unwrap().to_string();
    assert_eq!(error, "train: a head with poles predicts numbers, the target is a class");
    let (spec, settings, data) = small(Head::linear(1), &[1.0, 1.0].repeat(4));
    let plain = Settings { loss: Loss::Mse, ..settings };
    let error = Trainer::new(&Device::cpu(1), spec, plain, data).err().unwrap().to_string();
    assert_eq!(error, "train: a projective head and a loss of pairs go together; the run has only one of them");
    let nothing = PairLoss::none().check().unwrap_err().to_string();
    assert_eq!(nothing, "loss of pairs: every weight is 0; nothing would be learnt");
}
