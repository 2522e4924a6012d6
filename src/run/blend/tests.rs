use super::*;
use crate::device::Device;
use crate::files::{Header, Table, read_plain};
use crate::loss::Loss;
use crate::model::Examples;
use crate::nn::{Activation, Layout, Spec, initialise};
use crate::run::TrainOptions;
use crate::table::{Choice, Fractions};
use crate::train::Flow;
use pollster::block_on;

fn assert_near(got: f64, wanted: f64, within: f64) {
    assert!((got - wanted).abs() <= within, "got {got}, wanted {wanted}");
}

#[test]
fn a_share_follows_the_rows_from_a_half() {
    // The network says 0, the linear model 1, the target is 1, the network's mean squared error 1. Of n rows the slope is
    // n (w - 1) + 20 (w - 1/2), so that w = (n + 10) / (n + 20).
    for (rows, wanted) in [(1, 11.0 / 21.0), (20, 0.75), (980, 0.99)] {
        let blend = Goal::Number.blend(&vec![0.0; rows], &vec![1.0; rows], &vec![1.0; rows]);
        assert_near(blend.linear, wanted, 1e-8);
        assert_eq!(blend.sharpness, 1.0);
        // In other units it is the same.
        let blend = Goal::Number.blend(&vec![0.0; rows], &vec![50.0; rows], &vec![50.0; rows]);
        assert_near(blend.linear, wanted, 1e-8);
    }
    let perfect = Goal::Number.blend(&[1.0, 2.0], &[0.0, 0.0], &[1.0, 2.0]);
    assert_near(perfect.linear, 0.0, 1e-8);
    // The linear model of a far error gets nothing: 1000 (1 - 10 w) 10 > 10 at 0 only beyond it.
    assert_eq!(Goal::Number.blend(&[1.0; 1000], &[11.0; 1000], &[0.0; 1000]).linear, 0.0);
}

#[test]
fn sharpness_makes_confidence_accuracy() {
    // Both models say ln 3 for a class that 9 of 10 rows have: p = 3/4. p = 9/10 is twice the logit, where nothing says otherwise.
    let goal = Goal::Classes { outputs: 2, weights: &[] };
    let blend = |tens: usize| {
        let z = [0.0, 3.0_f64.ln()].repeat(10 * tens);
        let y: Vec<f32> = (0..10 * tens).map(|row| f32::from(u8::from(row % 10 > 0))).collect();
        goal.blend(&z, &z, &y)
    };
    assert_near(blend(1).linear, 0.5, 1e-8);
    // The prior keeps it 20 / (100,000 · ln² 3 · 0.9 · 0.1) below.
    assert_near(blend(10_000).sharpness, 2.0 - 0.00184, 1e-5);
    // Of 10 rows: 10 ln 3 (p - 0.9) + 20 (a - 1) = 0 with p = 3^a / (1 + 3^a).
    let a = blend(1).sharpness;
    let p = 1.0 / (1.0 + 3.0_f64.powf(-a));
    assert!(a > 1.0 && a < 1.1, "{a}");
    assert_near(10.0 * 3.0_f64.ln() * (p - 0.9) + 20.0 * (a - 1.0), 0.0, 1e-6);
    // A class that weighs nothing changes nothing.
    let weighted = Goal::Classes { outputs: 2, weights: &[0.0, 1.0] }.blend(&[0.0, 1.0], &[1.0, 0.0], &[0.0]);
    assert_near(weighted.linear, 0.5, 1e-8);
    assert_near(weighted.sharpness, 1.0, 1e-8);
}

#[test]
fn linear_models_are_ridge_and_logistic_regressions() {
    // Of the second input: w = Σ x y / (Σ x² + 1) = 6 / 3, and the bias is the mean.
    let rows = Examples { x: vec![9.0, 1.0, 9.0, -1.0], y: vec![8.0, 2.0] };
    let line = block_on(Linear::fit(&rows, 2, vec![1], &Goal::Number)).unwrap();
    let (weights, bias) = line.of_output(0);
    assert_near(weights[0], 2.0, 1e-5);
    assert_near(bias, 5.0, 1e-5);
    assert_near(line.outputs(&[100.0, 3.0])[0], 11.0, 1e-4);
    // Three of four rows have class 1: without inputs ln 3 between the biases.
    let rows = Examples { x: vec![0.0; 4], y: vec![1.0, 1.0, 0.0, 1.0] };
    let goal = Goal::Classes { outputs: 2, weights: &[] };
    let odds = block_on(Linear::fit(&rows, 1, vec![0], &goal)).unwrap();
    assert_near(odds.of_output(1).1 - odds.of_output(0).1, 3.0_f64.ln(), 1e-5);
}

