//! Several models trained at once, in every face of the command.

use std::fmt::Write as _;

use super::{Folder, json_lines};

/// y = x², in 300 rows between -1 and 1.
fn table() -> String {
    (0..300).fold("x,y\n".to_owned(), |mut text, row| {
        let x = f64::from(row * 37 % 300) / 150.0 - 1.0;
        writeln!(text, "{x},{}", x * x).expect("a text");
        text
    })
}

const FLAGS: &str = "--target y --device cpu --threads 1 --hidden 16 --bins 0 --lr 2e-2 --epochs 40";

#[test]
fn predictions_have_the_deviation_of_the_models() {
    let folder = Folder::new();
    folder.write("t.csv", table());
    let report = json_lines(&folder.told(&format!("train t.csv {FLAGS} --members 3 --out m --json"))).pop();
    assert_eq!(report.expect("a report")["members"].as_u64(), Some(3));
    let info = json_lines(&folder.told("info m --json")).remove(0);
    // 1 → 16 → 1 has 16 + 16 + 16 + 1 values.
    let figures = ["members", "parameters", "format"].map(|name| info[name].as_u64());
    assert_eq!(figures, [Some(3), Some(3 * 49), Some(4)]);
    assert!(folder.told("info m").contains("3 models of 1 → 16 → 1"));
    folder.write("new.csv", "x\n0.5\n-3\n");
    let predicted = |model: &str| {
        let said = folder.mero(&format!("predict {model} new.csv --device cpu --threads 1"));
        String::from_utf8(said.stdout).expect("text")
    };
    let told = predicted("m");
    let rows: Vec<Vec<f64>> = told
        .lines()
        .skip(1)
        .map(|row| row.split(',').take(2).map(|cell| cell.parse().expect("a number")).collect())
        .collect();
    assert!(told.starts_with("prediction,prediction_std") && (rows[0][0] - 0.25).abs() < 0.1, "{told}");
    // They agree where they saw rows, and not far outside.
    assert!(rows[0][1] > 0.0 && rows[1][1] > 5.0 * rows[0][1], "{told}");
    // The mean of the models of the three seeds, which are trained on the rows of the first.
    let mut mean = 0.0;
    for seed in 0..3 {
        let trained = folder.mero(&format!("train t.csv {FLAGS} --seed {seed} --split-seed 0 --out s{seed}"));
        assert!(trained.status.success(), "{trained:?}");
        let told = predicted(&format!("s{seed}"));
        let value = told.lines().nth(1).and_then(|row| row.split(',').next()).expect("a value").to_owned();
        mean += value.parse::<f64>().expect("a number") / 3.0;
    }
    assert!((mean - rows[0][0]).abs() < 1e-6, "{mean} {told}");
}

#[test]
fn folds_intervals_and_exports_take_them() {
    let folder = Folder::new();
    folder.write("t.csv", table());
    let told = folder.told(&format!("train t.csv {FLAGS} --members 2 --folds 3 --out m"));
    assert!(told.contains("2 models of 1 → 16 → 1"), "{told}");
    let told = folder.told("predict m t.csv --device cpu --interval 0.9");
    assert!(told.starts_with("prediction,prediction_std,lower,upper"), "{told}");
    for flags in ["--onnx m.onnx", "--f16 h.safetensors", "--int8 i.safetensors", "--bundle b"] {
        let exported = folder.mero(&format!("export m {flags}"));
        assert!(exported.status.success(), "{flags}: {exported:?}");
    }
    for narrow in ["h.safetensors", "i.safetensors"] {
        let info = json_lines(&folder.told(&format!("info {narrow} --json"))).remove(0);
        assert_eq!(info["members"].as_u64(), Some(2), "{narrow}");
    }
    let (_, said) = folder.refused(&format!("train t.csv {FLAGS} --members 0 --out x"));
    assert!(said.contains("members: got 0, expected a whole number from 1 to 1000"), "{said}");
}
