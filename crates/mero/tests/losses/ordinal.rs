//! Classes in order: probabilities by hand, and tables of ratings.

use meromorph::loss::Loss;

use super::devices::devices;
use super::folder::Folder;
use super::noise::noise;
use super::{Graded, cells, column, judged, refused};

#[test]
fn value_and_gradient_are_those_of_the_probabilities() {
    // Logits ln 3 and ln 3 - ln 9 of being above the first and the second class: probabilities 1/4, 1/2 and 1/4.
    let (ln3, ln8) = (3.0_f32.ln(), 8.0_f32.ln());
    let z = [ln3, ln8].repeat(3);
    let (y, rows) = ([0.0, 1.0, 2.0], [1.0, 1.0, 0.5]);
    let sum = 4.0_f64.ln() + 2.0_f64.ln() + 0.5 * 4.0_f64.ln();
    let gradient = [0.75, 0.0, 0.0, -1.0 / 3.0, -0.375, 1.0 / 3.0];
    let loss = Loss::parse("ordinal").expect("a loss");
    for device in devices(&[1, 2]) {
        Graded::of(&device, &loss, (&z, &y), &rows).check(sum, 2.5, &gradient, 1e-5);
        // Far from every class the loss is still a number: P(class 2) = σ(-100) at logits 100 and -100.
        let far = Graded::of(&device, &loss, (&[100.0, 200.0], &[2.0]), &[1.0]);
        far.check(100.0, 1.0, &[-1.0, 1.0], 1e-5);
    }
    let mut probabilities = Vec::new();
    loss.link().push_probabilities(&[ln3, ln8], &mut probabilities);
    let expected = [0.25, 0.5, 0.25];
    assert!(probabilities.iter().zip(expected).all(|(p, expected)| (p - expected).abs() < 1e-7), "{probabilities:?}");
    let back = (loss.link().inverse)(&expected);
    assert!(back.iter().zip([ln3, ln8]).all(|(z, expected)| (z - expected).abs() < 1e-5), "{back:?}");
    assert_eq!((loss.outputs(3), loss.values(2), (loss.link().class)(&[ln3, ln8])), (2, 3, 1));
}

/// Ratings of a hidden score a + noise, cut at -0.4 and 0.4.
fn table(rows: usize, names: [&str; 3]) -> String {
    let (x, noise) = (noise(2 * rows, 11), noise(rows, 12));
    let row = |(x, noise): (&[f32], &f32)| {
        let score = x[0] + 0.3 * noise;
        format!("{},{},{}\n", x[0], x[1], names[usize::from(score > -0.4) + usize::from(score > 0.4)])
    };
    "a,b,y\n".to_owned() + &x.chunks_exact(2).zip(&noise).map(row).collect::<String>()
}

const FLAGS: &str = "--device cpu --threads 1 --hidden 8 --bins 0 --lr 2e-2 --epochs 60 --weight-decay 0";

#[test]
fn a_table_of_ratings_is_predicted_in_their_order() {
    let folder = Folder::new();
    folder.write("t.csv", table(1500, ["low", "middle", "high"]));
    folder.told(&format!("train t.csv --target y --loss ordinal --classes low,middle,high {FLAGS} --out m"));
    let told = folder.told("predict m t.csv --device cpu --proba");
    let p = ["p(low)", "p(middle)", "p(high)"].map(|name| column(&told, name));
    let a = column(&folder.text("t.csv"), "a");
    let names = cells(&told, "prediction");
    for (at, a) in a.iter().enumerate() {
        let row = [p[0][at], p[1][at], p[2][at]];
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{row:?}");
        // The share of noise in [-0.3, 0.3) that puts the score into the class.
        let below = |cut: f64| ((cut - a + 0.3) / 0.6).clamp(0.0, 1.0);
        let truth = [below(-0.4), below(0.4) - below(-0.4), 1.0 - below(0.4)];
        assert!(row.iter().zip(truth).all(|(p, truth)| (p - truth).abs() < 0.25), "a = {a}: {row:?}, truth {truth:?}");
        let most = row.iter().copied().fold(0.0, f64::max);
        let said = ["low", "middle", "high"].iter().position(|name| *name == names[at]).expect("a class");
        assert_eq!(row[said], most, "{} {row:?}", names[at]);
    }
    let metrics = judged(&folder, "eval m t.csv --device cpu");
    let y = cells(&folder.text("t.csv"), "y");
    let own = |(at, y): (usize, &String)| {
        -p[["low", "middle", "high"].iter().position(|name| name == y).expect("a class")][at].ln()
    };
    let loss = y.iter().enumerate().map(own).sum::<f64>() / y.len() as f64;
    for name in ["loss", "log_loss"] {
        let got = metrics[name].as_f64().expect("a metric");
        assert!((got / loss - 1.0).abs() < 1e-4, "{name}: {got} {loss}");
    }
    assert!(metrics["accuracy"].as_f64().expect("a metric") > 0.8, "{metrics}");
}

#[test]
fn classes_without_an_order_are_an_error() {
    let folder = Folder::new();
    folder.write("t.csv", table(60, ["low", "middle", "high"]));
    folder.write("n.csv", table(60, ["2", "10", "9.5"]));
    // Numbers are in order of size.
    folder.told(&format!("train n.csv --target y --categorical y --loss ordinal {FLAGS} --out m"));
    let told = folder.told("info m");
    let names: Vec<&str> = told.split("in order: ").nth(1).expect("the classes").split(')').take(3).collect();
    assert!(names[0].starts_with("2 (") && names[1].starts_with(", 9.5 (") && names[2].starts_with(", 10 ("), "{told}");
    refused(
        &folder,
        &[
            (
                "train t.csv --target y --loss ordinal",
                "train: the loss \"ordinal\" needs the order of the classes of \"y\": got \"high\", \"low\", \"middle\", expected them from lowest to highest under classes",
                2,
            ),
            (
                "train t.csv --target y --loss ordinal --classes low,midle,high",
                "train: target \"y\" of t.csv has the class \"middle\", which is not one of classes; did you mean \"midle\"?",
                1,
            ),
            (
                "train t.csv --target y --classes low,middle,high,low",
                "train: classes: got \"low\" twice, expected each class once",
                2,
            ),
            (
                "train n.csv --target y --task regression --classes 2,9.5,10",
                "train: classes: got the task regression as well, expected classification",
                2,
            ),
        ],
    );
}
