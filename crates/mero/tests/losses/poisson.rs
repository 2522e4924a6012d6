//! `torch.nn.PoissonNLLLoss(log_input=True, full=False)`: exp(p) - y p.

use meromorph::loss::Loss;
use meromorph::nn::{Activation, Layout, Spec};
use meromorph::train::{Data, Examples, Flow, StepKind, Trainer, TrainerConfig};
use meromorph::{Device, Result};
use pollster::block_on;

use super::devices::devices;
use super::folder::Folder;
use super::noise::noise;
use super::{Graded, column, judged, refused};

/// ln λ = 0.5 + 0.8 a - 0.4 b.
const TRUTH: [f64; 3] = [0.8, -0.4, 0.5];

/// A count of this rate, from a number in [-1, 1), by inversion.
fn drawn(rate: f64, noise: f32) -> f64 {
    let unit = 0.5 + 0.5 * f64::from(noise);
    let (mut count, mut term) = (0.0, (-rate).exp());
    let mut below = term;
    while below < unit && count < 1e4 {
        count += 1.0;
        term *= rate / count;
        below += term;
    }
    count
}

fn examples(rows: usize, seed: u32) -> Examples {
    let (x, noise) = (noise(2 * rows, seed), noise(rows, seed + 100));
    let rate = |x: &[f32]| (TRUTH[2] + TRUTH[0] * f64::from(x[0]) + TRUTH[1] * f64::from(x[1])).exp();
    let y = x.chunks_exact(2).zip(noise).map(|(x, noise)| drawn(rate(x), noise) as f32).collect();
    Examples { x, y }
}

/// The maximum of the likelihood, by Newton's method in f64.
fn most_likely(Examples { x, y }: &Examples) -> [f64; 3] {
    let mut w = [0.0; 3];
    for _ in 0..30 {
        let (mut gradient, mut hessian) = ([0.0; 3], [[0.0; 3]; 3]);
        for (x, y) in x.chunks_exact(2).zip(y) {
            let x = [f64::from(x[0]), f64::from(x[1]), 1.0];
            let rate = x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>().exp();
            for i in 0..3 {
                gradient[i] += (rate - f64::from(*y)) * x[i];
                (0..3).for_each(|j| hessian[i][j] += rate * x[i] * x[j]);
            }
        }
        // Elimination without pivots: the matrix is positive definite.
        for i in 0..3 {
            for below in i + 1..3 {
                let factor = hessian[below][i] / hessian[i][i];
                (0..3).for_each(|j| hessian[below][j] -= factor * hessian[i][j]);
                gradient[below] -= factor * gradient[i];
            }
        }
        let mut step = [0.0; 3];
        for i in (0..3).rev() {
            let known: f64 = (i + 1..3).map(|j| hessian[i][j] * step[j]).sum();
            step[i] = (gradient[i] - known) / hessian[i][i];
            w[i] -= step[i];
        }
    }
    w
}

#[test]
fn value_and_gradient_are_those_of_torch() {
    let (z, y) = ([0.5, -2.0, 3.0, 0.0, -0.25, 1.5], [2.0, 0.0, 17.0, 1.0, 0.0, 4.0]);
    let rows = [1.0, 0.0, 0.5];
    let (mut sum, mut gradient) = (0.0, Vec::new());
    for (at, (p, y)) in z.iter().zip(y).map(|(p, y)| (f64::from(*p), f64::from(y))).enumerate() {
        // The mean over the two outputs of a row.
        let weight = f64::from(rows[at / 2]) / 2.0;
        sum += weight * (p.exp() - y * p);
        gradient.push(weight * (p.exp() - y));
    }
    for device in devices(&[1, 2]) {
        Graded::of(&device, &Loss::poisson(), (&z, &y), &rows).check(sum, 1.5, &gradient, 1e-5);
    }
}

