//! Runs that learn from contrasts and are interrupted: they resume to the same bytes, keep their log, and refuse what is not theirs.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::contrast::{filled, rows};
use super::folder::Folder;
use super::{json, json_lines};

const CPU: &str = "--device cpu --threads 1";

/// Starts a run, interrupts it after some epochs, and returns the command that resumes it, as the message gives it.
fn interrupted(folder: &Folder, line: &str) -> String {
    let mut child = folder.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    for _ in 0..3 {
        lines.next().expect("an epoch").expect("a line");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there").success());
    let rest: Vec<String> = lines.map(|line| line.expect("a line")).collect();
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{said}");
    let event: Value = serde_json::from_str(&rest[rest.len() - 2]).expect("JSON");
    assert_eq!(event["event"], "checkpoint", "{said}");
    let start = format!("mero: contrast: interrupted after {} epochs; saved ", event["epochs"]);
    assert!(said.starts_with(&start) && said.contains("; continue with\n  mero contrast"), "{said}");
    said.lines().last().expect("a command").trim().trim_start_matches("mero ").to_owned()
}

/// The lines of a log without what depends on the time.
fn log(folder: &Folder, name: &str) -> Vec<Value> {
    let mut lines = json_lines(&folder.text(name));
    for line in &mut lines {
        line.as_object_mut().expect("an object").remove("seconds");
    }
    lines
}

#[test]
fn a_memory_is_resumed_to_the_same_bytes() {
    let folder = filled();
    let line = format!("contrast good.csv --target kind --map diagonal --batch 16 --epochs 1500 {CPU} --json");
    json(&folder, &format!("{line} --out whole --map-out whole.npy --log whole.log"));
    let command = interrupted(&folder, &format!("{line} --out cut --map-out cut.npy --log cut.log"));
    assert_eq!(
        command,
        "contrast good.csv --target kind --resume cut.ckpt --out cut --log cut.log --map-out cut.npy --device cpu --threads 1 --json"
    );
    let before = folder.read("cut.ckpt");
    // A log that ran on after its last checkpoint, and whose last line is torn.
    let epochs = log(&folder, "cut.log").len() - 1;
    let torn = format!("{}{{\"epoch\":{},\"event\":\"epoch\"}}\n{{\"ep", folder.text("cut.log"), epochs + 1);
    folder.write("cut.log", torn);
    folder.write("other.csv", rows(303).0);
    folder.write("renamed.csv", rows(300).0.replace("red", "pink"));
    folder.write("foreign.log", folder.text("cut.log").replace("config_sha256\":\"", "config_sha256\":\"0"));
    folder.told(&format!("train good.csv --target a {CPU} --hidden 4 --epochs 1 --out model"));
    let short = "contrast good.csv --resume cut.ckpt --out cut --device cpu";
    let refused = [
        (
            "contrast other.csv --resume cut.ckpt --out cut",
            1,
            "other.csv: these are not the rows that cut.ckpt was trained on",
        ),
        (
            "contrast renamed.csv --resume cut.ckpt --out cut",
            1,
            "renamed.csv: these are not the rows that cut.ckpt was",
        ),
        (&format!("{short} --lr 1"), 2, "--resume cannot be used with --lr"),
        (&format!("{short} --target a"), 1, "cut.ckpt: it learns \"kind\", not \"a\""),
        (&format!("{short} --labels labels.csv"), 2, "cut.ckpt: got --labels labels.csv, expected --target kind"),
        (&format!("{short} --log foreign.log"), 2, "foreign.log: it is the log of another run: got config_sha256 \"0"),
        (
            "contrast good.csv --resume model --out cut",
            1,
            "model: it is a model, not a checkpoint: there is nothing to resume",
        ),
        (
            "train good.csv --resume cut.ckpt --out new",
            2,
            "cut.ckpt: it is the checkpoint of mero contrast, which resumes it",
        ),
        (
            "contrast good.csv --target kind --out cut",
            2,
            "cut.ckpt: is the checkpoint of a run that was interrupted; --resume cut.ckpt continues it",
        ),
    ];
    for (line, code, expected) in refused {
        let (got, said) = folder.refused(line);
        assert!(got == Some(code) && said.contains(expected), "{line}: {got:?}: {said}");
        assert!(folder.read("cut.ckpt") == before, "{line}: the checkpoint is as it was");
    }
    json(&folder, &command);
    for [whole, cut] in [["whole", "cut"], ["whole.npy", "cut.npy"]] {
        assert!(folder.read(whole) == folder.read(cut), "{cut} is not {whole}");
    }
    assert!(!folder.path("cut.ckpt").exists(), "a finished run has no checkpoint");
    assert_eq!(log(&folder, "whole.log"), log(&folder, "cut.log"));
}

#[test]
fn layers_that_settle_are_resumed_to_the_same_bytes() {
    let folder = filled();
    let line = format!("contrast plain.csv --labels labels.csv --hidden 8,4 --epochs 1500 --batch 16 {CPU} --json");
    json(&folder, &format!("{line} --out whole"));
    let command = interrupted(&folder, &format!("{line} --out cut"));
    let expected = "contrast plain.csv --labels labels.csv --resume cut.ckpt --out cut --device cpu --threads 1 --json";
    assert_eq!(command, expected);
    folder.write("other.csv", rows(300).0.replace(",red", ",1").replace(",green", ",2").replace(",blue", ",3"));
    let said = folder.refused("contrast other.csv --resume cut.ckpt --out cut").1;
    assert!(said.contains("other.csv: these are not the rows that cut.ckpt was trained on"), "{said}");
    json(&folder, &command);
    assert!(folder.read("whole") == folder.read("cut"), "weights and words of the uninterrupted run");
}

/// Epochs are numbered from 1, figures are of the last window, and the weights of a metric start at 1.
#[test]
fn a_log_has_a_line_for_the_run_and_one_for_each_epoch() {
    let folder = filled();
    let options = format!("--target kind --map diagonal --batch 60 --lr 1e-30 --epochs 2 {CPU}");
    folder.told(&format!("contrast good.csv {options} --seed 3 --log a.log -o a"));
    let lines = json_lines(&folder.text("a.log"));
    assert_eq!(lines.len(), 3);
    let run = &lines[0];
    assert_eq!((&run["event"], &run["kind"]), (&"run".into(), &"meromorph contrast".into()));
    assert_eq!(run["rows"], serde_json::json!({ "learned": 240, "held": 60 }));
    assert_eq!(
        (&run["columns"], &run["classes"], &run["device"], &run["seed"]),
        (&4.into(), &3.into(), &"cpu".into(), &3.into())
    );
    assert_eq!((&run["options"]["map"], &run["options"]["batch"]), (&"diagonal".into(), &60.into()));
    assert_eq!(run["config_sha256"].as_str().expect("a digest").len(), 64);
    for (at, line) in lines[1..].iter().enumerate() {
        // 240 rows in windows of 60, at a rate that moves nothing.
        assert_eq!((&line["event"], &line["epoch"], &line["windows"]), (&"epoch".into(), &(at + 1).into(), &4.into()));
        assert_eq!((&line["smallest_weight"], &line["largest_weight"]), (&1.0.into(), &1.0.into()));
        for name in ["loss", "cost", "distance", "entropy", "lr", "seconds"] {
            assert!(line[name].as_f64().is_some_and(|value| value >= 0.0), "{name}: {line}");
        }
    }
    // Where the labels lie says nothing of a run.
    folder.write("elsewhere.csv", folder.text("labels.csv"));
    let hash = |labels: &str| {
        folder.told(&format!("contrast plain.csv --labels {labels} --epochs 1 {CPU} --log l.log -o l --force"));
        json_lines(&folder.text("l.log"))[0]["config_sha256"].clone()
    };
    assert_eq!(hash("labels.csv"), hash("./elsewhere.csv"));
    // A matrix has no weights of columns, and layers report only their loss.
    folder.told(&format!("contrast good.csv --target kind --epochs 1 {CPU} --log b.log -o b"));
    folder.told(&format!("contrast good.csv --target kind --epochs 1 --hidden 4 {CPU} --log c.log -o c"));
    let [b, c] = ["b.log", "c.log"].map(|name| json_lines(&folder.text(name))[1].clone());
    assert!(b["cost"].is_number() && b["largest_weight"].is_null(), "{b}");
    assert!(c["loss"].is_number() && c["cost"].is_null(), "{c}");
    let (code, said) = folder.refused(&format!("contrast good.csv {options} --log labels.csv -o d"));
    assert!(code == Some(2) && said.contains("labels.csv exists and is not the log of mero contrast"), "{said}");
}
