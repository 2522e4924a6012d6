//! `torch.nn.GaussianNLLLoss(full=False)`: (ln v + (m - y)²/v)/2, with ln v = FLOOR + softplus(s - FLOOR) for the output s.

use std::f64::consts::TAU;

use meromorph::loss::Loss;
use meromorph::nn::{Activation, Layout, Spec};
use meromorph::train::{Data, Examples, Flow, StepKind, Trainer, TrainerConfig};
use meromorph::{Device, Result};
use pollster::block_on;

use super::devices::devices;
use super::folder::Folder;
use super::noise::noise;
use super::{Graded, column, judged, refused};

const FLOOR: f64 = -13.815_510_557_964_274;

/// Rows of x and a normal number of mean 2 x + 0.5 and standard deviation e^(0.8 x - 1).
fn rows(count: usize, seed: u32) -> Vec<[f64; 2]> {
    let row = |noise: &[f32]| {
        let [x, u, angle] = [noise[0], noise[1], noise[2]].map(f64::from);
        let normal = (-2.0 * (0.5 - 0.499_999 * u).ln()).sqrt() * (0.5 * TAU * angle).cos();
        [x, 2.0 * x + 0.5 + (0.8 * x - 1.0).exp() * normal]
    };
    noise(3 * count, seed).chunks_exact(3).map(row).collect()
}

fn examples(count: usize, seed: u32) -> Examples {
    let (x, y) = rows(count, seed).iter().map(|[x, y]| (*x as f32, *y as f32)).unzip();
    Examples { x, y }
}

fn config() -> TrainerConfig {
    TrainerConfig { loss: Loss::gaussian(), epochs: 60, lr: 2e-2, patience: 0, ..TrainerConfig::default() }
}

#[test]
fn value_and_gradient_are_those_of_torch() {
    // Two targets a row: two means, then two spreads. A spread of -60 is below the floor; 80 makes a variance of e^80.
    let z = [0.5, -1.0, 0.3, -2.0, 2.0, 3.0, 1.0, 1.0, 0.001, -0.5, -60.0, 80.0];
    let (y, weights) = ([0.25, -3.0, 9.0, 9.0, 0.0, 4.0], [1.0, 0.0, 0.5]);
    let (mut sum, mut gradient) = (0.0, vec![0.0; z.len()]);
    for (row, weight) in weights.iter().enumerate() {
        for target in 0..2 {
            let [m, s] = [4 * row + target, 4 * row + 2 + target];
            let (error, spread) = (f64::from(z[m]) - f64::from(y[2 * row + target]), f64::from(z[s]));
            let variance = (FLOOR + (spread - FLOOR).exp().ln_1p()).exp();
            let weight = f64::from(*weight) / 2.0;
            sum += weight * 0.5 * (variance.ln() + error * error / variance);
            gradient[m] = weight * error / variance;
            // The derivative of ln v is σ(s - FLOOR).
            gradient[s] = weight * 0.5 * (1.0 - error * error / variance) / (1.0 + (FLOOR - spread).exp());
        }
    }
    for device in devices(&[1, 2]) {
        Graded::of(&device, &Loss::gaussian(), (&z, &y), &weights).check(sum, 1.5, &gradient, 2e-5);
    }
}

