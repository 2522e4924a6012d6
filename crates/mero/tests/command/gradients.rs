//! Options of gradients and memory, the check-up of a model, and files for TensorBoard.

use crate::{check, filled, json};
use serde_json::Value;
use std::fs;

const FEW: &str = "train good.csv --target y --device cpu --hidden 8,8 --epochs 6 --json";

#[test]
fn options_of_gradients_train_and_are_reported() {
    let folder = filled();
    let all = "--clip-norm 0.01 --clip-value 0.005 --skip-overflow --freeze layers.0 --decay weights --mean-decay 0.9 --sharpness 0.01";
    let lines = json(&folder, &format!("{FEW} {all} --out clipped"));
    let epoch = lines.iter().find(|line| line["event"] == "epoch").expect("an epoch");
    let gradients = &epoch["gradients"];
    assert!(gradients["limited"].as_u64().is_some_and(|limited| limited > 0), "{gradients}");
    assert!(gradients["largest_norm"].as_f64().is_some_and(|norm| norm > 0.01), "{gradients}");
    for optimizer in ["lamb", "schedule-free", "muon", "adafactor"] {
        json(&folder, &format!("{FEW} --optimizer {optimizer} --out other"));
    }
    let [plain, sparing] = ["", "--recompute 2"].map(|more| {
        let deep = "train good.csv --target y --device cpu --epochs 6 --json --step recorded --hidden 8,8,8,8";
        let lines = json(&folder, &format!("{deep} {more} --out same"));
        lines[lines.len() - 1]["test"].clone()
    });
    assert_eq!(plain, sparing, "what is computed again has the same bits");
    let mut failures = Vec::new();
    let cases = [
        ("--clip-norm 0", "train: --clip-norm: got 0, expected a finite number above 0"),
        ("--clip-norm 1 --clip-tensor 1", "train: clip_tensor: got clip_norm as well, expected one of them"),
        ("--recompute 1", "train: recompute: got \"1\", expected a whole number of at least 2, sqrt or none"),
        (
            "--recompute sqrt --step fused",
            "train: recompute: the fused step keeps no results between its passes: expected the recorded step",
        ),
        (
            "--precision f16 --keep-f32 linear --keep-half linear",
            "train: keep_half: got \"linear\", which keep_f32 names as well, expected it in one of them",
        ),
        (
            "--precision f16 --scale-interval 0",
            "train: --scale-interval: got 0, expected a whole number from 1 to 4294967295",
        ),
        (
            "--precision f16 --strict --device cpu",
            "train: strict: got precision f16 on cpu, which has no type for it: expected f32, or no strict, which packs two numbers in a word",
        ),
        ("--loss-scale 4", "train: --loss-scale has no effect without --precision f16"),
        ("--optimizer lamb --skip-overflow", "train: skip_overflow: the optimizer lamb cannot leave out an update"),
    ];
    for (flags, expected) in cases {
        check(&folder, &format!("train good.csv --target y {flags}"), expected, 2, &mut failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn halves_train_and_their_scale_is_reported() {
    let folder = filled();
    let lines = json(
        &folder,
        &format!("{FEW} --precision f16 --loss-scale 1024 --scale-interval 2 --recompute none --out half"),
    );
    let epochs: Vec<&Value> = lines.iter().filter(|line| line["event"] == "epoch").collect();
    let scale = |epoch: &Value| epoch["gradients"]["loss_scale"].as_f64().expect("a scale");
    assert!(scale(epochs[0]) >= 1024.0 && scale(epochs[epochs.len() - 1]) > scale(epochs[0]), "{epochs:?}");
    assert_eq!(lines[0]["precision"], "f16, packed, since the device has no type for it; arithmetic in f32");
    let text = folder.told(&format!("{} --precision bf16 --out half", FEW.replace(" --json", "")));
    assert!(text.contains("bf16, packed, since the device has no type for it"), "{text}");
    let plan = folder.told("plan --rows 512 --batch 256 --hidden 64,64,64 --precision bf16");
    // Products read and write halves themselves.
    assert!(!plan.contains("cast") && plan.contains("layers.2 layer backward"), "{plan}");
    let transient = |more: &str| {
        let line = format!("plan --rows 512 --batch 256 --hidden 64,64,64 --step recorded --json {more}");
        json(&folder, &line).pop().expect("a report")["transient_bytes"].as_f64().expect("bytes")
    };
    assert!(transient("--precision bf16") < 0.6 * transient(""), "{plan}");
}

#[test]
fn settings_are_compared_by_memory_and_time() {
    let folder = filled();
    let plan = "plan --rows 2000 --batch 256 --hidden 64,64,64,64,64,64 --settings";
    let rows = json(&folder, &format!("{plan} --json"));
    let bytes = |name: &str| {
        let row = rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {rows:?}"));
        assert!(row["step_ms"].as_f64().is_some_and(|ms| ms > 0.0), "{row}");
        row["transient_bytes"].as_u64().expect("bytes")
    };
    assert!(bytes("halves") < bytes("layers of 3 computed again") * 4 && bytes("2 steps for an update") > 0);
    assert_eq!(rows.iter().filter(|row| row["is_chosen"] == true).count(), 1, "{rows:?}");
    let text = folder.told(plan);
    assert!(text.contains("between passes") && text.contains("that fit into"), "{text}");
    // Rows that share statistics cannot be split.
    let normed = json(&folder, &format!("{plan} --norm batch --json"));
    assert!(
        !normed.is_empty() && normed.iter().all(|row| !row["name"].as_str().unwrap_or("").contains("steps")),
        "{normed:?}"
    );
    let mut failures = Vec::new();
    let wrong = "plan --hidden 8 --settings --recompute-layers layers.9";
    let expected = "plan: train: recompute_layers: got \"layers.9\", expected one of \"activation\", \"layer\", \"layer_norm\", \"layers.0\", \"layers.1\", \"layers.2\", \"linear\", \"map\", \"masked\", \"matmul\", \"rational\"; did you mean \"layers.0\"?";
    check(&folder, wrong, expected, 2, &mut failures);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_plan_keeps_a_budget_with_fewer_rows_in_a_step() {
    let folder = filled();
    let plan = |more: &str| {
        let told =
            folder.told(&format!("plan --rows 4096 --batch 4096 --hidden 256,256,256 --step recorded --json {more}"));
        serde_json::from_str::<Value>(told.lines().last().unwrap()).unwrap()
    };
    let (whole, within) = (plan(""), plan("--memory-budget 4"));
    assert!(whole["transient_bytes"].as_u64().is_some_and(|bytes| bytes > 8 << 20), "{whole}");
    assert!(within["transient_bytes"].as_u64().is_some_and(|bytes| bytes <= 4 << 20), "{within}");
    assert!(within["batch"].as_u64().is_some_and(|batch| batch < 4096 && 4096 % batch == 0), "{within}");
}

#[test]
fn a_doctor_says_what_is_well_and_what_is_not() {
    let folder = filled();
    json(&folder, &format!("{FEW} --out model"));
    let told = folder.told("doctor model good.csv --device cpu");
    for expected in ["✓ rows", "✓ parameters", "✓ gradient ", "✓ steady steps", "✓ repeatable", "batch size"]
    {
        assert!(told.contains(expected), "{expected} in {told}");
    }
    let report: Value = serde_json::from_str(&folder.told("doctor model good.csv --device cpu --json")).unwrap();
    assert_eq!((report["failed"].as_u64(), report["checks"].as_array().map(Vec::len)), (Some(0), Some(10)));
    assert_eq!(report["practices"].as_array().map(Vec::len), Some(30));
    let mut failures = Vec::new();
    folder.write("few.csv", "a,b,colour,y\n1,2,red,3\n");
    let expected = "doctor: few.csv: got 1 rows with every input and the target, expected at least 8";
    check(&folder, "doctor model few.csv --device cpu", expected, 1, &mut failures);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A baseline with a tenth of the loss and ten times the memory: only the loss has become worse.
#[test]
fn a_doctor_compares_with_a_baseline_and_warns_above_limits() {
    let folder = filled();
    json(&folder, &format!("{FEW} --out model"));
    let doctor = "doctor model good.csv --device cpu";
    let mut before: Value = serde_json::from_str(&folder.told(&format!("{doctor} --json"))).unwrap();
    let figures = before["figures"].clone();
    for (name, factor) in [("loss", 0.1), ("memory_mib", 10.0), ("step_ms", 1e3), ("gradient_norm", 1.0)] {
        before["figures"][name] = (figures[name].as_f64().unwrap() * factor).into();
    }
    folder.write("before.json", before.to_string());
    let line = format!("{doctor} --baseline before.json --alert loss=0 --alert step_ms=1e9 --flow=flow.svg");
    let after: Value = serde_json::from_str(&folder.told(&format!("{line} --json"))).unwrap();
    let worse = |one: &Value| (one["is_worse"] == true).then(|| one["figure"].as_str().unwrap().to_owned());
    let worse: Vec<String> = after["baseline"].as_array().unwrap().iter().filter_map(worse).collect();
    assert_eq!(worse, ["loss"]);
    assert_eq!(after["alerts"], serde_json::json!([{ "figure": "loss", "limit": 0.0, "value": figures["loss"] }]));
    assert_eq!(after["failed"], 0);
    assert!(fs::read_to_string(folder.path("flow.svg")).unwrap().contains("layers.0.weight"));
    let text = folder.told(&format!("{line} --force"));
    assert!(text.contains("baseline: worse than before: loss") && text.contains("alert: loss is "), "{text}");
    let mut failures = Vec::new();
    let expected = "doctor: good.csv: has no figures: expected what mero doctor --json printed";
    check(&folder, &format!("{doctor} --baseline good.csv"), expected, 2, &mut failures);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn figures_are_written_for_tensorboard() {
    let folder = filled();
    json(&folder, &format!("{FEW} --clip-norm 1 --tensorboard board --out model"));
    let files: Vec<_> = fs::read_dir(folder.path("board")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1);
    let bytes = fs::read(&files[0]).unwrap();
    let mut rest = &bytes[..];
    let mut records = 0;
    while let Some((length, _)) = rest.split_first_chunk::<8>() {
        rest = &rest[u64::from_le_bytes(*length) as usize + 16..];
        records += 1;
    }
    assert_eq!(records, 7, "a start and six epochs");
    assert!(bytes.windows(21).any(|part| part == b"gradient/largest_norm"));
}
