//! Training of models with poles, its reports and its errors.

use meromorph::Device;
use meromorph::files::{Header, read_table};
use meromorph::loss::{Loss, PairLoss};
use meromorph::model::{Model, Prediction};
use meromorph::nn::{Activation, Decoding, Head, Layer, Layout, Spec};
use meromorph::run::TrainOptions;
use meromorph::table::Choice;
use meromorph::train::{CoverageGoal, Data, Examples, Flow, Stop, Trainer, TrainerConfig};
use pollster::block_on;

#[test]
fn property_50_validation_does_not_depend_on_the_batch() {
    let watched = [4, 7, 32].map(|batch| {
        let (spec, settings, data) = small(Head::rational(1), &[2.0, 1.0, -1.0, 1.0, 1.0, 0.0, 0.5, 1.0].repeat(8));
        let settings = TrainerConfig { batch, epochs: 1, lr: 1e-12, ..settings };
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
fn property_21_training_uses_pairs_and_prediction_decodes_them() {
    let device = Device::cpu(1);
    let (spec, settings, data) = small(Head::linear(1), &[2.0, 1.0].repeat(8));
    let x = data.train.x.clone();
    let trainer = Trainer::new(&device, spec.clone(), settings.clone(), data).unwrap();
    let pairs = block_on(trainer.predict(&x)).unwrap();
    let parameters = block_on(trainer.parameters()).unwrap();
    let model = Model::new(spec, settings.loss, parameters, None);
    let decoded = block_on(model.decoded(&device, &x)).unwrap();
    assert_eq!((pairs.len(), decoded.value.len()), (16, 8));
    for (pair, value) in pairs.chunks(2).zip(&decoded.value) {
        assert_eq!(pair[0] / pair[1], *value);
    }
}

#[test]
fn validation_counts_the_values_that_prediction_gives() {
    let device = Device::cpu(1);
    let head = Head { anchor: 0.0, decoding: Decoding::raw(1e-3, None), ..Head::linear(1) };
    let spec = Spec { inputs: 2, layers: vec![Layer::Projective(head)] };
    // Denominators of overflowing quotients and non-finite denominators are far from 0, but give no value.
    let x = [1.0, 1.0, 1.0, 1e-4, 1e38, 1e-2, 3.0, 2.0, 1.0, -5e-4, -1e38, 2e-3, 1.0, 0.0, 2.0, -1.0].to_vec();
    let y = [1.0, 1.0].repeat(8);
    let loss = Loss::Pairs(PairLoss { margin: 1.0, ..PairLoss::none() });
    let settings = TrainerConfig { loss: loss.clone(), epochs: 1, batch: 8, ..TrainerConfig::default() };
    let rows = || Examples { x: x.clone(), y: y.clone() };
    let data = Data { inputs: 2, targets: 2, train: rows(), validation: rows(), test: Examples::default() };
    let layout_total = Layout::of(&spec).total;
    let model = Model::new(spec.clone(), loss, vec![0.0; layout_total], None);
    let decoded = block_on(model.decoded(&device, &x)).unwrap();
    let given = (0..8).filter(|at| !decoded.is_bottom(*at)).count();
    assert_eq!(given, 3);
    let mut trainer = Trainer::new(&device, spec, settings, data).unwrap();
    block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
    assert_eq!(trainer.history()[0].pairs.unwrap().coverage, given as f64 / 8.0);
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

fn recipe(head: Option<Head>) -> TrainOptions {
    let choice = Choice { target: "y".into(), has_poles: head.is_some(), ..Choice::default() };
    TrainOptions {
        choice,
        head,
        hidden: Some(vec![32, 32]),
        epochs: Some(150),
        lr: Some(3e-3),
        weight_decay: Some(1e-6),
        ..TrainOptions::default()
    }
}

#[test]
fn a_head_with_poles_learns_poles_that_a_plain_model_cannot() {
    let table = read_table(tangent(2000, false).as_bytes(), "tan.csv", Header::Yes).unwrap();
    let device = Device::cpu(2);
    let errors = [Some(Head::linear(1)), None].map(|head| {
        let run = recipe(head).prepare(&table).unwrap();
        let scale = run.preparation.target.scale();
        let mut trainer = Trainer::new(&device, run.spec.clone(), run.settings.clone(), run.data).unwrap();
        block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
        // Relative error on rows with poles between them.
        let x: Vec<f32> = (0..200).map(|i| -1.9 + 0.019 * i as f32).collect();
        let model = block_on(trainer.model(Some(run.preparation))).unwrap();
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
fn marked_poles_are_found() {
    let table = read_table(tangent(3000, true).as_bytes(), "tan.csv", Header::Yes).unwrap();
    let device = Device::cpu(2);
    let run = recipe(Some(Head::rational(1))).prepare(&table).unwrap();
    let mut trainer = Trainer::new(&device, run.spec, run.settings, run.data).unwrap();
    block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
    let (_, test) = block_on(trainer.metrics(run.preparation.target.scale())).unwrap();
    let (coverage, refused, found) = (test.coverage.unwrap(), test.refused.unwrap(), test.found.unwrap());
    assert!(coverage > 0.9 && refused < 0.05 && found > 0.7, "{coverage} {refused} {found}");
}

/// Options and rows of a small run of pairs.
fn small(head: Head, y: &[f32]) -> (Spec, TrainerConfig, Data) {
    let spec = Spec::projective(1, &[8], head, Activation::silu());
    let settings = TrainerConfig {
        loss: Loss::Pairs(PairLoss::default()),
        epochs: 8,
        batch: 4,
        patience: 0,
        ..TrainerConfig::default()
    };
    let rows = y.len() / 2;
    let x: Vec<f32> = (0..rows).map(|i| i as f32 / rows as f32).collect();
    let examples = Examples { x, y: y.to_vec() };
    (spec, settings, Data { inputs: 1, targets: 2, train: examples.clone(), validation: examples, ..Data::default() })
}

#[test]
fn property_48_too_little_coverage_ends_a_run() {
    let head = Head { decoding: Decoding::raw(10.0, None), ..Head::linear(1) };
    let (spec, settings, data) = small(head, &[1.0, 1.0].repeat(8));
    let settings = TrainerConfig { coverage: Some(CoverageGoal { least: 0.95, patience: 3 }), ..settings };
    let mut trainer = Trainer::new(&Device::cpu(1), spec, settings, data).unwrap();
    let outcome = block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
    assert_eq!((outcome.stop, outcome.epochs), (Stop::Coverage, 3));
    assert!(trainer.history().iter().all(|report| report.pairs.unwrap().coverage == 0.0));
}

#[test]
fn property_51_bottom_targets_need_a_head_that_can_predict_bottom() {
    let head = Head { floor: Some(0.01), anchor: 0.0, decoding: Decoding::raw(1e-4, None), ..Head::linear(1) };
    let (spec, settings, data) = small(head, &[[1.0, 1.0], [1.0, 0.0]].concat());
    let start = |settings: &TrainerConfig| Trainer::new(&Device::cpu(1), spec.clone(), settings.clone(), data.clone());
    let expected =
        "train: 1 training rows are ⊥, but the model's denominators stay above 0.01, so that |Q| < 0.0001 never holds";
    assert_eq!(start(&settings).err().unwrap().to_string(), expected);
    assert!(start(&TrainerConfig { allows_unreachable: true, ..settings }).is_ok());
}

#[test]
fn thresholds_are_drawn_on_the_device_step_by_step() {
    let (spec, settings, data) = small(Head::linear(1), &[2.0, 1.0].repeat(8));
    let run = |tau: [f32; 2]| {
        let loss = Loss::Pairs(PairLoss { margin: 1.0, chordal: 0.0, sign: 0.0, tau, ..PairLoss::none() });
        let settings = TrainerConfig { loss, lr: 1e-9, ..settings.clone() };
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
fn property_29_invalid_thresholds_are_errors() {
    let said = |decoding: Decoding| decoding.check().unwrap_err().to_string();
    let angle = Decoding::default();
    assert_eq!(said(Decoding { tau_infer: 0.0, ..angle }), "tau_infer is 0, expected a finite number above 0");
    assert_eq!(said(Decoding { tau_infer: f32::NAN, ..angle }), "tau_infer is NaN, expected a finite number above 0");
    assert_eq!(
        said(Decoding { tau_infer: f32::INFINITY, ..angle }),
        "tau_infer is inf, expected a finite number above 0"
    );
    let tiny = said(Decoding::raw(1e-40, None));
    assert_eq!(tiny, "tau_infer is 1e-40, which some devices round to 0; expected at least 1.1754944e-38");
    let below = said(Decoding { tau_train: Some(1e-4), ..angle });
    assert_eq!(below, "tau_train is 0.0001, expected at least tau_infer = 0.001");
    let wide = said(Decoding { tau_infer: 0.7, ..angle });
    assert_eq!(wide, "tau_infer or tau_train is too large: expected the sine of an angle, at most 0.5");
}

#[test]
fn contradictory_options_are_errors() {
    let table = read_table("x,y\n1,a\n2,b\n3,a\n4,b\n5,a\n6,b\n7,a\n8,b\n".as_bytes(), "t.csv", Header::Yes).unwrap();
    let error = recipe(Some(Head::rational(1))).prepare(&table).err().unwrap().to_string();
    assert_eq!(error, "train: a head with poles predicts numbers, the target is a class");
    let (spec, settings, data) = small(Head::linear(1), &[1.0, 1.0].repeat(4));
    let plain = TrainerConfig { loss: Loss::mse(), ..settings };
    let error = Trainer::new(&Device::cpu(1), spec, plain, data).err().unwrap().to_string();
    assert_eq!(error, "train: a projective head and a loss of pairs go together; the run has only one of them");
    let nothing = PairLoss::none().check().unwrap_err().to_string();
    assert_eq!(nothing, "loss of pairs: every weight is 0, expected at least one above 0");
}