#[test]
fn a_spread_that_depends_on_the_inputs_is_recovered() -> Result<()> {
    let (train, validation) = (examples(6000, 1), examples(500, 77_777));
    let data = Data { inputs: 1, targets: 1, train, validation, ..Data::default() };
    let spec = Spec::mlp(1, &[], 2, Activation::identity());
    let (layout, mut failures) = (Layout::of(&spec), Vec::new());
    for device in devices(&[1]) {
        let mut trainer = Trainer::new(&device, spec.clone(), config(), data.clone())?;
        assert_eq!(trainer.step_kind(), StepKind::Recorded);
        block_on(trainer.run(&mut |_| Flow::Continue))?;
        let flat = block_on(trainer.parameters())?;
        let [weight, bias] = [0, 1].map(|at: usize| layout.slice(&layout.parameters[at], &flat));
        // Mean and logarithm of the variance; their standard errors are 0.01 and 0.03.
        let got = [weight[0], bias[0], weight[1], bias[1]].map(f64::from);
        let far = got.iter().zip([(2.0, 0.03), (0.5, 0.03), (1.6, 0.1), (-2.0, 0.1)]);
        if far.into_iter().any(|(got, (expected, most))| (got - expected).abs() > most) {
            failures.push(format!("{}: {got:?}", device.info().device));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}

#[test]
fn constant_targets_and_huge_errors_stay_finite() -> Result<()> {
    let x = noise(400, 3);
    let spec = Spec::mlp(1, &[8], 2, Activation::silu());
    for y in [vec![0.25; 400], x.iter().map(|x| 1e6 * x).collect()] {
        let train = Examples { x: x.clone(), y };
        let data = Data { inputs: 1, targets: 1, train, ..Data::default() };
        let mut trainer = Trainer::new(&Device::cpu(1), spec.clone(), config(), data)?;
        block_on(trainer.run(&mut |_| Flow::Continue))?;
        let losses: Vec<f64> = trainer.history().iter().map(|epoch| epoch.train_loss).collect();
        assert!(losses.len() == 60 && losses[59] < losses[0], "{losses:?}");
    }
    Ok(())
}

fn table(count: usize) -> String {
    let row = |[x, y]: [f64; 2]| format!("{x},{}\n", 1000.0 + 50.0 * y);
    "x,y\n".to_owned() + &rows(count, 5).into_iter().map(row).collect::<String>()
}

#[test]
fn a_table_is_predicted_with_standard_deviations_in_its_units() {
    let folder = Folder::new();
    folder.write("t.csv", table(3000));
    let flags = "--device cpu --threads 1 --hidden 16 --lr 1e-2 --epochs 60";
    let told = folder.told(&format!("train t.csv --target y --loss gaussian_nll {flags} --out m"));
    assert!(told.contains("rmse") && told.contains("nll"), "{told}");
    let (predicted, text) = (folder.told("predict m t.csv --device cpu"), folder.text("t.csv"));
    assert_eq!(predicted.lines().next(), Some("prediction,prediction_std,note"));
    let [mean, deviation] = ["prediction", "prediction_std"].map(|name| column(&predicted, name));
    let [x, y] = ["x", "y"].map(|name| column(&text, name));
    let ratio = |at: usize| deviation[at] / (50.0 * (0.8 * x[at] - 1.0).exp());
    let worst = (0..3000).map(|at| ratio(at).ln().abs()).fold(0.0, f64::max);
    assert!(worst < 0.3, "{worst}");
    let far = (0..3000).map(|at| (mean[at] - (1025.0 + 100.0 * x[at])).abs()).fold(0.0, f64::max);
    assert!(far < 10.0, "{far}");
    let average = |of: &dyn Fn(usize) -> f64| (0..3000).map(of).sum::<f64>() / 3000.0;
    let rmse = average(&|at| (mean[at] - y[at]).powi(2)).sqrt();
    let nll = average(&|at| {
        let (error, v) = (mean[at] - y[at], deviation[at].powi(2));
        0.5 * (TAU.ln() + v.ln() + error * error / v)
    });
    let metrics = judged(&folder, "eval m t.csv --device cpu");
    for (name, expected) in [("rmse", rmse), ("nll", nll)] {
        let got = metrics[name].as_f64().expect("a metric");
        assert!((got - expected).abs() < 1e-4 * expected, "{name}: {got} {expected}");
    }
    let intervals = folder.told("predict m t.csv --device cpu --interval 0.9");
    assert!(column(&intervals, "lower").iter().zip(&mean).all(|(lower, mean)| lower < mean));
    folder.told("export m --onnx m.onnx");
    // A row without a prediction has no deviation either.
    folder.write("odd.csv", "x\n0.5\nabc\n");
    // Standard error counts such rows.
    let odd = String::from_utf8(folder.mero("predict m odd.csv --device cpu").stdout).expect("text");
    assert!(odd.lines().nth(2).is_some_and(|line| line.starts_with(",,\"x: ")), "{odd}");
}

#[test]
fn what_has_no_deviation_is_an_error() {
    let folder = Folder::new();
    folder.write("t.csv", table(60));
    refused(
        &folder,
        &[
            (
                "train t.csv --target y --loss gaussian_nll --step fused",
                "train: step: the fused step does not take loss \"gaussian_nll\": expected the recorded step",
                2,
            ),
            (
                "train t.csv --target y --loss gaussian_nll --head rational",
                "train: a head with poles has a loss of its own; leave the loss out",
                2,
            ),
            (
                "train t.csv --target y --loss gaussian_nll --categorical y",
                "train: the loss \"gaussian_nll\" does not fit the target, which is a class; use cross-entropy, …",
                2,
            ),
            (
                "train t.csv --target y --loss gaussian_nll --smoothing 0.1",
                "train: smoothing applies only to loss \"cross-entropy\"",
                2,
            ),
            (
                "train t.csv --target y --loss gaussian",
                "train: loss: unknown name \"gaussian\": did you mean \"gaussian_nll\"?",
                2,
            ),
        ],
    );
    let data = Data { inputs: 1, targets: 1, train: examples(20, 1), ..Data::default() };
    let spec = Spec::mlp(1, &[], 1, Activation::identity());
    let said = Trainer::new(&Device::cpu(1), spec, config(), data).map(drop).unwrap_err().to_string();
    let expected =
        "train: the model gives 1 outputs, the rows have 1 targets, for which loss \"gaussian_nll\" needs 2 outputs";
    assert_eq!(said, expected);
}
