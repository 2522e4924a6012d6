//! Half the deviance of a Tweedie distribution, in the form that scikit-learn's `TweedieRegressor` minimises.

use meromorph::loss::Loss;

use super::devices::devices;
use super::folder::Folder;
use super::noise::noise;
use super::{Graded, column, judged, refused};

#[test]
fn value_and_gradient_are_those_of_the_formula() {
    // Means 1, 4 and 1/4 at power 3/2: 2 √m + 2 y/√m; and at 5/4, where m^(3/4)/(3/4) + y m^(-1/4)/(1/4).
    let ln4 = 4.0_f32.ln();
    let (z, y, rows) = ([0.0, ln4, -ln4], [3.0, 0.0, 2.0], [1.0, 0.5, 1.0]);
    let expected = [
        (1.5, 8.0 + 0.5 * 4.0 + 9.0, [1.0 - 3.0, 0.5 * 2.0, 0.5 - 2.0 / 0.5]),
        (
            1.25,
            4.0 / 3.0 + 12.0 + 0.5 * (4.0 / 3.0 * 8.0_f64.sqrt()) + 4.0 / 3.0 / 8.0_f64.sqrt() + 8.0 * 2.0_f64.sqrt(),
            [1.0 - 3.0, 0.5 * 8.0_f64.sqrt(), 1.0 / 8.0_f64.sqrt() - 2.0 * 2.0_f64.sqrt()],
        ),
    ];
    for device in devices(&[1, 2]) {
        for (power, sum, gradient) in &expected {
            let loss = Loss::parse("tweedie").and_then(|loss| loss.with("power", *power)).expect("a loss");
            Graded::of(&device, &loss, (&z, &y), &rows).check(*sum, 2.5, gradient, 1e-5);
        }
    }
}

/// Amounts, more than half of which are 0, whose mean is e^(1 + a).
fn table(rows: usize) -> String {
    let (x, noise) = (noise(rows, 3), noise(2 * rows, 4));
    let row = |(a, noise): (&f32, &[f32])| {
        let mean = (1.0 + f64::from(*a)).exp();
        // With probability 0.4 an amount between 0 and 5 times the mean.
        let [is_dry, part] = [noise[0], noise[1]].map(|n| 0.5 + 0.5 * f64::from(n));
        format!("{a},{}\n", if is_dry < 0.6 { 0.0 } else { 5.0 * mean * part })
    };
    "a,y\n".to_owned() + &x.iter().zip(noise.chunks_exact(2)).map(row).collect::<String>()
}

const FLAGS: &str = "--device cpu --threads 1 --hidden none --bins 0 --lr 2e-2";

#[test]
fn a_table_of_amounts_is_predicted_by_their_means() {
    let folder = Folder::new();
    folder.write("rain.csv", table(3000));
    folder.told(&format!("train rain.csv --target y --loss tweedie --power 1.6 {FLAGS} --out m --epochs 60"));
    let means = column(&folder.told("predict m rain.csv --device cpu"), "prediction");
    let a = column(&folder.text("rain.csv"), "a");
    let worst = means.iter().zip(&a).map(|(mean, a)| (mean / (1.0 + a).exp() - 1.0).abs()).fold(0.0, f64::max);
    assert!(worst < 0.15, "the means are off by {worst}");
    let y = column(&folder.text("rain.csv"), "y");
    let loss = |(m, y): (&f64, &f64)| m.powf(0.4) / 0.4 + y * m.powf(-0.6) / 0.6;
    let expected = means.iter().zip(&y).map(loss).sum::<f64>() / y.len() as f64;
    let got = judged(&folder, "eval m rain.csv --device cpu")["loss"].as_f64().expect("a loss");
    assert!((got / expected - 1.0).abs() < 1e-5, "{got} {expected}");
    let info = folder.told("info m");
    assert!(info.contains("the mean of \"y\", an amount"), "{info}");
}

#[test]
fn what_is_no_amount_is_an_error() {
    let folder = Folder::new();
    folder.write("bad.csv", format!("{}1,-2.5\n", table(20)));
    let train = |flags: &str| format!("train bad.csv --target y --loss tweedie {flags}");
    let amount = "train: loss \"tweedie\": bad.csv: row 21, column \"y\": got -2.5, expected an amount of at least 0";
    let power = "train: --power: got 2, expected a number between 1 and 2";
    let other = "train: power applies only to loss \"tweedie\"";
    let cases = [
        (train(""), amount, 1),
        (train("--power 2"), power, 2),
        ("train bad.csv --target y --power 1.2".into(), other, 2),
    ];
    let cases: Vec<(&str, &str, i32)> = cases.iter().map(|(line, said, code)| (line.as_str(), *said, *code)).collect();
    refused(&folder, &cases);
}