#[test]
fn a_blend_is_one_perceptron() {
    let device = Device::cpu(1);
    let spec = Spec::mlp(3, &[5, 4], 2, Activation::silu());
    let parameters = initialise(&Layout::of(&spec), 7);
    let linear = Linear { width: 3, inputs: vec![0, 2], weights: vec![1.0, -2.0, 0.5, 0.25, 3.0, -1.0] };
    let blend = Blend { linear: 0.25, sharpness: 1.5 };
    let (wider, all) = beside(&spec, &parameters, &linear, blend).unwrap();
    assert_eq!(wider, Spec::mlp(3, &[9, 8], 2, Activation::silu()));
    let x = [0.5, -1.0, 2.0, -30.0, 4.0, 1000.0, 0.0, 0.0, 0.0];
    let outputs = |spec: &Spec, parameters: &[f32]| {
        let model = Model::new(spec.clone(), Loss::CrossEntropy { smoothing: 0.0 }, parameters.to_vec(), None);
        block_on(model.outputs(&device, &x)).unwrap()
    };
    let (network, got) = (outputs(&spec, &parameters), outputs(&wider, &all));
    // (1, -2) · (0.5, 2) + 0.5 = -3 and (0.25, 3) · (0.5, 2) - 1 = 5.125 for the first row.
    let lines = [-3.0, 5.125, -2029.5, 2991.5, 0.5, -1.0];
    for ((got, network), line) in got.iter().zip(&network).zip(lines) {
        let wanted = 1.5 * (0.75 * f64::from(*network) + 0.25 * line);
        assert_near(f64::from(*got), wanted, 1e-6 * wanted.abs().max(1.0));
    }
    let others = [
        Spec::mlp(3, &[], 2, Activation::silu()),
        Spec::mlp(3, &[5], 2, Activation::relu()),
        Spec::mlp(3, &[5], 33, Activation::silu()),
    ];
    for spec in others {
        let parameters = vec![0.0; Layout::of(&spec).total];
        assert!(beside(&spec, &parameters, &linear, blend).is_none());
    }
}

fn line() -> Table {
    let text: String = (0..200).map(|i| format!("{},{}\n", i * 37 % 200, 3 * (i * 37 % 200))).collect();
    read_plain(format!("x,y\n{text}").as_bytes(), "line.csv", Header::Yes).unwrap()
}

/// The R² over the table of a model of 2 epochs, its widths and its blend.
fn trained(options: &TrainOptions) -> (f64, usize, Option<Blend>) {
    let (table, device) = (line(), Device::cpu(1));
    let choice = Choice { target: "y".into(), ..Choice::default() };
    let run = TrainOptions { choice, epochs: Some(2), ..options.clone() }.prepare(&table).unwrap();
    let mut trainer = Trainer::new(&device, run.spec, run.settings, run.data).unwrap();
    block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
    let (model, blend) = block_on(blended(&trainer, Some(run.preparation))).unwrap();
    let judged = block_on(model.evaluate(&device, &table)).unwrap();
    (judged.metrics.unwrap().r2.unwrap(), Layout::of(&model.spec).parameters[1].shape.len(), blend)
}

#[test]
fn only_the_default_model_is_blended() {
    // After two epochs the network is far from the line.
    let (r2, width, blend) = trained(&TrainOptions::default());
    assert!(r2 > 0.9 && width == 66, "{r2} {width}");
    assert!(blend.is_some_and(|blend| blend.linear > 0.7 && blend.sharpness == 1.0), "{blend:?}");
    let named = TrainOptions { hidden: Some(vec![64; 3]), ..TrainOptions::default() };
    let (alone, width, blend) = trained(&named);
    assert!(alone < r2 - 0.05 && width == 64 && blend.is_none(), "{alone} {r2} {width} {blend:?}");
    let held = Fractions { validation: 0.0, test: 0.15 };
    let others = [
        TrainOptions { loss: Some(Loss::mae()), ..TrainOptions::default() },
        TrainOptions { fractions: held, patience: Some(0), ..TrainOptions::default() },
    ];
    for options in others {
        assert_eq!(trained(&options).2, None);
    }
}
