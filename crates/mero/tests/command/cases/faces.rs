//! 34 odd tables give the same predictions and the same warnings in Rust as in the command; `web/test/same.test.mjs` compares the command with
//! JavaScript in a browser and in Node. `tests/cases/odd.json` lists the tables.

use std::collections::BTreeSet;

use super::super::{Folder, json_lines};
use meromorph::files::{Format, Table, read_table};
use meromorph::model::{Model, PredictOptions, Prediction};
use meromorph::options::Naming;
use meromorph::run::{READING, TrainOptions};
use meromorph::table::Choice;
use meromorph::train::{Flow, Trainer};
use meromorph::{Device, Result};
use pollster::block_on;
use serde_json::Value;

/// What a face answers: its warnings, and the predictions of the table's own rows.
struct Answer {
    warnings: Value,
    predictions: Vec<String>,
    /// The rows about which something is noted.
    noted: BTreeSet<usize>,
}

/// The text of an option as the command line has it; empty for a flag.
fn text(value: &Value) -> String {
    match value {
        Value::Bool(_) => String::new(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The lines of predictions as the command writes them: a number or class, and for a class its probability.
fn written(prediction: &Prediction) -> String {
    match prediction {
        Prediction::Number(value) => value.to_string(),
        Prediction::Class { name, probability } => format!("{name},{}", *probability as f32),
        other => panic!("{other:?}"),
    }
}

fn in_rust(bytes: &[u8], source: &str, target: &str, options: &Value) -> Result<Answer> {
    let mut format = Format::default();
    for (name, value) in options.as_object().unwrap() {
        let entry = READING.find(name, Naming::Rust)?;
        READING.apply(&mut format, &[(entry, entry.kind.parse(&text(value)))], Naming::Rust)?;
    }
    let table: Table = read_table(bytes, source, format)?;
    let choice = Choice { target: target.into(), ..Choice::default() };
    let recipe = TrainOptions { choice, hidden: Some(vec![4]), epochs: Some(2), seed: 3, ..TrainOptions::default() };
    let run = recipe.prepare(&table)?;
    let warnings = serde_json::to_value(&run.warnings).unwrap();
    let device = Device::cpu(1);
    let mut trainer = Trainer::new(&device, run.spec, run.settings, run.data)?;
    block_on(trainer.run(&mut |_| Flow::Continue))?;
    let model = Model::load(&block_on(trainer.model(Some(run.preparation)))?.save()?, "m")?;
    // Without notes, Rust refuses a category that training did not see; with them, it does as the command.
    let (predictions, notes) = block_on(model.predict_noting(&device, &table, PredictOptions::lenient()))?;
    let noted = notes.iter().map(|note| note.row).collect();
    Ok(Answer { warnings, predictions: predictions.iter().map(written).collect(), noted })
}

/// Standard output of a command that must succeed.
fn printed(folder: &Folder, line: &str) -> String {
    let output = folder.mero(line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn in_the_command(folder: &Folder, source: &str, target: &str, options: &Value) -> Answer {
    let said = options.as_object().unwrap().iter();
    let reading: Vec<String> =
        said.map(|(name, value)| format!("--{} {}", name.replace('_', "-"), text(value))).collect();
    let train = format!(
        "train {source} --target {target} --hidden 4 --epochs 2 --seed 3 --threads 1 --device cpu --json --out m --force {}",
        reading.join(" ")
    );
    let warnings = json_lines(&printed(folder, &train))[0]["warnings"].clone();
    let out = printed(folder, &format!("predict m {source} --device cpu --threads 1"));
    let header = out.lines().next().unwrap();
    let columns = if header.contains("probability") { 2 } else { 1 };
    let rows: Vec<Vec<&str>> = out.lines().skip(1).map(|line| line.splitn(columns + 1, ',').collect()).collect();
    let noted = (0..rows.len()).filter(|&row| !rows[row][columns].is_empty()).collect();
    Answer { warnings, predictions: rows.iter().map(|row| row[..columns].join(",")).collect(), noted }
}

#[test]
fn odd_tables_give_the_same_answers_in_rust_and_in_the_command() {
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases");
    let list: Value = serde_json::from_str(&std::fs::read_to_string(format!("{cases}/odd.json")).unwrap()).unwrap();
    let list = list.as_array().unwrap();
    assert!(list.len() >= 30);
    for case in list {
        let (file, target) = (case["file"].as_str().unwrap(), case["target"].as_str().unwrap());
        let source = file.rsplit('/').next().unwrap();
        let bytes = std::fs::read(format!("{cases}/{file}")).unwrap();
        let folder = Folder::new();
        folder.write(source, &bytes);
        let rust = in_rust(&bytes, source, target, &case["options"]).unwrap_or_else(|error| panic!("{file}: {error}"));
        let command = in_the_command(&folder, source, target, &case["options"]);
        assert_eq!(rust.warnings, command.warnings, "{file}");
        assert_eq!(rust.predictions.len(), command.predictions.len(), "{file}");
        for (row, (rust, command)) in rust.predictions.iter().zip(&command.predictions).enumerate() {
            assert_eq!(rust, command, "{file}, row {row}");
        }
        assert_eq!(rust.noted, command.noted, "{file}");
    }
}