#[test]
fn a_regression_recovers_the_coefficients_of_its_rates() -> Result<()> {
    let (train, validation) = (examples(4000, 1), examples(500, 2));
    let expected = most_likely(&train);
    // Four standard errors of about 0.02.
    assert!(expected.iter().zip(TRUTH).all(|(got, truth)| (got - truth).abs() < 0.08), "{expected:?}");
    let data = Data { inputs: 2, targets: 1, train, validation, ..Data::default() };
    let spec = Spec::mlp(2, &[], 1, Activation::identity());
    let (layout, mut failures) = (Layout::of(&spec), Vec::new());
    for device in devices(&[1]) {
        for step in [StepKind::Fused, StepKind::Recorded] {
            let config = TrainerConfig {
                loss: Loss::parse("poisson")?,
                step: Some(step),
                epochs: 40,
                lr: 2e-2,
                patience: 0,
                ..TrainerConfig::default()
            };
            let mut trainer = Trainer::new(&device, spec.clone(), config, data.clone())?;
            block_on(trainer.run(&mut |_| Flow::Continue))?;
            let flat = block_on(trainer.parameters())?;
            let [weight, bias] = [0, 1].map(|at: usize| layout.slice(&layout.parameters[at], &flat));
            let got = [weight[0], weight[1], bias[0]].map(f64::from);
            if got.iter().zip(expected).any(|(got, expected)| (got - expected).abs() > 0.01) {
                failures.push(format!("{step:?} on {}: {got:?}, expected {expected:?}", device.info().device));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}

/// Counts of about `size` in a column of few distinct whole numbers, and a column `z` with a number below 0.
fn table(rows: usize, size: f64) -> String {
    let (x, noise) = (noise(2 * rows, 5), noise(rows, 0x9e37_79b9));
    let row = |(at, (x, noise)): (usize, (&[f32], f32))| {
        let rate = size * (TRUTH[0] * f64::from(x[0]) + TRUTH[1] * f64::from(x[1])).exp();
        let z = if at == 4 { -1.0 } else { at as f64 };
        format!("{},{},{},{z}\n", x[0], x[1], drawn(rate, noise))
    };
    "a,b,y,z\n".to_owned() + &x.chunks_exact(2).zip(noise).enumerate().map(row).collect::<String>()
}

const FLAGS: &str = "--features a,b --device cpu --threads 1 --hidden 16 --lr 1e-2";

#[test]
fn a_table_of_counts_is_predicted_as_rates() {
    let folder = Folder::new();
    // Few values in many rows, which without the loss would be classes; and rates far from 1 in a small table, where weights decay most.
    for (rows, size) in [(600, 1.5), (300, 150.0)] {
        folder.write("counts.csv", table(rows, size));
        let told = folder.told(&format!("train counts.csv --target y --loss poisson {FLAGS} --out m --epochs 100"));
        assert!(told.contains("regression") && !told.contains("standard"), "{told}");
        let (rates, y) = (folder.told("predict m counts.csv --device cpu"), folder.text("counts.csv"));
        let (rates, y) = (column(&rates, "prediction"), column(&y, "y"));
        assert!(rates.iter().all(|rate| *rate > 0.0));
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean(&rates) / mean(&y) - 1.0).abs() < 0.1, "{} {}", mean(&rates), mean(&y));
        let truth = table(rows, size);
        let ratio = |at: usize| {
            let of = |name: &str| column(&truth, name)[at];
            rates[at] / (size * (TRUTH[0] * of("a") + TRUTH[1] * of("b")).exp())
        };
        let worst = (0..40).map(|at| (ratio(at) - 1.0).abs()).fold(0.0, f64::max);
        assert!(worst < 0.5, "rate {size}: {worst}");
        let metrics = judged(&folder, "eval m counts.csv --device cpu");
        let loss = mean(&rates.iter().zip(&y).map(|(rate, y)| rate - y * rate.ln()).collect::<Vec<_>>());
        let mse = mean(&rates.iter().zip(&y).map(|(rate, y)| (rate - y).powi(2)).collect::<Vec<_>>());
        for (name, expected) in [("loss", loss), ("mse", mse)] {
            let got = metrics[name].as_f64().expect("a metric");
            assert!((got - expected).abs() < 1e-4 * expected.abs().max(1.0), "{name}: {got} {expected}");
        }
        let intervals = folder.told("predict m counts.csv --device cpu --interval 0.9");
        assert!(column(&intervals, "lower").iter().all(|lower| *lower >= 0.0));
        let info = folder.told("info m");
        assert!(info.contains("the mean of \"y\", a count"), "{info}");
    }
}

#[test]
fn what_is_no_count_is_an_error() {
    let folder = Folder::new();
    folder.write("counts.csv", table(100, 2.0));
    folder.told(&format!("train counts.csv --target y --loss poisson {FLAGS} --out m --epochs 3"));
    folder.write("bad.csv", "a,b,y\n1,1,3\n1,2,-2.5\n");
    let place = "row 5, column \"z\": got -1, expected a count of at least 0";
    refused(
        &folder,
        &[
            ("train counts.csv --target z --loss poisson", &format!("train: loss \"poisson\": counts.csv: {place}"), 1),
            (
                "train counts.csv --target z --loss poisson --folds 3",
                &format!("train: loss \"poisson\": counts.csv: {place}"),
                1,
            ),
            (
                "eval m bad.csv",
                "eval: loss \"poisson\": bad.csv: row 2, column \"y\": got -2.5, expected a count of at least 0",
                1,
            ),
            (
                "train counts.csv --target y --loss poisson --categorical y",
                "train: the loss \"poisson\" does not fit the target, which is a class; use cross-entropy, …",
                2,
            ),
            (
                "train counts.csv --target y --loss poisson --head rational",
                "train: a head with poles has a loss of its own; leave the loss out",
                2,
            ),
            (
                "train counts.csv --target y --loss poisson --class-weights balanced",
                "train: class weights apply only to loss …",
                2,
            ),
        ],
    );
}

#[test]
fn arrays_with_a_count_below_0_are_an_error() {
    let mut validation = examples(5, 3);
    validation.y[2] = -1.0;
    let data = Data { inputs: 2, targets: 1, train: examples(20, 1), validation, ..Data::default() };
    let config = TrainerConfig { loss: Loss::poisson(), ..TrainerConfig::default() };
    let spec = Spec::mlp(2, &[4], 1, Activation::silu());
    let said = Trainer::new(&Device::cpu(1), spec, config, data).map(drop).unwrap_err().to_string();
    let expected = "train: loss \"poisson\": validation row 3, target 1: got -1, expected a count of at least 0";
    assert_eq!(said, expected);
}
