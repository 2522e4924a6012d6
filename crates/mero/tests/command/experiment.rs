//! `mero experiment` as a process: two complete files, one JSON object, and errors before any training.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn mero(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mero"));
    command.current_dir(folder).args(line.split_whitespace()).stdin(Stdio::null());
    command.output().expect("the binary starts")
}

/// Standard output of a command that must succeed without standard error.
fn told(folder: &Path, line: &str) -> String {
    let output = mero(folder, line);
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && problems.is_empty(), "{line}: {:?}\n{problems}", output.status);
    String::from_utf8(output.stdout).expect("the binary writes UTF-8")
}

#[test]
fn a_run_writes_two_complete_files_and_prints_their_paths() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        told(folder.path(), "experiment ik --mode contract --methods dls,mlp --seeds 2 --out found --device cpu");
    assert!(text.starts_with("  An arm near its singular poses: 2 seeds, 1 epoch\n"), "{text}");
    assert!(text.contains("4,610") && text.contains("found/ik.json") && text.contains("found/ik.html"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let json: Value = serde_json::from_slice(&fs::read(folder.path().join("found/ik.json")).unwrap()).unwrap();
    assert_eq!((&json["experiment"], &json["mode"], &json["epochs"]), (&"ik".into(), &"contract".into(), &1.into()));
    let page = fs::read_to_string(folder.path().join("found/ik.html")).unwrap();
    assert!(page.contains("mero experiment ik --mode contract --epochs 1 --seed 1 --seeds 2 --methods dls,mlp"));
    let mut left: Vec<_> =
        fs::read_dir(folder.path().join("found")).unwrap().map(|file| file.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["ik.html", "ik.json"], "no temporary file is left");
}

#[test]
fn another_program_gets_rows_and_its_predictions_are_scored() {
    let folder = tempfile::tempdir().unwrap();
    let text = told(folder.path(), "experiment ik --mode contract --seed 6 --seeds 2 --rows rows");
    assert_eq!(text, "  rows/6\n  rows/7\n\n  expected for each row of predict.csv: dtheta1, dtheta2\n");
    let header = |name: &str| {
        let text = fs::read_to_string(folder.path().join("rows/6").join(name)).unwrap();
        text.lines().next().unwrap().to_owned()
    };
    assert_eq!(
        (&*header("train.csv"), &*header("predict.csv")),
        ("theta1,theta2,dx,dy,dtheta1,dtheta2", "theta1,theta2,dx,dy")
    );
    fs::create_dir(folder.path().join("found")).unwrap();
    for seed in ["6", "7"] {
        let asked = fs::read_to_string(folder.path().join("rows").join(seed).join("predict.csv")).unwrap();
        let rows = asked.lines().skip(1).map(|line| {
            let x: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            let [a, b] = meromorph_experiments::ik::damped_least_squares([x[0], x[1]], [x[2], x[3]], 0.01);
            // No prediction for one side of the arm.
            if x[0] < 0.0 { ",\n".to_owned() } else { format!("{b},{a}\n") }
        });
        let text = format!("dtheta2,dtheta1\n{}", rows.collect::<String>());
        fs::write(folder.path().join("found").join(format!("{seed}.csv")), text).unwrap();
    }
    let line =
        "experiment ik --mode contract --seed 6 --seeds 2 --methods mlp,dls --predictions mine=found --device cpu";
    let text = told(folder.path(), line);
    assert!(text.lines().any(|line| line.split_whitespace().take(2).eq(["mine", "–"])), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let json: Value = serde_json::from_str(&told(folder.path(), &format!("{line} --json"))).unwrap();
    let mine = &json["methods"][2];
    assert_eq!((&mine["name"], &mine["role"]), (&"mine".into(), &"elsewhere".into()));
    let figure = |key: &str| mine["estimates"][key]["mean"].as_f64().unwrap();
    assert!(figure("mse") < 1e-8, "{}", figure("mse"));
    assert!(figure("success") > 0.4 && figure("success") < 0.6, "{}", figure("success"));
    fs::write(folder.path().join("found/7.csv"), "dtheta2,dtheta1,dtheta3\n0,0,0\n").unwrap();
    let output = mero(folder.path(), line);
    let expected = "mero: experiment: found/7.csv: column \"dtheta3\" is not one of dtheta1, dtheta2\n";
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(1), expected));
}

#[test]
fn json_is_one_object_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let line = "experiment lj --mode contract --methods mlp,rational --seed 7 --seeds 2 --epochs 2 --json --device cpu";
    let text = told(folder.path(), line);
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["seeds"], &json["epochs"]), (&serde_json::json!([7, 8]), &2.into()));
    let losses = json["methods"][1]["seeds"][1]["losses"][0].as_array().unwrap();
    assert_eq!((json["methods"][1]["name"].as_str(), losses.len()), (Some("rational"), 2));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "without --out nothing is written");
}

#[test]
fn bad_arguments_are_errors_at_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let cases = [
        ("experiment dose --seeds 0", 2, "mero: experiment: seeds and epochs must be at least 1\n"),
        ("experiment dose --epochs 0", 2, "mero: experiment: seeds and epochs must be at least 1\n"),
        (
            "experiment lj --methods mlp,magic",
            2,
            "mero: experiment: lj has no method \"magic\"; it has formula, mlp, rbf, siren, rational, improper, powers, hard-wall\n",
        ),
        (
            "experiment dose --device dry",
            2,
            "mero: experiment: device \"dry\" counts launches, bytes and flops, runs nothing; choose one of auto, webgpu, cpu\n",
        ),
        (
            "experiment dose --mode contract --out file/in --device cpu",
            1,
            "mero: experiment: file/in: cannot be created: Not a directory\n",
        ),
        (
            "experiment dose --seed 18446744073709551615 --seeds 2",
            2,
            "mero: experiment: seed: got 18446744073709551615, expected at most 18446744073709551613 for 2 seeds\n",
        ),
        ("experiment ik --seeds 0 --rows rows", 2, "mero: experiment: seeds is 0, expected at least 1\n"),
        (
            "experiment ik --mode contract --predictions mine=nowhere",
            1,
            "mero: experiment: nowhere/1.csv: cannot be read: No such file or directory\n",
        ),
    ];
    for (line, code, expected) in cases {
        let output = mero(folder.path(), line);
        assert_eq!(
            (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
            (Some(code), expected),
            "{line}"
        );
        assert!(output.stdout.is_empty(), "{line}");
    }
    for line in [
        "experiment",
        "experiment chess",
        "experiment dose --mode huge",
        "experiment dose --seeds -1",
        "experiment dose --predictions mine",
        "experiment dose --rows rows --methods odds",
        "experiment dose --rows rows --device cpu",
    ] {
        assert_eq!(mero(folder.path(), line).status.code(), Some(2), "{line}");
    }
}
