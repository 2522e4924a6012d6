//! Files of an earlier version: models, a checkpoint and fits that its `mero` wrote (`tests/data/earlier/make.sh`) are read, and today's `mero` prints
//! what that one printed.

use meromorph::model::Model;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::folder::Folder;

/// A folder with the files of the earlier version.
fn earlier() -> Folder {
    let folder = Folder::new();
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/earlier");
    for entry in fs::read_dir(files).expect("the folder is there") {
        let entry = entry.expect("an entry");
        folder.write(&entry.file_name().to_string_lossy(), fs::read(entry.path()).expect("a file"));
    }
    folder
}

/// What is printed, without what differs from run to run.
fn stable(printed: &str) -> Value {
    let Ok(Value::Object(mut report)) = serde_json::from_str(printed) else { return printed.into() };
    for name in ["peak_bytes", "seconds", "samples_per_s", "profile"] {
        report.remove(name);
    }
    Value::Object(report)
}

/// Whether a report has everything that an earlier one had; fields and lines may have been added.
fn keeps(new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => {
            old.iter().all(|(name, old)| new.get(name).is_some_and(|new| keeps(new, old)))
        }
        (Value::Array(new), Value::Array(old)) => {
            new.len() == old.len() && new.iter().zip(old).all(|(new, old)| keeps(new, old))
        }
        (Value::String(new), Value::String(old)) => {
            let mut lines = new.lines();
            old.lines().all(|old| lines.any(|new| new == old))
        }
        _ => new == old,
    }
}

#[test]
fn files_of_an_earlier_version_give_what_they_gave() {
    let folder = earlier();
    let mut failures = Vec::new();
    for (at, line) in folder.text("commands.txt").lines().enumerate() {
        let printed = String::from_utf8(folder.mero(line).stdout).expect("text");
        if !keeps(&stable(&printed), &stable(&folder.text(&format!("{}.out", at + 1)))) {
            failures.push(format!("mero {line}\n{printed}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_run_of_an_earlier_version_resumes_to_the_same_weights() {
    let folder = earlier();
    folder.told("train mixed.csv --resume interrupted.ckpt --device cpu --threads 1 --out today.safetensors --quiet");
    // The file of today also holds how the table was written.
    let weights = |name: &str| Model::load(&folder.read(name), name).expect("a model").parameters;
    assert!(weights("today.safetensors") == weights("resumed.safetensors"));
}
