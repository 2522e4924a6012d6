//! `torch.nn.KLDivLoss(reduction="batchmean")` of log-softmax outputs: Σ_c y_c (ln y_c - ln p_c).

use meromorph::loss::Loss;
use meromorph::nn::{Activation, Layout, Spec};
use meromorph::train::{Data, Examples, Flow, Trainer, TrainerConfig};
use meromorph::{Device, Result};
use pollster::block_on;

use super::devices::devices;
use super::folder::Folder;
use super::noise::noise;
use super::{Graded, cells, column, judged, refused};

/// Logits of three classes: weights of a and b, and a bias each.
const TRUTH: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [1.5, -0.5, 0.3], [-0.8, 1.0, -0.4]];

fn softmax(logits: &[f64]) -> Vec<f64> {
    let mass: f64 = logits.iter().map(|z| z.exp()).sum();
    logits.iter().map(|z| z.exp() / mass).collect()
}

fn shares([a, b]: [f64; 2]) -> Vec<f64> {
    softmax(&TRUTH.map(|[of_a, of_b, bias]| of_a * a + of_b * b + bias))
}

fn divergence(y: &[f64], p: &[f64]) -> f64 {
    y.iter().zip(p).filter(|(y, _)| **y > 0.0).map(|(y, p)| y * (y / p).ln()).sum()
}

fn examples(rows: usize, seed: u32) -> Examples {
    let x = noise(2 * rows, seed);
    let y = x.chunks_exact(2).flat_map(|x| shares([f64::from(x[0]), f64::from(x[1])])).map(|y| y as f32).collect();
    Examples { x, y }
}

#[test]
fn value_and_gradient_are_those_of_torch() {
    let z = [0.5, -1.0, 2.0, 30.0, -30.0, 0.0, 1.0, 1.0, 1.0];
    // A share of 0, and a class alone.
    let (y, weights) = ([0.2, 0.3, 0.5, 0.5, 0.0, 0.5, 0.0, 1.0, 0.0], [1.0, 0.5, 0.25]);
    let (mut sum, mut gradient) = (0.0, Vec::new());
    for (row, weight) in weights.iter().enumerate() {
        let row = |values: &[f32]| values[3 * row..][..3].iter().map(|value| f64::from(*value)).collect::<Vec<_>>();
        let (p, y, weight) = (softmax(&row(&z)), row(&y), f64::from(*weight));
        sum += weight * divergence(&y, &p);
        gradient.extend(p.iter().zip(&y).map(|(p, y)| weight * (p - y)));
    }
    for device in devices(&[1, 2]) {
        Graded::of(&device, &Loss::kl(), (&z, &y), &weights).check(sum, 1.75, &gradient, 1e-5);
    }
}

