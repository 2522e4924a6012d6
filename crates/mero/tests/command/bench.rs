//! `mero bench` of trained models and of a guide's table, and the settings that `mero plan` recommends: what is reported, never how fast anything is.

use serde_json::Value;

use crate::{Folder, check, filled, json};

/// A folder with a table with poles, and models of both tables.
fn trained() -> Folder {
    let folder = filled();
    let row = |at: i32| {
        let x = f64::from(at) / 50.0 - 1.0;
        if at == 50 { format!("{x},inf\n") } else { format!("{x},{}\n", 1.0 / x) }
    };
    folder.write("poles.csv", "x,y\n".to_owned() + &(0..100).map(row).collect::<String>());
    folder.told("train good.csv --target y --hidden 8 --epochs 2 --device cpu --threads 1 -o plain.safetensors");
    folder.told("train poles.csv --target y --head rational --hidden 8 --epochs 2 --device cpu --threads 1 -o poles.safetensors");
    folder
}

fn number(report: &Value, name: &str) -> f64 {
    report[name].as_f64().unwrap_or_else(|| panic!("{name}: {report}"))
}

#[test]
fn a_model_is_measured_on_a_table_and_on_rows_that_are_drawn() {
    let folder = trained();
    let line = "bench plain.safetensors good.csv --device cpu --threads 1 --batch 1,50 --calls 20 --json";
    let [report] = &json(&folder, line)[..] else { panic!("one line") };
    assert_eq!((number(report, "rows"), number(report, "coverage"), number(report, "bottoms")), (120.0, 1.0, 0.0));
    let calls = report["calls"].as_array().expect("an array");
    assert_eq!(calls.iter().map(|one| number(one, "rows")).collect::<Vec<_>>(), [1.0, 50.0]);
    for one in calls {
        let [p50, p95, p99] = ["p50_us", "p95_us", "p99_us"].map(|name| number(one, name));
        assert!(0.0 < p50 && p50 <= p95 && p95 <= p99, "{one}");
        assert!((number(one, "rows_per_s") * p50 / 1e6 / number(one, "rows") - 1.0).abs() < 1e-6, "{one}");
        assert!(one["plain_head_p50_us"].is_null() && one["head_ratio"].is_null(), "{one}");
    }
    assert!(number(report, "peak_bytes") > 0.0 && number(report, "device_peak_bytes") > 0.0);
    let line = "bench poles.safetensors --device cpu --threads 1 --batch 32 --calls 20 --json";
    let [report] = &json(&folder, line)[..] else { panic!("one line") };
    let [rows, numbers, bottoms] = ["rows", "numbers", "bottoms"].map(|name| number(report, name));
    assert_eq!((rows, numbers + bottoms), (4096.0, rows), "{report}");
    let one = &report["calls"][0];
    let ratio = number(one, "p50_us") / number(one, "plain_head_p50_us");
    assert!((number(one, "head_ratio") / ratio - 1.0).abs() < 1e-9, "{one}");
    let told = folder.told("bench poles.safetensors --device cpu --threads 1 --batch 32 --calls 20");
    for expected in ["coverage", "p99", "plain head", "drawn from the ranges of training"] {
        assert!(told.contains(expected), "{expected} not in\n{told}");
    }
}

#[test]
fn the_table_of_the_guide_has_its_names() {
    let folder = filled();
    let told = folder.told("bench seed --rows 100,200 --epochs 2 --device cpu --threads 1 --out seed.json");
    assert!(told.contains("val MSE") && told.contains("test R²"), "{told}");
    let records: Value = serde_json::from_str(&folder.text("seed.json")).unwrap();
    let records = records.as_array().expect("a list");
    assert_eq!(records.iter().map(|one| number(one, "samples")).collect::<Vec<_>>(), [100.0, 200.0]);
    for one in records {
        let names: Vec<&String> = one.as_object().expect("an object").keys().collect();
        let mut expected =
            ["samples", "train_time_sec", "memory_train_mb", "val_mse", "val_r2", "test_mse", "test_r2"].to_vec();
        expected.sort_unstable();
        assert_eq!(names, expected);
        assert!(number(one, "val_r2") < 1.0 && number(one, "test_mse") > 0.0, "{one}");
    }
    // The same command replaces its own file.
    folder.told("bench seed --rows 100 --epochs 1 --device cpu --threads 1 --out seed.json");
}

#[test]
fn a_plan_recommends_settings_and_the_command() {
    let folder = filled();
    let line = "plan --recommend --rows 600 --columns 3 --hidden 8,4 --seed 7 --json";
    let lines = json(&folder, line);
    let (report, choices) = lines.split_last().expect("lines");
    assert_eq!((number(report, "rows"), number(report, "inputs")), (600.0, 3.0));
    assert_eq!(report["hidden"], serde_json::json!([8, 4]));
    assert_eq!(choices.iter().filter(|choice| choice["is_chosen"] == true).count(), 1);
    assert!(choices.iter().all(|choice| number(choice, "step_ms") > 0.0 && number(choice, "peak_bytes") > 0.0));
    let command = report["command"].as_str().expect("a text");
    assert!(command.starts_with("mero train TABLE --target COLUMN --hidden 8,4 --seed 7"), "{command}");
    let told = folder.told("plan good.csv --target y --recommend --hidden 8");
    let command = told.lines().find_map(|line| line.split_once("mero ")).expect("a command").1;
    assert!(command.starts_with("train good.csv --target y --hidden 8"), "{command}");
    folder.told(&format!("{command} --epochs 1"));
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let folder = filled();
    let mut failures = Vec::new();
    for (line, expected, code) in [
        ("bench", "bench: got no model, expected a model file, or one of the forms that --help lists", 2),
        ("bench good.csv --batch 0", "bench: batch: got 0, expected a whole number from 1 to 1000000", 2),
        ("bench good.csv --calls 0", "bench: calls: got 0, expected a whole number from 1 to 1000000", 2),
        ("bench seed --rows 5", "bench: rows: got 5, expected whole numbers from 20 to 10000000", 2),
        ("bench seed --epochs 0", "bench: epochs: got 0, expected at least 1", 2),
    ] {
        check(&folder, line, expected, code, &mut failures);
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