#[test]
fn shares_that_are_a_softmax_are_recovered() -> Result<()> {
    let (train, validation) = (examples(2000, 1), examples(300, 77_777));
    let data = Data { inputs: 2, targets: 3, train, validation, ..Data::default() };
    let spec = Spec::mlp(2, &[], 3, Activation::identity());
    let (layout, mut failures) = (Layout::of(&spec), Vec::new());
    for device in devices(&[1]) {
        let loss = Loss::parse("kl")?;
        let config = TrainerConfig { loss, epochs: 60, lr: 2e-2, patience: 0, ..TrainerConfig::default() };
        let mut trainer = Trainer::new(&device, spec.clone(), config, data.clone())?;
        block_on(trainer.run(&mut |_| Flow::Continue))?;
        let last = trainer.history()[59].val_loss.expect("validation rows");
        let flat = block_on(trainer.parameters())?;
        let [weight, bias] = [0, 1].map(|at: usize| layout.slice(&layout.parameters[at], &flat));
        // Logits are known up to a number for all classes.
        let of = |class: usize| [weight[2 * class], weight[2 * class + 1], bias[class]].map(f64::from);
        let far = (0..3).flat_map(|class| (0..3).map(move |at| (class, at)));
        let far = far.map(|(class, at)| (of(class)[at] - of(0)[at] - TRUTH[class][at]).abs()).fold(0.0, f64::max);
        if far > 0.02 || !(0.0..1e-4).contains(&last) {
            failures.push(format!("{}: {far}, loss {last}", device.info().device));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}

fn table(rows: usize) -> String {
    let row = |x: &[f32]| {
        let x = [x[0], x[1]].map(f64::from);
        let y = shares(x).iter().map(|y| format!("{y:.4}")).collect::<Vec<_>>().join(",");
        format!("{},{},{y}\n", x[0], x[1])
    };
    "a,b,low,middle,high\n".to_owned() + &noise(2 * rows, 5).chunks_exact(2).map(row).collect::<String>()
}

const NAMES: [&str; 3] = ["low", "middle", "high"];

#[test]
fn a_table_of_shares_is_predicted_as_shares() {
    let folder = Folder::new();
    folder.write("t.csv", table(600));
    let flags = "--device cpu --threads 1 --hidden 16 --lr 1e-2 --epochs 60 --weight-decay 0 --report r.html";
    let told = folder.told(&format!("train t.csv --target low --more-targets middle,high --loss kl {flags} --out m"));
    assert!(told.contains("the target columns hold shares of classes"), "{told}");
    let (predicted, text) = (folder.told("predict m t.csv --device cpu"), folder.text("t.csv"));
    assert_eq!(predicted.lines().next(), Some("prediction,probability,p(low),p(middle),p(high),note"));
    let p = NAMES.map(|name| column(&predicted, &format!("p({name})")));
    let y = NAMES.map(|name| column(&text, name));
    let row = |of: &[Vec<f64>; 3], at: usize| [0, 1, 2].map(|class: usize| of[class][at]);
    let best = |values: [f64; 3]| (0..3).max_by(|a, b| values[*a].total_cmp(&values[*b])).expect("three");
    let (names, mut right) = (cells(&predicted, "prediction"), 0.0);
    let (mut loss, mut mae) = (0.0, 0.0);
    for (at, name) in names.iter().enumerate() {
        let (p, y) = (row(&p, at), row(&y, at));
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{p:?}");
        assert_eq!(name, NAMES[best(p)]);
        right += f64::from(u8::from(best(p) == best(y))) / 600.0;
        loss += divergence(&y, &p) / 600.0;
        mae += p.iter().zip(y).map(|(p, y)| (p - y).abs()).sum::<f64>() / 1800.0;
    }
    assert!(loss < 2e-3 && right > 0.95, "{loss} {right}");
    let metrics = judged(&folder, "eval m t.csv --device cpu");
    for (name, expected) in [("loss", loss), ("mae", mae), ("accuracy", right)] {
        let got = metrics[name].as_f64().expect("a metric");
        assert!((got - expected).abs() < 1e-5, "{name}: {got} {expected}");
    }
    assert!(folder.text("r.html").contains("middle"));
    assert!(folder.told("info m").contains("the shares of 3 classes"));
    folder.told("export m --onnx m.onnx");
}

#[test]
fn what_is_no_share_is_an_error() {
    let folder = Folder::new();
    folder.write("t.csv", table(60));
    folder.write("sum.csv", "a,b,low,high\n1,1,0.5,0.5\n2,2,0.5,0.25\n3,1,0.75,0.25\n4,2,0.5,0.5\n5,1,0.5,0.5\n");
    folder.write("minus.csv", "a,b,low,high\n1,1,0.5,0.5\n2,2,1.5,-0.5\n3,1,0.75,0.25\n4,2,0.5,0.5\n5,1,0.5,0.5\n");
    folder.write("text.csv", "a,b,low,high\n1,1,0.5,bad\n2,2,0.25,0.75\n3,1,0.75,0.25\n4,2,0.5,0.5\n5,1,0.5,0.5\n");
    folder.told("train t.csv --target low --more-targets middle,high --loss kl --device cpu --epochs 2 --out m");
    let kl = "--target low --more-targets high --loss kl --validation 0 --test 0";
    refused(
        &folder,
        &[
            (
                &format!("train sum.csv {kl}"),
                "train: loss \"kl\": sum.csv: row 2: got shares whose sum is 0.75, expected shares whose sum is 1",
                1,
            ),
            (
                &format!("train minus.csv {kl}"),
                "train: loss \"kl\": minus.csv: row 2, column \"high\": got -0.5, expected a share of at least 0",
                1,
            ),
            (&format!("train text.csv {kl}"), "train: text.csv: row 1, column \"high\": \"bad\" is not a number", 1),
            (
                "train t.csv --target low --loss kl",
                "train: loss \"kl\": got one target column, \"low\", expected the others in more_targets",
                2,
            ),
            ("train t.csv --target low --more-targets high", "train: more_targets applies only to loss \"kl\"", 2),
            (
                "train t.csv --target low --more-targets high,low --loss kl",
                "train: column \"low\" is listed twice as target",
                1,
            ),
            (
                "train t.csv --target low --more-targets high --loss kl --features a,high",
                "train: column \"high\" is both feature and target",
                1,
            ),
            (
                "train t.csv --target low --more-targets middle,high --loss kl --task regression",
                "train: task: loss \"kl\" is about shares of classes: expected no task",
                2,
            ),
            (
                "train t.csv --target low --more-targets middle,high --loss kl --step fused",
                "train: step: the fused step does not take loss \"kl\": expected the recorded step",
                2,
            ),
            (
                "train t.csv --target low --more-targets middle,high --loss kl --class-weights balanced",
                "train: class weights apply only to loss …",
                2,
            ),
            (
                "train t.csv --target low --more-targets middle,high --loss kl --head rational",
                "train: loss \"kl\": got a head with poles, expected a linear one",
                2,
            ),
            (
                "predict m t.csv --interval 0.9",
                "predict: interval: only predictions of numbers, by models without poles, have intervals",
                2,
            ),
        ],
    );
    let mut train = examples(20, 1);
    train.y[4] += 0.5;
    let data = Data { inputs: 2, targets: 3, train, ..Data::default() };
    let config = TrainerConfig { loss: Loss::kl(), ..TrainerConfig::default() };
    let spec = Spec::mlp(2, &[], 3, Activation::identity());
    let said = Trainer::new(&Device::cpu(1), spec, config, data).map(drop).unwrap_err().to_string();
    let expected = "train: loss \"kl\": training row 2: got shares whose sum is 1.5, expected shares whose sum is 1";
    assert_eq!(said, expected);
}
